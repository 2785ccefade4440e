"""A metric on a data set: arguments and checked results of the functions of its declaration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Bools, Floats, Int32s, Ints
from lambdaplus.data.arguments import plain
from lambdaplus.data.queries import Queries, Strata, cached_property, reaches

if TYPE_CHECKING:
    from lambdaplus.metrics.declaration import RankingMetric

_Array = TypeVar("_Array", bound=NDArray[Any])
DECLARED_WITHIN = 1e-9  # relative rounding error of declared gains and discounts
AGAINST_LABELS = (
    ", so ranking by label does not give the highest value, and an objective would lower it: "
    "reverse the order, or declare follows_label_order=False and refusal='why'"
)
_LEAST = np.finfo(np.float64).tiny  # the smallest number with a finite reciprocal
# Allowed results of the functions of a declaration, and their description in messages.
_VALID: dict[str, tuple[Callable[[Floats], Any], str]] = {
    "normalizer": (lambda x: (x == 0) | (x >= _LEAST), f"0 or at least {_LEAST:.2g}"),
    "row": (lambda x: x >= 0, "at least 0"),
    "column": (lambda x: x >= 0, "at least 0"),
    "stop": (lambda x: (x >= 0) & (x <= 1), "from 0 to 1"),
    "limit": (lambda x: x >= _LEAST, "above 0"),
}


class LabelCounts:
    """Labels and counts of the documents of each query: the argument of a declaration's functions.

    Each label of each query is one of s strata, in ascending order of labels within a query.  For a
    binary metric, the labels are 0 and 1.  All arrays are read-only.

    Attributes
    ----------
    metric : RankingMetric
    label, count : (s,) float64
        Label and number of documents of each stratum.
    size : (n_queries,) float64
        Number of documents of each query.
    longest : int
        Number of documents of the longest query.
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
    def relevant(self) -> Bools:
        """Whether the documents of each stratum are relevant, (s,) bool."""
        threshold = 1.0 if self.metric.declaration.binary else self.metric["relevant"]
        return read_only(reaches(self.label, threshold))

    @cached_property
    def n_relevant(self) -> Floats:
        """Number of relevant documents of each query, (n_queries,) float64."""
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
        """Number of documents of the same query with a higher label, (s,) float64."""
        upto = np.cumsum(self.count)
        upto -= self.spread((upto - self.count)[self.strata.edges[:-1]])
        return read_only(self.spread(self.size) - upto)

    def ideal(self, gain: Floats) -> Floats:
        """Discounted gain of the order by label, highest first: (s,) -> (n_queries,)."""
        discounts = self.metric.discounts(np.arange(1.0, self.longest + 1))
        upto = np.concatenate([[0.0], np.cumsum(discounts)])
        above = self.higher.astype(np.int64)
        return self.sum(gain * (upto[above + self.count.astype(np.int64)] - upto[above]))

    def per_class(self, part: str, value: Any) -> Floats:
        """Check the result of a function of the declaration for each stratum, (s,)."""
        return as_declared(self.metric, part, value, self.label)

    def per_query(self, part: str, value: Any) -> Floats:
        """Check the result of a function of the declaration for each query, (n_queries,)."""
        return as_declared(self.metric, part, value, self.size)


CountsFunction = Callable[[LabelCounts], Floats]


def as_declared(metric: RankingMetric, part: str, value: Any, like: Floats) -> Floats:
    """Check that a function of a declaration returned one valid number per element of ``like``."""
    where = f"{metric}: its declaration's {part}"
    returned = plain(value, f"the result of {where}")
    if returned.shape != like.shape:
        raise ValueError(
            f"{where} returned an array of shape {returned.shape} where {like.shape} is needed"
        )
    try:
        array = np.array(returned, dtype=np.float64, order="C")
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
    """A read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


class Coupling(NamedTuple):
    """What documents add to the terms of those below: row[x] * column[c] of class c to class x."""

    row: Floats  # (s,)
    column: Floats  # (s,)

    @property
    def within_class(self) -> Floats:
        """What a document adds to another one of its class, (s,)."""
        return self.row * self.column


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
    """The lists that the metric ranks: the queries, or all rows as one list.

    A ValueError is raised if a metric of queries gets none, as ``group=`` may have been forgotten.
    """
    pooled = metric.declaration.pooled
    if metric.over_data_set and not pooled:
        return queries.as_one_query
    if metric.over_data_set and queries.grouped:
        queries = queries.ungrouped
    if pooled == "middle":
        return queries.in_units
    if queries.grouped or pooled:
        return queries
    if one_group:
        return queries.as_one_query
    raise ValueError(
        f"{metric} ranks the documents of each query, but the data has no queries: set group= (or "
        "qid=); if all rows are one ranking, pass one_group=True, for example to "
        f"lambda_objective({str(metric)!r}, one_group=True)"
    )


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
        _refuse_falling(counts, gain)
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


def _refuse_falling(counts: LabelCounts, gain: Floats) -> None:
    falls = np.diff(gain) < -DECLARED_WITHIN * np.abs(gain).max()
    falls &= np.diff(counts.strata.query) == 0
    if falls.any():
        at = int(falls.argmax())
        raise ValueError(
            f"{counts.metric}: its declaration's gain falls from {gain[at]:g} for the label "
            f"{counts.label[at]:g} to {gain[at + 1]:g} for {counts.label[at + 1]:g}"
            + AGAINST_LABELS
        )
