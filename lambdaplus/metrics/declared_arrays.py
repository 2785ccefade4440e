"""A metric on a data set, as plain arrays for the kernels."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.queries import Floats, Ints, Queries
from lambdaplus.metrics.declaration import AGAINST_LABELS, ROUNDING, RankingMetric
from lambdaplus.metrics.label_counts import LabelCounts


class MetricArrays(NamedTuple):
    """The values of a declaration for each stratum, query and rank.

    Attributes
    ----------
    first : (n_queries + 1,) int64
        Index of the first stratum of each query.
    relevance : (n,) int32
        Class of each row within its query.
    discount : (longest query,) float64
        d by rank, counted from 0.
    gain : (s,) float64
        g by stratum.
    parts : tuple
        What the form of the metric adds (`lambdaplus.metrics.forms`).
    scale, offset : (n_queries,) float64
        1/Z, which is 0 if the metric has no value, and the offset of the sum.
    """

    first: Ints
    relevance: NDArray[np.int32]
    discount: Floats
    gain: Floats
    parts: tuple[Any, ...]
    scale: Floats
    offset: Floats


def scope(metric: RankingMetric, queries: Queries, one_group: bool = False) -> Queries:
    """The lists that the metric ranks: the queries, or all rows as one list.

    Raises
    ------
    ValueError
        If there are no queries and the metric needs them: if ``group=`` was forgotten, the data
        must not be treated as one large query unless ``one_group`` is set.
    """
    if metric.over_data_set:
        return queries.ungrouped if metric.declaration.pooled else queries.as_one_query
    if queries.grouped or metric.declaration.pooled is not None:
        return queries
    if one_group:
        return queries.as_one_query
    raise ValueError(
        f"{metric} ranks the documents of each query, but the data has no queries: set group= (or "
        "qid=), or pass one_group=True if all rows are one ranking"
    )


_of_queries: WeakKeyDictionary[Queries, dict[RankingMetric, MetricArrays]] = WeakKeyDictionary()


def metric_arrays(metric: RankingMetric, queries: Queries) -> MetricArrays:
    """Compute the arrays of a metric on a data set; they are cached for the lifetime of the data.

    Raises
    ------
    ValueError
        If the metric does not support the labels, such as negative ones in NDCG, and for a
        declaration whose functions return arrays of another shape, NaN or infinity.
    """
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
        _refuse_falling(counts, gain)
    return MetricArrays(
        first=counts.strata.first,
        relevance=counts.strata.relevance,
        discount=metric.discounts(np.arange(1.0, counts.longest + 1)),
        gain=gain,
        parts=declared.form.parts(counts),
        scale=np.divide(1.0, normalizer, out=np.zeros_like(normalizer), where=normalizer > 0),
        offset=counts.per_query("offset", offset),
    )


def _refuse_falling(counts: LabelCounts, gain: Floats) -> None:
    """Raise a ValueError for a gain that falls with the label within a query."""
    falls = np.diff(gain) < -ROUNDING * np.abs(gain).max()
    falls &= np.diff(counts.strata.query) == 0
    if falls.any():
        at = int(falls.argmax())
        raise ValueError(
            f"{counts.metric}: its declaration's gain falls from {gain[at]:g} for the label "
            f"{counts.label[at]:g} to {gain[at + 1]:g} for {counts.label[at + 1]:g}"
            + AGAINST_LABELS
        )
