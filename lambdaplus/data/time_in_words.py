"""Times, durations and folds in time, in words."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Ints

_DAY = np.timedelta64(1, "D")
_UNITS = (("d", _DAY), ("h", np.timedelta64(1, "h")), ("min", np.timedelta64(1, "m")))
_LONG = 20 * _DAY  # in so many days, no time of the day is needed


def duration(length: Any) -> str:
    """A time such as 30d, 1.5h or 20s, rounded up to a tenth; other lengths as numbers."""
    if not isinstance(length, np.timedelta64):
        return f"{length:,}" if isinstance(length, int | np.integer) else f"{length:.6g}"
    for unit, size in _UNITS:
        if length >= size:
            return f"{np.ceil(10 * (length / size) - 1e-9) / 10:g}{unit}"
    return f"{length / np.timedelta64(1, 's'):g}s"


def moment(value: Any, days: bool = False) -> str:
    """A time, to the minute, or the day if it is midnight or only days are wanted; or a number."""
    if isinstance(value, np.timedelta64):
        return duration(value)
    if not isinstance(value, np.datetime64):
        return f"{value:g}" if isinstance(value, float | np.floating) else str(value)
    if days or value == value.astype("M8[D]"):
        return str(value.astype("M8[D]"))
    return str(value.astype("M8[m]")).replace("T", " ")


def folds_in_time(
    times: NDArray[Any], parts: Sequence[tuple[Ints, Ints, Ints]], gap: str
) -> Iterator[str]:
    """For each fold, the times and numbers of rows of its parts, and what its gaps leave out.

    ``times`` are those of all rows, (n,); parts are the rows of training, validation and test.
    """
    ends_of = [[(times[part].min(), times[part].max()) for part in rows] for rows in parts]
    days = times.dtype.kind == "M" and times.max() - times.min() >= _LONG
    # Days alone say when a part begins and ends if the next one begins on another day.
    days = days and all(
        moment(before, True) != moment(after, True)
        for ends in ends_of
        for (_, before), (after, _) in itertools.pairwise(ends)
    )
    for number, (rows, ends) in enumerate(zip(parts, ends_of, strict=True), start=1):
        said = [
            f"{name} {' to '.join(dict.fromkeys((moment(first, days), moment(last, days))))} "
            f"({part.size:,} rows)"
            for name, part, (first, last) in zip(_PARTS, rows, ends, strict=True)
        ]
        line = f"Fold{number}: {', '.join(said)}."
        if gap:
            within = [
                int(((times > before) & (times < after)).sum())
                for (_, before), (after, _) in itertools.pairwise(ends)
            ]
            line += f" Left out: {gap} before validation ({within[0]:,} rows)"
            line += f" and before test ({within[1]:,} rows)."
        yield line


_PARTS = ("training", "validation", "test")
