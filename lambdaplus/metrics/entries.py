"""Entries of rankings: the documents of one class with the same score, which share all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.compiled import compiled
from lambdaplus.data.queries import Floats, Ints, Queries, cached_property
from lambdaplus.metrics.sort import Ranking, rank

Int32s = NDArray[np.int32]


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
        self._entries: dict[float | None, Entries] = {}

    @cached_property
    def ranking(self) -> Ranking:
        return rank(self.queries, self.scores)

    def entries(self, relevant: float | None) -> Entries:
        """The entries of all queries; the threshold of two classes, None for one for each label."""
        if relevant not in self._entries:
            classes = self.queries.strata(relevant).relevance
            boundaries, copies = self.queries.boundaries, self.queries.multiplicities
            merged, _ = merge_ties(boundaries, *self.ranking, classes, copies)
            self._entries[relevant] = merged
        return self._entries[relevant]


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
