"""Subclasses of XGBoost's estimators with the name of a metric as objective."""

import os
from typing import Any, ClassVar

import numpy as np

import lambdaplus.xgboost as xgb
from lambdaplus.estimators.arguments import arguments
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.ranker import RankingEstimator
from lambdaplus.estimators.saved_models import classifier_from_data, read_attribute
from lambdaplus.estimators.xgboost_base import OfXGBoost
from lambdaplus.frameworks.internals import metric_for_xgboost
from lambdaplus.lists.order import Documents
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import find_objective


class XGBoostRanker(RankingEstimator, OfXGBoost, xgb.XGBRanker):  # type: ignore[misc]
    """An `xgboost.XGBRanker` whose objective is a ranking metric.

    Parameters
    ----------
    objective : str or callable, default="ndcg"
        As in `LightGBMRanker`, one of XGBoost (``"rank:ndcg"``), or a function for `xgboost.train`.
    eval_metric : str, metric, callable, or list of these, optional
        As in `LightGBMRanker`.  Early stopping uses the last one of lambdaplus, or the last one if
        all are of XGBoost.
    **kwargs
        The parameters of XGBRanker, with its defaults.

    Notes
    -----
    The saved model has the objective ``rank:ndcg``, which search engines accept.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus import XGBoostRanker
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> y, qid = (X[:, 0] > 1).astype(int), np.arange(300) % 20
    >>> model = XGBoostRanker(objective="map", n_estimators=10, max_bin=64).fit(X, y, qid=qid)
    >>> float(round(model.score(X, y, qid=qid), 2))
    1.0
    """

    _saved_as: ClassVar = "rank:ndcg"

    def __init__(self, *, objective: Any = "ndcg", **kwargs: Any) -> None:
        # XGBRanker's constructor raises for objectives that are not XGBoost's.
        xgb.XGBModel.__init__(self, objective=objective, **kwargs)

    def _train(self, call: dict[str, Any], objective: Any) -> None:
        if objective is None:
            raise ValueError(
                "objective=None is XGBoost's squared error, which ranks nothing: leave it out, for "
                "'ndcg', or pass one such as 'rank:ndcg'"
            )
        super()._train(call, objective)

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """Scores of the rows, (n,), or other outputs that XGBRanker's `predict` has."""
        call = arguments(super().predict, X, **kwargs)
        call["X"] = self._features(call["X"], call.get("validate_features", True))
        return super().predict(**call)

    def _value(self, function: Any, labels: Any, scores: Any, weights: Any, sizes: Any) -> float:
        if weights is not None:
            raise ValueError(f"eval_metric={function!r} takes no weights, so leave them out")
        data = xgb.DMatrix(np.zeros((len(labels), 1)), labels, group=sizes)
        return float(metric_for_xgboost(self, function)(scores, data)[1])

    def _of_rows(self, data: Documents, weights: Any) -> Any:
        queries = data.queries
        if weights is None or np.shape(weights) != (queries.n_queries,):
            return weights
        of_rows = np.repeat(np.asarray(weights), queries.sizes)  # of queries, as in fit
        return data.in_original_order(of_rows)

    def _weights(self, data: Documents, weights: Any) -> Any:
        """Weights of queries; from those of rows, if these are equal in each query."""
        queries = data.queries
        if weights is None or np.shape(weights) == (queries.n_queries,):
            return weights
        rows = np.asarray(super()._weights(data, weights))
        first = rows[queries.boundaries[:-1]]
        if (np.repeat(first, queries.sizes) != rows).any():
            raise ValueError(
                "XGBoost takes one weight for each query, but the rows of a query have different "
                "ones: let the objective carry them, as lambda_objective('map').weighted(weights)"
            )
        return first


class XGBoostClassifier(RankingClassifier, OfXGBoost, xgb.XGBClassifier):  # type: ignore[misc]
    """An `xgboost.XGBClassifier` for two classes that ranks the rarer one first.

    Parameters, attributes and errors are those of `LightGBMClassifier`; ``**kwargs`` are parameters
    of XGBClassifier.  A file of ``save_model`` holds labels, threshold and probabilities, too,
    which this class loads, as JSON in the booster's attribute ``lambdaplus``.  XGBoost itself loads
    the trees: what XGBClassifier then returns as probabilities are the scores of
    ``predict(output_margin=True)``.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus import XGBoostClassifier
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = XGBoostClassifier(n_estimators=5).fit(X, np.where(X[:, 0] > 2, "fraud", "ok"))
    >>> model.predict([[3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).tolist(), str(model.pos_label_)
    (['fraud', 'ok'], 'fraud')
    """

    _other_outputs: ClassVar = ("output_margin",)
    _saved_as: ClassVar = "binary:logitraw"

    def __init__(
        self, *, objective: Any = "map", pos_label: Any = None, cv: str | None = "auto",
        **kwargs: Any,
    ) -> None:  # fmt: skip
        self.pos_label = pos_label
        self.cv = cv
        super().__init__(objective=objective, **kwargs)

    def _recall(self, data: dict[str, Any] | None) -> None:
        self._forget()
        objective = find_objective(self.objective)
        if data is not None and "classes" in data:
            rounds = self.get_booster().num_boosted_rounds()
            self.__dict__.update(classifier_from_data(data, rounds))
            self._rounds_of_offset = self._rounds_used()
        elif objective == self._saved_as or isinstance(objective, Objective):
            raise ValueError(
                "this file holds trees alone, without labels and threshold: save the model by "
                "XGBoostClassifier.save_model, or load it by xgboost.Booster"
            )

    def _trained_class_of(self, model: Any) -> Any:
        if isinstance(model, str | os.PathLike):
            model = xgb.Booster(model_file=model)
        text = model.attr("lambdaplus") if isinstance(model, xgb.Booster) else None
        learnt = {} if text is None else read_attribute(text)
        if "classes" not in learnt:
            return super()._trained_class_of(model)
        return classifier_from_data(learnt, model.num_boosted_rounds())["pos_label_"]

    def _train(self, call: dict[str, Any], objective: Any, **changed: Any) -> None:
        super()._train(call, objective, **changed)
        self.n_classes_ = max(2, int(np.unique(call["y"]).size))

    def _rounds(self) -> dict[str, Any]:
        rounds = max(1, self.get_booster().num_boosted_rounds())
        return {"n_estimators": rounds, "early_stopping_rounds": None}

    def _rounds_used(self, iteration_range: Any = None, **_: Any) -> tuple[int, int]:
        booster = self.get_booster()
        rounds = booster.num_boosted_rounds()
        if iteration_range is not None and iteration_range[1] > 0:
            return iteration_range[0] + 1, min(iteration_range[1], rounds)
        return 1, min(int(booster.attr("best_iteration") or rounds - 1) + 1, rounds)

    def _raw(self, X: Any, **kwargs: Any) -> Any:
        return xgb.XGBModel.predict(self, X, **{**kwargs, "output_margin": True})

    def _shift(self, X: Any, start: Any) -> Any:
        return 0.0 if start is None else self._raw(X, base_margin=start) - self._raw(X)

    def _of_parent(self, method: str, X: Any, **kwargs: Any) -> Any:
        return getattr(xgb.XGBClassifier, method)(self, X, **kwargs)
