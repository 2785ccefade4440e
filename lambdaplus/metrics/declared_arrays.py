"""A metric on a data set: the results of the functions of its declaration."""

from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.metrics.forms.form import Coupling
from lambdaplus.metrics.label_counts import LabelCounts, as_declared, refuse_wrong_order
from lambdaplus.ranking.queries import Queries


class MetricArrays(NamedTuple):
    """The values of a declaration for each stratum, query and rank."""

    strata: Ints  # (n_queries + 1,) first stratum of each query, and the number of strata
    code: Int32s  # (n,) class of each row within its query
    discount: Floats  # (longest,) by rank, counted from 0
    gain: Floats  # (s,)
    parts: tuple[Any, ...]  # see `Form.parts`
    coupling: Coupling  # zeros for most forms
    scale: Floats  # (n_queries,) 1/Z; 0 if the metric has no value
    offset: Floats  # (n_queries,)


def scope(metric: RankingMetric, queries: Queries, one_group: bool = False) -> Queries:
    """What the metric ranks together: each query, or all rows as a table or as one query.

    Only metrics that are ``pooled`` rank a table.  A ValueError is raised if a metric of queries
    gets none, as ``group=`` may have been forgotten.
    """
    declared, lists = metric.declaration, queries
    if metric.over_data_set or not queries.grouped:
        if declared.pooled:
            lists = queries.ungrouped if queries.grouped else queries
        elif metric.over_data_set or metric.compares_some or one_group:
            lists = queries.as_one_query
        else:
            raise ValueError(
                f"{metric} ranks the documents of each query, but the data has no queries: set "
                "group= (or qid=); if all rows are one ranking, pass one_group=True to evaluate, "
                f"eval_metric or gradients, or train with lambda_objective({str(metric)!r}, "
                "one_group=True)"
            )
    if metric.compares_some:
        return _relabelled(metric, lists)
    return lists.in_units if declared.pooled == "middle" else lists


_by_labels: WeakKeyDictionary[Queries, dict[RankingMetric, Queries]] = WeakKeyDictionary()


def _relabelled(metric: RankingMetric, queries: Queries) -> Queries:
    """The same documents with the labels that the metric sees, for the lifetime of the data."""
    kept = _by_labels.setdefault(queries, {})
    if metric not in kept:
        # Of all workers, which must number labels alike.
        workers, declared = queries.list_workers, metric.declaration.labels
        different = np.unique(workers.concatenate(np.unique(queries.labels)))
        numbers = as_declared(metric, "labels", cast(Any, declared)(metric, different), different)
        kept[metric] = queries.with_labels(numbers[np.searchsorted(different, queries.labels)])
    return kept[metric]


def has_values(metric: RankingMetric, queries: Queries) -> bool:
    """Whether the metric is defined on any query."""
    return bool((metric_arrays(metric, scope(metric, queries)).scale > 0).any())


_of_queries: WeakKeyDictionary[Queries, dict[RankingMetric, MetricArrays]] = WeakKeyDictionary()


def metric_arrays(metric: RankingMetric, queries: Queries) -> MetricArrays:
    """The arrays of a metric on a data set, cached for the lifetime of the data."""
    kept = _of_queries.setdefault(queries, {})
    if metric not in kept:
        kept[metric] = _lay_out(metric, queries)
    return kept[metric]


def _lay_out(metric: RankingMetric, queries: Queries) -> MetricArrays:
    declared, counts = metric.declaration, LabelCounts(metric, queries)
    normalizer = counts.per_query("normalizer", declared.normalizer(counts))
    offset = np.zeros_like(counts.size) if declared.offset is None else declared.offset(counts)
    gain = counts.per_class("gain", declared.gain(counts))
    if declared.follows_label_order and declared.form.gain_follows_labels:
        other_query = np.diff(counts.strata.query) > 0
        refuse_wrong_order(metric, "gain", gain, "at label", counts.label, other_query)
    parts = declared.form.parts(counts)
    return MetricArrays(
        strata=counts.strata.edges,
        code=counts.strata.code,
        discount=metric.discounts(np.arange(1.0, counts.longest + 1)),
        gain=gain,
        parts=parts,
        coupling=declared.form.coupling(parts, counts),
        scale=np.divide(1.0, normalizer, out=np.zeros_like(normalizer), where=normalizer > 0),
        offset=counts.per_query("offset", offset),
    )
