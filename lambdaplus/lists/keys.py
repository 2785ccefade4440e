"""Identifiers of rows, such as queries and dates, as arrays that keep different ones apart."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.array_types import Ints
from lambdaplus.lists.spellings import warn_of_spellings
from lambdaplus.lists.vectors import as_sizes, as_vector, checked_array, unmasked

LONGEST = 200  # characters of an identifier; NumPy's text takes as many for each row


def as_text(names: Sequence[str]) -> NDArray[np.str_]:
    """Identifiers as (n,) text, in which a digest is in place of the end of a very long one.

    A few long ones would otherwise take many gigabytes.  The text of an identifier depends on
    nothing else, so that it is the same in several files.
    """
    if len(max(names, key=len, default="")) > LONGEST:
        names = [_shortened(name) if len(name) > LONGEST else name for name in names]
    return np.array(names, dtype=np.str_)


def _shortened(name: str) -> str:
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]
    return f"{name[: LONGEST - 35]}...{digest}"


def identifiers(values: Any, name: str = "qid", n: int | None = None) -> NDArray[Any]:
    """Convert identifiers of (n) rows to an array without merging different ones.

    A ValueError is raised for another number of entries than rows, a missing entry, numbers mixed
    with text (NumPy would merge 7 and "7"), and floats that are too large to be exact.  A warning
    is given of queries in two spellings.
    """
    values = as_vector(values)
    texts = isinstance(values, (list, tuple)) and all(
        isinstance(one, str | bytes) for one in values
    )
    try:  # NumPy would make an array of all texts
        shape = (len(values),) if texts else np.shape(values)
    except ValueError:  # lists of different lengths, which are no identifiers
        shape = (len(values),)
    if len(shape) != 1 or (n is not None and shape != (n,)):
        rows = "" if n is None else f" for {n} rows"
        raise ValueError(f"{name} must have one entry per row: shape {shape}{rows}")
    if isinstance(values, (list, tuple)):
        # NumPy would convert a NaN among text to "nan", and large integers to floats.
        array = np.fromiter(values, dtype=object, count=len(values))
    else:
        array = unmasked(values, name)
        if array.dtype.kind not in "mM":  # dates are not numbers, but valid identifiers
            array = checked_array(array, name)
    if array.dtype.kind == "O" and array.size:
        array = _of_one_kind(array, name)
    if array.dtype.kind == "U" and array.dtype.itemsize > LONGEST * array.dtype.alignment:
        array = as_text(array.tolist())
    if array.dtype.kind in "fmM":
        missing = np.flatnonzero(array != array)
        if missing.size:
            raise ValueError(f"{name} is missing in row {missing[0]}: it is {array[missing[0]]}")
    if array.dtype.kind == "f" and array.size:
        bits = np.finfo(array.dtype).nmant + 1
        if float(np.abs(array).max()) >= 2.0**bits:
            raise ValueError(
                f"{name} contains floats of 2**{bits} or more, which cannot represent all "
                "integers: pass integers or text"
            )
    if name == "qid" and array.dtype.kind == "U":
        warn_of_spellings(array.tolist(), name)
    return array


def first_rows(ids: NDArray[Any]) -> Ints:
    """The first row of each query, (n_queries,) int64; a ValueError if its rows are apart."""
    starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
    _, first = np.unique(ids[starts], return_index=True)
    if first.size < starts.size:
        row = starts[np.setdiff1d(np.arange(starts.size), first)[0]]
        raise ValueError(
            f"the rows of query {ids[row]!s} are not adjacent (it begins again in row {row}): "
            "sort the data by qid"
        )
    return starts.astype(np.int64)


def numbered(group: ArrayLike, n: int | None = None) -> Ints:
    """The number of the query of each row, (n,) int64, by the sizes of queries."""
    sizes = as_sizes(group, n)
    return np.repeat(np.arange(sizes.size), sizes)


def codes(ids: NDArray[Any]) -> Ints:
    """The number of the identifier of each row, (n,) int64, in ascending order of identifiers."""
    return np.unique(ids, return_inverse=True)[1]


def int_or_text(names: Sequence[str]) -> NDArray[Any]:
    """Convert identifiers to int64 if this loses nothing, otherwise to str: 007 and 7 differ."""
    if any(name.endswith("\0") for name in names):
        raise ValueError("an identifier ends in a NUL character, which NumPy drops")
    ids = as_text(names)
    try:
        integers = ids.astype(np.int64)
    except (ValueError, OverflowError):
        return ids
    return integers if np.array_equal(integers.astype(np.str_), ids) else ids


def _of_one_kind(objects: NDArray[Any], name: str) -> NDArray[Any]:
    # The first moments of pandas' periods.
    values = [getattr(value, "start_time", value) for value in objects.tolist()]
    kind = next((kind for kind in _KINDS if isinstance(values[0], kind)), None)
    for row, value in enumerate(values):
        if value is None or value is np.ma.masked or _is_nan(value):
            raise ValueError(f"{name} is missing in row {row}: it is {value!r}")
        # A time is a date as well, and midnight would be merged with it.
        other = kind is None or not isinstance(value, kind)
        if other or (kind is date and isinstance(value, datetime)):
            raise ValueError(
                f"{name} must be all text or all numbers, dates or times; row {row} is the "
                f"{type(value).__name__} {value!r}"
            )
    if kind in (datetime, date, np.datetime64):
        return _of_dates(values, name)
    if kind is not Real:
        if any(value[-1:] in ("\0", b"\0") for value in values):
            raise ValueError(
                f"{name} contains text that ends in a NUL character, which NumPy drops"
            )
        if kind is str:
            return as_text(values)
        too_long = (value for value in values if len(value) > LONGEST)
        shorter = {
            value: _shortened(value.decode("latin-1")).encode("latin-1") for value in too_long
        }
        return np.array([shorter.get(value, value) for value in values], np.bytes_)
    if not all(isinstance(value, Integral) for value in values):
        return objects.astype(np.float64)
    try:
        return objects.astype(np.int64)
    except OverflowError:
        return objects.astype(np.str_)


_KINDS = (str, bytes, Real, datetime, date, np.datetime64)


def _of_dates(values: list[Any], name: str) -> NDArray[np.datetime64]:
    """Dates or times as NumPy's; those of time zones in UTC."""
    zoned = {getattr(value, "tzinfo", None) is not None for value in values}
    if len(zoned) > 1:
        raise ValueError(f"{name} has times with and without a time zone: pass all with one")
    if zoned == {True}:
        values = [value.astimezone(UTC).replace(tzinfo=None) for value in values]
    # pandas' times are finer than Python's.
    return np.array([np.datetime64(getattr(value, "asm8", value)) for value in values])


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # the truth value of pandas.NA is undefined
        return not isinstance(value, np.ndarray)
