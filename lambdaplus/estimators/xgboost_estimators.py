"""Subclasses of XGBoost's estimators with the name of a metric as objective."""

import warnings
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

import lambdaplus.xgboost as xgb
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.objective_names import (
    are_ours,
    find_metrics,
    metric_of,
    refuse_reversed,
    refuse_unknown,
    unknown_objective_explained,
    warn_of_watched_losses,
)
from lambdaplus.estimators.parent import ArgumentNames, evaluation_sets, replaced
from lambdaplus.estimators.ranker import RankingEstimator
from lambdaplus.estimators.saved_models import (
    as_saved,
    calibrator_as_saved,
    forget_saved,
    labels_as_saved,
    restored,
    restored_calibrator,
    restored_labels,
    save_with,
    saved_with,
)
from lambdaplus.evaluation import EvalMetric
from lambdaplus.frameworks.internals import named_for_files, xgboost_type_of_file
from lambdaplus.frameworks.unused_parameters import warn_of_unused
from lambdaplus.objectives import Objective
from lambdaplus.ranking.queries import Documents, Queries

_ARGS = ArgumentNames("base_margin", "base_margin_eval_set", "sample_weight_eval_set", "xgb_model")
_SAVED_TYPE = "lambdaplus.XGBoostClassifier"


class _GivenGradient(xgb.callback.TrainingCallback):  # type: ignore[misc]
    """Callback that replaces the objective and the metric which each round calls.

    `xgboost.XGBRanker` does not accept a callable objective, and calls a metric query by query.
    These early stoppings maximise the metric if they watch it.
    """

    def __init__(
        self, objective: Any, metric: EvalMetric | None, is_last: bool, stops: list[Any]
    ) -> None:
        self.objective = objective
        self.metric = metric
        self.is_last = is_last  # whether the last value is that of our metric
        self.stops = stops

    def before_training(self, model: Any) -> Any:
        update, eval_set = model.update, model.eval_set

        def update_with_objective(dtrain: Any, iteration: int, fobj: Any = None) -> None:
            update(dtrain, iteration, self.objective or fobj)

        def evaluate(evals: Any, iteration: int, feval: Any, output_margin: bool) -> Any:
            line = eval_set(evals, iteration, self.metric or feval, output_margin)
            if self.metric is None or self.is_last:
                return line
            # XGBoost's own values come first; early stopping watches the last name of the line.
            start, *values = line.split("\t")
            n_ours = len(self.metric.metrics) * len(evals)
            return "\t".join([start, *values[-n_ours:], *values[:-n_ours]])

        model.update, model.eval_set = update_with_objective, evaluate
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        ours = set() if self.metric is None else {*map(str, self.metric.metrics)}
        for stop in self.stops if evals_log else ():
            data = evals_log.get(stop.data or [*evals_log][-1], {})
            if stop.maximize is None and (stop.metric_name or ["", *data][-1]) in ours:
                stop.maximize = True
        return False

    def after_training(self, model: Any) -> Any:
        del model.update, model.eval_set
        return model


@cache
def _is_unknown(name: str) -> bool:
    """Whether XGBoost, which has no list of its metrics, says that it does not know this one."""
    data = xgb.DMatrix(np.zeros((2, 1)), label=[0, 1])
    try:
        xgb.Booster({"eval_metric": name}, [data]).eval(data)
    except xgb.core.XGBoostError as error:
        return "Unknown metric" in str(error)
    return False


