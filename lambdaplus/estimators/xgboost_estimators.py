"""Subclasses of XGBoost's estimators with the name of a metric as objective."""

import json
from copy import copy, deepcopy
from typing import Any, ClassVar, Self

import numpy as np

import lambdaplus.xgboost as xgb
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.metric_checks import metrics_of_fit, warn_of_watched_losses
from lambdaplus.estimators.metrics_by_name import are_ours, metric_of
from lambdaplus.estimators.parent import ArgumentNames, FrameworkEstimator, make_readable
from lambdaplus.estimators.ranker import RankingEstimator
from lambdaplus.estimators.saved_models import (
    classifier_as_saved,
    forget_saved,
    parameters_as_saved,
    restored_classifier,
    restored_parameters,
    save_with,
    saved_with,
)
from lambdaplus.frameworks.internals import (
    SAVED_TYPE,
    metric_for_xgboost,
    set_booster,
    xgboost_matrices,
)
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import find_objective, unknown_objective_explained
from lambdaplus.ranking.queries import Documents

_TYPE = "lambdaplus.XGBoostClassifier"


class _OfXGBoost(FrameworkEstimator, xgb.XGBModel):  # type: ignore[misc]
    """An estimator that `xgboost.train` trains, if an objective or a metric is of lambdaplus.

    XGBRanker takes no function as objective, and calls one that is a metric query by query.
    """

    _framework: ClassVar = "XGBoost"
    _names: ClassVar = ArgumentNames(
        "base_margin", "base_margin_eval_set", "sample_weight_eval_set", "xgb_model"
    )
    _saved_as: ClassVar[str]  # the objective of its models

    def get_xgb_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_xgb_params()
        ours = {*self._own_parameters}
        if isinstance(find_objective(self.objective), Objective):
            ours.add("objective")
        return {name: value for name, value in params.items() if name not in ours}

    def _train(self, call: dict[str, Any], objective: Any) -> None:
        make_readable(call, "XGBoost")
        ours = isinstance(objective, Objective)
        called = ours or (callable(objective) and isinstance(self, xgb.XGBRanker))
        wanted = metric_of(objective) if self.eval_metric is None and ours else self.eval_metric
        chosen = bool(self.eval_metric)
        metrics, native = metrics_of_fit(self, call, objective, wanted, chosen=chosen)
        with unknown_objective_explained(objective, "XGBoost"):
            if called or metrics is not None:
                self._boost(call, objective if called else None, wanted, metrics, native)
            else:
                super().fit(**call)
        save_with(self.get_booster(), **parameters_as_saved(self))

    def _boost(
        self, call: dict[str, Any], objective: Any, wanted: Any, metrics: Any, native: list[Any]
    ) -> None:
        by_name = [metric for metric in native if isinstance(metric, str)]
        functions = [metrics] if metrics is not None else []
        functions += [metric_for_xgboost(self, each) for each in native if callable(each)]
        if len(functions) > 1:
            raise ValueError(
                "XGBoost supports one callable metric: pass that alone, or only names of metrics"
            )
        [metric] = functions or [None]
        params = {k: v for k, v in self.get_xgb_params().items() if v is not None}
        if objective is not None:
            params["objective"] = self._saved_as
        params |= {"eval_metric": by_name} if by_name else {"disable_default_eval_metric": 1}
        with xgb.config_context(verbosity=self.verbosity):
            train, evals, start = xgboost_matrices(self, call)
            curves: dict[str, Any] = {}
            booster = xgb.train(
                params, train, self.get_num_boosting_rounds(), evals=evals, evals_result=curves,
                obj=objective, custom_metric=metric, xgb_model=start,
                verbose_eval=call.get("verbose", isinstance(self, xgb.XGBClassifier)),
                callbacks=self._callbacks(objective, wanted, metrics, native),
            )  # fmt: skip
        set_booster(self, booster, curves)

    def _callbacks(
        self, objective: Any, wanted: Any, metrics: Any, native: list[Any]
    ) -> list[Any] | None:
        """Those of the user, with early stopping that watches the last metric that was asked for.

        XGBoost would watch the last one that it evaluates, and minimise those of lambdaplus.
        """
        kind = xgb.callback.EarlyStopping
        # XGBoost's early stopping remembers a training, so each one gets a copy.
        callbacks = [
            deepcopy(one) if isinstance(one, kind) else one for one in self.callbacks or ()
        ]
        if self.early_stopping_rounds:
            callbacks.append(kind(rounds=self.early_stopping_rounds))
        ours = [*map(str, getattr(metrics, "metrics", ()))]
        ours_last = metrics is not None and are_ours(wanted)[-1]
        last = ours[-1] if ours_last else next(reversed(native), None)
        for stop in callbacks:
            if not isinstance(stop, kind):
                continue
            if stop.metric_name is None:
                if isinstance(objective, Objective) and not ours_last:
                    warn_of_watched_losses(
                        [last], objective,
                        "put a metric of rankings, such as 'map', last in eval_metric",
                    )  # fmt: skip
                stop.metric_name = getattr(last, "__name__", last)
            if stop.maximize is None and stop.metric_name in ours:
                stop.maximize = True
        return callbacks or None


def _restored(model: Any, booster: Any) -> dict[str, Any]:
    """The attributes of an estimator with a saved model, by a new one: this one stays as it is."""
    loaded = type(model)(**model.get_params(deep=False))
    xgb.XGBModel.load_model(loaded, booster.save_raw())
    return {**vars(loaded), "_trained_columns": loaded.get_booster().feature_names}


