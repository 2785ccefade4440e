"""The best single feature, a minimal baseline for learned rankers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lambdaplus.baselines.base_ranker import ValidatedRanker, ValidationSet
from lambdaplus.compute.array_types import Floats
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import Metric


@dataclass(eq=False, repr=False)
class BestFeature(ValidatedRanker):
    """Ranks by the single feature, ascending or descending, with the best value of a metric.

    It is selected on ``eval_set`` or, without one, on the training data.

    Parameters
    ----------
    metric : str or RankingMetric

    Attributes
    ----------
    feature_ : int
        Column of the feature.
    coef_ : (d,) float64
        1 or -1 for that feature, 0 for the others.
    values_ : (d, 2) float64
        The metric of every feature, ranked by its descending and by its ascending values.

    Notes
    -----
    Yue, Finley, Radlinski & Joachims 2007, sec. 5: the base functions compared with SVM-map.

    Examples
    --------
    >>> from lambdaplus.baselines import BestFeature
    >>> X, y, qid = [[1, 9], [2, 7], [4, 8], [3, 6]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> BestFeature("map").fit(X, y, qid=qid).coef_.tolist()
    [0.0, -1.0]
    """

    metric: Metric = "ndcg@10"

    def _fit_validated(self, X: Floats, queries: Queries, validation: ValidationSet | None) -> None:
        judged = validation or ValidationSet(X, queries, [self.metric])
        self.values_ = np.array([[judged.value(c), judged.value(-c)] for c in judged.X.T])
        self.feature_, down = map(int, np.unravel_index(self.values_.argmax(), self.values_.shape))
        self.coef_ = np.zeros(len(self.values_))
        self.coef_[self.feature_] = -1.0 if down else 1.0
