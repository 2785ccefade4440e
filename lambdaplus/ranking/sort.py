"""Sort the documents of every query by score, and merge those of the same score and class.

The order does not depend on that of the rows: higher scores first, then lower labels, then lower
multiplicities (see `Queries.row_order`).

Scores are distributed to buckets of the same width; a bucket with many documents is distributed
again between its own extremes; and an insertion sort finishes the order.  All steps are stable.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Bools, Floats, Int32s, Ints, Rows
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.numba_import import numba
from lambdaplus.compute.parallel import over_queries
from lambdaplus.lists.queries import Queries

LARGE_BUCKET = 16  # number of documents above which a bucket is distributed again
MOST_BUCKETS = 2048


class Ranking(NamedTuple):
    """Row and score of the documents of every query in ranked order; -0.0 is replaced by 0.0."""

    row: Rows
    score: Floats


def rank(queries: Queries, scores: ArrayLike) -> Ranking:
    """Rank every query by descending score."""
    return _ranked(queries, queries.check_scores(scores))


def _ranked(queries: Queries, checked: Floats) -> Ranking:
    order = queries.row_order
    ranking = Ranking(np.empty(checked.size, dtype=order.dtype), np.empty(checked.size))
    over_queries(sort_lists, queries.boundaries, checked, order, *ranking)
    return ranking


def rank_some(boundaries: Ints, scores: Floats, order: Rows) -> Ranking:
    """Rank consecutive queries by the scores of all rows; tied rows keep the given order."""
    ranking = Ranking(np.empty(order.size, dtype=order.dtype), np.empty(order.size))
    sort_lists(0, boundaries.size - 1, boundaries, scores, order, *ranking)
    return ranking


def split_ties(queries: Queries, ranking: Ranking, key: Floats) -> Ranking:
    """The ranking without ties: tied documents in ascending order of a key of each row."""
    tied = np.cumsum(tie_starts(ranking.score, queries.boundaries))
    order = np.lexsort((key[ranking.row], tied))
    return Ranking(ranking.row[order], -np.arange(ranking.score.size, dtype=np.float64))


def tie_starts(score: Floats, boundaries: Ints) -> Bools:
    """Whether tied documents, or one without ties, begin at each rank of all queries."""
    starts = np.append(True, score[1:] != score[:-1])
    starts[boundaries[:-1]] = True
    return starts


@numba.extending.register_jitable
def lift_of(low: float, high: float) -> float:
    """A factor, a power of two, with which the range of scores neither overflows nor vanishes."""
    # Halves, since high - low itself may overflow.
    if high * 0.5 - low * 0.5 > 1e300:
        return 2.0**-600
    # Scores so close together are small, unless they are all the same.
    return 2.0**600 if 0.0 < high - low < 1e-290 else 1.0


@compiled
def sort_lists(
    first: int, last: int, boundaries: Ints, scores: Floats, order: Rows, row: Rows, score: Floats
) -> None:
    """Write rows and scores of the lists first .. last - 1, by descending score.

    ``order``, ``row`` and ``score`` begin with the first list of ``boundaries``.
    """
    base, longest = boundaries[0], 0
    for q in range(first, last):
        longest = max(longest, boundaries[q + 1] - boundaries[q])
    for i in range(boundaries[first] - base, boundaries[last] - base):
        # The order within ties is the given one, because all that follows is stable.
        row[i] = order[i]
        score[i] = scores[order[i]] + 0.0  # -0.0 + 0.0 is 0.0
    spare_row, spare_score = np.empty(longest, dtype=row.dtype), np.empty(longest)
    bucket = np.empty(longest, dtype=np.int32)
    room = np.empty(MOST_BUCKETS, dtype=np.int64)
    waiting = np.empty((longest // LARGE_BUCKET + 1, 2), dtype=np.int64)
    for q in range(first, last):
        # A stack of ranges that are distributed to buckets; at first, the whole list.
        waiting[0, 0], waiting[0, 1] = boundaries[q] - base, boundaries[q + 1] - base
        n_waiting = int(boundaries[q + 1] > boundaries[q])
        while n_waiting > 0:
            n_waiting -= 1
            start, stop = waiting[n_waiting, 0], waiting[n_waiting, 1]
            low = high = score[start]
            for i in range(start, stop):
                s = score[i]
                low = s if s < low else low
                high = s if s > high else high
            # Tied documents are in their final order.
            if low == high:
                continue
            # Falling scores go to rising buckets; a range is cut into about two buckets a document,
            # so that most of them have none or one.
            lift = lift_of(low, high)
            buckets = min(2 * (stop - start), MOST_BUCKETS)
            scale = (buckets - 1.0) / (high * lift - low * lift)
            for b in range(buckets):
                room[b] = 0
            for i in range(start, stop):
                # `min`, since rounding may lead to one bucket too many.
                b = int(min((high * lift - score[i] * lift) * scale, buckets - 1.0))
                bucket[i - start] = b
                room[b] += 1
                spare_row[i - start], spare_score[i - start] = row[i], score[i]
            # A counting sort: room[b] becomes the place of the bucket's next document.
            begin = start
            for b in range(buckets):
                size = room[b]
                room[b] = begin
                if size > LARGE_BUCKET:
                    waiting[n_waiting, 0], waiting[n_waiting, 1] = begin, begin + size
                    n_waiting += 1
                begin += size
            for i in range(stop - start):
                to = room[bucket[i]]
                room[bucket[i]] = to + 1
                row[to], score[to] = spare_row[i], spare_score[i]
        # No bucket has more than LARGE_BUCKET documents that differ, so each moves a few places at
        # most.
        for r in range(boundaries[q] - base + 1, boundaries[q + 1] - base):  # insertion sort
            s, document = score[r], row[r]
            at = r
            while at > boundaries[q] - base and score[at - 1] < s:
                score[at], row[at] = score[at - 1], row[at - 1]
                at -= 1
            score[at], row[at] = s, document


class Entries(NamedTuple):
    """The documents of some queries in ranked order, those of one class and score as one entry."""

    edges: Ints  # first entry of each query, and the number of entries
    score: Floats
    code: Int32s  # class
    size: Ints  # number of documents; only of those with a multiplicity above 0, if there are any
    weight: Floats  # sum of multiplicities


def merge_ties(
    boundaries: Ints, row: Any, score: Floats, code: Int32s, copies: Floats | None
) -> tuple[Entries, Ints]:
    """The entries of some ranked queries, and the first rank of each entry."""
    # The kernel returns no arrays: on Ctrl-C, numba fails to make them, or ends the process.
    n = row.size
    first_rank, edges = np.empty(n + 1, np.int64), np.empty_like(boundaries)
    classes, size = np.empty(n, np.int32), np.empty(n, np.int64)
    entries = Entries(edges, np.empty(n), classes, size, np.empty(n))
    multiplicity = np.empty(0) if copies is None else copies
    m = _merge(boundaries, row, score, code, multiplicity, first_rank, entries)
    if m == n:
        return entries, first_rank
    cut: Any = (part[:m] for part in entries[1:])
    return Entries(edges, *cut), first_rank[: m + 1]


@compiled
def _merge(
    boundaries: Ints, row: Rows, score: Floats, code: Int32s, copies: Floats, first_rank: Ints,
    entries: Entries,
) -> int:  # fmt: skip
    """Write the entries of ranked queries and their first ranks; return how many there are."""
    (edges, scores, classes, size, weight), m, base = entries, 0, boundaries[0]
    for q in range(boundaries.size - 1):
        edges[q] = m
        for r in range(boundaries[q] - base, boundaries[q + 1] - base):
            # Rows of equal score and class are adjacent: the order within ties is by class.
            s, x, w = score[r], code[row[r]], 1.0
            if copies.size:
                w = copies[row[r]]
            if m > edges[q] and scores[m - 1] == s and classes[m - 1] == x:
                # Rows of multiplicity 0 come first, and are not counted beside others.
                size[m - 1] += 1 if w > 0.0 and weight[m - 1] > 0.0 else 0
                weight[m - 1] += w
            else:
                first_rank[m], scores[m], classes[m], size[m], weight[m] = r, s, x, 1, w
                m += 1
    edges[-1], first_rank[m] = m, row.size
    return m


class Scored:
    """Checked scores of a data set, sorted once for all metrics that need it."""

    def __init__(self, queries: Queries, checked: Floats) -> None:
        self.queries, self.scores = queries, checked
        self._ranking: Ranking | None = None
        self._entries: dict[float | None, Entries] = {}

    @property
    def is_sorted(self) -> bool:
        return self._ranking is not None

    @property
    def ranking(self) -> Ranking:
        if self._ranking is None:
            self._ranking = _ranked(self.queries, self.scores)
        return self._ranking

    def entries(self, relevant: float | None) -> Entries:
        """The entries of all queries: of two classes if there is a threshold, or of all labels."""
        if relevant not in self._entries:
            queries, code = self.queries, self.queries.strata(relevant).code
            merged = merge_ties(queries.boundaries, *self.ranking, code, queries.multiplicities)
            self._entries[relevant] = merged[0]
        return self._entries[relevant]


def one_entry_per_document(entries: Entries) -> Entries:
    """The documents of the entries in the same order, one entry for each."""
    size = entries.size
    return Entries(
        edges=np.append(0, np.cumsum(size))[entries.edges],
        score=np.repeat(entries.score, size),
        code=np.repeat(entries.code, size),
        size=np.ones(int(size.sum()), np.int64),
        weight=np.repeat(entries.weight / size, size),
    )
