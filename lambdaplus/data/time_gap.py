"""The gap between training and test rows: a duration before dates, or a number before numbers.

Labels may look ahead, so that those of the last training rows tell of the tested time.  With a gap,
what lies in [T - gap, T) is left out before the first tested value T.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arguments import is_flag
from lambdaplus.data.date_readings import fields_of_dates

Gap: TypeAlias = "float | str | timedelta | np.timedelta64"

_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_UNITS = {
    "s": r"s|sec|seconds?", "min": "min|minutes?", "h": "h|hours?", "d": "d|days?",
    "w": "w|weeks?",
}  # fmt: skip
_AMOUNT = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+) *([a-z]*)", re.IGNORECASE)
FORMS = "a duration such as 30d, 12h, 45min or 2w, or a number in the unit of the order"
NO_TIME = np.timedelta64(0, "us")


def parse_gap(gap: Gap) -> float | np.timedelta64:
    """A gap as a number, or as a duration in microseconds; a ValueError for anything else."""
    if isinstance(gap, str):
        return _of_text(gap)
    if isinstance(gap, timedelta | np.timedelta64):
        duration = np.timedelta64(gap)
        unit = np.datetime_data(duration)[0]
        if np.isnat(duration) or unit in ("generic", "M", "Y"):
            raise ValueError(f"gap = {gap!r} has no fixed length: pass {FORMS}")
        found: np.timedelta64 = _not_negative(gap, duration.astype("m8[us]"), NO_TIME)
        return found
    if isinstance(gap, Real) and not is_flag(gap) and np.isfinite(float(gap)):
        return float(_not_negative(gap, gap, 0)) if gap % 1 else int(_not_negative(gap, gap, 0))
    raise ValueError(f"gap must be {FORMS}, got {gap!r}")


def _not_negative(given: Any, gap: Any, nothing: Any) -> Any:
    if gap < nothing:
        raise ValueError(f"gap must be {FORMS}, and not negative, got {given!r}")
    return gap


def _of_text(text: str) -> float | np.timedelta64:
    found = _AMOUNT.fullmatch(text.strip())
    if not found:
        raise ValueError(f"gap must be {FORMS}, got {text!r}")
    amount, word = found[1], found[2]
    if not word:
        return float(amount) if "." in amount else int(amount)
    # M is pandas' month, and no month has a fixed length.
    unit = next((u for u, words in _UNITS.items() if re.fullmatch(words, word.lower())), "")
    if not unit or word == "M":
        may_be = ", which may be minutes or months" if word in ("m", "M") else ""
        raise ValueError(f"gap = {text!r} has the unit {word!r}{may_be}: pass {FORMS}")
    return np.timedelta64(round(Decimal(amount) * _SECONDS[unit] * 10**6), "us")


def is_gap(gap: Gap) -> bool:
    """Whether it is longer than 0; a ValueError for what can be no gap."""
    found = parse_gap(gap)
    return bool(found > (NO_TIME if isinstance(found, np.timedelta64) else 0))


def on_a_line(values: Sequence[Any]) -> NDArray[Any]:
    """Ascending values of an order as datetime64[us], timedelta64[us], int64 or float64.

    Whole numbers such as 20251231 or 202512 are dates, since their differences are no times.
    """
    array = np.asarray(values)
    if array.dtype.kind in "mM":
        return array.astype(f"{array.dtype.kind}8[us]")
    if array.dtype.kind == "O" and not isinstance(values[0], Decimal):  # times, in UTC
        return np.array([one.replace(tzinfo=None) for one in values], "M8[us]")
    if fields := fields_of_dates(array.tolist()):
        return np.array([*map(_date, fields)], "M8[us]")
    if array.dtype.kind == "O":
        whole = all(one == int(one) and abs(one) < 2**53 for one in values)
        return array.astype(np.int64 if whole else np.float64)
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


def _date(fields: Sequence[int]) -> np.datetime64:
    """The time of year, month, week, day of the year, day, hour, minute and second; 0 for none."""
    year, month, week, of_year, day, hours, minutes, seconds = fields
    start = date(year, month or 1, 1)
    if week:  # of few years, a 53rd one
        start = date.fromisocalendar(year, min(week, 52), 1) + timedelta(7 * (week > 52))
    start += timedelta(max(0, day - 1) + max(0, of_year - 1))
    return np.datetime64(start, "us") + np.timedelta64(3600 * hours + 60 * minutes + seconds, "s")
