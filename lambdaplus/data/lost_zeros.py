"""Months and weeks with years as numbers, which lost zeros: 1.202 is 01.2020, and 122 is 01/22.

Other numbers may look so, too.  They are not nearly all months, or all weeks, of some years.
"""

from collections.abc import Iterator, Sequence

Dates = list[tuple[int, int]]  # year, and month or week

_FEWEST, _SPAN = 6, 40  # dates, and years


def without_zeros(parts: Sequence[tuple[str, str]]) -> Iterator[Dates]:
    """Readings of the digits of numbers before and after the decimal point, if there are any."""
    whole, decimals = [before for before, _ in parts], [after.rstrip("0") for _, after in parts]
    if any(decimals):
        readings = [
            [(year.ljust(digits, "0"), part) for part, year in zip(whole, decimals, strict=True)]
            for digits in (2, 4)
        ]
    else:
        readings = [
            [(one[-2:], one[:-2]) for one in whole],
            [(one[:2], one[2:]) for one in whole],
        ]
    for reading in readings:
        dates = [(_year(year), int(part or 0)) for year, part in reading]
        first, last = min(dates)[0], max(dates)[0]
        # Many other numbers end in 00 to 09, and all of a long range in 00 to 99.
        others = len(reading[0][0]) == 2 and 2000 <= first < 2010
        if not others and last - first <= _SPAN and _are_nearly_all(dates):
            yield dates


def _year(digits: str) -> int:
    """A year of four digits, or of two, of which the first is 1950; or 0."""
    year = int(digits)
    if len(digits) == 4 and 1900 <= year <= 2100:
        return year
    return year + (2000 if year < 50 else 1900) if len(digits) == 2 else 0


def _are_nearly_all(dates: Dates) -> bool:
    """Whether these are half of the months or weeks from the first to the last, or more."""
    different, most = {*dates}, max(part for _, part in dates)
    if len(different) < _FEWEST or min(part for _, part in dates) < 1 or not 4 < most <= 53:
        return False
    if min(year for year, _ in dates) == 0:
        return False
    in_year = 12 if most <= 12 else 53
    places = [year * in_year + part for year, part in different]
    return max(places) - min(places) < 2 * len(different)
