"""Lines in the LETOR format, also called svmlight, by operations on arrays of all their bytes."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .exact_numbers import changed
from .files import opened, pieces

MISSING = 1.79769313486e308  # Istella's missing value, the largest double as text
LETOR_BATCH = 2**21  # bytes
_BLANK = ord(" ")
_IS_BLANK = bytes(byte in b" \t\n\r\v\f" for byte in range(256))  # as in bytes.split


class LetorRows(NamedTuple):
    """Rows of a file in the LETOR format, also called svmlight.

    Attributes
    ----------
    labels : (n,) float64
    queries : (m,) int64
        Of the rows that have a query.
    rows, numbers, values : (k,) int64, int64 and float64
        The features that are written: the row of each, from 0, its number, which ascends within a
        row, and its value.  NULL and Istella's missing value are NaN.
    """

    labels: NDArray[np.float64]
    queries: NDArray[np.int64]
    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]
    values: NDArray[np.float64]


def letor_rows(file: Path, size: float = np.inf) -> Iterator[LetorRows]:
    """The rows of a LETOR file, in batches of at most about this many bytes of text.

    A ValueError names the file, and the first line that is malformed or has a number that float64
    changes.
    """
    lines_before = 0
    with opened(file) as stream:
        for piece in pieces(file, stream, min(size, LETOR_BATCH)):
            text = piece if lines_before else piece.removeprefix(b"\xef\xbb\xbf")
            text = re.sub(b"#[^\n]*", b"", text) if b"#" in text else text
            text = text.replace(b":NULL", b":nan")
            try:
                rows = _parsed(text)
            except ValueError:
                lines = text.split(b"\n")
                ends = range(1, len(lines) + 1)
                wrong = bisect_left(ends, True, key=lambda end: _why_not(lines[:end]) != "")
                why = _why_not(lines[wrong : wrong + 1])
                raise ValueError(f"{file}, line {lines_before + wrong + 1}: {why}") from None
            yield rows
            lines_before += text.count(b"\n")


def _why_not(lines: Sequence[bytes]) -> str:
    """Why a line, or one of several, cannot be read; empty if all can."""
    try:
        _parsed(b"\n".join(lines))
    except ValueError as error:
        line = lines[0].decode("latin-1")
        odd = [field for field in line.split() if re.search("[0-9]_[0-9]", field)]
        return str(error) or (
            f"{odd[0]!r}: a number with an underscore"
            if odd
            else "not 'label qid:ID 1:value 2:value', with a finite number as label, a whole "
            f"number as ID and features in ascending order: {line.strip()[:80]!r}"
        )
    return ""


def _parsed(text: bytes) -> LetorRows:
    """The rows of text without comments, by operations on arrays of all of its bytes.

    The ValueError for a malformed line has no message.
    """
    text = b"\n" + text + b"\n"
    is_blank = np.frombuffer(text.translate(_IS_BLANK), np.bool_)
    edges = np.flatnonzero(is_blank[1:] != is_blank[:-1]) + 1
    first, end = edges[::2], edges[1::2]  # of each field
    cells = np.frombuffer(bytearray(text), np.uint8)  # what was read is replaced by blanks
    n_fields = np.diff(np.searchsorted(first, np.flatnonzero(cells == ord("\n"))))
    n_fields = n_fields[n_fields > 0]
    row = np.repeat(np.arange(n_fields.size), n_fields - 1)

    # Each field that is no label has one colon, with something on both sides.
    label = np.cumsum(n_fields) - n_fields
    start, stop = np.delete(first, label), np.delete(end, label)
    colon = np.flatnonzero(cells == ord(":"))
    _refuse(colon.size != start.size or b"(" in text)  # NumPy reads nan(1) as nan
    _refuse((colon <= start) | (colon >= stop - 1))
    cells[colon] = _BLANK

    query = np.flatnonzero((colon == start + 3) & (np.diff(row, prepend=-1) > 0))
    letters = start[query][:, None] + np.arange(3)
    is_query = (cells[letters] == [*b"qid"]).all(axis=1)
    query, letters = query[is_query], letters[is_query]
    cells[letters] = _BLANK
    queries = _whole_numbers(cells, colon[query] + 1, stop[query])
    field = query + row[query] + 1
    first, end = np.delete(first, field), np.delete(end, field)
    start, colon, row = np.delete(start, query), np.delete(colon, query), np.delete(row, query)
    numbers = _whole_numbers(cells, start, colon)
    _refuse((numbers < 0) | (numbers >= 2**32))
    _refuse((np.diff(numbers, prepend=-1) <= 0) & (np.diff(row, prepend=-1) == 0))

    values = _numbers(cells) if first.size else np.zeros(0)
    _refuse(values.size != first.size)
    is_label = np.ones(first.size, np.bool_)
    is_label[np.arange(row.size) + row + 1] = False
    values[~is_label & (values >= MISSING) & (values < np.inf)] = np.nan
    for i in np.flatnonzero(np.abs(values) >= 2.0**53):
        cell = text[first[i] : end[i]].decode("latin-1")
        if why := changed(cell.rpartition(":")[2], float(values[i])):
            raise ValueError(f"{cell!r}{why}")
    _refuse(~np.isfinite(values[is_label]))
    return LetorRows(values[is_label], queries, row, numbers, values[~is_label])


def _refuse(wrong: Any) -> None:
    if np.any(wrong):
        raise ValueError


def _whole_numbers(
    cells: NDArray[np.uint8], start: NDArray[np.int64], stop: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Numbers in digits, perhaps with a sign, which are replaced by blanks."""
    sign = cells[start]
    is_signed = (sign == ord("-")) | (sign == ord("+"))
    cells[start[is_signed]] = _BLANK
    first = start + is_signed
    length = stop - first
    _refuse((length < 1) | (length > 19))
    number, places = np.zeros(start.size, np.uint64), np.arange(start.size)
    for k in range(int(length.max(initial=0))):
        places = places[length[places] > k]
        at = first[places] + k
        digit = cells[at] - np.uint8(ord("0"))
        _refuse(digit > 9)
        number[places] = number[places] * np.uint64(10) + digit
        cells[at] = _BLANK
    _refuse(number > np.iinfo(np.int64).max)
    return np.where(sign == ord("-"), -1, 1) * number.astype(np.int64)


def _numbers(cells: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The numbers between blanks."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(cells.tobytes(), sep=" ")
        except (ValueError, DeprecationWarning):  # of NumPy since 2.3, and before
            raise ValueError from None
