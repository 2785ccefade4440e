"""Metrics by name, those of lambdaplus or of the framework."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lambdaplus.evaluation import EvalMetric, eval_metric
from lambdaplus.metrics.names import split_names
from lambdaplus.metrics.weighted_sum import WeightedSum
from lambdaplus.objectives.by_name import NATIVE, Named, may_be_native


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
        elif callable(metric):
            native.append(metric)
        elif metric is not None:
            raise ValueError(f"eval_metric={metric!r} is neither a metric nor a function")
    return (eval_metric(*ours, one_group=one_group) if ours else None), native


def are_ours(metrics: Any) -> list[bool]:
    """Whether each of the metrics given is of lambdaplus."""
    return [find_metrics(metric)[0] is not None for metric in as_list(metrics)]


def refuse_unknown(name: str, framework: str) -> None:
    """Raise a ValueError for a name that lambdaplus does not know, nor the framework."""
    try:
        eval_metric(name)
    except ValueError as error:
        raise ValueError(f"{error}; {framework} has no metric {name!r} either") from None


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
