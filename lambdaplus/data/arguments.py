"""Checks of single arguments: numbers in a range, whole numbers, flags, fields of records."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np


def number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float = -math.inf,
    most: float = math.inf,
) -> float:
    """The value as a float; a ValueError if it is not a number in this range."""
    is_number = isinstance(value, numbers.Real) and not is_flag(value)
    low = above if least is None else least
    if not is_number or not math.isfinite(value) or not (above < value and low <= value <= most):
        bounds = f"above {above:g}" if least is None else f"at least {least:g}"
        bounds += "" if most == math.inf else f" and at most {most:g}"
        raise ValueError(f"{name} must be a number {bounds}, got {value!r}")
    return float(value)


def check_flag(**given: Any) -> None:
    """Raise a ValueError for values other than True and False."""
    for name, value in given.items():
        if not is_flag(value):
            raise ValueError(f"{name}={value!r} is neither True nor False")


def check_fields(owner: object, allowed: Callable[[Any], bool], words: str, *names: str) -> None:
    """Raise a ValueError for attributes of an object that are not what they should be."""
    for name in names:
        value = getattr(owner, name)
        if not allowed(value):
            raise ValueError(f"{name} of a {type(owner).__name__} must be {words}, got {value!r}")


def is_flag(value: Any) -> bool:
    """Whether the value is True or False; the text "no" is truthy."""
    return isinstance(value, (bool, np.bool_))


def whole_number(name: str, value: Any, least: int = 0, below: int = 2**63) -> int:
    """The value as an int; a ValueError for anything but a whole number in this range."""
    whole = isinstance(value, numbers.Integral) and not is_flag(value)
    if not (whole and value >= least):
        raise ValueError(f"{name} must be a whole number, at least {least}, got {value!r}")
    if value >= below:
        raise ValueError(f"{name} must be below {below}, got {value!r}")
    return int(value)