class XGBoostRanker(RankingEstimator, _OfXGBoost, xgb.XGBRanker):  # type: ignore[misc]
    """An `xgboost.XGBRanker` whose objective is a ranking metric.

    Parameters
    ----------
    objective : str or callable, default="ndcg"
        As in `LightGBMRanker`, one of XGBoost (``"rank:ndcg"``), or a function for `xgboost.train`.
    eval_metric : str, metric, callable, or list of these, optional
        As in `LightGBMRanker`; early stopping uses the last one, as in XGBRanker.
    **kwargs
        The parameters of XGBRanker, with its defaults.

    Notes
    -----
    The saved model has the objective ``rank:ndcg``, which search engines accept.  `load_model` of
    this class restores objective and metric as well.

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

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """Scores of the rows, (n,), or other outputs that XGBRanker's `predict` has."""
        return super().predict(self._features(X), **kwargs)

    def load_model(self, fname: Any) -> None:
        """Load a saved model, with its objective and metric.

        Raises
        ------
        ValueError
            If it was trained with a function, which a file cannot hold, and this estimator does
            not have the same one.
        """
        booster = xgb.Booster(model_file=fname)
        found = restored_parameters(self, saved_with(booster))
        self.__dict__.update(_restored(self, booster) | found)

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
    of XGBClassifier.  The saved model has the objective ``binary:logitraw``, which predicts scores.
    `load_model` of this class restores threshold, probabilities and labels as well, and that of
    XGBClassifier, which would take scores for probabilities, refuses the file.

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
        self, *, objective: Any = "map", pos_label: Any = None, calibration: str | None = None,
        cv: Any = "auto", **kwargs: Any,
    ) -> None:  # fmt: skip
        self.pos_label = pos_label
        self.calibration = calibration
        self.cv = cv
        super().__init__(objective=objective, **kwargs)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> Self:
        """Train like XGBClassifier; see `LightGBMClassifier.fit`."""
        if "class_weight" in self.get_params():
            raise ValueError(
                "XGBoost has no class_weight: pass sample_weight= to fit, such as that of "
                "sklearn.utils.class_weight.compute_sample_weight"
            )
        super().fit(X, y, sample_weight, **kwargs)
        self._save_with_booster()
        return self

    def _save_with_booster(self) -> None:
        if hasattr(self, "offset_"):
            saved = {**parameters_as_saved(self), **classifier_as_saved(self)}
            save_with(self.get_booster(), **saved)

    def _refuse_unread_booster(self) -> None:
        """Raise a ValueError if a booster with a threshold was put into this estimator."""
        if not hasattr(self, "offset_") and "threshold" in saved_with(self.get_booster()):
            raise ValueError(
                "this booster has a threshold and labels, which this estimator has not taken from "
                "it: call load_model(booster.save_raw())"
            )

    def save_model(self, fname: Any) -> None:
        """Save the model to a file that `xgboost.Booster` and `load_model` of this class read."""
        if not hasattr(self, "offset_"):
            super().save_model(fname)
            return
        self._save_with_booster()  # the threshold may have been changed since
        booster = copy(self.get_booster())
        booster.set_attr(scikit_learn=json.dumps({SAVED_TYPE: _TYPE}))
        booster.save_model(fname)

    def load_model(self, fname: Any) -> None:
        """Load a saved model, with its labels, threshold, probabilities, objective and metric.

        Raises
        ------
        ValueError
            If labels, objective or metric are of a kind that a file cannot hold, and for a model
            that has been trained further or cut since its threshold was set.
        """
        booster = xgb.Booster(model_file=fname)
        kind = json.loads(booster.attr("scikit_learn") or "{}").get(SAVED_TYPE)
        if kind == _TYPE:
            booster.set_attr(scikit_learn=None)
        elif kind is not None and "threshold" in saved_with(booster):
            forget_saved(booster)  # trained further by XGBoost's own
        saved = saved_with(booster)
        found = restored_parameters(self, saved)
        if "threshold" in saved:
            if not isinstance(find_objective(found["objective"]), Objective):
                raise ValueError(
                    f"the saved model has a threshold, and objective={found['objective']!r} has "
                    "none: the file was changed"
                )
            found |= restored_classifier(saved, booster.num_boosted_rounds())
        found = _restored(self, booster) | found
        self._forget()
        self.__dict__.update(found)

    def _train(self, call: dict[str, Any], objective: Any, **changed: Any) -> None:
        super()._train(call, objective)
        self.n_classes_ = max(2, int(np.unique(call["y"]).size))

    def _rounds(self) -> dict[str, Any]:
        rounds = max(1, self.get_booster().num_boosted_rounds())
        return {"n_estimators": rounds, "early_stopping_rounds": None}

    @staticmethod
    def _changing(callbacks: Any) -> list[Any]:
        """XGBoost's scheduler; what others do to a training is not known."""
        kind = xgb.callback.LearningRateScheduler
        return [one for one in callbacks or () if isinstance(one, kind)]

    def _raw(self, X: Any, **kwargs: Any) -> Any:
        self._refuse_unread_booster()
        return xgb.XGBModel.predict(self, X, **{**kwargs, "output_margin": True})

    def _of_parent(self, method: str, X: Any, **kwargs: Any) -> Any:
        self._refuse_unread_booster()
        return getattr(xgb.XGBClassifier, method)(self, X, **kwargs)
