"""Numbers in text that a float64 does not hold, which would become others without a word."""

from __future__ import annotations

import re
import reprlib

import numpy as np

# Commas are decimal points in some files.  Exponents, as in 1.2345678901234567e+16, are those of
# rounded numbers.
_INTEGER = "^([+-]?[0-9]+)([.,]0*)?$"


def changed(text: str, number: float) -> str:
    """What to say of a cell whose number a float64 does not hold; empty if it does."""
    integer = re.fullmatch(_INTEGER, text)
    # Python reads at most 4300 digits, and those of a finite number are fewer, but for zeros.
    without_zeros = re.sub("^([+-]?)0+(?=.)", r"\1", integer[1]) if integer else ""
    if integer and (np.isinf(number) or int(without_zeros) != number):
        return (
            f" contains {reprlib.repr(text)[1:-1]}, which a float64 cannot represent: integers "
            "beyond 2**53 would become equal to others; subtract an offset, or pass ranks"
        )
    if np.isinf(number) and re.search("[0-9]", text):
        return f": {text!r} is beyond the largest float64, 1.8e308"
    return ""
