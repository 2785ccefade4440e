"""The best single feature, a minimal baseline for learned rankers.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.baselines import BestFeature
>>> X = np.random.default_rng(0).normal(size=(60, 3))
>>> y, qid = (X[:, 1] < -1).astype(int), np.repeat(np.arange(6), 10)
>>> model = BestFeature("map").fit(X, y, qid=qid)
>>> model.feature_, model.coef_.tolist(), model.values_.argmax(axis=1).tolist()
(1, [0.0, -1.0, 0.0], [0, 1, 0])
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.baselines.base_ranker import LinearRanker
from lambdaplus.baselines.validation_data import read_validation
from lambdaplus.data.queries import Floats
from lambdaplus.metrics import Metric


class BestFeature(LinearRanker):
    """Ranks by the single feature, ascending or descending, with the best value of a metric.

    Parameters
    ----------
    metric : str or RankingMetric

    Attributes
    ----------
    feature_ : int
    coef_ : (d,) float64
        1 or -1 for that feature, 0 for the others.
    values_ : (d, 2) float64
        The metric of every feature, ranked by its descending and by its ascending values.

    Notes
    -----
    Yue, Finley, Radlinski & Joachims 2007, sec. 5: the base functions compared with SVM-map.
    """

    values_: Floats

    def __init__(self, metric: Metric = "ndcg@10") -> None:
        self.metric = metric

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None, eval_set: Any = None
    ) -> Self:
        """Select the feature.

        Parameters
        ----------
        X : (n, d) array_like
        y : (n,) array_like
        qid : (n,) array_like, optional
            Query of each row; without it all rows are one ranking.
        eval_set : (X, y, qid), optional
            Validation data for the selection; by default, the training data is used.

        Returns
        -------
        BestFeature

        Raises
        ------
        ValueError
            For invalid data, or a metric that has no value on any query.
        """
        sample = self._sample(X, y, qid)
        held_out = read_validation(self, eval_set, sample, [self.metric])
        columns = held_out.features.T
        self.values_ = np.array([[held_out.value(c), held_out.value(-c)] for c in columns])
        self.feature_, down = map(int, np.unravel_index(self.values_.argmax(), self.values_.shape))
        self.coef_ = np.zeros(len(columns))
        self.coef_[self.feature_] = -1.0 if down else 1.0
        return self
