"""Forms of ranking metrics: what the term of a document depends on beside its gain.

`Declaration` has the general formula, in which a form defines the parts that others lack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lambdaplus.arrays import check_fields
from lambdaplus.queries import Floats

if TYPE_CHECKING:
    from lambdaplus.metrics.label_counts import LabelCounts

Rule = Callable[["LabelCounts"], Floats]


def optional_function(value: object) -> bool:
    return value is None or callable(value)


@dataclass(frozen=True)
class Gains:
    """The term of a document is its gain, independently of the other documents."""


@dataclass(frozen=True)
class CountAbove:
    """Each document above adds A[x, c] = row[x] * column[c] to a term if ``x relation c`` holds.

    Neither factor is negative.
    """

    row: Rule
    column: Rule
    relation: Literal["any", "lower"] = "any"  # "lower": only classes c higher than x count

    def __post_init__(self) -> None:
        check_fields(self, callable, "a function", "row", "column")
        if self.relation not in ("any", "lower"):
            raise ValueError(f"CountAbove: relation={self.relation!r} is neither 'any' nor 'lower'")


@dataclass(frozen=True)
class Cascade:
    """The reader stops at a document of class c with probability ``stop[c]``.

    Certain stops (probability 1) end the reading gradually if a ``limit`` per query is given:
    after S of them a share ``1 - S / limit`` of the readers is left.
    """

    stop: Rule
    limit: Rule | None = None

    def __post_init__(self) -> None:
        check_fields(self, callable, "a function", "stop")
        check_fields(self, optional_function, "a function or None", "limit")


@dataclass(frozen=True)
class Window:
    """A class has its gain only within the ranks (first, last) of its stratum, counted from 1.

    A window without ranks has ``last = first - 1``.
    """

    ranks: Callable[[LabelCounts], tuple[Floats, Floats]]

    def __post_init__(self) -> None:
        check_fields(self, callable, "a function", "ranks")


Form = Gains | CountAbove | Cascade | Window
