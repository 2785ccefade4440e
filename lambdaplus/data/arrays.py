"""Conversion of arguments, with errors where NumPy or Python would silently change the values.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.data.arrays import identifiers, plain
>>> plain([1, 2], "labels")
array([1, 2])
>>> plain(np.ma.masked_array([1, 2], mask=[False, True]), "labels")
Traceback (most recent call last):
...
ValueError: labels is a masked array with 1 masked entry, the first in row 1: leave those rows out or fill them
>>> identifiers(["a", None])
Traceback (most recent call last):
...
ValueError: qid is missing in row 1: it is None
"""  # noqa: E501

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def plain(values: Any, name: str) -> NDArray[Any]:
    """Convert the values to an array; those of CuPy are copied from the GPU.

    Raises
    ------
    ValueError
        If the array has masked entries, whose masks NumPy would drop, or contains complex numbers
        or dates, which NumPy would truncate or convert to nanoseconds.
    """
    if isinstance(values, np.ma.MaskedArray):
        masked = np.argwhere(np.ma.getmaskarray(values))
        if len(masked):
            raise ValueError(
                f"{name} is a masked array with {len(masked)} masked "
                f"{'entry' if len(masked) == 1 else 'entries'}, the first in row {masked[0][0]}: "
                "leave those rows out or fill them"
            )
    if hasattr(values, "__cuda_array_interface__") and hasattr(values, "get"):
        values = values.get()  # NumPy would raise an error: "Implicit conversion ..."
    array = np.asarray(values)
    if array.dtype.kind in "cmMV":
        raise ValueError(f"{name} must be numbers, not {array.dtype}")
    return array


def number_of(text: str) -> float:
    """Parse a number; a ValueError for ``1_0``, which Python reads as 10, and for ``1e400``."""
    try:
        found = (
            math.nan if "_" in text or not text.isascii() or not text.isprintable() else float(text)
        )
    except ValueError:
        found = math.nan
    if math.isnan(found) and text.strip().lower().lstrip("+-") != "nan":
        raise ValueError(f"{text!r} is not a number")
    if math.isinf(found) and any(map(str.isdigit, text)):
        raise ValueError(f"{text!r} is beyond the largest float64, 1.8e308")
    return found


def numbers(values: Any, name: str, copy: bool = False) -> NDArray[np.float64]:
    """Convert the values to float64, without rounding integers.

    Raises
    ------
    ValueError
        Like `plain`; also for values that are no numbers, and for integers beyond 2**53 that a
        float64 cannot represent, since different ones would become equal.
    """
    array = plain(values, name)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        refuse_rounding(array[(array > 2**53) | (array < -(2**53))].tolist(), name)
    elif array.dtype.kind == "O":
        refuse_rounding((x for x in array.ravel().tolist() if isinstance(x, int)), name)
    try:
        if array.dtype.kind == "U":
            array = np.array([*map(number_of, array.ravel().tolist())]).reshape(array.shape)
        return array.astype(np.float64, copy=copy)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None


def refuse_rounding(integers: Iterable[int], name: str) -> None:
    """Raise a ValueError for an integer that a float64 cannot represent."""
    for number in integers:
        try:
            exact = float(number) == number
        except OverflowError:
            exact = False
        if not exact:
            raise ValueError(
                f"{name} contains {reprlib.repr(number)}, which a float64 cannot represent: "
                "integers beyond 2**53 would become equal to others; subtract an offset, or pass "
                "ranks"
            )


