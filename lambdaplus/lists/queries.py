"""Labels, queries and weights of a data set, and what is ranked together."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable
from enum import Enum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.array_types import Bools, Floats, Ints, Rows
from lambdaplus.compute.collective import ONE_MACHINE, Workers
from lambdaplus.lists.keys import first_rows, identifiers
from lambdaplus.lists.strata import Strata, reaches, strata_of_list, strata_of_queries
from lambdaplus.lists.vectors import (
    as_flags,
    as_scores,
    as_sizes,
    as_weights,
    refuse_nothing,
    vector,
)

T = TypeVar("T")


class Kind(Enum):
    """What is ranked together, and what a weight of a row is."""

    QUERIES = "the rows of each query; weights are factors"
    ONE_LIST = "all rows of all workers; weights are factors"
    WEIGHTED_ROWS = "all rows of all workers; a row of weight k counts as k rows"


class Queries:
    """Checked labels, query boundaries and weights of one data set; a ValueError for invalid ones.

    The rows of each query are given by their sizes (``group``), or by one ``qid`` per row, whose
    rows are adjacent.  Without both, all rows of all workers are one list, of this ``kind``.

    ``returned``, (n,) bool, is False for documents without a rank, which have the lowest scores of
    their query.

    Attributes
    ----------
    kind : Kind
    n_documents, n_queries : int
    grouped : bool
        Whether there are queries, and not one list of all rows.
    workers, workers_of_list : Workers
        Those of the training, of which this one has these rows, and those that have a part of the
        rows of each list: of queries, this one alone.
    multiplicities : (n,) float64, optional
        The weights, if rows of weight k count as k rows.
    """

    def __init__(
        self,
        labels: ArrayLike,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        returned: ArrayLike | None = None,
        kind: Kind = Kind.WEIGHTED_ROWS,
        workers: Workers = ONE_MACHINE,
    ) -> None:
        self.labels: Floats = vector(labels, "labels")
        self._n_rows = n = self.labels.size
        if group is not None and qid is not None:
            raise ValueError("pass either group= (sizes) or qid= (one per row), not both")
        self.kind = kind if group is None and qid is None else Kind.QUERIES
        self.grouped = self.kind is Kind.QUERIES
        self.workers, self.workers_of_list = workers, ONE_MACHINE if self.grouped else workers
        self.weights: Floats | None = None
        if weight is not None:
            self.weights = as_weights(weight, n, whole=False)
        if workers.size == 1 or not self.grouped:
            self._check_whole()
        self._ids: NDArray[Any] | None = None  # of each query
        self.boundaries: Ints = np.array([0, n], dtype=np.int64)
        if self.grouped and not n:  # no query is on this worker
            self.boundaries = np.zeros(1, np.int64)
        elif group is not None:
            self.boundaries = np.append(0, np.cumsum(as_sizes(group, n)))
        elif qid is not None:
            ids = identifiers(qid, "qid", n)
            first = first_rows(ids)
            self.boundaries, self._ids = np.append(first, n), ids[first]
        self.returned = None if returned is None else as_flags(returned, n, "returned")
        self.multiplicities = self.weights if self.kind is Kind.WEIGHTED_ROWS else None
        self.n_documents, self.n_queries = n, self.boundaries.size - 1
        self._results: dict[Hashable, Any] = {}

    def _check_whole(self) -> None:
        """Raise a ValueError for no rows or zero weights; weights that a worker lacks are 1."""
        n, weights = self.labels.size, self.weights
        some = n > 0 if weights is None else weights.any()
        flags = np.array([weights is not None, some], np.int64)
        weighted, some = self.workers_of_list.largest(flags)
        self._n_rows = int(self.workers_of_list.sum(np.array([n]))[0])
        refuse_nothing(self._n_rows, bool(some))
        if weighted and weights is None:
            self.weights = np.ones(n)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """A result that is computed once from this data, and kept as long as the data.

        It must not refer to this object, which could not be freed then.
        """
        try:
            return self._results[key]  # type: ignore[no-any-return]
        except KeyError:
            pass
        return self._results.setdefault(key, compute())  # type: ignore[no-any-return]

    @property
    def ids(self) -> NDArray[Any]:
        """The identifier of each query, (n_queries,): its qid, or 0, 1, ..."""
        return np.arange(self.n_queries) if self._ids is None else self._ids

    @property
    def sizes(self) -> Ints:
        """Number of documents of each query, (n_queries,) int64."""
        return np.diff(self.boundaries)

    @property
    def query_of_row(self) -> Ints:
        """The number of the query of each row, (n,) int64."""
        return np.repeat(np.arange(self.n_queries), self.sizes)

    @property
    def connected_workers(self) -> Workers:
        """Those with which rows of queries can be summed: this one alone on LightGBM machines."""
        return self.workers if self.workers.connected else ONE_MACHINE

    @property
    def longest(self) -> int:
        return self._n_rows if self.workers_of_list.size > 1 else int(self.sizes.max())

    @property
    def query_weights(self) -> Floats | None:
        """Weight of each query in a mean over queries, (n_queries,): the mean of its rows'."""
        weights = self.weights
        if weights is None or self.kind is Kind.WEIGHTED_ROWS:
            return None
        sums = self.once("weights", lambda: np.add.reduceat(weights, self.boundaries[:-1]))
        return sums / self.sizes

    @property
    def row_order(self) -> Rows:
        """Rows by (query, label, multiplicity), ascending: (n,) int32, int64 for long data.

        After a stable sort by score that begins with this order, the order of tied documents does
        not depend on the order of the rows.
        """
        return self.once("row order", self._sort_rows)

    def _sort_rows(self) -> Rows:
        keys = [self.labels, self.query_of_row]
        if self.multiplicities is not None:
            keys.insert(0, self.multiplicities)
        order = np.lexsort(keys)
        return order.astype(np.int32) if order.size < 2**31 else order

    def of_kind(self, kind: Kind) -> Queries:
        """The same rows as one list of this kind."""
        if self.kind is kind:
            return self
        given: Any = {"weight": self.weights, "kind": kind, "workers": self.workers}
        return self.once(kind, lambda: Queries(self.labels, **given))

    def with_rescaled_multiplicities(self) -> Queries:
        """The same rows, with multiplicities in a unit in which the largest is about 1.

        For AUC, a sum of ranks: next to the 1 by which ranks differ, tiny multiplicities would be
        rounded away.  The unit is 1 unless all multiplicities are below 1/1000.
        """
        return self.once("smaller units", self._in_smaller_units) or self

    def _in_smaller_units(self) -> Queries | None:
        copies = self.multiplicities
        if copies is None:
            return None
        largest = float(self.workers.largest(np.array([copies.max(initial=0.0)]))[0])
        if largest >= 1e-3:
            return None
        # A power of two divides without rounding, so that equal multiplicities stay equal.
        return self._with("multiplicities", copies / 2.0 ** math.floor(math.log2(largest)))

    def with_own(self, name: str, values: Floats, what: str) -> Queries:
        """The same rows with labels or weights (``name``) that ``what`` carries, if they fit."""
        if self.workers.size > 1:
            raise ValueError(
                f"{what} has {name} of its own for all rows, but each of {self.workers.size} "
                "workers has some of them: train on one machine"
            )
        if values.size != self.n_documents:
            raise ValueError(
                f"{what} has {name} of its own for {values.size} rows, and was called for "
                f"{self.n_documents}: pass the {name} of the rows of this data set, in their "
                "order; subsets, such as folds, need objectives and metrics of their own"
            )
        return self._with(name, values)

    def with_labels(self, labels: Floats) -> Queries:
        """The same rows with other labels."""
        return self._with("labels", labels)

    def _with(self, name: str, values: Floats) -> Queries:
        """A copy with these values, without what was computed from others."""
        other = copy.copy(self)
        other._results = {}
        setattr(other, name, values)
        if name == "weights" and self.kind is Kind.WEIGHTED_ROWS:
            other.multiplicities = values
        return other

    def strata(self, relevant: float | None = None) -> Strata:
        """Split every query by label, or into two classes at the threshold ``relevant``."""
        return self.once(("strata", relevant), lambda: self._split(relevant))

    def _split(self, relevant: float | None) -> Strata:
        label: Floats | Bools = self.labels if relevant is None else reaches(self.labels, relevant)
        if self.n_queries == 1:
            return strata_of_list(label, self.multiplicities, self.workers_of_list)
        return strata_of_queries(label, self.boundaries, self.row_order)

    def check_scores(self, scores: ArrayLike, single: bool = False) -> Floats:
        """Convert scores to float64; a ValueError names the first one that is not finite.

        With ``single``, an array of float32 is returned as it is, and whether scores are finite is
        not checked: `find_cells` does, which needs their extremes anyway.
        """
        return as_scores(scores, self.n_documents, single)
