"""Arguments of the functions of a declaration, and checks of what they return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Bools, Floats
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.strata import Strata, reaches
from lambdaplus.lists.vectors import numbers

_Array = TypeVar("_Array", bound=NDArray[Any])
DECLARED_WITHIN = 1e-9  # relative rounding error of declared gains and discounts
_TINIEST = np.finfo(np.float64).tiny  # the smallest number with a finite reciprocal
# Allowed results of the functions of a declaration, and their description in messages.
_VALID: dict[str, tuple[Callable[[Floats], Any], str]] = {
    "normalizer": (lambda x: (x == 0) | (x >= _TINIEST), f"0 or at least {_TINIEST:.2g}"),
    "row": (lambda x: x >= 0, "at least 0"),
    "column": (lambda x: x >= 0, "at least 0"),
    "stop": (lambda x: (x >= 0) & (x <= 1), "from 0 to 1"),
    "limit": (lambda x: x >= _TINIEST, "above 0"),
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

    Examples
    --------
    >>> from lambdaplus import parse_metric
    >>> from lambdaplus.metrics import LabelCounts
    >>> from lambdaplus.lists.queries import Queries
    >>> counts = LabelCounts(parse_metric("ndcg"), Queries([2, 0, 0, 1, 0], group=[3, 2]))
    >>> counts.label.tolist(), counts.count.tolist(), counts.size.tolist()
    ([0.0, 2.0, 0.0, 1.0], [2.0, 1.0, 1.0, 1.0], [3.0, 2.0])
    """

    def __init__(self, metric: Any, queries: Queries) -> None:
        self.metric = metric  # whose declaration has functions of this class
        self.strata: Strata = queries.strata(metric.relevant)
        self.label: Floats = read_only(self.strata.label)
        self.count: Floats = read_only(self.strata.count)
        self.longest = queries.longest

    @property
    def size(self) -> Floats:
        return read_only(self.sum(self.count))

    @property
    def relevant(self) -> Bools:
        """Whether the documents of each stratum are relevant, (s,) bool."""
        threshold = 1.0 if self.metric.declaration.binary else self.metric["relevant"]
        return read_only(reaches(self.label, threshold))

    @property
    def n_relevant(self) -> Floats:
        """Number of relevant documents of each query, (n_queries,) float64."""
        return read_only(self.sum(np.where(self.relevant, self.count, 0.0)))

    @property
    def at_most(self) -> float:
        """The cutoff; infinity if there is none."""
        cutoff: Any = self.metric.cutoff  # a number, since a share has been counted
        return np.inf if cutoff is None else float(cutoff)

    def sum(self, per_stratum: Floats) -> Floats:
        """Sum over the strata of each query: (s,) -> (n_queries,)."""
        return self.strata.sum(per_stratum)

    def repeat(self, per_query: Floats) -> Floats:
        """Repeat a value per query for each of its strata: (n_queries,) -> (s,)."""
        return per_query[self.strata.query]

    @property
    def higher(self) -> Floats:
        """Number of documents of the same query with a higher label, (s,) float64."""
        upto = np.cumsum(self.count)
        upto -= self.repeat((upto - self.count)[self.strata.edges[:-1]])
        return read_only(self.repeat(self.size) - upto)

    def ideal(self, gain: Floats) -> Floats:
        """Discounted gain of the order by label, highest first: (s,) -> (n_queries,)."""
        discounts = self.metric.discounts(np.arange(1.0, self.longest + 1))
        upto = np.concatenate([[0.0], np.cumsum(discounts)])
        above = self.higher.astype(np.int64)
        return self.sum(gain * (upto[above + self.count.astype(np.int64)] - upto[above]))

    def per_class(self, field: str, value: Any) -> Floats:
        """Check the result of a function of the declaration for each stratum, (s,)."""
        return as_declared(self.metric, field, value, self.label)

    def per_query(self, field: str, value: Any) -> Floats:
        """Check the result of a function of the declaration for each query, (n_queries,)."""
        return as_declared(self.metric, field, value, self.size)


CountsFunction = Callable[[LabelCounts], Floats]


def as_declared(metric: object, field: str, value: Any, like: Floats) -> Floats:
    """Check that a function of a declaration returned one valid number per element of ``like``."""
    where = f"{metric}: its declaration's {field}"
    array = np.ascontiguousarray(numbers(value, f"the result of {where}", copy=True))
    if np.shape(value) != like.shape:
        raise ValueError(
            f"{where} returned an array of shape {np.shape(value)} where {like.shape} is needed"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{where} returned NaN or infinity")
    valid, words = _VALID.get(field, (np.isfinite, ""))
    wrong = array[~valid(array)]
    if wrong.size:
        raise ValueError(f"{where} must be {words}, and returned {wrong[0]:g}")
    return array


def read_only(array: _Array) -> _Array:
    """A read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


def refuse_wrong_order(
    metric: object, field: str, values: Floats, at: str, places: Floats, apart: Bools
) -> None:
    """Raise a ValueError if a gain falls, or a discount rises, from a place to the next.

    ``apart``, (n - 1,), says which of the values are not compared with the next one.
    """
    rising = field == "discount"
    change = -np.diff(values) if rising else np.diff(values)
    wrong = (change < -DECLARED_WITHIN * np.abs(values).max(initial=0.0)) & ~apart
    if wrong.any():
        i = int(wrong.argmax())
        otherwise = "" if rising else ", or declare follows_label_order=False"
        raise ValueError(
            f"{metric}: its declaration's {field} {'rises' if rising else 'falls'} from "
            f"{values[i]:g} {at} {places[i]:g} to {values[i + 1]:g} {at} {places[i + 1]:g}, so "
            "ranking by label does not give the highest value, and an objective would lower it: "
            f"reverse the order{otherwise}"
        )
