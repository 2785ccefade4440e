"""Columns that are no features although they could be: shown positions, names of items, codes.

Their names say it or, where these may be any, their values.
"""

from __future__ import annotations

import re

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints

IDENTIFIERS = re.compile(
    r"(?i:(.*[\W_])?id|(item|doc|document|product|movie|article|video)([\W_]?(no|nr|id|number))?)"
    r"|.*[a-z0-9]I[dD]"
)
_ITEMS = re.compile(
    r"(item|doc|document|product|movie|article|video|song|listing|sku|asin|isin|"
    r"cusip|sedol|ticker|symbol|gtin|ean|upc|isbn|permno|gvkey)"
    r"( (no|nr|id|number|code|name|title))?"
)
_CODES = re.compile(r"(.* )?(code|codes|mcc|zip|zipcode|postcode|plz|sic|naics|nace|icd|iata|ean)")
_PLACES = "position|positions|pos|rank|ranking|slot|place|ordinal"
_SHOWN = (
    "displayed|display|shown|show|presented|list|listing|result|results|serp|srp|screen|item|"
    "product|doc|document|ad|ads|impression|hit|original|old|logged|log|click|clicked|feed|"
    "carousel|grid|row|slot|placement|served"
)
# A rank of pages or sales is a feature: it is known before anything is shown.
_POSITIONS = re.compile(
    rf"({_PLACES})|(({_SHOWN}) )+({_PLACES}|index|order|at)|"
    rf"({_PLACES}) (({_SHOWN})|in list|on page|in results)"
)
_CLICKS = re.compile(
    r"(is |was |has |num |n )?(click\w*|clk|ctr|purchas\w*|bought|buy|book\w*|convert\w*|"
    r"conversion\w*|order\w*|add to cart|watched|played|liked|engage\w*|opened)"
)
# As a category, item names changed the metric by +.005 (clicks), -.023 (returns) and -.035 (the
# guide for recommenders) on later rows; codes of trades, by +.001 compared with numbers.
# Text of so many values, of which a query has each once, names its rows.
LEAST_ITEMS, ROWS_OF_A_QUERY, TWICE = 50, 4, 0.01
LEAST_CODES, MOST_CODES, ROWS_OF_A_CODE, DENSE = 10, 1000, 10, 0.2


def words_of(name: str) -> str:
    """The words of a name in lower case: shownAt, Shown-At and shown_at are the same."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[\W_]+", " ", parted).strip().lower()


def is_position(name: str, label: str, grouped: bool) -> bool:
    """Whether a column has the positions at which rows were shown, by its name.

    Without queries, labels have to be those of clicks.
    """
    shown = grouped or _CLICKS.fullmatch(words_of(label)) is not None
    return shown and _POSITIONS.fullmatch(words_of(name)) is not None


def are_places(values: Floats, query: Ints) -> bool:
    """Whether values, (n,), are whole numbers from 0 that differ within queries."""
    known = values[np.isfinite(values)]
    if not known.size or known.min() < 0 or (known % 1).any():
        return False
    first = np.unique(query, return_index=True)[1]
    return bool((values != values[first][query]).any())


def names_items(name: str) -> bool:
    """Whether a column names or numbers items, by its own name."""
    return _ITEMS.fullmatch(words_of(name)) is not None


def tells_rows_apart(codes: Ints, query: Ints) -> bool:
    """Whether values, (n,), are as good as all different in each query, but occur in many."""
    different = np.unique(codes).size
    pairs = np.unique(np.stack([query, codes]), axis=1).shape[1]
    enough = codes.size >= ROWS_OF_A_QUERY * np.unique(query).size
    return bool(different >= LEAST_ITEMS and enough and pairs >= (1 - TWICE) * codes.size)


def are_codes(name: str, values: Floats) -> bool:
    """Whether whole numbers, (n,), are codes and no quantities.

    They recur, have as many digits each, and leave out most of the numbers between them, if their
    name is none of codes.
    """
    different = np.unique(values)
    n = different.size
    if not LEAST_CODES <= n <= MOST_CODES or n * ROWS_OF_A_CODE > values.size:
        return False
    if _CODES.fullmatch(words_of(name)):
        return True
    if different[0] < 100 or n > DENSE * np.ptp(different):
        return False
    digits = np.unique(np.floor(np.log10(different)), return_counts=True)[1]
    step = np.gcd.reduce(different.astype(np.int64) - int(different[0]))
    return bool(digits.max() >= 0.9 * n and step == 1)
