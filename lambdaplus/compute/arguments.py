"""Checks and conversions of arguments, with errors where NumPy would silently change values."""

import difflib
import math
import re
import reprlib
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def from_gpu(values: Any) -> Any:
    """A CuPy array as one of NumPy, which would refuse to convert it; other values as they are."""
    on_gpu = hasattr(values, "__cuda_array_interface__") and hasattr(values, "get")
    return values.get() if on_gpu else values


def plain(values: Any, name: str) -> NDArray[Any]:
    """Convert the values to an array, also from a GPU; a ValueError if NumPy would change some."""
    array = _unmasked(values, name)
    if array.dtype.kind in "cmMV":
        raise ValueError(f"{name} must be numbers, not {array.dtype}")
    return array


def _unmasked(values: Any, name: str) -> NDArray[Any]:
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
        return np.asarray(from_gpu(values))
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            f"{name} is a list of lists of different lengths: pass one list of all rows, and the "
            "lengths as group="
        ) from None


def canonical(X: Any) -> Any:
    """A sparse matrix as CSR or CSC with sorted indices and no duplicates; all else unchanged.

    LightGBM misreads unsorted columns, and both frameworks misread duplicates.  They would use the
    values below a mask, for which a ValueError is raised.
    """
    if np.ma.is_masked(X):
        plain(X, "X")
    if not hasattr(X, "tocsr"):
        return X
    X = X if X.format in ("csr", "csc") else X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


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
    """Convert the values to float64; a ValueError as in `plain`, for text, or if numbers merge."""
    array = plain(values, name)
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


def refuse_rounded(text: str, name: str) -> None:
    """Raise a ValueError for text of an integer, perhaps 1.0, that a float64 cannot represent."""
    if integer := re.fullmatch(TEXT_OF_INTEGER, text):
        refuse_rounding([int(integer[1])], name)


# Commas are decimal points in some files.  Exponents, as in 1.2345678901234567e+16, are those of
# rounded numbers.
TEXT_OF_INTEGER = "^([+-]?[0-9]+)([.,]0*)?$"


def identifiers(values: Any, name: str = "qid", n: int | None = None) -> NDArray[Any]:
    """Convert identifiers of (n) rows to an array without merging different ones.

    A ValueError is raised for another number of entries than rows, a missing entry, numbers mixed
    with text (NumPy would merge 7 and "7"), and floats that are too large to be exact.
    """
    values = from_gpu(values)
    try:
        shape = np.shape(values)
    except ValueError:  # lists of different lengths, which are no identifiers
        shape = (len(values),)
    if len(shape) != 1 or (n is not None and shape != (n,)):
        rows = "" if n is None else f" for {n} rows"
        raise ValueError(f"{name} must have one entry per row: shape {shape}{rows}")
    if isinstance(values, (list, tuple)):
        # NumPy would convert a NaN among text to "nan", and large integers to floats.
        array = np.fromiter(values, dtype=object, count=len(values))
    else:
        array = _unmasked(values, name)
        if array.dtype.kind not in "mM":  # dates are not numbers, but valid identifiers
            array = plain(array, name)
    if array.dtype.kind == "O" and array.size:
        array = _of_one_kind(array, name)
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
    return array


def int_or_text(names: Sequence[str]) -> NDArray[Any]:
    """Convert identifiers to int64 if this loses nothing, otherwise to str: 007 and 7 differ."""
    if any(name.endswith("\0") for name in names):
        raise ValueError("an identifier ends in a NUL character, which NumPy drops")
    ids = np.array(names, dtype=np.str_)
    try:
        integers = ids.astype(np.int64)
    except (ValueError, OverflowError):
        return ids
    return integers if np.array_equal(integers.astype(np.str_), ids) else ids


def flags_of_rows(values: Any, n: int, name: str) -> NDArray[np.bool_]:
    """Convert the values to (n,) bool; a ValueError if they are not n times True or False."""
    flags = plain(values, name)
    if flags.shape != (n,) or not np.isin(flags, (0, 1)).all():
        raise ValueError(f"{name} must be True or False for each of the {n} rows")
    return flags.astype(bool)


def _of_one_kind(objects: NDArray[Any], name: str) -> NDArray[Any]:
    values = objects.tolist()
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
        text = objects.astype(np.str_ if kind is str else np.bytes_)
        if (text.astype(object) != objects).any():
            raise ValueError(
                f"{name} contains text that ends in a NUL character, which NumPy drops"
            )
        return text
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


def number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float = 0.0,
    most: float = math.inf,
) -> float:
    """The value as a float; a ValueError if it is not a number in this range."""
    is_number = isinstance(value, Real) and not is_flag(value) and math.isfinite(value)
    if not is_number or value > most or (value <= above if least is None else value < least):
        bounds = f"above {above:g}" if least is None else f"at least {least:g}"
        bounds += "" if most == math.inf else f" and at most {most:g}"
        raise ValueError(f"{name} must be a number {bounds}, got {value!r}")
    return float(value)


def check_choice(name: str, value: Any, allowed: Collection[str]) -> None:
    """Raise a ValueError unless the value is one of these words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(allowed)}")


def check_flag(**flags: Any) -> None:
    """Raise a ValueError unless all values are True or False."""
    for name, value in flags.items():
        if not is_flag(value):
            raise ValueError(f"{name}={value!r} is neither True nor False")


def check_callable(**functions: Any) -> None:
    """Raise a ValueError unless all values are functions."""
    for name, value in functions.items():
        if not callable(value):
            raise ValueError(f"{name} must be a function, got {value!r}")


def check_text(**texts: Any) -> None:
    """Raise a ValueError unless all values are text."""
    for name, value in texts.items():
        if not isinstance(value, str):
            raise ValueError(f"{name} must be text, got {value!r}")


def is_flag(value: Any) -> bool:
    """Whether the value is True or False, not a number or text."""
    return isinstance(value, (bool, np.bool_))


def whole_number(name: str, value: Any, least: int = 0, below: int = 2**63) -> int:
    """The value as an int; a ValueError for anything but a whole number in this range."""
    whole = isinstance(value, Integral) and not is_flag(value)
    if not (whole and value >= least):
        raise ValueError(f"{name} must be a whole number, at least {least}, got {value!r}")
    if value >= below:
        raise ValueError(f"{name} must be below {below}, got {value!r}")
    return int(value)


def hint(name: str, names: Collection[str]) -> str:
    """The most similar known name, as the end of an error message; empty if there is none."""
    close = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def printable(text: str) -> str:
    """The text with control characters, which a terminal would obey, as escapes such as \\x1b."""
    control = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # all but tabs and ends of lines
    return re.sub(control, lambda found: found[0].encode("unicode_escape").decode(), text)


def refuse_missing(path: Path) -> None:
    """Raise a FileNotFoundError for a path that does not exist, with a similar name if any."""
    if path.exists():
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}, so no {path}")
    names = sorted(entry.name for entry in path.parent.iterdir())
    raise FileNotFoundError(f"there is no file or folder {path}{hint(path.name, names)}")
