"""Counts of the documents above: average precision, and concordance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lambdaplus.compute.arguments import check_callable, check_choice
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import (
    ClassPairs,
    Coupling,
    Form,
    MetricArrays,
    Part,
    Ranked,
)
from lambdaplus.metrics.label_counts import CountsFunction, LabelCounts
from lambdaplus.ranking.sort import Entries


@compiled
def _added(coupling: Coupling, x: int, c: int) -> float:
    """A[x, c]; see `CountAbove`."""
    return 0.0 if coupling.only_higher and x >= c else float(coupling.row[x] * coupling.column[c])


@compiled
def _add(sums: Floats, n_classes: int, x: int, value: float) -> None:
    """Add a value of class x to a binary indexed tree, whose sums are over higher classes."""
    i = n_classes - x
    while i <= n_classes:
        sums[i] += value
        i += i & -i


@compiled
def _sum_above(sums: Floats, n_classes: int, x: int) -> float:
    """The sum over the classes above x."""
    i, total = n_classes - x - 1, 0.0
    while i > 0:
        total += sums[i]
        i -= i & -i
    return total


@dataclass(frozen=True)
class CountAbove(Form):
    """Each class-c document above a class-x document adds A[x, c] = row[x] * column[c] to its term.

    Parameters
    ----------
    row, column : callable
        The factors, (s,), as functions of `LabelCounts`; not negative.
    relation : {"any", "higher"}
        Which documents above add to the term: all, or only those of higher classes than x.
    labels : callable, optional
        Other numbers for the labels, (m,), as a function of the `RankingMetric` and of the m
        different labels of a data set: what all functions get, and in what order documents are
        ranked.  Then only the pairs whose factors are not 0 are compared, with equal weights in
        training, and data without queries are one ranking.

    Raises
    ------
    ValueError
        For another relation, and anything else in place of a function.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.metrics import CountAbove
    >>> CountAbove(lambda counts: counts.label, lambda counts: np.ones_like(counts.label)).relation
    'any'
    """

    row: CountsFunction
    column: CountsFunction
    relation: Literal["any", "higher"] = "any"
    labels: Callable[[Any, Floats], Floats] | None = None

    def __post_init__(self) -> None:
        check_callable(row=self.row, column=self.column)
        if self.labels is not None:
            check_callable(labels=self.labels)
        check_choice("relation", self.relation, ("any", "higher"))

    def arrays(self, counts: LabelCounts) -> Coupling:
        row = counts.per_class("row", self.row(counts))
        column = counts.per_class("column", self.column(counts))
        return Coupling(row, column, self.relation == "higher")

    def pools(self, rank: str) -> bool:
        return self.relation == "any" and rank == "last"

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ranked, metric: MetricArrays, out: Floats
    ) -> None:
        """Ties: each document is equally often at each rank of its run."""
        strata, code, discount, gain = metric.strata, metric.code, metric.discount, metric.gain
        row, score, (factor, column, higher) = ranked.row, ranked.score, metric.coupling
        most = 1
        for q in range(first, last):
            most = max(most, strata[q + 1] - strata[q])
        # A binary indexed tree of the columns of the documents above, by class.
        above, before = np.zeros(most + 1), np.empty(0)
        for q in range(first, last):
            base, total, r, lowest = boundaries[q], 0.0, 0, strata[q]
            n_classes, every = strata[q + 1] - lowest, 0.0  # sum over all documents above
            above[: n_classes + 1] = 0.0
            while r < ranked.n[q]:
                # Sums of d, and of d times the index within the run of ties.
                start, weight, slope, within = r, 0.0, 0.0, 0.0
                while r < ranked.n[q] and score[base + r] == score[base + start]:
                    within += column[lowest + code[row[base + r]]]
                    weight += discount[r]
                    slope += discount[r] * (r - start)
                    r += 1
                m = r - start
                if higher and before.size < m:
                    before = np.empty(2 * m)
                # With "higher", first what is above the run, then with the run itself.
                for i in range(m if higher else 0):
                    x = code[row[base + start + i]]
                    before[i] = _sum_above(above, n_classes, x)
                for i in range(m if higher else 0):
                    x = code[row[base + start + i]]
                    _add(above, n_classes, x, column[lowest + x])
                for i in range(m):
                    x = code[row[base + start + i]]
                    upto, others = every, within - column[lowest + x]
                    if higher:
                        upto = before[i]
                        others = _sum_above(above, n_classes, x) - upto if m > 1 else 0.0
                    # The term of research/mathematics/metric-as-data.md. A document of the run is
                    # equally often at each of its ranks, so its gain, and what is added from above
                    # the run, get the mean discount.
                    expected = weight * (gain[lowest + x] + factor[lowest + x] * upto)
                    if m > 1:
                        # Each of the others is above with probability t / (m - 1).
                        expected += slope * factor[lowest + x] * others / (m - 1)
                    total += expected / m
                every += within
            out[q] = total

    @staticmethod
    @compiled
    def potentials(
        lists: ClassPairs, entries: Entries, metric: MetricArrays, part: Part, U: Floats, V: Floats
    ) -> None:
        """The terms of a less those of b, from the documents above and to those passed."""
        gain, discount, coupling = metric.gain, metric.discount, metric.coupling
        most = 0
        for q in lists.query:
            most = max(most, metric.strata[q + 1] - metric.strata[q])
        # T_ab of mathematics/metric-as-data.md. A document's own part and that of others are
        # apart, since multiplicities weight them differently (`Part`).
        adds, changes = np.empty(most), np.empty(most)
        for k in range(lists.query.size):
            q, a, b, to = lists.query[k], lists.a[k], lists.b[k], lists.start[k]
            r, lowest = 0, metric.strata[q]
            A, B = lowest + a, lowest + b
            # What a passed document of each class adds to the term of a less that of b, and the
            # change of its own term if a document of class b replaces one of class a above it.
            for x in range(metric.strata[q + 1] - lowest):
                X = lowest + x
                adds[x] = _added(coupling, A, X) - _added(coupling, B, X)
                changes[x] = _added(coupling, X, B) - _added(coupling, X, A)
            # f(r, a, s + b - a) - f(r, b, s) without the sum over the documents above, which is the
            # same in U and V and is added below; V is -T_ba.
            own_U = part.own * (gain[A] - gain[B] + changes[a])
            own_V = part.own * (gain[A] - gain[B] + changes[b])
            # counted: the terms of a less those of b, from all documents above (times d_r). passed:
            # the changes of the terms above, with their discounts.
            counted = passed = 0.0
            for e in range(entries.edges[q], entries.edges[q + 1]):
                size, x = entries.size[e], entries.code[e]
                if size == 1 and entries.weight[e] == 1.0:  # most are, and divisions take long
                    d, add, change = discount[r], part.above * adds[x], part.above * changes[x]
                    if x in (a, b):
                        same = counted * d + passed
                        U[to], V[to] = own_U * d + same, own_V * d + same
                        to += 1
                    counted += add
                    passed += change * d
                    r += 1
                    continue
                times = part.above * (entries.weight[e] / size)  # of each document
                add, change = times * adds[x], times * changes[x]
                # Document i of the entry, with the discount d_i, has counted + i add above, and has
                # passed + change (d_0 + ... + d_(i-1)).  Sums of d_i and i d_i are enough.
                m, i = float(size), 0.0
                sum_d = sum_id = 0.0
                for rank in range(np.uintp(r), np.uintp(r + size)):
                    sum_d += discount[rank]
                    sum_id += i * discount[rank]
                    i += 1.0
                r += size
                if x in (a, b):
                    # The sums over the documents i = 0, ..., m - 1 of the entry of d_i (counted + i
                    # add) and of passed + change (d_0 + ... + d_(i-1)); in the last one, d_j occurs
                    # m - 1 - j times.
                    same = counted * sum_d + add * sum_id
                    same += m * passed + change * ((m - 1.0) * sum_d - sum_id)
                    U[to], V[to] = (own_U * sum_d + same) / m, (own_V * sum_d + same) / m
                    to += 1
                counted += m * add
                passed += change * sum_d
