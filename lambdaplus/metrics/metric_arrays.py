"""The arrays of a metric on a data set: the results of the functions of its declaration."""

import numpy as np

from lambdaplus.lists.queries import Queries
from lambdaplus.metrics.forms.form import Coupling, MetricArrays
from lambdaplus.metrics.label_counts import LabelCounts, refuse_wrong_order
from lambdaplus.metrics.ranking_metric import RankingMetric
from lambdaplus.metrics.scope import scope


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