def identifiers(values: Any, name: str = "qid") -> NDArray[Any]:
    """Convert identifiers of rows to an array without merging different ones.

    Raises
    ------
    ValueError
        If one is missing (None, NaN, masked), if numbers are mixed with text (7 and "7" would be
        merged), and for floats that are too large to be exact, which are those from 2**53 in
        double precision.
    """
    if isinstance(values, (list, tuple)):
        # NumPy would convert a NaN among text to "nan", and large integers to floats.
        array = np.fromiter(values, dtype=object, count=len(values))
    elif getattr(getattr(values, "dtype", None), "kind", "") in ("m", "M"):
        array = np.asarray(values)  # dates are not numbers, but valid identifiers
    else:
        array = plain(values, name)
    if array.dtype.kind not in "OfmM" or not array.size:
        return array
    for row, value in enumerate(array.ravel().tolist() if array.dtype.kind == "O" else ()):
        if value is None or value is np.ma.masked or _is_nan(value):
            raise ValueError(f"{name} is missing in row {row}: it is {value!r}")
    if array.dtype.kind == "O":
        array = _of_one_kind(array, name)
    missing = np.flatnonzero(array != array)
    if missing.size:
        row = int(missing[0])
        raise ValueError(f"{name} is missing in row {row}: it is {array.ravel()[row]}")
    if array.dtype.kind == "f":
        bits = np.finfo(array.dtype).nmant + 1
        if float(np.abs(array).max()) >= 2.0**bits:
            raise ValueError(
                f"{name} contains floats of 2**{bits} or more, which cannot represent all "
                "integers: pass integers or text"
            )
    return array


def query_ids(qid: Any, n: int | None = None) -> NDArray[Any]:
    """The query of each row as an array, (n,), checked as `identifiers` are.

    Parameters
    ----------
    qid : (n,) array_like
    n : int, optional
        How many rows there are.

    Raises
    ------
    ValueError
        For another number of entries, too.
    """
    shape = np.shape(qid)
    if len(shape) != 1 or (n is not None and shape != (n,)):
        rows = "" if n is None else f" for {n} rows"
        raise ValueError(f"qid must have one entry per row: shape {shape}{rows}")
    return identifiers(qid)


def int_or_text(found: Sequence[str]) -> NDArray[Any]:
    """Convert identifiers to int64 if this loses nothing, otherwise to str: 007 and 7 differ.

    Raises
    ------
    ValueError
        For a NUL at the end, which NumPy's strings would drop.
    """
    if any(name.endswith("\0") for name in found):
        raise ValueError("an identifier ends in a NUL character")
    ids = np.array(found, dtype=np.str_)
    try:
        numbers = ids.astype(np.int64)
    except (ValueError, OverflowError):
        return ids
    return numbers if np.array_equal(numbers.astype(np.str_), ids) else ids


def _of_one_kind(objects: NDArray[Any], name: str) -> NDArray[Any]:
    """Python objects as an array of text, integers, or floats."""
    found = objects.ravel().tolist()
    kinds = [kind for kind in (str, bytes, Integral, Real) if isinstance(found[0], kind)]
    kind = Real if Integral in kinds else kinds[0] if kinds else type(found[0])
    for row, value in enumerate(found):
        if not kinds or not isinstance(value, kind):
            raise ValueError(
                f"{name} must be all text or all numbers; row {row} is the {type(value).__name__} "
                f"{value!r}"
            )
    nul: Any = "\0" if kind is str else b"\0"
    if kind in (str, bytes) and any(value.endswith(nul) for value in found):
        raise ValueError(f"{name} contains text that ends in a NUL character, which NumPy drops")
    if kind is not Real:
        return objects.astype(np.str_ if kind is str else np.bytes_)
    if not all(isinstance(value, Integral) for value in found):
        return objects.astype(np.float64)
    try:
        return objects.astype(np.int64)
    except OverflowError:
        return objects.astype(np.str_)


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # the truth value of pandas.NA is undefined
        return not isinstance(value, np.ndarray)


def flags_of_rows(values: Any, n: int, name: str) -> NDArray[np.bool_]:
    """The values as (n,) bool; a ValueError for others than True and False, and another number."""
    found = plain(values, name)
    if found.shape != (n,) or not np.isin(found, (0, 1)).all():
        raise ValueError(f"{name} must be True or False for each of the {n} rows")
    return found.astype(bool)
