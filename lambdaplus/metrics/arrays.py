"""A metric on a data set, as plain arrays for the kernels."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compiled import compiled
from lambdaplus.metrics.declaration import RankingMetric, as_declared
from lambdaplus.metrics.forms import Cascade, CountAbove, Window
from lambdaplus.metrics.label_counts import LabelCounts
from lambdaplus.queries import Floats, Ints, Queries

GAINS, COUNT_ANY, COUNT_HIGHER, CASCADE, WINDOW = range(5)  # kinds of form


class MetricArrays(NamedTuple):
    """The values of a declaration for each stratum, query and rank.

    Attributes
    ----------
    kind : int
        Kind of the form.
    first : (n_queries + 1,) int64
        Index of the first stratum of each query.
    relevance : (n,) int32
        Class of each document within its query, in the order of `Queries.row_order`.
    discount : (longest query,) float64
        d by rank, counted from 0.
    gain, row, column, stop : (s,) float64
        g, the factors of A, and stop, per stratum; empty if the form does not have them.
    limit : (n_queries,) float64
        Number of certain stops after which no reader is left; empty if the form is not a cascade.
    opens, closes : (s,) int64
        Ranks, counted from 0, within which a stratum has its gain, excluding the last; empty if
        the form is not a window.
    scale, offset : (n_queries,) float64
        1/Z, which is 0 if the metric has no value, and the offset of the sum.
    """

    kind: int
    first: Ints
    relevance: NDArray[np.int32]
    discount: Floats
    gain: Floats
    row: Floats
    column: Floats
    stop: Floats
    limit: Floats
    opens: Ints
    closes: Ints
    scale: Floats
    offset: Floats


class ClassArrays(NamedTuple):
    """The part of `MetricArrays` for one query: arrays by class, and the limit."""

    kind: int
    gain: Floats
    row: Floats
    column: Floats
    stop: Floats
    opens: Ints
    closes: Ints
    limit: float


@compiled
def classes_of(metric: Any, q: int) -> Any:
    """The `ClassArrays` of query q."""
    its = slice(metric.first[q], metric.first[q + 1])
    limit = metric.limit[q] if metric.limit.size else 1.0
    return ClassArrays(metric.kind, metric.gain[its], metric.row[its], metric.column[its],
                       metric.stop[its], metric.opens[its], metric.closes[its], limit)  # fmt: skip


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
    per_query, per_stratum = counts.size, counts.label

    def of(part: str, rule: Any, like: Floats) -> Floats:
        return as_declared(metric, part, rule(counts), like) if rule else np.empty(0)

    kind, row, column, stop, limit = GAINS, None, None, None, None
    opens = closes = np.empty(0)
    form = declared.form
    if isinstance(form, CountAbove):
        kind = COUNT_ANY if form.relation == "any" else COUNT_HIGHER
        row, column = form.row, form.column
    elif isinstance(form, Cascade):
        kind, stop, limit = CASCADE, form.stop, form.limit
    elif isinstance(form, Window):
        kind = WINDOW
        opens, closes = (as_declared(metric, "window", r, per_stratum) for r in form.ranks(counts))
    normalizer = of("normalizer", declared.normalizer, per_query)
    return MetricArrays(
        kind=kind,
        first=counts.strata.first,
        relevance=counts.strata.relevance,
        discount=metric.discounts(np.arange(1.0, counts.longest + 1)),
        gain=of("gain", declared.gain, per_stratum),
        row=of("row", row, per_stratum),
        column=of("column", column, per_stratum),
        stop=of("stop", stop, per_stratum),
        limit=of("limit", limit, per_query),
        opens=np.maximum(opens - 1, 0).astype(np.int64),
        closes=closes.astype(np.int64),
        scale=np.divide(1.0, normalizer, out=np.zeros_like(normalizer), where=normalizer > 0),
        offset=of("offset", declared.offset, per_query) if declared.offset else 0 * per_query,
    )
