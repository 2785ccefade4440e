"""The base class of forms: values of whole rankings, and swap deltas as differences of potentials.

Consider two classes, a with a higher label than b.  For a document of class a at rank p and one of
class b at rank q > p (a concordant pair), swapping them changes the metric by -(U(p) - U(q)); for b
at p and a at q (a discordant pair) by V(p) - V(q).  docs/mathematics/metric-as-data.md has the
formula of the potentials U and V, which is the same for all forms.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints, Rows
from lambdaplus.metrics.label_counts import LabelCounts


class Coupling(NamedTuple):
    """What documents add to the terms of those below: row[x] * column[c] of class c to class x."""

    row: Floats  # (s,)
    column: Floats  # (s,)

    @property
    def within_class(self) -> Floats:
        """What a document adds to another one of its class, (s,)."""
        return self.row * self.column


class Form(ABC):
    """The base class of forms; ``values`` and ``potentials`` are kernels."""

    potentials_by_classes: ClassVar[bool] = True  # whether potentials differ between pairs
    gain_follows_labels: ClassVar[bool] = True  # whether a gain must not fall with the label

    @abstractmethod
    def parts(self, counts: LabelCounts) -> tuple[Any, ...]:
        """The results of the form's functions by stratum: the last arguments of its kernels."""

    def coupling(self, parts: tuple[Any, ...], counts: LabelCounts) -> Coupling:
        """What documents add to the terms of those below, from `parts`; nothing by default."""
        return Coupling(np.zeros_like(counts.label), np.zeros_like(counts.label))

    def pools(self, rank: str) -> bool:
        """Whether `Declaration.pooled` may be this rank."""
        return False

    @staticmethod
    @abstractmethod
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ints, row: Rows, score: Floats,
        code: Int32s, discount: Floats, strata: Ints, gain: Floats, out: Floats, *parts: Any,
    ) -> None:  # fmt: skip
        """Write the sum over all ranks of some queries, the mean over the orders of ties.

        ``ranked`` is the number of ranked documents of each query; row and score are by rank,
        code is by row, gain by stratum; ``strata`` is the first stratum of each query.
        """

    @staticmethod
    @abstractmethod
    def potentials(
        query: Ints, a: Ints, b: Ints, start: Ints, edges: Ints, code: Int32s, size: Ints,
        each: Floats, discount: Floats, strata: Ints, gain: Floats, own: float, above: float,
        U: Floats, V: Floats, *parts: Any,
    ) -> None:  # fmt: skip
        """Write the potentials U and V of two classes for the entries of some lists.

        An entry stands for ``size`` documents of one class at consecutive ranks, and gets their
        mean.  List k has the entries of the classes a and b of a query, from ``start`` on; if
        potentials do not depend on classes, it has all entries, and potentials are those of a gain
        of 1.  ``edges``, class, size and ``each`` (multiplicity of each document; empty if all are
        1) are those of all entries of the queries.  A document's own contribution is multiplied by
        ``own``, and that of documents above by ``above``.
        """
