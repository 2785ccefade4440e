"""Checks of the metrics that a fit evaluates, and by which it stops early."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from lambdaplus.estimators.metrics_by_name import find_metrics
from lambdaplus.estimators.parent import evaluation_sets
from lambdaplus.evaluation import EvalMetric
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.means import mean_values
from lambdaplus.metrics.weighted_sum import WeightedSum, parts_of
from lambdaplus.ranking.queries import Queries


def metrics_of_fit(
    model: Any, call: dict[str, Any], objective: Any, metrics: Any, *, chosen: bool
) -> tuple[EvalMetric | None, list[Any]]:
    """`find_metrics` for a call of fit; a ValueError for metrics that reward the wrong order.

    ``chosen`` is whether the user chose them, who may look at them without evaluation sets.
    """
    ours, native = find_metrics(metrics, objective, model._one_ranking)
    if ours is not None and (chosen or evaluation_sets(call)):
        y = np.unique(call["y"], return_inverse=True)[1] if model._one_ranking else call["y"]
        _refuse_reversed(ours, objective, Queries(y, group=call.get("group")))
    return ours, native


def _refuse_reversed(metrics: EvalMetric, objective: Any, queries: Queries) -> None:
    """Raise a ValueError for a metric that falls as the objective's ranking gets better.

    Early stopping and searches would choose the worst model.
    """
    ranks_by_risk = objective == "survival:cox"  # of XGBoost
    if ranks_by_risk or getattr(objective, "has_own_labels", False):
        return
    aim = getattr(objective, "metric", None)
    low_first = aim is not None and parts_of(aim)[0][0].low_labels_first
    for metric in metrics.metrics:
        if _prefers_low_labels(metric, queries, metrics.one_group) != low_first:
            first, other = ("high", "low") if low_first else ("low", "high")
            raise ValueError(
                f"eval_metric={str(metric)!r} is higher with {first} labels first, and the "
                f"objective ranks {other} ones first, so early stopping would choose the worst "
                "round: pass a metric and an objective of the same order (cindex(higher=life) has "
                "long times first)"
            )


def _prefers_low_labels(
    metric: RankingMetric | WeightedSum, queries: Queries, one_group: bool
) -> bool:
    """Whether the reverse of the ranking by label has a higher value."""
    first = parts_of(metric)[0][0]
    if first.compares_some:  # the sign of a label may not be a part of its size
        return first.low_labels_first
    by_label, reverse = (
        mean_values([metric], queries, scores, one_group)[str(metric)]
        for scores in (queries.labels, -queries.labels)
    )
    return by_label < reverse


_OF_RANKINGS = ("auc", "average_precision", "map", "mean_average_precision", "ndcg", "lambdarank",
                "pre", "rank_xendcg", "xendcg", "xe_ndcg")  # fmt: skip


def warn_of_watched_losses(names: Iterable[Any], objective: Any, instead: str) -> None:
    """Warn if early stopping watches a loss of the framework, which takes scores at face value."""
    if "logloss" in objective.__name__:  # a part of the objective keeps scores log-odds
        return
    for name in names:
        if isinstance(name, str) and not name.lower().startswith(_OF_RANKINGS):
            warnings.warn(
                f"early stopping watches {name!r}, which takes scores for predictions of labels. "
                f"Those of {objective.__name__} only rank, so it stops at the wrong round: "
                f"{instead}",
                stacklevel=6,
            )
