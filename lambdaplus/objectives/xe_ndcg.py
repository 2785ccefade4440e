"""XE-NDCG: a cross-entropy of lists, as LightGBM's rank_xendcg, for both frameworks.

The loss of a query is the cross-entropy between the softmax of the scores and a distribution in
which a document of label l has the mass 2^l - 1/2, divided by the sum of all.  Bruch 2021, "An
alternative cross entropy loss for learning-to-rank", eq. 6, whose random numbers from 0 to 1 are
here their mean, 1/2.  The gradient has two more terms, of an approximate inverse of the Hessian
(sec. 4.3), as in LightGBM.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import check_flag
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics import RankingMetric, parse_metric
from lambdaplus.metrics.declared_arrays import metric_arrays, scope
from lambdaplus.objectives.list_gradient import ListGradient, RoundedScores
from lambdaplus.objectives.objective import Objective
from lambdaplus.ranking.queries import Queries
from lambdaplus.ranking.sort import Entries

NAME = "xendcg"
NDCG = parse_metric("ndcg")
RANDOM_PART = 0.5
LEAST_REST = 1e-9  # least that is assumed of 1 - p


@dataclass(frozen=True, repr=False)
class XeNdcg(Objective):
    """The objective XE-NDCG; create it with ``lambda_objective("xendcg")``.

    .. versionadded:: 0.2.0

    Attributes
    ----------
    one_group : bool
    metric : RankingMetric
        NDCG.

    Examples
    --------
    >>> from lambdaplus import lambda_objective
    >>> gradient, hessian = lambda_objective("xendcg")([1, 0, 0], [0.0, 0.0, 0.0], None, [3])
    >>> [round(float(each), 3) for each in gradient]
    [-0.2, 0.1, 0.1]
    """

    one_group: bool = False

    def __post_init__(self) -> None:
        check_flag(one_group=self.one_group)

    @property
    def metric(self) -> RankingMetric:  # type: ignore[override]
        return NDCG

    @property
    def __name__(self) -> str:
        return NAME

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        ranked = scope(NDCG, queries, self.one_group)
        if not ranked.n_queries:  # a worker without rows
            return np.empty(0), np.empty(0)
        gradient = ranked.once(NAME, lambda: _Gradient(ranked))
        return gradient.at(ranked, scores)

    def __repr__(self) -> str:
        return f"lambda_objective({NAME!r}{', one_group=True' if self.one_group else ''})"


class _Gradient(ListGradient):
    def __init__(self, queries: Queries) -> None:
        super().__init__(metric_arrays(NDCG, queries), queries)
        self.long = self.find_long(queries, NAME, (RoundedScores(),))
        self.mass = self.arrays.gain + (1.0 - RANDOM_PART)

    def values(self, first: int, entries: Entries) -> Floats:
        values = np.zeros((entries.score.size, 2))
        strata = self.arrays.strata[first : first + entries.edges.size]
        _cross_entropy(entries, strata, self.mass, values)
        return values


@compiled(error_model="numpy")
def _cross_entropy(entries: Entries, strata: Ints, mass: Floats, values: Floats) -> None:
    """Write gradient and Hessian, (m, 2), of a document of each entry; see eq. 6 and sec. 4.3."""
    edges, score, code, _, weight = entries
    for q in range(edges.size - 1):
        begin, end, at = edges[q], edges[q + 1], strata[q]
        if end - begin == 1:  # all documents alike
            continue
        all_mass = all_odds = 0.0
        for e in range(begin, end):
            all_mass += weight[e] * mass[at + code[e]]
            values[e, 1] = math.exp(score[e] - score[begin])
            all_odds += weight[e] * values[e, 1]
        # Each pass adds a term to the gradient: first the gradient itself, then twice the Hessian's
        # elements off the diagonal times the last term, divided by the diagonal.
        before = np.zeros(end - begin)
        all_before = 0.0
        for term in range(3):
            total = 0.0
            for e in range(begin, end):
                if term == 0:
                    values[e, 1] /= all_odds
                    added = values[e, 1] - mass[at + code[e]] / all_mass
                else:
                    added = values[e, 1] * (all_before - before[e - begin])
                values[e, 0] += added
                before[e - begin] = added / max(1.0 - values[e, 1], LEAST_REST)
                total += weight[e] * before[e - begin]
            all_before = total
        for e in range(begin, end):
            values[e, 1] *= 1.0 - values[e, 1]
