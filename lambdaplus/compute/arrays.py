"""Arrays of users as those of NumPy, with errors where NumPy would silently change values."""

import math
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.columns import as_vector, from_gpu, from_narwhals


def checked_array(values: Any, name: str) -> NDArray[Any]:
    """Convert the values to an array, also from a GPU; a ValueError if NumPy would change some."""
    array = unmasked(values, name)
    if array.dtype.kind in "cmMV":
        raise ValueError(f"{name} must be numbers, not {array.dtype}")
    return array


def unmasked(values: Any, name: str) -> NDArray[Any]:
    """Convert the values to an array, also from a GPU; a ValueError for masked entries."""
    if isinstance(values, np.ma.MaskedArray):
        masked = np.argwhere(np.ma.getmaskarray(values))
        if len(masked):
            raise ValueError(
                f"{name} is a masked array with {len(masked)} masked "
                f"{'entry' if len(masked) == 1 else 'entries'}, the first in row {masked[0][0]}: "
                "leave those rows out or fill them"
            )
    try:
        return np.asarray(from_gpu(from_narwhals(values)))
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            f"{name} is a list of lists of different lengths: pass one list of all rows, and the "
            "lengths as group="
        ) from None


def number_of(text: str) -> float:
    """Parse a number; a ValueError for ``1_0``, which `float` reads as 10, and for ``1e400``."""
    plain_text = text.isascii() and text.isprintable() and "_" not in text
    try:
        number = float(text if plain_text else "")
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if math.isinf(number) and any(map(str.isdigit, text)):
        raise ValueError(f"{text!r} is beyond the largest float64, 1.8e308")
    return number


def numbers(values: Any, name: str, copy: bool = False) -> NDArray[np.float64]:
    """Convert to float64; a ValueError as in `checked_array`, for text, or if numbers merge."""
    array = checked_array(values, name)
    text = array.dtype.kind in "SUT"
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        refuse_rounding(array[(array > 2**53) | (array < -(2**53))].tolist(), name)
    elif array.dtype.kind == "O":
        objects = array.ravel().tolist()
        text = any(isinstance(x, (str, bytes)) for x in objects)
        refuse_rounding((x for x in objects if isinstance(x, int)), name)
    if text:
        raise ValueError(f"{name} must be numbers, not text: convert it, for example with float()")
    try:
        converted = array.astype(np.float64, copy=copy)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    is_long_double = array.dtype.kind == "f" and array.dtype.itemsize > 8
    if is_long_double and np.unique(converted).size < np.unique(array).size:
        raise ValueError(
            f"{name} contains numbers that differ, but are equal as float64: subtract an offset, "
            "or pass ranks"
        )
    return converted


def refuse_infinite(array: NDArray[np.floating[Any]], name: str, why: str = "") -> None:
    """Raise a ValueError that names the first entry that is not finite."""
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(
            f"{name} must be finite: {bad.size} of {array.size} are not, the first is "
            f"{array[bad[0]]} in row {bad[0]}{why}"
        )


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


def flags_of_rows(values: Any, n: int, name: str) -> NDArray[np.bool_]:
    """Convert the values to (n,) bool; a ValueError if they are not n times True or False."""
    flags = checked_array(as_vector(values), name)
    if flags.shape != (n,) or not np.isin(flags, (0, 1)).all():
        raise ValueError(f"{name} must be True or False for each of the {n} rows")
    return flags.astype(bool)
