"""The gradient of each query from its entries: rank, values, rows.

Queries are ranked and merged into entries (`sort`), or rounded if they are long (`rounding`); a
subclass gives the gradient of each entry, which is written to its rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Floats, Ints, Rows
from lambdaplus.compute.collective import Workers
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_batches
from lambdaplus.metrics.forms.form import MetricArrays
from lambdaplus.ranking.queries import Queries
from lambdaplus.ranking.rounding import round_scores
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
    long_queries : list of int
        The queries whose scores are rounded.
    """

    arrays: MetricArrays
    copies: Floats | None
    workers: Workers
    long_queries: list[int]

    @abstractmethod
    def values(self, first: int, entries: Entries) -> Floats:
        """Gradient and Hessian of a document of each entry, (m, 2), of queries from ``first``."""

    def at(self, queries: Queries, scores: ArrayLike, dtype: type = np.float64) -> tuple[Any, Any]:
        """Gradient and Hessian of every row times its weight, (n,) of this type each."""
        boundaries, rounded = queries.boundaries, self.long_queries
        # Rounding reads scores of either type.
        checked = queries.check_scores(scores, single=rounded == [0] and boundaries.size == 2)
        out: tuple[Any, Any] = np.empty(checked.size, dtype), np.empty(checked.size, dtype)
        start = 0
        for long in [*rounded, boundaries.size - 1]:
            if long > start:
                some = boundaries[start : long + 1]
                over_batches(partial(self._of_queries, queries, start, checked, out), some)
            if long < boundaries.size - 1:
                self.of_long_query(queries, long, checked, out)
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

    def of_long_query(self, queries: Queries, q: int, scores: Floats, out: Any) -> None:
        """Write the gradient of one query whose scores are rounded."""
        rows, weights = slice(*queries.boundaries[q : q + 2]), queries.weights
        n_classes = int(self.arrays.strata[q + 1] - self.arrays.strata[q])
        code = self.arrays.code[rows]
        rounded = round_scores(scores[rows], code, n_classes, self.copies, self.workers)
        weight = None if weights is None else weights[rows]
        values = self.values(q, rounded.entries)
        rounded.write_rows(values, weight, *(part[rows] for part in out))


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
