"""Parameters and cutoffs of ranking metrics, such as the gain of NDCG, and their text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.compute.arguments import check_choice, number, number_of
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.lists.vectors import checked_array

Value = str | float | tuple[float, ...]


@dataclass(frozen=True)
class Parameter:
    """An option of a metric.

    Attributes
    ----------
    name, help : str
    default : str or float
    choices : tuple of str
        Allowed words.  Without them, the value is a finite number.
    limits : tuple of float
        Bounds, which are excluded.
    per_label : bool
        Whether a number for each label from 0 is allowed, too, as a list or as ``0/1/3/7``.

    Raises
    ------
    ValueError
        If the default is not allowed.

    Examples
    --------
    >>> from lambdaplus.metrics import Parameter
    >>> depth = Parameter("depth", 0.8, "probability of the next rank", limits=(0, 1))
    >>> depth.check("0.5")
    0.5
    """

    name: str
    default: str | float
    help: str
    choices: tuple[str, ...] = ()
    limits: tuple[float, float] = (-np.inf, np.inf)
    per_label: bool = False

    def __post_init__(self) -> None:
        self.check(self.default)

    def check(self, value: Any) -> Value:
        """Convert a value to its type; a ValueError says what is allowed."""
        if self.per_label and not (isinstance(value, str) and value in self.choices):
            return self._per_label(value)
        if self.choices:
            check_choice(self.name, value, self.choices)
            return str(value)
        try:
            converted = number_of(value) if isinstance(value, str) else float(value)
        except (TypeError, ValueError, OverflowError):
            converted = np.nan
        if not np.isfinite(converted):
            raise ValueError(f"{self.name}={value!r} is not a finite number")
        low, high = self.limits
        if not low < converted < high:
            raise ValueError(f"{self.name}={value!r} is not between {low:g} and {high:g}")
        return converted + 0.0  # convert -0.0 to 0.0, so that equal metrics have the same name

    def _per_label(self, value: Any) -> tuple[float, ...]:
        try:
            listed = [*map(number_of, value.split("/"))] if isinstance(value, str) else value
            numbers = checked_array(listed, self.name).astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.empty(0)
        if numbers.ndim != 1 or numbers.size == 0:
            raise ValueError(
                f"{self.name}={value!r} is not one of {', '.join(self.choices)}, nor a list of "
                "numbers, one for each label from 0, such as [0, 1, 3, 7] or 0/1/3/7"
            )
        if not (np.isfinite(numbers).all() and numbers[0] >= 0 and (np.diff(numbers) >= 0).all()):
            raise ValueError(
                f"{self.name}={as_text(tuple(numbers.tolist()))}: the numbers of labels 0, 1, ... "
                "must be finite, not negative, and not decrease from one label to the next"
            )
        return tuple((numbers + 0.0).tolist())


RELEVANT = Parameter("relevant", 1.0, "label from which a document counts as relevant")
OVER = Parameter(
    "over", "query", "rows that are ranked together: a query, or the data set", ("query", "dataset")
)
GAIN = Parameter(
    "gain",
    "exp2",
    "gain of label l: exp2 is 2^l - 1, linear is l; a list such as 0/1/3/7 is for labels 0, 1, ...",
    ("exp2", "linear"),
    per_label=True,
)
DISCOUNT = Parameter(
    "discount",
    "log2",
    "discount at rank r: log2 is 1 / log2(1 + r); letor is 1, 1, 1 / log2 3, 1 / log2 4, ...",
    ("log2", "letor"),
)
DIVISOR = Parameter(
    "divisor",
    "reachable",
    "map@k and recall@k divide by min(R, k), the largest possible number of hits, or by R, the "
    "number of relevant documents",
    ("reachable", "relevant"),
)


def as_text(value: Any) -> str:
    """The value of a parameter as written in a name: ``linear``, ``0.5``, ``0/1/3``."""
    if isinstance(value, tuple):
        return "/".join(map(shortest, value))
    return shortest(value) if isinstance(value, float) else str(value)


def shortest(value: float) -> str:
    """The number as text, with all digits and without ``.0``."""
    text = f"{value:g}"
    return text if float(text) == value else repr(value)


@dataclass(frozen=True)
class Share:
    """A share of the documents of each query, in per cent; a ValueError unless between 0 and 100.

    Examples
    --------
    >>> from lambdaplus import parse_metric
    >>> share = parse_metric("recall@1%").cutoff
    >>> share.ranks([50, 100, 101]).tolist()
    [1, 1, 2]
    """

    percent: float

    def __post_init__(self) -> None:
        number("a share of the documents, in per cent,", self.percent, above=0.0)
        if self.percent >= 100:
            raise ValueError(f"@{self} should be below 100%: leave out the cutoff for all ranks")

    @classmethod
    def parse(cls, text: str) -> Share:
        """Read ``1%``; a ValueError for anything else."""
        if not re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*%\s*", text):
            raise ValueError(f"the cutoff {text!r} is not an integer, nor a share such as 1%")
        return cls(float(text.strip().removesuffix("%")))

    def ranks(self, sizes: Floats | Ints) -> Ints:
        """The number of ranks of lists of these sizes, rounded up."""
        exact = np.round(self.percent * np.asarray(sizes, dtype=np.float64) / 100, 9)
        return np.ceil(exact).clip(min=1).astype(np.int64)

    def __str__(self) -> str:
        return f"{shortest(self.percent)}%"
