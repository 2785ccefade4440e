"""Fit of LightGBM's estimators with objectives and metrics that they would not accept."""

import os
from functools import cache
from typing import Any

import numpy as np

import lambdaplus.lightgbm as lgb
from lambdaplus.estimators.metric_checks import metrics_of_fit, warn_of_watched_losses
from lambdaplus.estimators.metrics_by_name import (
    are_ours,
    at_cutoffs,
    metric_of,
    refuse_unknown,
)
from lambdaplus.estimators.parent import make_readable, replaced
from lambdaplus.frameworks.internals import (
    lightgbm_aliases,
    lightgbm_attributes,
    lightgbm_early_stopping,
    set_lightgbm_objective,
)
from lambdaplus.frameworks.unused_parameters import warn_of_unused
from lambdaplus.metrics.names import split_names
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import unknown_objective_explained

# Names of LightGBM for no metric, and of metrics that need more than one column of scores.
_NOT_EVALUATED = {
    "none", "null", "na", "custom", "auc_mu", "multi_logloss", "multi_error", "multiclass",
    "softmax", "multiclassova", "multiclass_ova", "ova", "ovr",
}  # fmt: skip


def _refuse_unknown(names: str) -> None:
    """Raise a ValueError for names, separated by commas, that LightGBM would silently ignore."""
    for name in split_names(names):
        if not (name.lower() in _NOT_EVALUATED or _is_evaluated(name)):
            refuse_unknown(name, "LightGBM")
            raise ValueError(f"eval_metric={names!r}: pass several metrics as a list")


@cache
def _is_evaluated(name: str) -> bool:
    """Whether LightGBM, which has no list of its metrics, evaluates one of this name."""
    params = {"objective": "none", "metric": name, "verbose": -1}
    data = lgb.Dataset(np.zeros((2, 1)), label=[1, 1], group=[2], params=params)
    return bool(lgb.Booster(params, data).eval_train())


def fit_lightgbm(
    model: Any, fit: Any, call: dict[str, Any], objective: Any, **changed: Any
) -> None:
    """Call the parent's fit with an objective and metrics that it understands."""
    start = call.get("init_model")
    if not isinstance(start, str | os.PathLike | lgb.Booster | lgb.LGBMModel | None):
        # LightGBM would ignore it.
        raise TypeError(f"init_model must be a Booster or LGBMModel, or a file; got {start!r}")
    make_readable(call, "LightGBM")
    ours = isinstance(objective, Objective)
    params = model.get_params()
    lgb.refuse_wrapped(params)
    metric_is_set = any(name in params for name in lightgbm_aliases("metric"))
    if ours:
        lgb.refuse_random_forest(model.boosting_type)
        warn_of_unused(params, objective, stacklevel=5)
    wanted = asked = call.pop("eval_metric", None) or model.eval_metric
    if asked is None and ours and not metric_is_set:
        wanted = metric_of(objective)
    metrics, native = metrics_of_fit(model, call, objective, wanted, chosen=bool(asked))
    for name in native:
        if isinstance(name, str):
            _refuse_unknown(name)
    if metrics is not None and "eval_at" in call:
        metrics = at_cutoffs(metrics, call["eval_at"])
    first = metrics is not None and are_ours(wanted)[0]
    if metrics is not None and first and native:
        order = _OursFirst(len(metrics.metrics))
        call["callbacks"] = [order, *(call.get("callbacks") or ())]
    stopping = lightgbm_early_stopping(params, call.get("callbacks")) if native and ours else ""
    if stopping == "all" or (stopping == "first" and not first):
        watched = native if stopping == "all" else native[:1]
        warn_of_watched_losses(
            watched, objective, "put a metric of rankings, such as 'map', first in eval_metric, "
            "and set first_metric_only=True",
        )  # fmt: skip
    call["eval_metric"] = [*native, *([] if metrics is None else [metrics])]
    # LightGBM would evaluate the metric of its own objective, which refuses many labels.
    off = "None" if not metric_is_set and (ours or metrics is not None) else None
    attributes = lightgbm_attributes(model, metric=off, **changed)
    set_lightgbm_objective(model, objective)
    explained = unknown_objective_explained(objective, "LightGBM")
    with explained, replaced(model, **attributes), lgb.constant_features_explained():
        fit(**call)


class _OursFirst:
    """A callback that puts the last values of each evaluation set first, as they were asked for.

    LightGBM evaluates its own metrics first; with ``first_metric_only``, it watches the first.
    """

    order = -1000  # before any other
    before_iteration = False

    def __init__(self, n_ours: int) -> None:
        self.n_ours = n_ours

    def __call__(self, state: Any) -> None:
        by_set: dict[str, list[Any]] = {}
        for value in state.evaluation_result_list or ():
            by_set.setdefault(value[0], []).append(value)
        n = self.n_ours
        ordered = [value for values in by_set.values() for value in values[-n:] + values[:-n]]
        if ordered:
            state.evaluation_result_list[:] = ordered
