"""Every query in ranked order, with the values of the metric that its pairs need."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compiled import compiled
from lambdaplus.metrics.arrays import COUNT_ANY, MetricArrays, metric_arrays
from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.parallel import over_rows
from lambdaplus.queries import Floats, Ints, Queries
from lambdaplus.ranking import Ranking, rank


class Ranked(NamedTuple):
    """Every query in ranked order, and the arrays of the metric.

    Attributes
    ----------
    boundaries : (n_queries + 1,) int64
    row : (n,) int
        Row of the document at each rank.
    score : (n,) float64
    relevance : (n,) int32
        Class of the document at each rank.
    discount : (longest query,) float64; (n,) with copies
        Discount of each rank.
    copies : (n,) float64 or empty
        Multiplicity at each rank; empty if all are 1.
    metric : MetricArrays
    """

    boundaries: Ints
    row: NDArray[np.signedinteger[Any]]
    score: Floats
    relevance: NDArray[np.int32]
    discount: Floats
    copies: Floats
    metric: MetricArrays


def ranked_queries(metric: RankingMetric, queries: Queries, scores: ArrayLike) -> Ranked:
    """Rank every query and compute the arrays of the metric."""
    return with_metric(metric, queries, rank(queries, scores))


def with_metric(metric: RankingMetric, queries: Queries, ranking: Ranking) -> Ranked:
    """Every query in this order, and the arrays of the metric."""
    arrays = metric_arrays(metric, queries)
    n, boundaries = queries.n_documents, queries.boundaries
    row, relevance = np.empty(n, queries.row_order.dtype), np.empty(n, np.int32)
    by_document = (queries.row_order, arrays.relevance)
    over_rows(_reorder, n, ranking.permutation, by_document, (row, relevance))
    discount, copies = arrays.discount, np.empty(0)
    if queries.multiplicities is not None:
        if arrays.kind == COUNT_ANY and (arrays.gain < arrays.row * arrays.column).any():
            raise ValueError(
                f"{metric} of weighted rows without queries has swap deltas of both signs, since "
                "the gain of a document is smaller than what each document above it adds: pass no "
                "weights"
            )
        copies = queries.multiplicities[row]
        discount = discount_of_copies(metric, copies)
    return Ranked(boundaries, row, ranking.score, relevance, discount, copies, arrays)


@compiled
def _reorder(first: int, last: int, order: Any, given: Any, out: Any) -> None:
    """Write the elements first .. last - 1 of two arrays in another order."""
    (one, other), (new_one, new_other) = given, out
    for i in range(first, last):
        new_one[i] = one[order[i]]
        new_other[i] = other[order[i]]


def discount_of_copies(metric: RankingMetric, copies: Floats) -> Floats:
    """Discount of each rank of one list whose documents have these multiplicities, (n,)."""
    ranks = np.cumsum(copies)
    # A row of weight 0 at the top has rank 0; since its multiplicity is 0, it does not contribute.
    if metric.declaration.pooled == "last":
        return metric.discounts(np.where(ranks > 0, ranks, 1.0))
    return metric.discounts(np.maximum(ranks - (copies - 1) / 2, 1e-9))
