"""Means of metrics over the queries or rows of all workers of a training.

With queries, each worker evaluates its own, and sums are reduced: the value is that of one machine.
Without queries, the scores are rounded to cells, which the workers count together, and documents in
one cell count as tied (see `lambdaplus.metrics.rounding`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.data.queries import Floats, Queries
from lambdaplus.evaluation.scoring import evaluate_queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.declared_arrays import scope
from lambdaplus.metrics.values import rounded_value


def means_over_workers(
    metrics: list[RankingMetric], queries: Queries, scores: ArrayLike, one_group: bool = False
) -> dict[str, float]:
    """The mean of each metric by its name, the same on all workers; NaN without any value.

    Parameters
    ----------
    metrics : list of RankingMetric
    queries : Queries
        Those of this worker, which may have none.
    scores : (n,) array_like
    one_group : bool
        Treat rows without queries as one query.
    """
    mean = {}
    for metric in metrics:
        ranked = scope(metric, queries, one_group)
        if ranked.list_workers.size > 1:
            mean[str(metric)] = rounded_value(metric, ranked, ranked.check_scores(scores))
        else:
            total, weight = ranked.workers.sum(_sums(metric, ranked, scores))
            mean[str(metric)] = float(total / weight) if weight > 0 else float("nan")
    return mean


def _sums(metric: RankingMetric, queries: Queries, scores: ArrayLike) -> Floats:
    """Sums over the queries that have a value: of values times weights, and of weights."""
    if not queries.n_queries:
        return np.zeros(2)
    found = evaluate_queries([metric], queries, scores).per_query[str(metric)]
    defined, weights = ~np.isnan(found), queries.query_weights
    weights = np.ones_like(found) if weights is None else weights
    return np.array([found[defined] @ weights[defined], weights[defined].sum()])
