"""Subclasses of XGBoost's estimators with the name of a metric as objective."""

import json
import os
from typing import Any, ClassVar

import numpy as np

import lambdaplus.xgboost as xgb
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.export import Exported, data_of
from lambdaplus.estimators.metrics_by_name import (
    find_metrics,
    metric_of_score,
    refuse_reversed,
    warn_of_minimised,
    warn_of_watched_losses,
)
from lambdaplus.estimators.parent import ArgumentNames, FrameworkEstimator, arguments
from lambdaplus.estimators.ranker import RankingEstimator
from lambdaplus.estimators.saved_models import (
    classifier_from_data,
    from_data,
    read_attribute,
)
from lambdaplus.frameworks.internals import (
    metric_for_xgboost,
    set_booster,
    xgboost_matrices,
    xgboost_stops,
)
from lambdaplus.lists.columns import from_gpu
from lambdaplus.lists.order import Documents
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import (
    find_objective,
    unknown_metric_explained,
    unknown_objective_explained,
)


class _OfXGBoost(FrameworkEstimator, xgb.XGBModel, Exported):  # type: ignore[misc]
    """An estimator that `xgboost.train` trains, if an objective or a metric is of lambdaplus.

    XGBRanker takes no function as objective, and calls one that is a metric query by query.
    """

    _names: ClassVar = ArgumentNames(
        "base_margin", "base_margin_eval_set", "sample_weight_eval_set", "xgb_model"
    )
    _saved_as: ClassVar[str]  # the objective of its models

    def get_xgb_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_xgb_params()
        ours = {*self._own_parameters}
        if isinstance(find_objective(self.objective), Objective):
            ours.add("objective")
        # set_params of a fitted model gives them to the booster, where these move the scores, but
        # not the threshold.
        if hasattr(self, "offset_"):
            ours |= {"objective", "base_score"}
        return {name: value for name, value in params.items() if name not in ours}

    def _train(self, call: dict[str, Any], objective: Any) -> None:
        self._prepare(call)
        ours = isinstance(objective, Objective)
        called = ours or (callable(objective) and isinstance(self, xgb.XGBRanker))
        wanted = (
            metric_of_score(objective) if self.eval_metric is None and ours else self.eval_metric
        )
        metrics, native = find_metrics(wanted, objective, self._one_group)
        if metrics is not None:
            refuse_reversed(metrics, objective)
        elif ours and self.early_stopping_rounds:
            warn_of_watched_losses(native[-1:], objective)
        if metrics is None and (ours or called or isinstance(self, xgb.XGBRanker)):
            warn_of_minimised(native[-1:], lambda name: xgboost_stops(self, name))
        with unknown_objective_explained(objective, "XGBoost"):
            if called or metrics is not None:
                last = wanted[-1] if isinstance(wanted, list | tuple) else wanted
                # A function, as ours are, comes after XGBoost's metrics, and would be watched.
                watched = "" if ours or not isinstance(last, str) or last not in native else last
                self._boost(call, objective if called else None, metrics, native, watched)
            else:
                with unknown_metric_explained(native):
                    super().fit(**call)
        self.get_booster().set_attr(lambdaplus=None)  # of a saved model that this one continues

    def _boost(
        self, call: dict[str, Any], objective: Any, metrics: Any, native: list[Any], watched: str
    ) -> None:
        """Train by `xgboost.train`; ``watched`` is a metric that is not the last to XGBoost."""
        by_name = [metric for metric in native if isinstance(metric, str)]
        functions = [metrics] if metrics is not None else []
        functions += [metric_for_xgboost(self, one) for one in native if callable(one)]
        if len(functions) > 1:
            raise ValueError(
                "XGBoost supports one callable metric: pass that alone, or only names of metrics"
            )
        if objective is None and isinstance(self, xgb.XGBClassifier):
            sets = enumerate(call["eval_set"] or ())
            given = {"y": call["y"], **{f"evaluation set {i}": y for i, (_, y) in sets}}
            for where, labels in given.items():
                if not {*(found := np.unique(from_gpu(labels)).tolist())} <= {0, 1}:
                    raise ValueError(
                        f"{where} has the labels {found}: XGBoost's own objectives, with a metric "
                        "of lambdaplus, need 0 and 1"
                    )
        [metric] = functions or [None]
        params = {k: v for k, v in self.get_xgb_params().items() if v is not None}
        if objective is not None:
            params["objective"] = self._saved_as
        params |= {"eval_metric": by_name} if by_name else {"disable_default_eval_metric": 1}
        with xgb.config_context(verbosity=self.verbosity):
            train, evals, start = xgboost_matrices(self, call)
            curves: dict[str, Any] = {}
            rounds, callbacks = self.early_stopping_rounds, self.callbacks
            if rounds and watched and metrics is not None:
                stop = xgb.callback.EarlyStopping(rounds=rounds, metric_name=watched)
                rounds, callbacks = None, [*(callbacks or ()), stop]
            booster = xgb.train(
                params, train, self.get_num_boosting_rounds(), evals=evals, evals_result=curves,
                obj=objective, custom_metric=metric, xgb_model=start,
                early_stopping_rounds=rounds, callbacks=callbacks,
                verbose_eval=call.get("verbose", isinstance(self, xgb.XGBClassifier)),
            )  # fmt: skip
        set_booster(self, booster, curves)

    def apply(self, X: Any, **kwargs: Any) -> Any:
        """The leaf of each tree for each row, as by the parent's `apply`."""
        return super().apply(self._features(X), **kwargs)

    def save_model(self, fname: Any) -> None:
        """Save the trees, as XGBoost does, with objective, metrics and what `fit` learnt.

        Functions of yours, your own metrics, and labels of your own (`on`) are not saved; a model
        that has some is loaded by an estimator that was constructed with them.
        """
        rounds = self.get_booster().num_boosted_rounds()
        data = {**data_of(self), "rounds": rounds}
        self.get_booster().set_attr(lambdaplus=json.dumps(data))
        try:
            super().save_model(fname)
        finally:
            self.get_booster().set_attr(lambdaplus=None)

    def load_model(self, fname: Any) -> None:
        """Load a saved model.

        Raises
        ------
        ValueError
            For a classifier's trees without a threshold, such as those of
            ``get_booster().save_model``, and for a file of lambdaplus 0.1.

        Warns
        -----
        UserWarning
            If objective or metrics were not saved, and are not those of this estimator.
        """
        own = {"objective": self.objective, "eval_metric": self.eval_metric}
        super().load_model(fname)
        text = self.get_booster().attr("lambdaplus")
        self.get_booster().set_attr(lambdaplus=None)
        data = None if text is None else read_attribute(text)
        if data is not None:  # XGBoost takes the objective of the file, which is its own
            saved = {name: from_data(data[name], name, own[name]) for name in own if name in data}
            self.__dict__.update({**own, **saved})  # set_params would change the booster
        self._columns = None
        self._recall(data)

    def _recall(self, data: dict[str, Any] | None) -> None:
        pass


class XGBoostRanker(RankingEstimator, _OfXGBoost, xgb.XGBRanker):  # type: ignore[misc]
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


class XGBoostClassifier(RankingClassifier, _OfXGBoost, xgb.XGBClassifier):  # type: ignore[misc]
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
