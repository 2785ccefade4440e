"""A metric on a data set: the results of the functions of its declaration."""

from typing import Any, cast

import numpy as np

from lambdaplus.lists.queries import Kind, Queries
from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.metrics.forms.form import Coupling, MetricArrays
from lambdaplus.metrics.label_counts import LabelCounts, as_declared, refuse_wrong_order
from lambdaplus.metrics.parameters import OVER


def scope(metric: RankingMetric, queries: Queries, one_group: bool = False) -> Queries:
    """What the metric ranks together: each query, or all rows of the data set.

    A ValueError is raised if a metric of queries gets none, as ``group=`` may have been forgotten.
    """
    ignores_queries = OVER in metric.declaration.parameters and metric["over"] == "dataset"
    lists = queries
    if ignores_queries or queries.kind is Kind.WEIGHTED_ROWS:
        kind = metric.kind_of_rows or (Kind.ONE_LIST if one_group else None)
        if kind is None:
            raise ValueError(
                f"{metric} ranks the documents of each query, but the data has no queries: set "
                "group= (or qid=); if all rows are one ranking, pass one_group=True to evaluate, "
                f"eval_metric or gradients, or train with lambda_objective({str(metric)!r}, "
                "one_group=True)"
            )
        lists = queries.of_kind(kind)
    if metric.compares_some:
        return lists.once(("labels", metric), lambda: _relabelled(metric, lists))
    of_middle = metric.declaration.pooled == "middle"
    return lists.with_rescaled_multiplicities() if of_middle else lists


def _relabelled(metric: RankingMetric, queries: Queries) -> Queries:
    """The same documents with the labels that the metric sees."""
    # Of all workers, which must number labels alike.
    workers, renumber = queries.workers_of_list, metric.declaration.form.labels
    different = np.unique(workers.concatenate(np.unique(queries.labels)))
    numbers = as_declared(metric, "labels", cast(Any, renumber)(metric, different), different)
    return queries.with_labels(numbers[np.searchsorted(different, queries.labels)])


def has_values(metric: RankingMetric, queries: Queries) -> bool:
    """Whether the metric is defined on any query."""
    ranked = scope(metric, queries)
    return bool((metric_arrays(metric.of_size(ranked.longest), ranked).scale > 0).any())


def metric_arrays(metric: RankingMetric, queries: Queries) -> MetricArrays:
    """The arrays of a metric on a data set, cached for the lifetime of the data."""
    if queries.n_queries == 1 and queries.multiplicities is None:
        metric = metric.of_size(queries.longest)
    return queries.once(metric, lambda: _lay_out(metric, queries))


def _lay_out(metric: RankingMetric, queries: Queries) -> MetricArrays:
    declared, counts = metric.declaration, LabelCounts(metric, queries)
    normalizer = counts.per_query("normalizer", declared.normalizer(counts))
    offset = np.zeros_like(counts.size) if declared.offset is None else declared.offset(counts)
    gain = counts.per_class("gain", declared.gain(counts))
    if declared.follows_label_order and declared.form.gain_follows_labels:
        other_query = np.diff(counts.strata.query) > 0
        refuse_wrong_order(metric, "gain", gain, "at label", counts.label, other_query)
    of_form, none = declared.form.arrays(counts), np.zeros_like(counts.label)
    return MetricArrays(
        strata=counts.strata.edges,
        code=counts.strata.code,
        discount=metric.discounts(np.arange(1.0, counts.longest + 1)),
        gain=gain,
        of_form=of_form,
        coupling=of_form if isinstance(of_form, Coupling) else Coupling(none, none),
        scale=np.divide(1.0, normalizer, out=np.zeros_like(normalizer), where=normalizer > 0),
        offset=counts.per_query("offset", offset),
    )
