"""Checks of options: numbers, also in text, choices, flags, functions and text."""

import math
import sys
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

MAX = sys.float_info.max


def number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float = 0.0,
    most: float = math.inf,
) -> float:
    """The value as a float; a ValueError if it is not a number in this range."""
    is_number = isinstance(value, Real) and _counts(value)
    # Not math.isfinite, which has an error for integers beyond float64.
    is_finite = is_number and -MAX <= value <= MAX
    if not is_finite or value > most or (value <= above if least is None else value < least):
        bounds = f"above {above:g}" if least is None else f"at least {least:g}"
        bounds += "" if most == math.inf else f" and at most {most:g}"
        raise ValueError(f"{name} must be a number {bounds}, got {value!r}")
    return float(value)


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


def _counts(value: Any) -> bool:
    """Whether the value is no flag and no duration, which are numbers to Python or NumPy."""
    return not is_flag(value) and not _is_of_numpy(value, "timedelta64")


def is_flag(value: Any) -> bool:
    """Whether the value is True or False, not a number or text."""
    return isinstance(value, bool) or _is_of_numpy(value, "bool_")


def _is_of_numpy(value: Any, kind: str) -> bool:
    """Whether the value is of a class of NumPy, which a command that only checks options lacks."""
    numpy = sys.modules.get("numpy")  # without which there is no such value
    return numpy is not None and isinstance(value, getattr(numpy, kind))


def whole_number(name: str, value: Any, least: int = 0, below: int = 2**63) -> int:
    """The value as an int; a ValueError for anything but a whole number in this range."""
    is_whole = isinstance(value, Integral) and _counts(value)
    if not (is_whole and value >= least):
        raise ValueError(f"{name} must be a whole number, at least {least}, got {value!r}")
    if value >= below:
        raise ValueError(f"{name} must be below {below}, got {value!r}")
    return int(value)
