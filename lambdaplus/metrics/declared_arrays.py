"""A metric on a data set: what the functions of its declaration get and return.

They get `LabelCounts`.  What they return is checked, since kernels rely on it, and becomes
`MetricArrays`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.arguments import plain
from lambdaplus.data.queries import Floats, Ints, Queries, Strata, cached_property, reaches

if TYPE_CHECKING:
    from lambdaplus.metrics.declaration import RankingMetric

_Array = TypeVar("_Array", bound=NDArray[Any])
ROUNDING = 1e-9  # share of the largest value by which rounding may turn an order around
AGAINST_LABELS = (
    ", so that ranking by label does not give the highest value, and an objective would lower it: "
    "turn it around, or declare follows_label_order=False and refusal='why'"
)
_LEAST = np.finfo(np.float64).tiny  # of numbers whose reciprocal is finite
# What the parts of a declaration may return.
_VALID: dict[str, tuple[Callable[[Floats], Any], str]] = {
    "normalizer": (lambda x: (x == 0) | (x >= _LEAST), f"0 or at least {_LEAST:.2g}"),
    "row": (lambda x: x >= 0, "at least 0"),
    "column": (lambda x: x >= 0, "at least 0"),
    "stop": (lambda x: (x >= 0) & (x <= 1), "from 0 to 1"),
    "limit": (lambda x: x >= _LEAST, "above 0"),
}


class LabelCounts:
    """Labels and counts of the documents of each query, by class.

    One stratum is one label of one query, in ascending order of labels within the query.

    Attributes
    ----------
    metric : RankingMetric
    label, count : (s,) float64
        Label and number of documents of each stratum (see `lambdaplus.data.queries.Strata`).
    size : (n_queries,) float64
        Number of documents in each query.
    """

    def __init__(self, metric: RankingMetric, queries: Queries) -> None:
        self.metric = metric
        self.strata: Strata = queries.strata(metric.relevant)
        self.label: Floats = read_only(self.strata.label)
        self.count: Floats = read_only(self.strata.count)
        self.longest = queries.longest

    @cached_property
    def size(self) -> Floats:
        return read_only(self.sum(self.count))

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """Strata of relevant documents, (s,) bool."""
        threshold = 1.0 if self.metric.declaration.binary else self.metric["relevant"]
        return read_only(reaches(self.label, threshold))

    @cached_property
    def n_relevant(self) -> Floats:
        """Number of relevant documents in each query, (n_queries,)."""
        return read_only(self.sum(np.where(self.relevant, self.count, 0.0)))

    @property
    def at_most(self) -> float:
        """The cutoff; infinity if there is none."""
        return np.inf if self.metric.cutoff is None else float(self.metric.cutoff)

    def sum(self, per_stratum: Floats) -> Floats:
        """Sum over the strata of each query: (s,) -> (n_queries,)."""
        return self.strata.sum(per_stratum)

    def spread(self, per_query: Floats) -> Floats:
        """Repeat a value per query for each of its strata: (n_queries,) -> (s,)."""
        return per_query[self.strata.query]

    @cached_property
    def higher(self) -> Floats:
        """Number of documents of the same query with a higher label, (s,)."""
        upto = np.cumsum(self.count)
        upto -= self.spread((upto - self.count)[self.strata.first[:-1]])
        return read_only(self.spread(self.size) - upto)

    def ideal(self, gain: Floats) -> Floats:
        """Discounted gain of the best order, highest labels first: (s,) -> (n_queries,)."""
        discounts = self.metric.discounts(np.arange(1.0, self.longest + 1))
        upto = np.concatenate([[0.0], np.cumsum(discounts)])
        above = self.higher.astype(np.int64)
        return self.sum(gain * (upto[above + self.count.astype(np.int64)] - upto[above]))

    def per_class(self, part: str, value: Any) -> Floats:
        """Check what a function of the declaration returned for each stratum, (s,)."""
        return as_declared(self.metric, part, value, self.label)

    def per_query(self, part: str, value: Any) -> Floats:
        """Check what a function of the declaration returned for each query, (n_queries,)."""
        return as_declared(self.metric, part, value, self.size)


Rule = Callable[[LabelCounts], Floats]


def as_declared(metric: RankingMetric, part: str, value: Any, like: Floats) -> Floats:
    """Check the result of a function of a declaration: one valid number per element of like."""
    where = f"{metric}: its declaration's {part}"
    returned = plain(value, f"the result of {where}")
    if returned.shape != like.shape:
        raise ValueError(
            f"{where} returned an array of shape {returned.shape} where {like.shape} is needed, "
            "one number for each"
        )
    try:
        array = np.array(returned, dtype=np.float64, order="C")  # which kernels may write to
    except (TypeError, ValueError):
        raise ValueError(f"{where} returned {returned.dtype}, not numbers") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{where} returned NaN or infinity")
    valid, words = _VALID.get(part, (np.isfinite, ""))
    wrong = array[~valid(array)]
    if wrong.size:
        raise ValueError(f"{where} must be {words}, and returned {wrong[0]:g}")
    return array


def read_only(array: _Array) -> _Array:
    """A view that functions of a declaration cannot write to, since others use the same array."""
    view = array.view()
    view.flags.writeable = False
    return view


class MetricArrays(NamedTuple):
    """The values of a declaration for each stratum, query and rank.

    ``first`` is the first stratum of each query, ``relevance`` the class of each row within its
    query; discounts count ranks from 0; ``parts`` are what the form adds, by stratum; and ``scale``
    is 1/Z, which is 0 if the metric has no value.
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

    A data set without queries is refused unless it is meant: ``group=`` may be forgotten.
    """
    if metric.over_data_set and metric.declaration.pooled:
        return queries.ungrouped if queries.grouped else queries
    if metric.over_data_set:
        return queries.as_one_query
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
    """The arrays of a metric on a data set; they are cached for the lifetime of the data."""
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
