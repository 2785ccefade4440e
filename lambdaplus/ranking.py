"""Sort the documents of every query by score.

Ties are broken independently of the order of the rows: higher scores first, then lower labels, then
lower multiplicities (see `Queries.row_order`).  Documents with the same values of all three are
interchangeable.

The same algorithm is used for lists of every length: scores are distributed, by interpolation
between the smallest and largest of the list, to twice as many buckets as there are documents; a
bucket with many documents is distributed again by its own extremes; and one insertion sort orders
neighbours.  All steps are stable, so tied documents keep their order, and the time is proportional
to the number of documents.

Examples
--------
>>> from lambdaplus.queries import Queries
>>> from lambdaplus.ranking import rank
>>> queries = Queries([1, 0, 2, 0], group=[4])
>>> ranking = rank(queries, [0.5, 0.5, 0.1, 0.9])
>>> queries.row_order[ranking.permutation].tolist()
[3, 1, 0, 2]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compiled import borrowed, compiled
from lambdaplus.parallel import n_threads, over_queries, over_rows
from lambdaplus.queries import Floats, Ints, Queries

LONG = 65_536  # documents from which a query is sorted on several threads
CROWDED = 16  # a bucket with more documents is distributed again; others are left to the insertion
MOST_BUCKETS = 2048  # with more, a long list is distributed more slowly


class Ranking(NamedTuple):
    """Documents of every query in ranked order.

    Attributes
    ----------
    permutation : (n,) int32, int64 for long data
        Index into `Queries.row_order` (and into `Strata.relevance`) of the document at each rank.
    score : (n,) float64
        Its score; -0.0 is converted to 0.0.
    """

    permutation: NDArray[np.signedinteger[Any]]
    score: Floats


def rank(queries: Queries, scores: ArrayLike) -> Ranking:
    """Rank every query by descending score.

    Parameters
    ----------
    queries : Queries
    scores : (n,) array_like
        Finite numbers; a ValueError names the first row that is not.
    """
    given = queries.check_scores(scores)
    ranking = Ranking(np.empty(given.size, dtype=queries.row_order.dtype), np.empty(given.size))
    over_rows(_gather, given.size, given, queries.row_order, ranking)
    sort_lists(ranking, queries.boundaries)
    return ranking


def sort_lists(ranking: Ranking, boundaries: Ints) -> None:
    """Sort each list by descending score in place; tied documents keep their order."""
    if boundaries[-1] - boundaries[0] >= LONG and n_threads() > 1:
        long = np.diff(boundaries) >= LONG
        ends = zip(boundaries[:-1][long], boundaries[1:][long], strict=True)
        buckets = [_deal_on_threads(ranking, int(start), int(stop)) for start, stop in ends]
        boundaries = np.sort(np.concatenate([boundaries, *buckets]))
    over_queries(_sort, boundaries, boundaries, ranking)


def split_ties(queries: Queries, ranking: Ranking, key: Floats) -> Ranking:
    """The ranking with tied documents in ascending order of a key, and no ties left.

    Parameters
    ----------
    queries : Queries
    ranking : Ranking
    key : (n,) float64
        Key of each document, in the order of `Queries.row_order`.
    """
    starts = np.ones(ranking.score.size, dtype=bool)
    starts[1:] = ranking.score[1:] != ranking.score[:-1]
    starts[queries.boundaries[:-1]] = True
    order = np.lexsort((key[ranking.permutation], np.cumsum(starts)))
    return Ranking(ranking.permutation[order], -np.arange(ranking.score.size, dtype=np.float64))


@compiled
def _gather(first: int, last: int, given: Any, row_order: Any, ranking: Any) -> None:
    permutation, score = ranking.permutation, ranking.score
    for i in range(first, last):
        permutation[i] = i
        score[i] = given[row_order[i]] + 0.0  # -0.0 + 0.0 is 0.0


@compiled
def _sort(first: int, last: int, boundaries: Any, ranking: Any) -> None:
    """Sort each of the lists first .. last - 1 in place."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, boundaries[q + 1] - boundaries[q])
    ranking = borrowed(ranking)
    permutation, score = ranking.permutation, ranking.score
    spare_permutation, spare_score = np.empty(longest, dtype=np.int32), np.empty(longest)
    bucket = np.empty(longest, dtype=np.int32)
    room = np.empty(MOST_BUCKETS, dtype=np.int64)
    waiting = np.empty((longest // CROWDED + 1, 2), dtype=np.int64)
    for q in range(first, last):
        waiting[0, 0], waiting[0, 1] = boundaries[q], boundaries[q + 1]
        n_waiting = int(boundaries[q + 1] > boundaries[q])
        while n_waiting > 0:
            n_waiting -= 1
            start, stop = waiting[n_waiting, 0], waiting[n_waiting, 1]
            buckets = min(2 * (stop - start), MOST_BUCKETS)
            if not _find_buckets(score[start:stop], buckets, bucket):
                continue
            for b in range(buckets):
                room[b] = 0
            for i in range(stop - start):
                room[bucket[i]] += 1
            begin = start
            for b in range(buckets):
                size = room[b]
                room[b] = begin
                if size > CROWDED:
                    waiting[n_waiting, 0], waiting[n_waiting, 1] = begin, begin + size
                    n_waiting += 1
                begin += size
            for i in range(stop - start):
                spare_permutation[i], spare_score[i] = permutation[start + i], score[start + i]
            for i in range(stop - start):
                to = room[bucket[i]]
                room[bucket[i]] = to + 1
                permutation[to], score[to] = spare_permutation[i], spare_score[i]
        _insert(ranking, boundaries[q], boundaries[q + 1])


@compiled
def _find_buckets(score: Any, buckets: int, bucket: Any) -> bool:
    """Write the bucket of each score, the highest ones in bucket 0; False if all are equal."""
    low = high = score[0]
    for s in score:
        low = s if s < low else low
        high = s if s > high else high
    if low == high:
        return False
    scale = _buckets_per_unit(low, high, buckets)
    lift = _lift(low, high)
    for i in range(score.size):
        bucket[i] = int(min((high * lift - score[i] * lift) * scale, buckets - 1.0))
    return True


@compiled
def _lift(low: float, high: float) -> float:
    """A power of two by which the range of the scores neither overflows nor vanishes."""
    if high * 0.5 - low * 0.5 > 1e300:
        return float(2.0**-600)
    return float(2.0**600) if high - low < 1e-290 else 1.0


@compiled
def _buckets_per_unit(low: float, high: float, buckets: int) -> float:
    lift = _lift(low, high)
    return float((buckets - 1.0) / (high * lift - low * lift))


@compiled
def _insert(ranking: Any, start: int, stop: int) -> None:
    score, permutation = ranking.score, ranking.permutation
    for r in range(start + 1, stop):
        s, document = score[r], permutation[r]
        at = r
        while at > start and score[at - 1] < s:
            score[at], permutation[at] = score[at - 1], permutation[at - 1]
            at -= 1
        score[at], permutation[at] = s, document


def _deal_on_threads(ranking: Ranking, start: int, stop: int) -> Ints:
    """Distribute one long list to buckets on all threads; return the end of each bucket.

    Each part of the list first counts its documents in each bucket, from which follows where the
    documents of each part begin.  The result is that of a stable sort by bucket, for any parts.
    """
    mine = Ranking(ranking.permutation[start:stop], ranking.score[start:stop])
    pieces = np.linspace(0, stop - start, n_threads() + 1).astype(np.int64)
    low, high = float(mine.score.min()), float(mine.score.max())
    counts = np.zeros((pieces.size - 1, MOST_BUCKETS), dtype=np.int64)
    if low == high:
        return np.array([start])
    bucket = np.empty(stop - start, dtype=np.int16)
    over_queries(_count_buckets, pieces, pieces, mine.score, (low, high), bucket, counts)
    ends = np.cumsum(counts.T.ravel()).reshape(counts.T.shape).T
    room = np.ascontiguousarray(ends - counts)
    unsorted = Ranking(mine.permutation.copy(), mine.score.copy())
    over_queries(_deal, pieces, pieces, unsorted, bucket, room, mine)
    return np.asarray(start + ends[-1])


@compiled
def _count_buckets(
    first: int, last: int, pieces: Any, score: Any, extremes: Any, bucket: Any, counts: Any
) -> None:
    low, high = extremes
    lift, scale = _lift(low, high), _buckets_per_unit(low, high, MOST_BUCKETS)
    for piece in range(first, last):
        for i in range(pieces[piece], pieces[piece + 1]):
            b = int(min((high * lift - score[i] * lift) * scale, MOST_BUCKETS - 1.0))
            bucket[i] = b
            counts[piece, b] += 1


@compiled
def _deal(
    first: int, last: int, pieces: Any, unsorted: Any, bucket: Any, room: Any, ranking: Any
) -> None:
    permutation, score = ranking.permutation, ranking.score
    unsorted_permutation, unsorted_score = unsorted.permutation, unsorted.score
    for piece in range(first, last):
        for i in range(pieces[piece], pieces[piece + 1]):
            to = room[piece, bucket[i]]
            room[piece, bucket[i]] = to + 1
            permutation[to], score[to] = unsorted_permutation[i], unsorted_score[i]
