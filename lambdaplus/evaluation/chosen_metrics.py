"""The metrics of an evaluation, by their names, options and convention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lambdaplus.evaluation.conventions import CONVENTIONS, Convention
from lambdaplus.metrics import Metric, RankingMetric
from lambdaplus.metrics.names import SPELLINGS, share_options


def choose_metrics(
    names: list[Metric],
    options: Mapping[str, Any],
    convention: Convention = CONVENTIONS["lambdaplus"],
) -> list[RankingMetric]:
    """Parse names, passing to each metric the options that it has."""
    if not names:
        raise ValueError("no metric was given")
    shares = share_options(names, options)
    metrics = [convention.metric(name, **own) for name, own in zip(names, shares, strict=True)]
    _refuse_equal_names(metrics)
    return metrics


def _refuse_equal_names(metrics: list[RankingMetric]) -> None:
    """Raise a ValueError for different metrics with the same name."""
    by_name: dict[str, RankingMetric] = {}
    for metric in metrics:
        declared = SPELLINGS.get(metric.declaration.name, metric.declaration)
        if metric.declaration != declared:
            raise ValueError(
                f"your own metric is called {metric.declaration.name}, which is the name of a "
                f"metric of the library ({declared.title}): rename it"
            )
        if by_name.setdefault(str(metric), metric) != metric:
            raise ValueError(f"two different metrics are called {metric}: rename one of them")
