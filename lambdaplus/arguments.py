"""Checks of single arguments: numbers in a range, whole numbers, flags.

Examples
--------
>>> from lambdaplus.arguments import number
>>> number("sigma", 0, above=0.0)
Traceback (most recent call last):
...
ValueError: sigma must be a number above 0, got 0
"""

from __future__ import annotations

import math
import numbers
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
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    low = above if least is None else least
    if not is_number or not math.isfinite(value) or not (above < value and low <= value <= most):
        bounds = f"above {above:g}" if least is None else f"at least {least:g}"
        bounds += "" if most == math.inf else f" and at most {most:g}"
        raise ValueError(f"{name} must be a number {bounds}, got {value!r}")
    return float(value)


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    """The value as an int; a ValueError if it is not a whole number in this range."""
    is_number = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if not is_number or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
    return int(value)


def flag(**given: Any) -> None:
    """Raise a ValueError for values other than True and False, since the text "no" is truthy."""
    for name, value in given.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name}={value!r} is neither True nor False")
