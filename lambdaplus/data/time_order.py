"""The order of rows in time, by dates, numbers or their text.

A text that is a number can be a date as well: as numbers, 2023.10 is before 2023.9, and 012024 is
before 122023.  Where any reading of all texts as dates has another order than the numbers, nothing
says which is meant, and rows of the future would be trained on, so that this is an error.  So are
numbers with a plus sign, an exponent, or zeros before the first digit.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Ints
from lambdaplus.lists.keys import identifiers

_NUMBER = re.compile(
    r"[+-]?(([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?|[0-9]+([eE][+-][0-9]{1,3})?)"
)
_PLAIN = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_DATE = re.compile(
    r"(?P<local>(19|20)\d\d-\d\d|\d{4}-\d\d-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d{1,9})?)?)?)?)"
    r" ?(?P<zone>Z|UTC|(?<=\d:\d\d)[+-]\d\d:?\d\d|(?<=:\d\d[:.]\d\d)[+-]\d\d)?",
    re.ASCII,
)
_RANGES = {
    "Y": (1900, 2100), "m": (1, 12), "W": (1, 53), "d": (1, 31), "j": (1, 366), "H": (0, 23),
    "M": (0, 59), "S": (0, 59),
}  # fmt: skip
_TIMES = ("", "H", "HM", "HMS")
_YEAR_FIRST = ["Y", "YW", "Yj", *(f"Ymd{time}" for time in _TIMES)]
_FIELDS = [
    "Ymd", "Ym", "YW", "Yj", "ymd", "ym", "yW", "yj", "md",
    *(date + time for time in _TIMES[1:] for date in ("Ymd", "Yj", "ymd", "yj")),
]  # fmt: skip
_LAYOUTS = ["".join(order) for fields in _FIELDS for order in itertools.permutations(fields)]
_OF_NUMBERS = {
    "mY",
    *("".join(order) + time for date in ("Ymd", "ymd") for order in itertools.permutations(date)
      for time in _TIMES),
}  # fmt: skip
_TURN, _SPAN = 50, 40  # the first of the years of 1900 in two digits, and the most years

Keys = Sequence[Any]  # one for each text, by which they are sorted
Readings = Iterator[tuple[str, Keys | None]]


def places_in_time(order: ArrayLike, n: int) -> Ints:
    """The place of each of n rows, (n,), among all dates or numbers of ``order``, ascending."""
    return places_and_values(order, n)[0]


def places_and_values(order: ArrayLike, n: int) -> tuple[Ints, Keys]:
    """The place of each of n rows, (n,), and the different dates or numbers, ascending.

    A ValueError is raised for text that is neither, for text that as a number has another order
    than as a date or version, and for different texts of one value.
    """
    given = identifiers(order, "order", n)
    if given.dtype.kind == "S":
        given = np.char.decode(given, "latin-1")
    different, place = np.unique(given, return_inverse=True)
    kind = different.dtype.kind
    if kind in "iuf":
        _refuse_dates(_written(different.tolist()), different.tolist(), kind)
    if kind != "U":
        return place.astype(np.int64), [*different]
    texts = [text.strip() for text in different.tolist()]
    _refuse_missing(texts, place)
    keys = _keys(texts)
    by_key: dict[Any, str] = {}
    for text, key in zip(texts, keys, strict=True):
        if by_key.setdefault(key, text) != text:
            raise ValueError(
                f"order has {by_key[key]!r} and {text!r}, which are the same number or date: write "
                "each in one way, and dates and times in full"
            )
    ascending = sorted(by_key)
    rank = {key: i for i, key in enumerate(ascending)}
    return np.array([rank[key] for key in keys], np.int64)[place], ascending


def fields_of_dates(numbers: Sequence[float]) -> Keys | None:
    """Year, month, week, day of the year, day and time of numbers such as 20251231 and 202512.

    None for other numbers, also for years, and for months, weeks or days of a single year, of
    which differences are times.
    """
    texts = _written(numbers)
    if not all(re.fullmatch(r"\d+", text, re.ASCII) for text in texts):
        return None
    widths = {len(text) for text in texts}
    layouts = ["ym"] if widths == {4} else ["Ym", *_YEAR_FIRST[1:]]
    keys = next((keys for layout in layouts if (keys := _read(texts, layout, widths))), None)
    years, days = zip(*((key[0], key[4]) for key in keys or [(0,) * 8]), strict=True)
    return keys if len({*years}) > 1 or any(days) else None


def _written(numbers: Sequence[float]) -> list[str]:
    """Numbers as text, without the decimals of whole ones."""
    return [f"{int(x)}" if x == x // 1 and abs(x) < 2**63 else repr(x) for x in numbers]


def _refuse_missing(texts: Sequence[str], place: Ints) -> None:
    missing = [i for i, text in enumerate(texts) if text.lower() in ("", "nan", "nat")]
    if missing:
        row = int(np.flatnonzero(np.isin(place, missing))[0])
        raise ValueError(f"order is missing in row {row}: it is {texts[place[row]]!r}")


def _keys(texts: Sequence[str]) -> Keys:
    """What different texts are sorted by: numbers, or dates and times."""
    if all(map(_NUMBER.fullmatch, texts)):
        numbers = [*map(Decimal, texts)]
        _refuse_dates(texts, numbers, "text")
        for text in texts:
            if not _PLAIN.fullmatch(text):
                raise ValueError(
                    f"order has {text!r}, which may be a date: write numbers as -3 or 12.5, "
                    "without a plus sign, an exponent or zeros before the first digit, and dates "
                    "as 2026-11-26; or pass numbers or dates that are not text, as in Parquet"
                )
        return numbers
    moments = [*map(_moment, texts)]
    if None in moments:
        raise ValueError(
            f"order has text such as {texts[moments.index(None)]!r}: pass dates, numbers, or text "
            "such as 2026-11-26"
        )
    if len({type(moment) for moment in moments}) > 1:
        raise ValueError("order has times with and without a time zone: write all with one")
    return moments


def _moment(text: str) -> Any:
    """A date or time, in UTC if the text has a time zone; None for other text."""
    found = _DATE.fullmatch(text)
    try:
        if found and found["zone"]:
            zone = found["zone"].replace("UTC", "Z")
            return datetime.fromisoformat(found["local"] + zone).astimezone(UTC)
        return np.datetime64(text) if found else None
    except ValueError:  # such as February 30
        return None


def _refuse_dates(texts: Sequence[str], numbers: Keys, kind: str) -> None:
    """Raise a ValueError if texts, as dates or versions, have another order than as numbers."""
    if len(texts) < 2:
        return
    parts = [text.partition(".")[::2] for text in texts]
    if not all(re.fullmatch(r"\d+(\.\d*)?", text, re.ASCII) for text in texts):
        return
    if any(rest.strip("0") for _, rest in parts):
        readings = _of_two_parts(parts, kind == "text")
    else:  # whole numbers, perhaps written as floats
        readings = _of_digits([whole for whole, _ in parts], kind == "text")
    ascending = sorted(range(len(texts)), key=numbers.__getitem__)
    for form, keys in readings:
        for i, j in itertools.pairwise(ascending):
            if keys is None or not keys[i] < keys[j]:
                first, second = (texts[i], texts[j]) if kind == "text" else (numbers[i], numbers[j])
                parse = f"pass {form}, or " if form else ""
                raise ValueError(
                    f"order has {first!r} and {second!r}, in this order as numbers, but not as "
                    f"dates or versions: {parse}write dates as 2026-11-26, months as 2026-11, and "
                    "numbers with the same number of decimals, or pass numbers or dates that are "
                    "not text, as in Parquet"
                )


def _of_digits(texts: Sequence[str], are_text: bool) -> Readings:
    """Readings of digits as dates, and calls that read them; None is the order of no numbers.

    There is none if the digits begin with the year, in four digits, or are months of few years.
    """
    widths = {len(text) for text in texts}
    if any(_read(texts, layout, widths) for layout in _YEAR_FIRST):
        return
    if widths == {4} and all(map(_is_year, texts)):
        return
    months = _read(texts, "ym") if widths == {4} else None
    if months and len({year for year, *_ in months}) <= len(texts) / 3:
        return
    for layout in _LAYOUTS:
        if (are_text or layout in _OF_NUMBERS) and (keys := _read(texts, layout, widths)):
            meant = "Y" in layout and layout in _OF_NUMBERS
            yield _form(layout), None if meant else keys
    if are_text and widths == {3, 4}:  # 231 to 2312
        padded = [text[:2] + text[2:].zfill(2) for text in texts]
        yield from (("", keys) for layout in ("ym", "yW") if (keys := _read(padded, layout)))
    if max(widths) > 8 or min(widths) < 4:
        return
    if all(_is_year(text[-4:]) and _is_part(text[:-4]) for text in texts):
        yield "", None
    if len(widths) > 1 and all(_is_year(text[:4]) and _is_part(text[4:]) for text in texts):
        keys = [(int(text[:4]), int(text[4:] or 0)) for text in texts]
        yield "", keys if max(widths) <= 6 else None


def _form(layout: str) -> str:
    """The call of pandas, which would read 1112025 as January, and no weeks without a day."""
    form = "".join(f"%{letter}" for letter in layout)
    texts = f"[str(one).zfill({_width(layout)}) for one in order]"
    return "" if "W" in layout else f"pandas.to_datetime({texts}, format={form!r})"


def _is_year(text: str) -> bool:
    return 1900 <= int(text) <= 2100


def _is_part(digits: str) -> bool:
    """Whether digits beside a year may be a month, week or day, or day and month in any order."""
    if len(digits) <= 3 and 1 <= int(digits or 1) <= 366:
        return True
    splits = [(int(digits[:i]), int(digits[i:])) for i in (1, 2) if 0 < len(digits) - i <= 2]
    return any(1 <= min(pair) <= 12 and 1 <= max(pair) <= 31 for pair in splits)


def _width(layout: str) -> int:
    return 2 * len(layout) + 2 * ("Y" in layout) + ("j" in layout)


def _read(texts: Sequence[str], layout: str, lengths: set[int] | None = None) -> Keys | None:
    """Digits as dates of this layout, perhaps without the first zeros; None if one is no date."""
    if not _fits(lengths or {*map(len, texts)}, layout):
        return None
    width = _width(layout)
    return _parse((text.zfill(width) for text in texts), layout)


def _fits(lengths: set[int], layout: str, padded: str = "Y") -> bool:
    """Whether texts of these lengths may be of a layout; a first field in ``padded`` has zeros."""
    width = _width(layout)
    if layout[0] in padded:
        return lengths == {width}
    return min(lengths) > 0 and max(lengths) in (width, width - 1)


def _parse(texts: Iterable[str], layout: str) -> Keys | None:
    keys = []
    for text in texts:
        fields, digits = {}, text
        for letter in layout:
            size = {"Y": 4, "j": 3}.get(letter, 2)
            fields[letter], digits = int(digits[:size]), digits[size:]
            low, high = _RANGES.get(letter, (0, 99))
            if not low <= fields[letter] <= high:
                return None
        if "y" in fields:
            fields["Y"] = fields["y"] + (1900 if fields["y"] >= _TURN else 2000)
        keys.append(tuple(fields.get(letter, 0) for letter in "YmWjdHMS"))
    years = [key[0] for key in keys]
    return keys if max(years) - min(years) <= _SPAN else None


def _of_two_parts(parts: Sequence[tuple[str, str]], are_text: bool) -> Readings:
    """Readings of numbers with a decimal point as dates, or as versions."""
    whole, rest = [int(a) for a, _ in parts], [int(b or -1) for _, b in parts]
    lengths = {len(b) for _, b in parts}
    reverse, forward = [*zip(rest, whole, strict=True)], [*zip(whole, rest, strict=True)]
    if lengths == {4} and all(_is_year(b) and 1 <= int(a) <= 366 for a, b in parts):
        yield "", reverse
    of_years = all(1900 <= a <= 2100 and b <= 53 for a, b in forward) and max(lengths) <= 2
    if not are_text:  # in which 2023.1 may be October, if there is a 2023.01 as well
        if of_years and not any(b.startswith("0") for _, b in parts):
            yield "", forward
        return
    yield from _of_text_in_two_parts([a for a, _ in parts], [b for _, b in parts])
    dense = len({*rest}) >= (max(rest) - min(rest)) / 10
    zeros = any(b.endswith("0") and len(b) > min(lengths) for _, b in parts)
    if len(lengths) > 1 and (of_years or dense or zeros):
        yield "", forward


def _of_text_in_two_parts(whole: Sequence[str], rest: Sequence[str]) -> Readings:
    """Readings as dates with a point between two fields, or before a fraction of the last one."""
    first = next((layout[:3] for layout in _YEAR_FIRST[::-1] if _read(whole, layout)), "")
    start = first if first == "Ymd" else first[:1]
    lengths, decimals = {*map(len, whole)}, {*map(len, rest)}
    for layout in _LAYOUTS:
        if not layout.startswith(start):
            continue
        for k in range(1, len(layout)):
            before, after = layout[:k], layout[k:]
            sizes = _width(before), _width(after)
            if before[0] == "y" and max(lengths) < sizes[0]:  # of 0.5, no year 2000
                continue
            padded = "yYj" if layout == "yj" else "yY"  # 12.5 would often be day 5 of 2012
            if _fits(lengths, before) and _fits(decimals, after, padded):
                joined = (
                    a.zfill(sizes[0]) + b.zfill(sizes[1]) for a, b in zip(whole, rest, strict=True)
                )
                if keys := _parse(joined, layout):
                    yield "", keys
        of_day = ("d" in layout or "j" in layout) and _width(layout) > 4 and layout[0] != "Y"
        if of_day and (keys := _read(whole, layout, lengths)):
            yield "", [*zip(keys, (Decimal(f"0.{b}") for b in rest), strict=True)]
