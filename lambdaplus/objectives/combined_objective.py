"""Weighted sums of objectives, of which log-loss may be a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import number
from lambdaplus.compute.array_types import Floats
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import Declaration, RankingMetric
from lambdaplus.metrics.parameters import shortest
from lambdaplus.metrics.weighted_sum import WeightedSum
from lambdaplus.objectives.log_loss import LogLoss, sum_of
from lambdaplus.objectives.objective import Objective


@dataclass(unsafe_hash=True, repr=False)
class CombinedObjective(Objective):
    """A weighted sum of objectives; create it with `combine`, or `lambda_objective` of a sum.

    Attributes
    ----------
    parts : tuple of (Objective or LogLoss, float)
    metric : WeightedSum or RankingMetric
        The sum of the parts that rank, or the metric of the only one.
    one_group : bool
        Whether it is set for all parts that rank.

    Examples
    --------
    >>> from lambdaplus import lambda_objective
    >>> both = lambda_objective("ndcg + 0.5*map")
    >>> str(both.metric), len(both.parts)
    ('ndcg+0.5*map', 2)
    """

    parts: tuple[tuple[Objective | LogLoss, float], ...]
    metric: WeightedSum | RankingMetric = field(init=False)
    one_group: bool = field(init=False)

    def __post_init__(self) -> None:
        ranking = self._ranking()
        # The metric of the labels of the data set, if any part is of these.
        named = [part for part in ranking if not part[0].has_own_labels] or ranking[:1]
        terms = [(cast(RankingMetric, part.metric), weight) for part, weight in named]
        total = WeightedSum(tuple(terms))
        if len(self.parts) > len(ranking) + 1:
            raise ValueError("log-loss occurs twice in the sum: give it one weight")
        for part, weight in self.parts:
            name = part.metric if isinstance(part, Objective) else part
            number(f"the weight of {name} in a sum", weight, least=1e-6, most=1e6)
        self.metric = terms[0][0] if len(terms) == 1 < len(self.parts) else total
        self.one_group = all(part.one_group for part, _ in ranking)

    def _ranking(self) -> list[tuple[Objective, float]]:
        return [(part, weight) for part, weight in self.parts if isinstance(part, Objective)]

    @property
    def __name__(self) -> str:
        terms = []
        for part, weight in self.parts:
            name = part.metric if isinstance(part, Objective) else part
            terms.append(f"{'' if weight == 1 else shortest(weight) + '*'}{name}")
        return f"lambda_{'+'.join(terms)}"

    @property
    def has_own_labels(self) -> bool:  # type: ignore[override]
        """Whether any part was made by `on`."""
        return any(part.has_own_labels for part, _ in self._ranking())

    @property
    def own_rows(self) -> tuple[Floats, ...]:  # type: ignore[override]
        """The labels and weights that parts carry."""
        return tuple(rows for part, _ in self._ranking() for rows in part.own_rows)

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        gradient, hessian = self._of_rankings(queries, scores)
        loss, weight = self._log_loss()
        if loss is not None:
            unit = queries.once(self, lambda: self._unit_of(loss, queries))
            loss.add_to(gradient, hessian, queries, scores, weight * unit)
        return gradient, hessian

    def _of_rankings(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        (part, weight), *others = self._ranking()
        gradient, hessian = part.as_term(queries, scores)
        gradient *= weight
        hessian *= weight
        for part, weight in others:
            slope, curve = part.as_term(queries, scores)
            gradient += weight * slope
            hessian += weight * curve
        return gradient, hessian

    def _log_loss(self) -> tuple[LogLoss | None, float]:
        """Log-loss and its weight, if it is a part; by default with the threshold of a metric."""
        thresholds = (
            part.metric.relevant
            for part, _ in self._ranking()
            if isinstance(part.metric, RankingMetric) and not part.has_own_labels
        )
        default = next((relevant for relevant in thresholds if relevant is not None), None)
        for part, weight in self.parts:
            if isinstance(part, LogLoss):
                return replace(part, relevant=default) if part.relevant is None else part, weight
        return None, 0.0

    def _unit_of(self, loss: LogLoss, queries: Queries) -> float:
        """What multiplies log-loss, so that at equal scores it has the size of a part that ranks.

        That is the sum of the absolute gradients of the rows of all workers.
        """
        equal = np.zeros(queries.n_documents)
        both = self._of_rankings(queries, equal), loss.derivatives(queries, equal)
        sizes = np.array([sum_of(np.abs(gradient)) for gradient, _ in both])
        of_rankings, of_loss = queries.connected_workers.sum(sizes).tolist()
        weights = sum(weight for _, weight in self._ranking())
        return of_rankings / (weights * of_loss) if of_loss > 0.0 else 0.0

    def compares_within_queries(self, queries: Queries) -> bool:
        return any(part.compares_within_queries(queries) for part, _ in self._ranking())

    def __repr__(self) -> str:
        parts = ", ".join(f"{part!r}: {shortest(weight)}" for part, weight in self.parts)
        return f"combine({{{parts}}})"


def combine(parts: Mapping[Objective | LogLoss, float]) -> CombinedObjective:
    """Create an objective that optimises a weighted sum of metrics.

    Its gradient is the weighted sum of the gradients of the parts, and so is its Hessian.  Log-loss
    is first multiplied by a number that makes it as large as a part that ranks, see `LogLoss`.

    Parameters
    ----------
    parts : dict of LambdaObjective to float
        Positive weights.  One of the parts may be a `LogLoss`.

    Returns
    -------
    CombinedObjective

    Raises
    ------
    ValueError
        If no part ranks, a weight is not positive, or a metric or `LogLoss` occurs twice.
    TypeError
        For parts that are not lambda objectives.

    Notes
    -----
    Weights are comparable, since every part is normalised for each query (see ``normalize`` of
    `lambda_objective`): a metric with large swap deltas, such as DCG, does not dominate one with
    small deltas, such as P@10.  With ``normalize=False``, the parts have the units of their
    metrics.  The corresponding evaluation metric is ``eval_metric("ndcg@10 + 0.5*map")``.

    Examples
    --------
    >>> from lambdaplus import combine, lambda_map, lambda_objective
    >>> both = combine({lambda_objective("ndcg@10"): 1, lambda_map: 0.5})
    >>> str(both.metric)
    'ndcg@10+0.5*map'
    >>> both == lambda_objective("ndcg@10 + 0.5*map")
    True
    """
    if all(isinstance(part, LogLoss) for part in parts):
        raise ValueError("combine needs at least one objective that ranks")
    for part in parts:
        if isinstance(part, LogLoss):
            continue
        if not isinstance(part, Objective) or isinstance(part.metric, WeightedSum):
            shown = part.name if isinstance(part, Declaration) else part
            raise TypeError(
                f"{shown!r} is not a lambda objective: create parts with lambda_objective, or pass "
                "an expression such as 'ndcg@10 + 0.5*map' to lambda_objective"
            )
        if part.uses_positions:
            raise TypeError(f"{part!r} cannot be a part of a sum: pass the sum to PositionBias")
    return CombinedObjective(tuple((part, float(weight)) for part, weight in parts.items()))
