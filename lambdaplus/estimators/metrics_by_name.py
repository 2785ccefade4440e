"""Metrics by name, those of lambdaplus or of the framework."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lambdaplus.evaluation import EvalMetric, eval_metric
from lambdaplus.metrics.names import split_names
from lambdaplus.metrics.weighted_sum import WeightedSum
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import NATIVE, Named, may_be_native

# LightGBM has no list of its metrics.  These are those of its documentation, with their aliases.
_OF_LIGHTGBM = {
    "none", "null", "na", "custom", "l1", "mean_absolute_error", "mae", "regression_l1", "l2",
    "mean_squared_error", "mse", "regression_l2", "regression", "rmse", "root_mean_squared_error",
    "l2_root", "quantile", "mape", "mean_absolute_percentage_error", "huber", "fair", "poisson",
    "gamma", "gamma_deviance", "tweedie", "r2", "ndcg", "lambdarank", "rank_xendcg", "xendcg",
    "xe_ndcg", "xe_ndcg_mart", "xendcg_mart", "map", "mean_average_precision", "auc",
    "average_precision", "binary_logloss", "binary", "binary_error", "auc_mu", "multi_logloss",
    "multiclass", "softmax", "multiclassova", "multiclass_ova", "ova", "ovr", "multi_error",
    "cross_entropy", "xentropy", "cross_entropy_lambda", "xentlambda", "kullback_leibler", "kldiv",
    "logloss", "error",
}  # fmt: skip


def as_list(metrics: Any) -> Sequence[Any]:
    """The value of a parameter that is one metric or a list of them."""
    return metrics if isinstance(metrics, list | tuple) else [metrics]


def find_metrics(
    metrics: Any, objective: Any = None, one_ranking: bool = False
) -> tuple[EvalMetric | None, list[Any]]:
    """The metrics of lambdaplus among those given, and all others, for the framework.

    With ``one_ranking``, as in classifiers, they treat all rows as one ranking.
    """
    ours: list[Any] = []
    native: list[Any] = []
    one_group = one_ranking or bool(getattr(objective, "one_group", False))
    for metric in as_list(metrics):
        if isinstance(metric, EvalMetric):
            if metric.labels:
                raise ValueError(
                    f"eval_metric={metric!r} has labels of its own, which estimators do not pass "
                    "on: use lightgbm.train(feval=) or xgboost.train(custom_metric=)"
                )
            ours += metric.metrics
            one_group |= metric.one_group
        elif isinstance(metric, Named):
            try:
                ours += eval_metric(metric).metrics
            except ValueError:
                if not isinstance(metric, str) or not all(map(may_be_native, split_names(metric))):
                    raise
                native.append(metric)
        elif callable(metric) and not isinstance(metric, Objective):
            native.append(metric)
        elif metric is not None:
            raise ValueError(f"eval_metric={metric!r} is neither a metric nor a function")
    return (eval_metric(*ours, one_group=one_group) if ours else None), native


def are_ours(metrics: Any) -> list[bool]:
    """Whether each of the metrics given is of lambdaplus."""
    return [find_metrics(metric)[0] is not None for metric in as_list(metrics)]


def refuse_unknown_to_lightgbm(names: Sequence[Any]) -> None:
    """Raise a ValueError for names of metrics that LightGBM would silently ignore."""
    for given in names:
        for name in split_names(given) if isinstance(given, str) else ():
            if name.lower().partition("@")[0] in _OF_LIGHTGBM:
                continue
            try:
                eval_metric(name)
            except ValueError as error:
                raise ValueError(f"{error}; LightGBM has no metric {name!r} either") from None
            raise ValueError(f"eval_metric={given!r}: pass several metrics as a list")


def metric_of(objective: Any, preferred: Any = None) -> EvalMetric:
    """The metric of `score`: the first of lambdaplus among those given, or the objective's."""
    native = NATIVE.get(objective) if isinstance(objective, str) else None
    for candidate in (preferred, getattr(objective, "metric", native)):
        metrics, _ = find_metrics(candidate, objective)
        if metrics is not None:
            return EvalMetric(metrics.metrics[:1], metrics.one_group)
    raise ValueError(
        f"no metric is known for the objective {objective!r}: pass eval_metric, such as 'ndcg@10'"
    )


def at_cutoffs(metrics: EvalMetric, cutoffs: Sequence[int]) -> EvalMetric:
    """The metrics, with those that have no cutoff at each of these, as by ``eval_at``."""
    at_each: list[Any] = []
    for metric in metrics.metrics:
        if isinstance(metric, WeightedSum) or metric.cutoff or metric.declaration.cutoff == "no":
            at_each.append(metric)
        else:
            at_each += [replace(metric, cutoff=int(cutoff)) for cutoff in cutoffs]
    return EvalMetric(tuple(dict.fromkeys(at_each)), metrics.one_group)
