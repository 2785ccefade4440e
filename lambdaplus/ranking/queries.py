"""Labels, queries and weights of a data set, and all checks of them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Bools, Floats, Int32s, Ints, Rows
from lambdaplus.compute.arrays import flags_of_rows, numbers, refuse_infinite
from lambdaplus.compute.collective import ONE_MACHINE, Workers
from lambdaplus.compute.columns import as_vector, columns_of
from lambdaplus.compute.identifiers import identifiers
from lambdaplus.compute.parallel import extremes

T = TypeVar("T")
RankedAs = Literal["queries", "one query", "table"]


@dataclass(frozen=True, slots=True)
class Strata:
    """The documents of every query, split by class: one stratum for each class of each query.

    The classes of a query are the labels that occur in it, numbered in ascending order.
    """

    label: Floats  # (s,) label of each stratum; 0 or 1 if there is a threshold
    count: Floats  # (s,) number of documents; sum of weights if these are multiplicities
    query: Ints  # (s,) query of each stratum
    edges: Ints  # (n_queries + 1,) first stratum of each query, and the number of strata
    code: Int32s  # (n,) class of each row within its query

    @property
    def n_classes(self) -> Ints:
        """Number of classes of each query, (n_queries,) int64."""
        return np.diff(self.edges)

    def sum(self, values: Floats) -> Floats:
        """Sum a value per stratum over each query: (s,) -> (n_queries,)."""
        return np.add.reduceat(values, self.edges[:-1])


class Queries:
    """Checked labels, query boundaries and weights of one data set; a ValueError for invalid ones.

    ``ranked_as`` says what is ranked together:

    - "queries": the rows of each query, given by their sizes (``group``) or by one ``qid`` per row,
      whose rows are adjacent;
    - "one query": all rows of all workers, without queries.  Weights are factors;
    - "table", the default without queries: all rows of all workers.  A row of weight k counts as k
      rows.

    ``returned``, (n,) bool, is False for documents without a rank, which have the lowest scores of
    their query.

    Attributes
    ----------
    ranked_as : "queries", "one query" or "table"
    workers : Workers
        Those of the training, of which this one has these rows.
    multiplicities : (n,) float64, optional
        The weights of a table.
    """

    def __init__(
        self,
        labels: ArrayLike,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        returned: ArrayLike | None = None,
        ranked_as: Literal["one query", "table"] = "table",
        workers: Workers = ONE_MACHINE,
    ) -> None:
        self.labels: Floats = vector(labels, "labels")
        n = self.labels.size
        if group is not None and qid is not None:
            raise ValueError("pass either group= (sizes) or qid= (one per row), not both")
        has_queries = group is not None or qid is not None
        self.ranked_as: RankedAs = "queries" if has_queries else ranked_as
        self.workers = workers
        self.weights: Floats | None = None if weight is None else _weights(weight, n)
        self._n_rows = n
        if workers.size == 1 or not has_queries:
            self._check_whole()
        nothing = has_queries and not n  # no query is on this worker
        self.boundaries: Ints = np.zeros(1, np.int64) if nothing else _boundaries(n, group, qid)
        self.returned = None if returned is None else flags_of_rows(returned, n, "returned")
        self.multiplicities = self.weights if self.ranked_as == "table" else None
        self._results: dict[Hashable, Any] = {}

    def _check_whole(self) -> None:
        """Raise a ValueError for no rows or zero weights; weights that a worker lacks are 1."""
        n, weights = self.labels.size, self.weights
        some = n > 0 if weights is None else weights.any()
        flags = np.array([weights is not None, some], np.int64)
        weighted, some = self.workers_of_list.largest(flags)
        self._n_rows = int(self.workers_of_list.sum(np.array([n]))[0])
        if not self._n_rows:
            raise ValueError("labels is empty: there is nothing to rank")
        if not some:
            raise ValueError("all weights are zero: there is nothing to rank")
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
    def n_documents(self) -> int:
        return int(self.labels.size)

    @property
    def n_queries(self) -> int:
        return int(self.boundaries.size - 1)

    @property
    def sizes(self) -> Ints:
        """Number of documents of each query, (n_queries,) int64."""
        return np.diff(self.boundaries)

    @property
    def query_of_row(self) -> Ints:
        """The number of the query of each row, (n,) int64."""
        return np.repeat(np.arange(self.n_queries), self.sizes)

    @property
    def workers_of_list(self) -> Workers:
        """Those that have a part of the rows of each list; of queries, this one alone."""
        return ONE_MACHINE if self.ranked_as == "queries" else self.workers

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
        if weights is None or self.ranked_as == "table":
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

    def without_queries(self, ranked_as: Literal["one query", "table"]) -> Queries:
        """The same rows as one query, or as a table, in which weights are multiplicities."""
        if self.ranked_as == ranked_as:
            return self
        return self.once(
            ranked_as,
            lambda: Queries(
                self.labels, weight=self.weights, ranked_as=ranked_as, workers=self.workers
            ),
        )

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
        if name == "weights" and self.ranked_as == "table":
            other.multiplicities = values
        return other

    def strata(self, relevant: float | None = None) -> Strata:
        """Split every query by label, or into two classes at the threshold ``relevant``."""
        return self.once(("strata", relevant), lambda: self._split(relevant))

    def _split(self, relevant: float | None) -> Strata:
        label = self.labels if relevant is None else reaches(self.labels, relevant)
        workers = self.workers_of_list
        if self.n_queries == 1:  # a sort of all rows would be slow
            # A worker may lack a class, but must number those that it has as the others do.
            labels = np.unique(workers.concatenate(np.unique(label).astype(np.float64)))
            query, edges = np.zeros(labels.size, dtype=np.int64), np.array([0, labels.size])
            stratum = code = np.searchsorted(labels, label)
        else:
            order = self.row_order
            # In the order by (query, label), a stratum starts where either changes.
            starts_query = np.zeros(label.size, dtype=bool)
            starts_query[self.boundaries[:-1]] = True
            starts = starts_query.copy()
            starts[1:] |= label[order[1:]] != label[order[:-1]]
            stratum = np.empty(label.size, dtype=np.int64)
            stratum[order] = np.cumsum(starts) - 1
            of_first_row = np.flatnonzero(starts)
            labels = label[order[of_first_row]].astype(np.float64)
            query = np.cumsum(starts_query)[of_first_row] - 1
            edges = np.searchsorted(query, np.arange(self.n_queries + 1))
            # Rows of a query are adjacent, so that this is in the order of the rows.
            code = stratum - np.repeat(edges[:-1], self.sizes)
        copies = self.multiplicities
        if copies is not None:  # in an order that does not depend on that of the rows
            order = np.lexsort((copies, stratum))
            stratum, copies = stratum[order], copies[order]
        count = np.bincount(stratum, copies, labels.size).astype(np.float64)
        return Strata(labels, workers.sum(count), query, edges, code.astype(np.int32))

    def check_scores(self, scores: ArrayLike, single: bool = False) -> Floats:
        """Convert scores to float64; a ValueError names the first one that is not finite.

        With ``single``, an array of float32 is returned as it is, and whether scores are finite is
        not checked: `find_cells` does, which needs their extremes anyway.
        """
        checked = vector(scores, "scores", copy=False, single=single)
        if checked.size != self.n_documents:
            raise ValueError(f"{checked.size} scores for {self.n_documents} labels")
        return checked


def reaches(label: Floats, threshold: float) -> Bools:
    """Whether labels are at least the threshold, or the threshold rounded to float32."""
    return np.asarray(label >= least_reaching(threshold))


def least_reaching(threshold: float) -> float:
    """The least label that reaches the threshold, which may be rounded to float32.

    LightGBM and XGBoost store labels in float32, in which 0.7 is less than the float64 0.7.
    """
    return min(threshold, float(np.float32(threshold)))


def query_sizes(group: ArrayLike) -> Ints:
    """The sizes of queries as integers, (n_queries,) int64; a ValueError for invalid ones."""
    sizes = numbers(as_vector(group), "group")
    if sizes.ndim != 1 or sizes.size == 0:
        raise ValueError(f"group must be a list of query sizes, got shape {sizes.shape}")
    if not ((sizes >= 1) & (sizes < 2**53) & (sizes == np.floor(sizes))).all():
        raise ValueError("group must contain query sizes: integers, at least 1 each")
    return sizes.astype(np.int64)


MOST_NAMES = 20  # of columns in an error
_HINTS = {  # what to do about two dimensions
    "scores": ": leave out num_class, since a ranking has one score per row",
    "labels": ": pass one column, and the others to objectives and metrics of their own, as in "
    "combine({lambda_ndcg: 1, lambda_map.on(purchases): 0.5}) and eval_map.on(purchases); of lists "
    "of queries, pass one list of all rows, and the lengths as group=",
}


def vector(values: ArrayLike, name: str, copy: bool = True, single: bool = False) -> Floats:
    """One-dimensional float64 without NaN or infinity; a single column counts as a vector."""
    kept = single and type(values) is np.ndarray and values.dtype == np.float32
    array: Floats = values if kept else numbers(as_vector(values), name, copy)  # type: ignore[assignment]
    if array.shape == (0, 0):  # from XGBoost 3.4 on, the scores of a worker without rows
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(_of_several_columns(values, name, array.ndim))
    if array.size and not single and not all(map(math.isfinite, extremes(array))):
        refuse_infinite(array, name)
    return array


def _of_several_columns(values: Any, name: str, dimensions: int) -> str:
    named = columns_of(values) or []
    if named:
        shown = ", ".join(repr(column) for column in named[:MOST_NAMES])
        one = next((c for c in named if str(c) == name.removesuffix("s")), named[0])
        return (
            f"{name} is a frame with the columns {shown}: pass one of them, as frame[{one!r}], and "
            "others by their own arguments, such as qid= and weight="
        )
    hint = _HINTS.get(name.split(": ")[-1], "") if dimensions == 2 else ""
    return f"{name} must be one-dimensional, got shape {np.shape(values)}{hint}"


def _boundaries(n: int, group: ArrayLike | None, qid: ArrayLike | None) -> Ints:
    if group is not None:
        sizes = query_sizes(group)
        if sizes.sum() != n:
            raise ValueError(f"group sizes add up to {sizes.sum()}, but there are {n} rows")
        return np.concatenate([[0], np.cumsum(sizes)])
    if qid is not None:
        ids = identifiers(qid, "qid", n)
        starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
        _, first = np.unique(ids[starts], return_index=True)
        if first.size < starts.size:
            row = starts[np.setdiff1d(np.arange(starts.size), first)[0]]
            raise ValueError(
                f"the rows of query {ids[row]!s} are not adjacent (it begins again in row {row}): "
                "sort the data by qid"
            )
        return np.append(starts, n).astype(np.int64)
    return np.array([0, n], dtype=np.int64)


def _weights(weight: ArrayLike, n: int) -> Floats:
    weights = vector(weight, "weight")
    if weights.size != n:
        raise ValueError(f"{weights.size} weights for {n} rows")
    for bad, problem in (
        (weights < 0, "weights must not be negative"),
        (
            (weights > 1e30) | ((weights > 0) & (weights < 1e-30)),
            "weights must be 0 or from 1e-30 to 1e30, since gradients are float32: divide them by "
            "a constant",
        ),
    ):
        if bad.any():
            row = int(bad.argmax())
            raise ValueError(f"{problem}: {weights[row]} in row {row}")
    return weights
