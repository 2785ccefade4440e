"""The base class of forms: values of whole rankings, and swap deltas as differences of potentials.

Consider two classes, a with a higher label than b.  For a document of class a at rank p and one of
class b at rank q > p (a concordant pair), swapping them changes the metric by -(U(p) - U(q)); for b
at p and a at q (a discordant pair) by V(p) - V(q).  Both potentials are functions of the rank, and
the same formula gives them for every metric of the catalogue.  Let f(r, x, s) be the term of rank r
if a document of class x is at this rank and s is the state of the ranking above it, and "s + b - a"
the state s with one document of class a above replaced by one of class b.  Then

    T_ab(r) = f(r, a, s_r + b - a) - f(r, b, s_r)
              + sum over k < r of [ f(k, x_k, s_k + b - a) - f(k, x_k, s_k) ],

    U = T_ab,   V = -T_ba.

A discounted sum of gains has T_ab = (g_a - g_b) d: the same potential for every pair of classes.
The tests compare U and V with brute force over every swap.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from lambdaplus.metrics.declared_arrays import LabelCounts


class Form(ABC):
    """What the term of a document depends on beside its gain.

    The kernels of a form get the arrays of `lambdaplus.metrics.declared_arrays.MetricArrays`; the
    rest is the same for all forms.
    """

    potentials_by_classes: ClassVar[bool] = True  # or the same for all pairs of classes
    gain_follows_labels: ClassVar[bool] = True  # whether a gain must not fall with the label

    @abstractmethod
    def parts(self, counts: LabelCounts) -> tuple[Any, ...]:
        """What the rules of the form return, by stratum: the last arguments of its kernels."""

    def pools(self, rank: str) -> bool:
        """Whether steps of tied rows and weighted rows are defined with the discount of a rank."""
        return False

    @staticmethod
    @abstractmethod
    def values(*arguments: Any) -> None:
        """Write the sum over all ranks of some queries, the mean over the orders of ties.

        A kernel.  Its arguments are the first and last query; boundaries, and the number of ranked
        documents of each query; row and score by rank; class by row; discount; index of the first
        stratum of each query; gain by stratum; where to write the sum of each query; and the parts.
        """

    @staticmethod
    @abstractmethod
    def potentials(*arguments: Any) -> None:
        """Write the potentials U and V of two classes for the entries of some lists.

        An entry stands for ``size`` documents of one class at consecutive ranks; its potentials are
        the means over these ranks.  A list contains the entries of a query that are of its two
        classes.  If potentials do not depend on classes, it contains all entries, and the
        potentials are those of a gain of 1.

        A kernel.  Its arguments are query, class a, class b and first entry of each list; of all
        entries of the queries: the first of each query, class, size, and multiplicity of each of
        its documents (empty if all are 1); discount by rank; index of the first stratum of each
        query; gain by stratum; factors of a document's own contribution to its potentials and of
        the contribution of documents above it (1 and 1, except for multiplicities: see
        ``lambdaplus.objectives.lists``); U and V to write to; and the parts.
        """
