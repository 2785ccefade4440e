"""Validation data and its metrics, for the selection of models."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from lambdaplus.baselines.base_ranker import Ranker, Sample
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.evaluation.scoring import evaluate_queries
from lambdaplus.metrics import Metric, parse_metric


class Validation:
    """Documents with labels, and metrics to evaluate scores for them.

    Parameters
    ----------
    sample : Sample
    metrics : iterable of str or RankingMetric
        The first metric is used for selection.

    Raises
    ------
    ValueError
        For an unknown metric, or one that has no value on any query of the sample.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.baselines.base_ranker import Sample
    >>> from lambdaplus.baselines.validation_data import Validation
    >>> from lambdaplus.data.queries import Queries
    >>> sample = Sample(np.array([[1.0], [2.0]]), Queries([0, 1], group=[2]), np.arange(2))
    >>> Validation(sample, ["mrr", "auc"]).values(np.array([0.3, 0.1]))
    {'mrr': 0.5, 'auc': 0.0}
    """

    def __init__(self, sample: Sample, metrics: Iterable[Metric]) -> None:
        self.features: Floats = sample.X
        self.queries: Queries = sample.queries
        self.metrics = [parse_metric(metric) for metric in metrics]
        for name, value in self.values(sample.queries.labels).items():
            if math.isnan(value):
                raise ValueError(
                    f"{name} has no value on any query of the validation data (eval_set, by "
                    "default the training data): choose another metric or other data"
                )

    def values(self, scores: Floats) -> dict[str, float]:
        """Mean of each metric over the queries on which it has a value."""
        return evaluate_queries(self.metrics, self.queries, scores).mean

    def value(self, scores: Floats) -> float:
        """Mean of the first metric."""
        return next(iter(evaluate_queries(self.metrics[:1], self.queries, scores).mean.values()))


def read_validation(
    ranker: Ranker, eval_set: Any, training: Sample, metrics: Iterable[Metric]
) -> Validation:
    """Read ``eval_set``, or use the training data if it is None.

    Parameters
    ----------
    ranker : Ranker
        A ranker that has read its training data.
    eval_set : (X, y, qid), (X, y) or None
    training : Sample
    metrics : iterable of str or RankingMetric

    Raises
    ------
    ValueError
        If it is not such a tuple, or is invalid for `Ranker._sample` or `Validation`.
    """
    if eval_set is None:
        return Validation(training, metrics)
    if not isinstance(eval_set, tuple | list) or len(eval_set) not in (2, 3):
        raise ValueError("eval_set must be (X, y, qid), or (X, y) if all rows are one ranking")
    X, y, *qid = eval_set
    return Validation(ranker._sample(X, y, *(qid or [None]), reset=False), metrics)
