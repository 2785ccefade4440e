"""Identifiers as text that differ in their spelling alone: 3 and +3, or one with a blank.

Nothing says whether they are meant to be one.  They are kept apart, with a warning.  Zeros before
a number, as in 007, are parts of an identifier.
"""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from lambdaplus.compute.messages import warn

_NUMBER = re.compile(
    r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+|[1-9]\d{0,2}(,\d{3})+(\.\d*)?)(e[+-]?\d{1,3})?",
    re.ASCII | re.IGNORECASE,
)

_PLAIN = re.compile(r"[a-z_][\w-]*|0\d*|-?[1-9]\d*", re.ASCII | re.IGNORECASE)  # as they read
_told: set[tuple[str, str]] = set()


def warn_of_spellings(identifiers: Iterable[str], name: str) -> None:
    """Warn of identifiers in two spellings, once for the same two.

    The identifiers of one data set are checked in several places.
    """
    both = spelled_twice(identifiers)
    if both is not None and both not in _told:
        say_different(both, name)


def say_different(both: tuple[str, str], name: str, why: str = "") -> None:
    """Warn that these identifiers are different ones."""
    _told.add(both)
    warn(
        f"{name} has {both[0]!r} and {both[1]!r}, which are different{why}: write each identifier "
        "in one way"
    )


def spelled_twice(identifiers: Iterable[str]) -> tuple[str, str] | None:
    """Two different identifiers that a reader would take for one; None if there are none."""
    different, found = {*identifiers}, dict[Any, str]()
    if all(map(_PLAIN.fullmatch, different)):
        return None
    for identifier in sorted(different):
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