def _train(model: Any, fit: Any, call: dict[str, Any], objective: Any) -> None:
    """Call the parent's fit with an objective and metrics that it understands."""
    ours = isinstance(objective, Objective)
    called = ours or (callable(objective) and isinstance(model, xgb.XGBRanker))
    wanted = metric_of(objective) if model.eval_metric is None and ours else model.eval_metric
    metrics, native = find_metrics(wanted, objective, model._one_ranking)
    if metrics is not None and (model.eval_metric or evaluation_sets(call)):
        y = np.unique(call["y"], return_inverse=True)[1] if model._one_ranking else call["y"]
        refuse_reversed(metrics, objective, Queries(y, group=call.get("group")))
    if metrics is not None and not all(isinstance(metric, str) for metric in native):
        raise ValueError(
            "XGBoost supports one callable metric: pass that alone, or only names of metrics"
        )
    for name in native:
        if isinstance(name, str) and _is_unknown(name):
            refuse_unknown(name, "XGBoost")
    callbacks = list(model.callbacks or ())
    changed: dict[str, Any] = {"eval_metric": native or None}
    if model.early_stopping_rounds and (called or metrics is not None):
        callbacks.append(xgb.callback.EarlyStopping(rounds=model.early_stopping_rounds))
        changed["early_stopping_rounds"] = None
    stops = [one for one in callbacks if isinstance(one, xgb.callback.EarlyStopping)]
    ours_last = metrics is not None and are_ours(wanted)[-1]
    if ours and native and not ours_last and any(stop.metric_name is None for stop in stops):
        warn_of_watched_losses(
            native[-1:], objective, "put a metric of rankings, such as 'map', last in eval_metric"
        )
    if called and not ours_last:
        _warn_of_direction(native[-1:], stops)
    if called:
        warn_of_unused(model.get_xgb_params(), objective, stacklevel=5)
        changed |= {"objective": model._saved_as, "base_score": model.base_score or 0.0}
    if metrics is not None and not native:
        more = getattr(model, "kwargs", None) or {}
        changed["kwargs"] = {"disable_default_eval_metric": 1, **more}
    if called or metrics is not None:
        replacing = _GivenGradient(objective if called else None, metrics, ours_last, stops)
        callbacks.insert(0, replacing)
    explained = unknown_objective_explained(objective, "XGBoost")
    with explained, replaced(model, callbacks=callbacks or None, **changed):
        fit(**call)
    save_with(model.get_booster(), **_asked_for(model))


def _warn_of_direction(watched: list[Any], stops: list[Any]) -> None:
    """Warn if XGBoost minimises a function that may be one to maximise."""
    for metric in watched:
        name = getattr(metric, "__name__", "")
        maximised = name.startswith(("auc", "map", "ndcg", "pre")) and name != "mape"
        lower_is_better = name.endswith(("_error", "_loss", "_deviance"))  # scikit-learn's names
        free = [stop for stop in stops if stop.maximize is None and stop.metric_name is None]
        if callable(metric) and free and not (maximised or lower_is_better):
            warnings.warn(
                f"XGBoost's early stopping minimises {name or metric!r}. To maximise it, pass "
                "callbacks=[xgboost.callback.EarlyStopping(rounds="
                f"{free[0].rounds}, maximize=True)] in place of early_stopping_rounds",
                stacklevel=6,
            )


def _asked_for(model: Any) -> dict[str, Any]:
    """The parameters that a saved model needs for `score` and the next `fit`."""
    return {name: as_saved(getattr(model, name)) for name in ("objective", "eval_metric")}


def _restored(model: Any, saved: dict[str, Any]) -> dict[str, Any]:
    return {
        name: restored(name, saved[name], getattr(model, name))
        for name in ("objective", "eval_metric")
        if name in saved
    }


class XGBoostRanker(RankingEstimator, xgb.XGBRanker):  # type: ignore[misc]
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

    _framework: ClassVar = "XGBoost"
    _names: ClassVar = _ARGS
    _saved_as: ClassVar = "rank:ndcg"
    _train = _train

    def __init__(self, *, objective: Any = "ndcg", **kwargs: Any) -> None:
        # XGBRanker's constructor raises for objectives that are not XGBoost's.
        xgb.XGBModel.__init__(self, objective=objective, **kwargs)

    def get_xgb_params(self) -> dict[str, Any]:
        return self._for_framework(super().get_xgb_params())

    def load_model(self, fname: Any) -> None:
        """Load a saved model, with its objective and metric.

        Raises
        ------
        ValueError
            If it was trained with a function, which a file cannot hold, and this estimator does
            not have the same one.
        """
        found = _restored(self, saved_with(xgb.Booster(model_file=fname)))
        super().load_model(fname)
        self.__dict__.update(found)

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
                "ones: give all rows of a query the same, or use LightGBMRanker"
            )
        return first


