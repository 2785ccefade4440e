"""Scorers for scikit-learn's searches, cross-validations and `permutation_importance`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.evaluation.feval import EvalMetric, eval_metric
from lambdaplus.lists.order import by_query
from lambdaplus.lists.vectors import as_vector
from lambdaplus.metrics import Metric
from lambdaplus.metrics.weighted_sum import WeightedSum


def scorer(
    metric: Metric | WeightedSum,
    *,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
    **options: Any,
) -> Any:
    """A scorer of scikit-learn for a ranking metric, ``scorer(estimator, X, y, qid=qid)``.

    .. versionadded:: 0.2.0

    Parameters
    ----------
    metric : str, RankingMetric, Declaration or WeightedSum
        For example ``"ndcg@10"``.
    qid : (n,) array_like, optional
        Query of each row of the data that is scored, in any order, for tools such as
        ``permutation_importance`` that pass no queries.  Searches and cross-validations pass those
        of each fold after ``sklearn.set_config(enable_metadata_routing=True)``.
    pos_label : label, optional
        Of a classifier, the class whose rows are relevant; needed if labels are text.
    **options
        Of `eval_metric`, such as ``gain="linear"``, or ``one_group=True``.

    Returns
    -------
    callable
        As by scikit-learn's ``make_scorer``; it requests ``qid``.  It scores by
        ``decision_function`` or, where there is none, by ``predict_proba`` or ``predict``.

    Raises
    ------
    ValueError
        For unknown metrics and options; when it is called, for labels, scores and queries that
        cannot be used, and without queries that the metric needs.

    Examples
    --------
    >>> import numpy as np, sklearn
    >>> from sklearn.model_selection import cross_validate
    >>> from lambdaplus import query_folds, scorer
    >>> from lambdaplus.baselines import RankSVM
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> y, qid = (X[:, 0] > 1).astype(int), np.arange(300) % 30
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     found = cross_validate(
    ...         RankSVM().set_fit_request(qid=True), X, y, cv=query_folds(qid=qid),
    ...         scoring={"ndcg": scorer("ndcg@10"), "map": scorer("map")}, params={"qid": qid},
    ...     )
    >>> bool(found["test_ndcg"].mean() > 0.9), found["test_map"].shape
    (True, (5,))
    """
    from sklearn import config_context
    from sklearn.metrics import make_scorer

    score = ScoreOfQueries(eval_metric(metric, **options), qid)
    label = {} if pos_label is None else {"pos_label": pos_label}
    with config_context(enable_metadata_routing=True):  # in which alone a request can be made
        methods = ("decision_function", "predict_proba", "predict")
        made = make_scorer(score, response_method=methods, **label)
        return made.set_score_request(qid=True)


class ScoreOfQueries:
    """The value of a metric; without ``qid``, the queries are those of the scorer itself."""

    def __init__(self, metric: EvalMetric, qid: ArrayLike | None) -> None:
        self.metric, self.qid = metric, qid
        self.__name__ = str(metric.metrics[0])  # in the repr of the scorer

    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,  # by its name, scikit-learn takes the scores of this class
    ) -> float:
        qid = self.qid if qid is None else qid
        labels = np.asarray(as_vector(y_true))
        if pos_label is not None:
            y_true = labels == pos_label
        elif labels.dtype.kind in "OSUT" and all(isinstance(one, str | bytes) for one in labels):
            raise ValueError(
                f"labels are text, such as {labels[0]!r}: pass the class whose rows are relevant, "
                f"as scorer({self.__name__!r}, pos_label={labels[0]!r})"
            )
        if qid is None:
            return float(self.metric(y_true, y_pred, sample_weight, None)[1])
        rows = by_query(y_pred, y_true, qid=qid)
        weights = rows.in_order(sample_weight)
        return float(self.metric(rows.queries.labels, rows.X, weights, rows.queries.sizes)[1])
