"""Labels, queries and weights of a data set, which are checked in this module only.

A *query* is a sequence of documents that are ranked together.  All other modules use a `Queries`
and can rely on it: labels are finite, boundaries add up, and weights are valid.

Examples
--------
>>> from lambdaplus.data.queries import Queries
>>> queries = Queries([1, 0, 2, 0, 0], group=[3, 2])
>>> queries.n_queries, queries.boundaries.tolist()
(2, [0, 3, 5])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.collective import ONE_MACHINE, Workers
from lambdaplus.data.arrays import numbers, plain, query_ids

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801
        """Like functools' from Python 3.12 on: older ones have one lock for all objects of a class.

        A process that was forked while another thread held it would wait for it for ever.
        """

        def __init__(self, compute):
            self.compute = compute

        def __get__(self, owner, kind=None):
            if owner is None:
                return self
            found = owner.__dict__[self.compute.__name__] = self.compute(owner)
            return found


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Strata:
    """The documents of every query, split by class: one stratum per (query, class) that occurs.

    Classes are numbered within their query, in ascending label order, so a query with two of a
    thousand labels has two strata.

    Attributes
    ----------
    label : (s,) float64
        Label of the documents in the stratum (0 or 1 if labels were split by a threshold).
    count : (s,) float64
        Number of documents in the stratum; of copies if weights are multiplicities.
    query : (s,) int64
        Query of the stratum.
    first : (n_queries + 1,) int64
        Index of the first stratum of each query.
    relevance : (n,) int32
        Class of each row within its query.
    """

    label: Floats
    count: Floats
    query: Ints
    first: Ints
    relevance: NDArray[np.int32]

    def sum(self, values: Floats) -> Floats:
        """Sum a value per stratum over each query: (s,) -> (n_queries,)."""
        return np.add.reduceat(values, self.first[:-1])


class Queries:
    """Checked labels, query boundaries and weights of one data set.

    Parameters
    ----------
    labels : (n,) array_like
        Relevance label of each document, any finite numbers.
    group : (n_queries,) array_like of int, optional
        Number of documents in each query, in row order.
    qid : (n,) array_like, optional
        Query of each row; the rows of a query must be adjacent.
    weight : (n,) array_like, optional
        Row weights.  Without queries they are multiplicities: a row of weight k counts as k rows.
    returned : (n_queries,) array_like of int, optional
        Number of documents of each query that a system returned.  The remaining documents, by
        score, are judged but were not returned: they are included in the number of relevant
        documents, but have no rank.
    workers : Workers
        Those that the rows of the data set are on.  These are the queries of one of them, on which
        there may be none.

    Raises
    ------
    ValueError
        For empty data, NaN or infinite labels, group sizes that are not positive or do not add up
        to n, a qid whose rows are not adjacent, and negative, infinite or all-zero weights.
    """

    def __init__(
        self,
        labels: ArrayLike,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        returned: ArrayLike | None = None,
        workers: Workers = ONE_MACHINE,
    ) -> None:
        self.labels: Floats = _vector(labels, "labels")
        self.workers = workers
        if group is not None and qid is not None:
            raise ValueError("pass either group= (sizes) or qid= (one per row), not both")
        self.grouped: bool = group is not None or qid is not None
        alone = workers.size == 1
        if self.labels.size == 0:
            if alone:
                _refuse_empty()
            self.boundaries: Ints = np.zeros(1, np.int64)
        else:
            self.boundaries = _boundaries(self.labels.size, group, qid)
        self.weights: Floats | None = None if weight is None else _weights(weight, self.labels.size)
        if alone and self.weights is not None and not self.weights.any():
            _refuse_no_weight()
        self.returned: Ints | None = None if returned is None else _returned(returned, self)
        self._strata: dict[float | None, Strata] = {}

    @property
    def n_documents(self) -> int:
        return int(self.labels.size)

    @property
    def n_queries(self) -> int:
        return int(self.boundaries.size - 1)

    @property
    def sizes(self) -> Ints:
        """Number of documents in each query, (n_queries,) int64."""
        return np.diff(self.boundaries)

    @property
    def list_workers(self) -> Workers:
        """The workers that each list of these rows is on: this one alone."""
        return ONE_MACHINE

    @property
    def longest(self) -> int:
        """Number of documents in the longest query."""
        return int(self.sizes.max())

    @property
    def multiplicities(self) -> Floats | None:
        """Row weights if they are numbers of copies, which is only the case without queries."""
        return None if self.grouped else self.weights

    @cached_property
    def query_weights(self) -> Floats | None:
        """Weight of each query in a mean, (n_queries,): the mean weight of its rows."""
        if self.weights is None:
            return None
        return np.add.reduceat(self.weights, self.boundaries[:-1]) / self.sizes

    @cached_property
    def row_order(self) -> NDArray[np.signedinteger[Any]]:
        """Rows by (query, label, multiplicity), ascending: (n,) int32, int64 for long data.

        A stable sort by score that starts from this order puts tied documents in an order that
        does not depend on the order of the rows.
        """
        query = np.repeat(np.arange(self.n_queries), self.sizes)
        keys = [self.labels, query]
        if self.multiplicities is not None:
            keys.insert(0, self.multiplicities)
        order = np.lexsort(keys)
        return order.astype(np.int32) if order.size < 2**31 else order

    @cached_property
    def as_one_query(self) -> Queries:
        """The same rows as a single query, in which weights are factors, not multiplicities."""
        if self.workers.size > 1:
            return SharedRows(self.labels, self.weights, self.workers, grouped=True)
        return Queries(self.labels, group=[self.n_documents], weight=self.weights)

    @property
    def ungrouped(self) -> Queries:
        """The same rows without queries, in which case weights are multiplicities."""
        return self._ungrouped if self.grouped else self

    @cached_property
    def _ungrouped(self) -> Queries:
        if self.workers.size > 1:
            return SharedRows(self.labels, self.weights, self.workers)
        return Queries(self.labels, weight=self.weights)

    def strata(self, relevant: float | None = None) -> Strata:
        """Split every query by label, or into two classes at the threshold ``relevant``."""
        if relevant not in self._strata:
            self._strata[relevant] = self._split(relevant)
        return self._strata[relevant]

    def _split(self, relevant: float | None) -> Strata:
        label = self.labels if relevant is None else reaches(self.labels, relevant)
        if self.n_queries == 1:  # no sort of long data
            found, relevance = np.unique(label, return_inverse=True)
            query, first = np.zeros(found.size, dtype=np.int64), np.array([0, found.size])
            stratum = relevance
        else:
            order = self.row_order
            starts_query = np.zeros(label.size, dtype=bool)
            starts_query[self.boundaries[:-1]] = True
            starts = starts_query.copy()
            starts[1:] |= label[order[1:]] != label[order[:-1]]
            stratum = np.empty(label.size, dtype=np.int64)
            stratum[order] = np.cumsum(starts) - 1
            of_first_row = np.flatnonzero(starts)
            found = label[order[of_first_row]]
            query = np.cumsum(starts_query)[of_first_row] - 1
            first = np.searchsorted(query, np.arange(self.n_queries + 1))
            relevance = stratum - np.repeat(first[:-1], self.sizes)
        copies = self.multiplicities
        if copies is None:
            count = np.bincount(stratum, minlength=found.size).astype(np.float64)
        else:  # in an order that does not depend on that of the rows, as sums are rounded
            order = np.lexsort((copies, stratum))
            starts = np.searchsorted(stratum[order], np.arange(found.size))
            count = np.add.reduceat(copies[order], starts)
        return Strata(
            label=found.astype(np.float64),
            count=count,
            query=query,
            first=first,
            relevance=relevance.astype(np.int32),
        )

    def check_scores(self, scores: ArrayLike) -> Floats:
        """Convert scores to float64; a ValueError names the first one that is not finite."""
        found = _vector(scores, "scores", copy=False)
        if found.size != self.n_documents:
            raise ValueError(f"{found.size} scores for {self.n_documents} labels")
        return found


class SharedRows(Queries):
    """The rows on one worker of a single list that has rows on several workers.

    Labels, weights and classes are those of the rows on this worker, of which there may be none;
    `strata` and `longest` count the rows of all workers.

    Parameters
    ----------
    labels : (n,) array_like
    weight : (n,) array_like or None
        If there are weights on other workers, None stands for weights of 1.
    workers : Workers
    grouped : bool
        Whether the list is a query, in which weights are factors, not multiplicities.
    """

    def __init__(
        self,
        labels: ArrayLike,
        weight: ArrayLike | None,
        workers: Workers,
        grouped: bool = False,
    ) -> None:
        self.labels = _vector(labels, "labels")
        self.workers, self.grouped, self.returned = workers, grouped, None
        own = self.labels.size
        given = None if weight is None else _weights(weight, own)
        ones = np.ones(own)
        weighted, some = workers.largest(
            np.array([given is not None, (ones if given is None else given).any()], np.int64)
        )
        self._n_everywhere = int(workers.sum(np.array([own]))[0])
        if not self._n_everywhere:
            _refuse_empty()
        if not some:
            _refuse_no_weight()
        self.weights = ones if weighted and given is None else given
        self.boundaries = np.array([0, own], dtype=np.int64)
        self._strata = {}

    @property
    def list_workers(self) -> Workers:
        return self.workers

    @property
    def longest(self) -> int:
        return self._n_everywhere

    def _split(self, relevant: float | None) -> Strata:
        label = self.labels if relevant is None else reaches(self.labels, relevant)
        found = np.unique(self.workers.concatenate(np.unique(label).astype(np.float64)))
        relevance = np.searchsorted(found, label)
        count = np.bincount(relevance, self.multiplicities, found.size).astype(np.float64)
        return Strata(
            label=found,
            count=self.workers.sum(count),
            query=np.zeros(found.size, dtype=np.int64),
            first=np.array([0, found.size]),
            relevance=relevance.astype(np.int32),
        )


def reaches(label: Floats, threshold: float) -> NDArray[np.bool_]:
    """Whether labels are at least the threshold, or the threshold rounded to float32.

    The frameworks store labels in float32, in which 0.7 is slightly less than 0.7 in float64.
    """
    return np.asarray(label >= min(threshold, float(np.float32(threshold))))


def query_sizes(group: ArrayLike) -> Ints:
    """The sizes of queries as integers, (n_queries,) int64; a ValueError for invalid ones."""
    try:
        sizes = plain(group, "group").astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"group must be a list of query sizes: {error}") from None
    if sizes.ndim != 1 or sizes.size == 0:
        raise ValueError(f"group must be a list of query sizes, got shape {sizes.shape}")
    if not ((sizes >= 1) & (sizes < 2**53) & (sizes == np.floor(sizes))).all():
        raise ValueError("group must contain query sizes: integers, at least 1 each")
    return sizes.astype(np.int64)


def by_query(
    labels: ArrayLike, *, qid: ArrayLike | None = None, group: ArrayLike | None = None
) -> tuple[Queries, Ints | None]:
    """Check labels and queries, and bring the rows of each query together.

    Queries are in order of first appearance, and the rows of each query keep their order.

    Parameters
    ----------
    labels : (n,) array_like
    qid : (n,) array_like, optional
        Query of each row; the rows of a query do not have to be adjacent.
    group : (n_queries,) array_like of int, optional
        Query sizes in row order, instead of ``qid``.  Without both, all rows are one ranking.

    Returns
    -------
    queries : Queries
    rows : (n,) int64 or None
        The row as given at each place, so that ``queries.labels`` is ``labels[rows]``.  None if
        the order has not changed.

    Raises
    ------
    ValueError
        Like `Queries`, except that the rows of a query may be apart.
    """
    if qid is None or group is not None:
        return Queries(labels, group=group, qid=qid), None
    checked = _vector(labels, "labels")
    ids = query_ids(qid, checked.size)
    rows = rows_by_query(ids)
    if (rows[1:] > rows[:-1]).all():
        return Queries(checked, qid=ids), None
    return Queries(checked[rows], qid=ids[rows]), rows


def rows_by_query(qid: NDArray[Any]) -> Ints:
    """An order of the rows, (n,) int64, in which the rows of each query are adjacent."""
    _, first, query = np.unique(qid, return_index=True, return_inverse=True)
    return np.argsort(first[query], kind="stable")


def _vector(values: ArrayLike, name: str, copy: bool = True) -> Floats:
    """One-dimensional float64 without NaN or infinity; a single column counts as a vector."""
    array = numbers(values, name, copy)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        hint = ": leave out num_class, since a ranking has one score per row"
        raise ValueError(
            f"{name} must be one-dimensional, got shape {array.shape}"
            + (hint if name == "scores" and array.ndim == 2 else "")
        )
    finite = np.isfinite(array)
    if not finite.all():
        bad = np.flatnonzero(~finite)
        raise ValueError(
            f"{name} must be finite: {bad.size} of {array.size} are not, "
            f"the first is {array[bad[0]]} in row {bad[0]}"
        )
    return array


def _boundaries(n: int, group: ArrayLike | None, qid: ArrayLike | None) -> Ints:
    if group is not None:
        sizes = query_sizes(group)
        if sizes.sum() != n:
            raise ValueError(f"group sizes add up to {sizes.sum()}, but there are {n} rows")
        return np.concatenate([[0], np.cumsum(sizes)])
    if qid is not None:
        ids = query_ids(qid, n)
        starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
        _, seen = np.unique(ids[starts], return_counts=True)
        if seen.max() > 1:
            torn = _first_repeated(ids[starts])
            raise ValueError(
                f"the rows of query {ids[starts][torn]!s} are not adjacent (it begins again in row "
                f"{starts[torn]}): sort the data by qid"
            )
        return np.append(starts, n).astype(np.int64)
    return np.array([0, n], dtype=np.int64)


def _first_repeated(ids: NDArray[Any]) -> int:
    _, first = np.unique(ids, return_index=True)
    return int(np.setdiff1d(np.arange(ids.size), first)[0])


def _returned(returned: ArrayLike, queries: Queries) -> Ints:
    found = np.asarray(returned, dtype=np.int64)
    if found.shape != (queries.n_queries,) or (found < 0).any() or (found > queries.sizes).any():
        raise ValueError("returned must be, for each query, from 0 to its number of documents")
    return found


def _refuse_empty() -> NoReturn:
    raise ValueError("labels is empty: there is nothing to rank")


def _refuse_no_weight() -> NoReturn:
    raise ValueError("all weights are zero: nothing is left to rank")


def _weights(weight: ArrayLike, n: int) -> Floats:
    found = _vector(weight, "weight")
    if found.size != n:
        raise ValueError(f"{found.size} weights for {n} rows")
    negative = np.flatnonzero(found < 0)
    if negative.size:
        raise ValueError(f"weights must not be negative: {found[negative[0]]} in row {negative[0]}")
    extreme = np.flatnonzero((found > 1e100) | ((found > 0) & (found < 1e-100)))
    if extreme.size:
        raise ValueError(
            f"weights must be 0 or from 1e-100 to 1e100, since their sums and products are needed: "
            f"{found[extreme[0]]} in row {extreme[0]}"
        )
    return found
