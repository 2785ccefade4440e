"""Entries of rankings: the documents of one class with the same score, which share all.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.metrics.entries import merge_ties
>>> from lambdaplus.data.queries import Queries
>>> from lambdaplus.metrics.sort import rank
>>> queries = Queries([0, 1, 0, 1], group=[4])
>>> classes = queries.strata(1.0).relevance
>>> ranking = rank(queries, [0.5, 0.5, 0.5, 0.9])
>>> entries, first = merge_ties(queries.boundaries, *ranking, classes, None)
>>> entries.score.tolist(), entries.relevance.tolist(), entries.size.tolist()
([0.9, 0.5, 0.5], [1, 0, 1], [1, 2, 1])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.data.queries import Floats, Ints, Queries
from lambdaplus.metrics.sort import Ranking, rank, sort_lists

Int32s = NDArray[np.int32]
FEW = 16  # classes whose heads are compared to merge them


class Entries(NamedTuple):
    """The documents of some queries in ranked order, those of one class and score as one entry.

    Attributes
    ----------
    edges : (n_queries + 1,) int64
        First entry of each query.
    score : (m,) float64
    relevance : (m,) int32
        Class.
    size : (m,) int64
        Number of documents; only of those with a multiplicity above 0, if there are any.
    weight : (m,) float64
        Sum of their multiplicities.
    """

    edges: Ints
    score: Floats
    relevance: Int32s
    size: Ints
    weight: Floats


def merge_ties(
    boundaries: Ints, row: Any, score: Floats, relevance: Int32s, copies: Floats | None
) -> tuple[Entries, Ints]:
    """The entries of some ranked queries, and the first document of each entry.

    Parameters
    ----------
    boundaries : (k + 1,) int64
        Boundaries of these queries.
    row, score : (m,)
        Their ranking.
    relevance : (n,) int32
        Class of each row of the data.
    copies : (n,) float64, optional
        Multiplicity of each row.
    """
    n = row.size
    edges, first, found = np.empty_like(boundaries), np.empty(n + 1, np.int64), np.empty(n)
    classes, size, weight = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n)
    given = np.empty(0) if copies is None else copies
    entries = found, classes, size, weight
    m = _merge(boundaries, row, score, relevance, given, edges, first, *entries)
    return Entries(edges, *(part[:m] for part in entries)), first[: m + 1]


@compiled
def _merge(
    boundaries: Any, row: Any, score: Any, relevance: Any, copies: Any, edges: Any, first: Any,
    found: Any, classes: Any, size: Any, weight: Any,
) -> int:  # fmt: skip
    m, base = 0, boundaries[0]
    for q in range(boundaries.size - 1):
        edges[q] = m
        for r in range(boundaries[q] - base, boundaries[q + 1] - base):
            s, x, w = score[r], relevance[row[r]], 1.0
            if copies.size:
                w = copies[row[r]]
            if m > edges[q] and found[m - 1] == s and classes[m - 1] == x:
                size[m - 1] += 1 if w > 0.0 and weight[m - 1] > 0.0 else 0
                weight[m - 1] += w
            else:
                first[m], found[m], classes[m], size[m], weight[m] = r, s, x, 1, w
                m += 1
    edges[-1], first[m] = m, row.size
    return m


class Scored:
    """Scores of a data set, which are sorted when a metric first needs it, once for all metrics.

    Parameters
    ----------
    queries : Queries
    scores : (n,) array_like
        Finite numbers; a ValueError names the first row that is not.
    """

    def __init__(self, queries: Queries, scores: ArrayLike) -> None:
        self.queries = queries
        self.scores = queries.check_scores(scores)
        self._ranking: Ranking | None = None
        self._entries: dict[float | None, Entries] = {}

    @property
    def ranking(self) -> Ranking:
        if self._ranking is None:
            self._ranking = rank(self.queries, self.scores)
        return self._ranking

    def entries(self, relevant: float | None) -> Entries:
        """The entries of all queries; the threshold of two classes, None for one for each label."""
        if relevant not in self._entries:
            n_classes = int(np.diff(self.queries.strata(relevant).first)[0])
            if self.queries.n_queries == 1 and n_classes <= FEW:
                found = _by_class(self.queries, self.scores, relevant)
            else:
                classes = self.queries.strata(relevant).relevance
                boundaries, copies = self.queries.boundaries, self.queries.multiplicities
                found, _ = merge_ties(boundaries, *self.ranking, classes, copies)
            self._entries[relevant] = found
        return self._entries[relevant]


def _by_class(queries: Queries, scores: Floats, relevant: float | None) -> Entries:
    """The entries of one ranking of all rows, without the row at each rank.

    Each class is sorted by itself, and then they are merged: no class has to be looked up.
    """
    n, order, copies = scores.size, queries.row_order, queries.multiplicities
    count = np.bincount(queries.strata(relevant).relevance)
    ends = np.append(0, np.cumsum(count))  # of the classes: rows are ordered by label
    row, score = np.empty(n, order.dtype), np.empty(n)
    over_queries(sort_lists, ends, ends, scores, order, row, score)
    found, classes = np.empty(n), np.empty(n, np.int32)
    size, weight = np.empty(n, np.int64), np.empty(n)
    given = np.empty(0) if copies is None else copies
    start = ends[:-1].copy()
    m = _merge_classes(ends, row, score, given, start, found, classes, size, weight)
    return Entries(np.array([0, m]), found[:m], classes[:m], size[:m], weight[:m])


@compiled
def _merge_classes(
    ends: Any, row: Any, score: Any, copies: Any, at: Any, found: Any, classes: Any, size: Any,
    weight: Any,
) -> int:  # fmt: skip
    """Write the entries of classes that are sorted each; ``at`` is the next row of each class."""
    m, n_classes = 0, at.size
    for _ in range(score.size):
        best, x = -np.inf, -1
        for c in range(n_classes):  # of tied ones the lowest class
            if at[c] < ends[c + 1] and (x < 0 or score[at[c]] > best):
                best, x = score[at[c]], c
        w = copies[row[at[x]]] if copies.size else 1.0
        at[x] += 1
        if m > 0 and found[m - 1] == best and classes[m - 1] == x:
            size[m - 1] += 1 if w > 0.0 and weight[m - 1] > 0.0 else 0
            weight[m - 1] += w
        else:
            found[m], classes[m], size[m], weight[m] = best, x, 1, w
            m += 1
    return m


def each_alone(entries: Entries) -> Entries:
    """The documents of the entries in the same order, each as an entry of its own."""
    size = entries.size
    return Entries(
        edges=np.append(0, np.cumsum(size))[entries.edges],
        score=np.repeat(entries.score, size),
        relevance=np.repeat(entries.relevance, size),
        size=np.ones(int(size.sum()), np.int64),
        weight=np.repeat(entries.weight / size, size),
    )
