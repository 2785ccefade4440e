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
    """What the term of a document depends on beside its gain.  Kernels get `MetricArrays`."""

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

        A kernel.  ``ranked`` is the number of ranked documents of each query; row and score are by
        rank, relevance is by row, gain by stratum; ``strata`` is the first stratum of each query.
        """

    @staticmethod
    @abstractmethod
    def potentials(*arguments: Any) -> None:
        """Write the potentials U and V of two classes for the entries of some lists.

        A kernel.  An entry stands for ``size`` documents of one class at consecutive ranks, and
        gets the means over these.  A list has the entries of a query that are of its classes a and
        b, from ``start`` on; if potentials do not depend on classes, it has all entries, with a
        gain of 1.  ``edges``, class, size, and ``each`` (multiplicity of each document, empty if
        all are 1) are those of all entries of the queries.  A document's own contribution is
        multiplied by ``own`` and that of documents above by ``above`` (see
        ``objectives/lists.py``).
        """
