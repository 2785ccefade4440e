"""Identifiers as text that differ in their spelling alone: 3 and +3, or one with a blank.

Nothing says whether they are meant to be one.  They are kept apart, with a warning.  Zeros before
a number, as in 007, are parts of an identifier.
"""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

_NUMBER = re.compile(
    r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+|[1-9]\d{0,2}(,\d{3})+(\.\d*)?)(e[+-]?\d{1,3})?",
    re.ASCII | re.IGNORECASE,
)


def spelled_twice(identifiers: Iterable[str]) -> tuple[str, str] | None:
    """Two different identifiers that a reader would take for one; None if there are none."""
    found: dict[Any, str] = {}
    for identifier in sorted({*identifiers}):
        if (other := found.setdefault(as_read(identifier), identifier)) != identifier:
            return other, identifier
    return None


def as_read(identifier: str) -> Any:
    """A number, or text without invisible characters, blanks around it and forms of a letter."""
    text = identifier
    if not text.isascii():
        composed = unicodedata.normalize("NFKC", text)
        text = "".join(c for c in composed if unicodedata.category(c) != "Cf")
    text = " ".join(text.split())
    return Decimal(text.replace(",", "")) if _NUMBER.fullmatch(text) else text
