"""Weighted sums of several objectives.

The gradient is the weighted sum of the gradients of the parts, and so is the Hessian.  The weights
are comparable because every part is normalised separately for each query: its pairs add up to
log2(1 + S) instead of S (see `lambdaplus.objectives.Shape`), so that a metric with large swap
deltas, such as DCG, does not dominate one with small deltas, such as P@10.  With
``normalize=False`` the textbook gradients of the parts are used unchanged, in the units of their
metrics: their sum is the gradient of the weighted sum of the metrics wherever these agree on the
order of a pair.

The corresponding evaluation metric is the weighted sum: ``eval_metric("ndcg@10 + 0.5*map")``.

Examples
--------
>>> from lambdaplus import lambda_objective
>>> from lambdaplus.objectives.combined import combine
>>> both = combine({lambda_objective("ndcg@10"): 1, lambda_objective("map"): 0.5})
>>> str(both.metric)
'ndcg@10+0.5*map'
>>> both == lambda_objective("ndcg@10 + 0.5*map")
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.data.queries import Floats, Queries
from lambdaplus.metrics.parameters import shortest
from lambdaplus.metrics.weighted_sum import WeightedSum
from lambdaplus.objectives.callable_objective import Objective


class CombinedObjective(Objective):
    """A weighted sum of objectives, returned by ``combine``, or by ``lambda_objective`` for a sum.

    Attributes
    ----------
    parts : tuple of (Objective, float)
    metric : WeightedSum
    one_group : bool
        Whether it is set for all parts.
    """

    metric: WeightedSum

    def __init__(self, parts: tuple[tuple[Objective, float], ...]) -> None:
        self.parts = parts
        metrics = [part.metric for part, _ in parts if not isinstance(part.metric, WeightedSum)]
        self.metric = WeightedSum(tuple(zip(metrics, (weight for _, weight in parts), strict=True)))
        self.one_group = all(part.one_group for part, _ in parts)

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row, (n,) float64 each, weights applied."""
        gradient, hessian = np.zeros(queries.n_documents), np.zeros(queries.n_documents)
        for part, weight in self.parts:
            slope, bend = part.derivatives(queries, scores)
            gradient += weight * slope
            hessian += weight * bend
        return gradient, hessian

    def compares_within_queries(self, queries: Queries) -> bool:
        return any(part.compares_within_queries(queries) for part, _ in self.parts)

    def __repr__(self) -> str:
        parts = ", ".join(f"{part!r}: {shortest(weight)}" for part, weight in self.parts)
        return f"combine({{{parts}}})"

    def _key(self) -> tuple[Any, ...]:
        return self.parts


def combine(parts: Mapping[Objective, float]) -> CombinedObjective:
    """An objective that optimises several metrics at once.

    Parameters
    ----------
    parts : dict of LambdaObjective to float
        Positive weights.

    Raises
    ------
    ValueError
        If there is no part, a weight is not positive, or a metric occurs twice.
    TypeError
        For parts that are not lambda objectives.

    Examples
    --------
    >>> from lambdaplus import combine, lambda_auc, lambda_map
    >>> str(combine({lambda_map: 1, lambda_auc: 2}).metric)
    'map+2*auc'
    """
    if not parts:
        raise ValueError("combine needs at least one objective")
    for part in parts:
        if not isinstance(part, Objective) or isinstance(part.metric, WeightedSum):
            raise TypeError(
                f"{part!r} is not a lambda objective: create parts with lambda_objective, or pass "
                "an expression such as 'ndcg@10 + 0.5*map' to lambda_objective"
            )
        if part.uses_positions:
            raise TypeError(f"{part!r} cannot be a part: combine first, then PositionBias(sum)")
    return CombinedObjective(tuple((part, float(weight)) for part, weight in parts.items()))
