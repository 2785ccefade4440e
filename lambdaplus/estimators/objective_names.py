"""Objectives and metrics by name: ours, or the framework's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lambdaplus.evaluation import EvalMetric, eval_metric
from lambdaplus.metrics import Declaration, RankingMetric
from lambdaplus.metrics.weighted_sum import WeightedSum
from lambdaplus.objectives import lambda_objective

Named = str | Declaration | RankingMetric | WeightedSum

NATIVE: Mapping[str, str] = {
    "lambdarank": "ndcg@10",
    "rank_xendcg": "ndcg@10",
    "rank:ndcg": "ndcg@10",
    "rank:map": "map",
    "rank:pairwise": "ndcg@10",
}
"""The frameworks' own ranking objectives, and the metric by which a model of each is judged."""


def find_objective(given: Any) -> Any:
    """Our objective for a metric; what else is given is the framework's, and returned as it is."""
    if not isinstance(given, Named):
        return given
    try:
        return lambda_objective(given.removeprefix("lambda_") if isinstance(given, str) else given)
    except ValueError:
        if isinstance(given, str):
            return given
        raise


def find_metrics(given: Any, objective: Any = None) -> tuple[EvalMetric | None, list[Any]]:
    """Our metrics among those given, and the framework's; a name that both know is ours."""
    ours: list[Any] = []
    theirs: list[Any] = []
    one_group = bool(getattr(objective, "one_group", False))
    for metric in given if isinstance(given, list | tuple) else [given]:
        if isinstance(metric, EvalMetric):
            ours += metric.metrics
            one_group |= metric.one_group
        elif isinstance(metric, Named):
            try:
                ours += eval_metric(metric).metrics
            except ValueError:
                if not isinstance(metric, str):
                    raise
                theirs.append(metric)
        elif metric is not None:
            theirs.append(metric)
    return (eval_metric(*ours, one_group=one_group) if ours else None), theirs


def metric_of(objective: Any, given: Any = None) -> EvalMetric:
    """The metric that judges a model: the first of ours that was given, or the objective's."""
    native = NATIVE.get(objective) if isinstance(objective, str) else None
    for candidate in (given, getattr(objective, "metric", native)):
        metrics, _ = find_metrics(candidate, objective)
        if metrics is not None:
            return EvalMetric(metrics.metrics[:1], metrics.one_group)
    raise ValueError(
        f"the objective {objective!r} does not say which metric it is for: pass eval_metric, such "
        "as 'ndcg@10'"
    )


def at_cutoffs(metrics: EvalMetric, cutoffs: Sequence[int]) -> EvalMetric:
    """Each metric that can have a cutoff and has none at each of these: LightGBM's ``eval_at``."""
    at_each: list[Any] = []
    for metric in metrics.metrics:
        if isinstance(metric, WeightedSum) or metric.cutoff or metric.declaration.cutoff == "no":
            at_each.append(metric)
        else:
            at_each += [replace(metric, cutoff=int(cutoff)) for cutoff in cutoffs]
    return EvalMetric(tuple(dict.fromkeys(at_each)), metrics.one_group)
