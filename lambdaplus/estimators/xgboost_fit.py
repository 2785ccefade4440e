"""Fit of XGBoost's estimators with objectives and metrics that they would not accept."""

from copy import copy
from functools import cache
from typing import Any

import numpy as np

import lambdaplus.xgboost as xgb
from lambdaplus.compute.warn_once import warn
from lambdaplus.estimators.metric_checks import metrics_of_fit, warn_of_watched_losses
from lambdaplus.estimators.metrics_by_name import (
    are_ours,
    metric_of,
    refuse_unknown,
)
from lambdaplus.estimators.parent import make_readable, replaced
from lambdaplus.estimators.saved_models import parameters_as_saved, save_with
from lambdaplus.evaluation import EvalMetric
from lambdaplus.frameworks.unused_parameters import warn_of_unused
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import unknown_objective_explained


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
            if self.metric is None or not evals:
                return line
            start, *values = line.split("\t")
            if not self.is_last:
                # XGBoost's own values come first; early stopping watches the last name of the line.
                n_ours = len(self.metric.metrics) * len(evals)
                values = [*values[-n_ours:], *values[:-n_ours]]
            self._maximise(values[-1].rpartition(":")[0].partition("-")[2])
            return "\t".join([start, *values])

        model.update, model.eval_set = update_with_objective, evaluate
        return model

    def _maximise(self, last: str) -> None:
        """Direct early stopping before it is called: XGBoost 2 calls callbacks in any order."""
        names = {*map(str, getattr(self.metric, "metrics", ()))}
        for stop in self.stops:
            if stop.maximize is None and (stop.metric_name or last) in names:
                stop.maximize = True

    def after_training(self, model: Any) -> Any:
        del model.update, model.eval_set
        return model


def _unused(callback: Any) -> Any:
    """A copy of an early stopping without what it remembers of an earlier training."""
    if not isinstance(callback, xgb.callback.EarlyStopping):
        return callback
    unused = copy(callback)
    unused.stopping_history, unused.best_scores, unused.current_rounds = {}, {}, 0
    return unused


@cache
def _is_unknown(name: str) -> bool:
    """Whether XGBoost, which has no list of its metrics, says that it does not know this one."""
    data = xgb.DMatrix(np.zeros((2, 1)), label=[0, 1])
    try:
        xgb.Booster({"eval_metric": name}, [data]).eval(data)
    except xgb.core.XGBoostError as error:
        return "Unknown metric" in str(error)
    return False


def fit_xgboost(model: Any, fit: Any, call: dict[str, Any], objective: Any) -> None:
    """Call the parent's fit with an objective and metrics that it understands."""
    make_readable(call, "XGBoost")
    ours = isinstance(objective, Objective)
    called = ours or (callable(objective) and isinstance(model, xgb.XGBRanker))
    wanted = metric_of(objective) if model.eval_metric is None and ours else model.eval_metric
    chosen = bool(model.eval_metric)
    metrics, native = metrics_of_fit(model, call, objective, wanted, chosen=chosen)
    if metrics is not None and not all(isinstance(metric, str) for metric in native):
        raise ValueError(
            "XGBoost supports one callable metric: pass that alone, or only names of metrics"
        )
    for name in native:
        if isinstance(name, str) and _is_unknown(name):
            refuse_unknown(name, "XGBoost")
    callbacks = [*map(_unused, model.callbacks or ())]
    # XGBoost 2 takes a function only as the single metric.
    changed: dict[str, Any] = {"eval_metric": native[0] if len(native) == 1 else native or None}
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
    save_with(model.get_booster(), **parameters_as_saved(model))


def _warn_of_direction(watched: list[Any], stops: list[Any]) -> None:
    """Warn if XGBoost minimises a function that may be one to maximise."""
    for metric in watched:
        name = getattr(metric, "__name__", "")
        maximised = name.startswith(("auc", "map", "ndcg", "pre")) and name != "mape"
        lower_is_better = name.endswith(("_error", "_loss", "_deviance"))  # scikit-learn's names
        free = [stop for stop in stops if stop.maximize is None and stop.metric_name is None]
        if callable(metric) and free and not (maximised or lower_is_better):
            warn(
                f"XGBoost's early stopping minimises {name or metric!r}. To maximise it, pass "
                "callbacks=[xgboost.callback.EarlyStopping(rounds="
                f"{free[0].rounds}, maximize=True)] in place of early_stopping_rounds",
                stacklevel=6,
            )