class XGBoostClassifier(RankingClassifier, xgb.XGBClassifier):  # type: ignore[misc]
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

    _names: ClassVar = _ARGS
    _other_outputs: ClassVar = ("output_margin",)
    _saved_as: ClassVar = "binary:logitraw"
    _train = _train

    def get_xgb_params(self) -> dict[str, Any]:
        return self._for_framework(super().get_xgb_params())

    def fit(self, X: Any, y: Any, **kwargs: Any) -> Self:
        """Train like XGBClassifier; see `LightGBMClassifier.fit`."""
        if "class_weight" in self.get_params():
            raise ValueError(
                "XGBoost has no class_weight: pass sample_weight= to fit, such as that of "
                "sklearn.utils.class_weight.compute_sample_weight"
            )
        super().fit(X, y, **kwargs)
        self._save_with_booster()
        return self

    def _save_with_booster(self) -> None:
        if not hasattr(self, "offset_"):
            return
        booster = self.get_booster()
        save_with(
            booster, **_asked_for(self), rounds=booster.num_boosted_rounds(),
            labels=labels_as_saved(self.classes_),
            positive=int(self.classes_[1] == self.pos_label_), threshold=float(self.offset_),
            calibrator=calibrator_as_saved(getattr(self, "calibrator_", None)),
            calibration=self.calibration, chosen=self.pos_label is not None,
        )  # fmt: skip

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """The class of each row, (n,), or other outputs that the parent's `predict` has."""
        self._refuse_unread_booster()
        return super().predict(X, **kwargs)

    def _refuse_unread_booster(self) -> None:
        """Raise a ValueError if a booster with a threshold was put into this estimator."""
        if not hasattr(self, "offset_") and "threshold" in saved_with(self.get_booster()):
            raise ValueError(
                "this booster has a threshold and labels, which this estimator has not taken from "
                "it: call load_model(booster.save_raw())"
            )

    def save_model(self, fname: Any) -> None:
        """Save the model to a file that `xgboost.Booster` and `load_model` of this class read."""
        self._save_with_booster()  # the threshold may have been changed since
        name = _SAVED_TYPE if hasattr(self, "offset_") else None
        with replaced(self, **named_for_files(name)):
            super().save_model(fname)

    def load_model(self, fname: Any) -> None:
        """Load a saved model, with its labels, threshold, probabilities, objective and metric.

        Raises
        ------
        ValueError
            If labels, objective or metric are of a kind that a file cannot hold, and for a model
            that has been trained further or cut since its threshold was set.
        """
        booster = xgb.Booster(model_file=fname)
        saved, kind = saved_with(booster), xgboost_type_of_file(booster)
        if kind not in (_SAVED_TYPE, None) and "threshold" in saved:
            saved = {}  # trained further by XGBoost's own
            forget_saved(booster)
            fname = booster.save_raw()
        if "threshold" in saved:
            if saved["labels"] is None:
                raise ValueError(
                    "the saved model has labels that a file cannot hold: pickle the estimator"
                )
            if saved["rounds"] != (rounds := booster.num_boosted_rounds()):
                raise ValueError(
                    f"the saved model has {rounds} rounds, and its threshold is that of "
                    f"{saved['rounds']}: load it into xgboost.Booster, whose scores have no "
                    "threshold, or fit it again"
                )
        found = _restored(self, saved)
        self._forget()
        with replaced(self, **named_for_files(kind if kind == _SAVED_TYPE else None)):
            super().load_model(fname)
        self.__dict__.update(found)
        if "threshold" in saved:
            self._labels = restored_labels(saved["labels"])
            self.pos_label_ = self._labels[saved["positive"]]
            self.offset_ = saved["threshold"]
            self.calibration = saved["calibration"]
            self.pos_label = self.pos_label_ if saved["chosen"] else None
            if saved["calibrator"] is not None:
                self.calibrator_ = restored_calibrator(saved["calibrator"])

    def _rounds(self) -> dict[str, int]:
        return {"n_estimators": max(1, self.get_booster().num_boosted_rounds())}

    @staticmethod
    def _changing(callbacks: Any) -> list[Any]:
        """XGBoost's scheduler; what others do to a training is not known."""
        kind = xgb.callback.LearningRateScheduler
        return [one for one in callbacks or () if isinstance(one, kind)]

    def _raw(self, X: Any, **kwargs: Any) -> Any:
        self._refuse_unread_booster()
        return xgb.XGBModel.predict(self, X, **{**kwargs, "output_margin": True})
