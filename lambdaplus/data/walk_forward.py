"""Folds in time: each is tested on a block of dates, and trained on all that is before its gap."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Ints
from lambdaplus.data.time_gap import Gap, is_gap, on_a_line, parse_gap
from lambdaplus.data.time_in_words import duration, moment

# Seconds, milliseconds, ... since 1970 of the years from 1979 to 2100 do not overlap.
_SINCE_1970 = (1, 10**3, 10**6, 10**9)
_YEARS = (3e8, 4.2e9)


class TimeLine(NamedTuple):
    """The time of each row: its place among all times, (n,), and these, ascending."""

    place: Ints
    keys: Sequence[Any]  # as they are sorted

    @property
    def values(self) -> NDArray[Any]:
        """The times as datetime64[us], timedelta64[us], int64 or float64."""
        return on_a_line(self.keys)


def splits_in_time(line: TimeLine, n_blocks: int, gap: Gap) -> list[tuple[Ints, Ints]]:
    """Rows of all times before the gap of a block, and of the block, ascending."""
    values = line.values
    n, length = values.size, values.size // (n_blocks + 1)
    if not length:
        raise ValueError(f"order has {n} different values, too few for {n_blocks} blocks")
    starts = [n - i * length for i in range(n_blocks, 0, -1)]
    splits = []
    for start, kept in zip(starts, _kept(values, starts, gap), strict=True):
        if not kept:
            raise ValueError(
                f"nothing is left to train on before {moment(values[start])}, the first time "
                f"that is tested in one of {n_blocks} blocks: the first of all, "
                f"{moment(values[0])}, is in the gap of {gap!s} before it"
            )
        tested = (line.place >= start) & (line.place < start + length)
        splits.append((np.flatnonzero(line.place < kept), np.flatnonzero(tested)))
    return splits


def parts_in_time(line: TimeLine, n_folds: int, gap: Gap) -> list[tuple[Ints, Ints, Ints]]:
    """Rows of the training, validation and test part of each fold, ascending.

    A fold validates on the block before the one that it tests.
    """
    parts = []
    for (train, valid), (known, test) in itertools.pairwise(splits_in_time(line, n_folds + 1, gap)):
        valid = np.intersect1d(valid, known)  # without the gap before the test part
        if not valid.size:
            first = moment(line.values[line.place[test].min()])
            raise ValueError(
                f"nothing is left to validate on before {first}: a block of the {n_folds + 2} is "
                f"shorter than the gap of {gap!s}"
            )
        parts.append((train, valid, test))
    return parts


def _kept(values: NDArray[Any], starts: list[int], gap: Gap) -> list[int]:
    """How many values are before the gap of each start."""
    if not is_gap(gap):
        return starts
    length: Any = parse_gap(gap)
    is_duration, are_times = isinstance(length, np.timedelta64), values.dtype.kind in "mM"
    if are_times and not is_duration:
        raise ValueError(_without_unit(values, length))
    if is_duration and not are_times:
        values = _since_1970(values, gap)
    ends = values[starts] - length
    if values.dtype.kind == "f":  # 0.4 - 0.1 is above 0.3
        ends = ends - 1e-9 * np.abs(values[starts])
    kept = np.searchsorted(values, ends, side="left")
    if (kept == starts).all():
        raise ValueError(
            f"a gap of {gap!s} leaves out nothing, since values of order are further apart, such "
            f"as {moment(values[0])} and {moment(values[1])}: pass it in their unit, or leave it "
            "out"
        )
    return [*map(int, kept)]


def _without_unit(values: NDArray[Any], gap: float) -> str:
    said = (
        f"gap = {gap} has no unit, and order has dates or times: pass a duration such as 5d or 12h"
    )
    if (n := int(gap)) != gap or n >= values.size:
        return said
    longest = (values[n:] - values[:-n]).max()
    return f"{said} ({duration(longest)} leaves out at least {n} of these)"


def _since_1970(values: NDArray[Any], gap: Gap) -> NDArray[Any]:
    """Numbers as times, if they are seconds, milliseconds, ... since 1970."""
    for size in _SINCE_1970:
        if _YEARS[0] * size <= values[0] and values[-1] <= _YEARS[1] * size:
            microseconds: NDArray[Any] = np.round(values * (10**6 / size)).astype("M8[us]")
            return microseconds
    raise ValueError(
        f"gap = {gap!s} is a duration, and order has numbers, such as {moment(values[0])}: pass it "
        "as a number in their unit"
    )
