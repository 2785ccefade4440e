"""The base class of forms: values of whole rankings, and swap deltas as differences of potentials.

Consider two classes, a with a higher label than b.  For a document of class a at rank p and one of
class b at rank q > p (a concordant pair), swapping them changes the metric by -(U(p) - U(q)); for b
at p and a at q (a discordant pair) by V(p) - V(q).  research/mathematics/metric-as-data.md has the
formula of the potentials U and V, which is the same for all forms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from lambdaplus.compute.array_types import Floats, Int32s, Ints, Rows
from lambdaplus.metrics.label_counts import LabelCounts
from lambdaplus.ranking.sort import Entries


class Coupling(NamedTuple):
    """What documents add to the terms of those below: row[x] * column[c] of class c to class x."""

    row: Floats  # (s,)
    column: Floats  # (s,)
    only_higher: bool = False  # nothing to classes that are not lower

    @property
    def within_class(self) -> Floats:
        """What a document adds to another one of its class, (s,)."""
        return self.row * self.column


class MetricArrays(NamedTuple):
    """The values of a declaration for each stratum, query and rank."""

    strata: Ints  # (n_queries + 1,) first stratum of each query, and the number of strata
    code: Int32s  # (n,) class of each row within its query
    discount: Floats  # (longest,) by rank, counted from 0
    gain: Floats  # (s,)
    of_form: Any  # what `Form.arrays` returns
    coupling: Coupling  # zeros for most forms
    scale: Floats  # (n_queries,) 1/Z; 0 if the metric has no value
    offset: Floats  # (n_queries,)


class Ranked(NamedTuple):
    """The documents of every query in ranked order."""

    n: Ints  # (n_queries,) how many have a rank: the others are last
    row: Rows
    score: Floats


class ClassPairs(NamedTuple):
    """Lists of the entries of two classes of a query, or of all of its entries."""

    query: Ints
    a: Ints  # the higher class of each
    b: Ints
    start: Ints  # the first element of each


class Part(NamedTuple):
    """What multiplies a document's own contribution to a potential, and that of those above."""

    own: float
    above: float


class Form(ABC):
    """The base class of forms; ``values`` and ``potentials`` are kernels."""

    potentials_by_classes: ClassVar[bool] = True  # whether potentials differ between pairs
    gain_follows_labels: ClassVar[bool] = True  # whether a gain must not fall with the label
    # Other numbers for the labels, see `CountAbove`.
    labels: Callable[[Any, Floats], Floats] | None = None

    @abstractmethod
    def arrays(self, counts: LabelCounts) -> Any:
        """A NamedTuple of the results of the form's functions by stratum, for its kernels."""

    def pools(self, rank: str) -> bool:
        """Whether `Declaration.pooled` may be this rank."""
        return False

    @staticmethod
    @abstractmethod
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ranked, metric: MetricArrays, out: Floats
    ) -> None:
        """Write the sum over all ranks of some queries, the mean over the orders of ties."""

    @staticmethod
    @abstractmethod
    def potentials(
        lists: ClassPairs, entries: Entries, metric: MetricArrays, part: Part, U: Floats, V: Floats
    ) -> None:
        """Write the potentials U and V of two classes for the entries of some lists.

        An entry stands for documents of one class at consecutive ranks, and gets their mean.  If
        potentials do not depend on classes, a list has all entries, and potentials are those of a
        gain of 1.  ``metric`` has the strata of the queries of the entries, and the discounts of
        their documents.
        """
