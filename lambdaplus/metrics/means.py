"""Means of metrics over queries: the values that a training watches and an evaluation reports."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.collective import ONE_MACHINE, Workers
from lambdaplus.compute.messages import warn
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.strata import reaches
from lambdaplus.metrics.ranking_metric import RankingMetric
from lambdaplus.metrics.scope import scope
from lambdaplus.metrics.values import rounded_value, values
from lambdaplus.metrics.weighted_sum import WeightedSum, parts_of, value_of
from lambdaplus.ranking.sort import Scored


def mean_values(
    metrics: Iterable[RankingMetric | WeightedSum],
    queries: Queries,
    scores: ArrayLike,
    one_group: bool = False,
) -> dict[str, float]:
    """The mean of each metric by its name, after those of the parts of sums.

    They are the means of `~lambdaplus.evaluation.evaluate` by the convention "lambdaplus".  If
    queries, or the rows of one list, are on several workers, each is that of all of them.
    """
    metrics = list(metrics)
    parts = list(dict.fromkeys(part for metric in metrics for part, _ in parts_of(metric)))
    mean = {}
    of_metrics = scored_lists(parts, queries, queries.check_scores(scores), one_group)
    for metric, scored in zip(parts, of_metrics, strict=True):
        ranked = scored.queries
        warn_of_one_class(metric, queries)
        if ranked.workers_of_list.size > 1:
            mean[str(metric)] = rounded_value(metric, ranked, scored.scores)
            continue
        query_values = values(metric, scored) if ranked.n_queries else np.empty(0)
        refuse_overflow(metric, query_values)
        mean[str(metric)] = mean_of(query_values, ranked.query_weights, ranked.workers)
    return mean | {str(metric): value_of(metric, mean) for metric in metrics}


def scored_lists(
    metrics: Iterable[RankingMetric], queries: Queries, checked: Floats, one_group: bool
) -> Iterator[Scored]:
    """The scores of the lists that each metric ranks; metrics of the same lists share one sort."""
    by_lists: dict[int, Scored] = {}
    for metric in metrics:
        ranked = scope(metric, queries, one_group)
        if id(ranked) not in by_lists:
            by_lists[id(ranked)] = Scored(ranked, checked)
        yield by_lists[id(ranked)]


def warn_of_one_class(metric: RankingMetric, queries: Queries) -> None:
    """Warn once for a data set whose labels differ, but are all relevant or all not."""
    if words := one_class_in_words(metric, queries):
        queries.once(("one class", metric["relevant"]), lambda: warn(words))


def one_class_in_words(metric: RankingMetric, queries: Queries) -> str:
    """What to say of labels that differ, but are all relevant or all not; empty for others."""
    labels, names = queries.labels, {declared.name for declared in metric.declaration.parameters}
    of_all = ("classes", "all") in metric.changed  # MAUC of all classes, whatever is relevant
    if "relevant" not in names or of_all or not labels.size or queries.workers.size > 1:
        return ""
    threshold = float(metric["relevant"])
    low, high = float(labels.min()), float(labels.max())
    relevant = reaches(np.array([low, high]), threshold)
    if low == high or relevant[0] != relevant[1]:
        return ""
    all_or_none = "all documents are" if relevant[0] else "no document is"
    advice = float(np.unique(labels)[1]) if relevant[0] else high
    return (
        f"{all_or_none} relevant, as {metric} needs it: the labels are from {low:g} to {high:g}, "
        f"and relevant={threshold:g}. Pass relevant={advice:g}, or other labels"
    )


def refuse_overflow(metric: RankingMetric, query_values: Floats) -> None:
    """Raise a ValueError for gains beyond float64."""
    infinite = int(np.isinf(query_values).sum())
    if infinite:
        raise ValueError(
            f"{metric} is infinite in {infinite} of {query_values.size} queries: its gains are too "
            "large for float64"
        )


def mean_of(values: Floats, weights: Floats | None = None, workers: Workers = ONE_MACHINE) -> float:
    """Weighted mean of all workers' values that are not NaN; NaN if their weights sum to 0."""
    defined = ~np.isnan(values)
    weights = np.ones_like(values) if weights is None else weights
    sums = np.array([values[defined] @ weights[defined], weights[defined].sum()])
    total, weight = workers.sum(sums)
    return float(total / weight) if weight > 0 else float("nan")
