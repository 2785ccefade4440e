"""Numbers that look like times: seconds since 1970, and days since 1900 or 1970.

A feature of time is allowed, but trees cannot tell rows that are later than all training rows.
Numbers of the size of days or seconds may be prices, sales or bytes, so they are times only if the
name of the column says it, and days are whole numbers.  Milliseconds and finer units are times
under any name.
"""

import re

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.data.column_kinds import words_of

_FIRST, _LAST = 946_684_800, 2_208_988_800  # 2000 and 2040, in seconds since 1970
_DAY = 86_400
_SCALES = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
_DAYS = {"days since 1900, as in spreadsheets": 25_569, "days since 1970": 0}
_DATES = r"(.* )?((date|dates|datetime|timestamp|ts|dt|epoch)( .*)?|at|on|created|updated|modified)"
_NAMES_OF_DAYS = re.compile(_DATES)
_NAMES_OF_SECONDS = re.compile(rf"{_DATES}|(.* )?(time|unix)( .*)?")


def unit_of_times(name: str, values: Floats) -> tuple[str, Floats] | None:
    """The unit in which all known values would be times from 2000 to 2040, and these in seconds.

    None if there is none, or if they are no different times.
    """
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    low, high, words = known.min(), known.max(), words_of(name)
    for unit, scale in _SCALES.items():
        inside = _FIRST * scale <= low and _DAY * scale <= high - low and high < _LAST * scale
        if inside and (scale > 1 or _NAMES_OF_SECONDS.fullmatch(words)):
            return f"{unit} since 1970", known / scale
    if not _NAMES_OF_DAYS.fullmatch(words) or (known != np.floor(known)).any():
        return None
    for unit, offset in _DAYS.items():
        if low >= _FIRST / _DAY + offset and low < high < _LAST / _DAY + offset:
            return unit, (known - offset) * _DAY
    return None
