"""Numbers in text that differ, but are equal as float64, so that scores would tie."""

from collections.abc import Iterable
from decimal import Decimal

_DIGITS = 17  # which are enough to write any float64


def refuse_merged(place: str, texts: Iterable[str], seen: dict[float, str] | None = None) -> None:
    """Raise a ValueError for the first two of these numbers that become one; ``seen`` are others.

    These are the scores of a query, since others don't tie.  Decimal points may be commas.
    """
    seen = {} if seen is None else seen
    for text in texts:
        if len(text) <= _DIGITS:
            continue
        number = text.strip().replace(",", ".")
        other = seen.setdefault(float(number), number)
        if other != number and Decimal(other) != Decimal(number):
            raise ValueError(
                f"{place} contains {other} and {number}, which are equal as float64 and would tie: "
                "subtract an offset, or pass ranks"
            )
