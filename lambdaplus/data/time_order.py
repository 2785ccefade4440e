"""The order of rows in time, by dates, numbers or their text.

A text that is a number can be a date as well: as numbers, 2023.10 is before 2023.9, and 012024 is
before 122023.  Where any reading of all texts as dates has another order than the numbers, nothing
says which is meant, and rows of the future would be trained on, so that this is an error.  So are
numbers with a plus sign, an exponent, or zeros before the first digit.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Ints
from lambdaplus.data.date_readings import Keys, of_digits, of_two_parts, written
from lambdaplus.data.lost_zeros import without_zeros
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


def places_and_values(order: ArrayLike, n: int) -> tuple[Ints, Keys]:
    """The place of each of n rows, (n,), among the different dates or numbers, which ascend.

    A ValueError is raised for text that is neither, for text that as a number has another order
    than as a date or version, and for different texts of one value.
    """
    given = identifiers(order, "order", n)
    if given.dtype.kind == "S":
        given = np.char.decode(given, "latin-1")
    different, place = np.unique(given, return_inverse=True)
    kind = different.dtype.kind
    if kind in "iuf":
        _refuse_dates(written(different.tolist()), different.tolist(), kind)
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
        readings = of_two_parts(parts, kind == "text")
    else:  # whole numbers, perhaps written as floats
        readings = of_digits([whole for whole, _ in parts], kind == "text")
    if kind != "text":
        readings = itertools.chain(readings, (("", keys) for keys in without_zeros(parts)))
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
