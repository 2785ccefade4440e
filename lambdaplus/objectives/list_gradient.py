"""The gradient of each query from its entries: rank, values, rows.

Queries are ranked and merged into entries (`sort`); a subclass gives the gradient of each entry,
which is written to its rows.  Scores of long queries are rounded, by a `LongRoute`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Bools, Floats, Ints, Rows
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_batches
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.metrics.forms.form import MetricArrays
from lambdaplus.ranking.queries import Queries
from lambdaplus.ranking.rounding import MOST_CLASSES, refuse_many_classes, round_scores
from lambdaplus.ranking.sort import Entries, merge_ties, rank_some


class ListGradient(ABC):
    """Gradient and Hessian of every row of a data set, at any scores.

    Attributes
    ----------
    arrays : MetricArrays
    copies : (n,) float64 or None
        Multiplicities of the rows.
    workers : Workers
        Those that have a part of the rows of one list.
    long : dict of int to LongRoute
        The queries whose scores are rounded.
    """

    long: dict[int, LongRoute]

    def __init__(self, arrays: MetricArrays, queries: Queries) -> None:
        self.arrays, self.copies = arrays, queries.multiplicities
        self.workers = queries.list_workers

    def find_long(
        self, queries: Queries, name: str, routes: tuple[LongRoute, ...]
    ) -> dict[int, LongRoute]:
        """The queries whose scores are rounded, and the first way that applies to each."""
        if self.workers.size > 1:  # each has a part of the scores
            on = f"{name} over all rows on {self.workers.size} workers"
            refuse_many_classes(self.arrays.gain.size, on)
            return {0: RoundedScores()}
        long, found = queries.sizes >= THRESHOLDS.long_list, dict[int, LongRoute]()
        for route in routes if long.any() else ():
            taken = long & route.applies_to(self, queries)
            found |= dict.fromkeys(np.flatnonzero(taken).tolist(), route)
            long &= ~taken
        return dict(sorted(found.items()))

    @abstractmethod
    def values(self, first: int, entries: Entries) -> Floats:
        """Gradient and Hessian of a document of each entry, (m, 2), of queries from ``first``."""

    def at(self, queries: Queries, scores: ArrayLike, dtype: type = np.float64) -> tuple[Any, Any]:
        """Gradient and Hessian of every row times its weight, (n,) of this type each."""
        boundaries, rounded = queries.boundaries, list(self.long)
        # Rounding reads scores of either type.
        checked = queries.check_scores(scores, single=rounded == [0] and boundaries.size == 2)
        out: tuple[Any, Any] = np.empty(checked.size, dtype), np.empty(checked.size, dtype)
        start = 0
        for long in [*rounded, boundaries.size - 1]:
            if long > start:
                some = boundaries[start : long + 1]
                over_batches(partial(self._of_queries, queries, start, checked, out), some)
            if long < boundaries.size - 1:
                self.long[long].write(self, queries, long, checked, out)
            start = long + 1
        return out

    def _of_queries(
        self, queries: Queries, start: int, scores: Floats, out: Any, first: int, last: int
    ) -> None:
        """Write the gradient of the queries start + first to start + last - 1."""
        first, last = start + first, start + last
        boundaries, weights = queries.boundaries[first : last + 1], queries.weights
        order = queries.row_order[boundaries[0] : boundaries[-1]]
        ranking = rank_some(boundaries, scores, order)
        entries, first_rank = merge_ties(boundaries, *ranking, self.arrays.code, self.copies)
        values, factor = self.values(first, entries), np.empty(0) if weights is None else weights
        _write(ranking.row, first_rank, values, factor, *out)


@compiled
def _write(
    row: Rows, first_rank: Ints, values: Floats, weight: Floats, gradient: Floats, hessian: Floats
) -> None:
    """Write the values of each entry to its rows."""
    for e in range(first_rank.size - 1):
        slope, bend = values[e, 0], values[e, 1]
        for r in range(first_rank[e], first_rank[e + 1]):
            times = weight[row[r]] if weight.size else 1.0
            gradient[row[r]] = slope * times
            hessian[row[r]] = bend * times


class LongRoute(ABC):
    """A way to the gradient of one long query, with rounded scores."""

    @abstractmethod
    def applies_to(self, gradient: Any, queries: Queries) -> Bools:
        """The queries that this way is for, (n_queries,), if they are long."""

    @abstractmethod
    def write(self, gradient: Any, queries: Queries, q: int, scores: Floats, out: Any) -> None:
        """Write the gradient of one query to its rows."""


class RoundedScores(LongRoute):
    """The entries of the rounded scores, of few classes, take the place of ranked ones."""

    def applies_to(self, gradient: ListGradient, queries: Queries) -> Bools:
        return np.diff(gradient.arrays.strata) <= MOST_CLASSES

    def write(
        self, gradient: ListGradient, queries: Queries, q: int, scores: Floats, out: Any
    ) -> None:
        rows, weights = slice(*queries.boundaries[q : q + 2]), queries.weights
        n_classes = int(gradient.arrays.strata[q + 1] - gradient.arrays.strata[q])
        code, copies = gradient.arrays.code[rows], gradient.copies
        rounded = round_scores(scores[rows], code, n_classes, copies, gradient.workers)
        weight = None if weights is None else weights[rows]
        values = gradient.values(q, rounded.entries)
        rounded.write_rows(values, weight, *(part[rows] for part in out))
