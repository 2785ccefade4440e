"""Sort the documents of every query by score.

Ties are broken by what a document is, never by its row: higher scores first, then lower labels,
then lower multiplicities (see `Queries.base`).  Documents that agree in all three are alike.

Examples
--------
>>> from lambdaplus.queries import Queries
>>> from lambdaplus.ranking import rank
>>> queries = Queries([1, 0, 2, 0], group=[4])
>>> ranking = rank(queries, [0.5, 0.5, 0.1, 0.9])
>>> queries.base[ranking.place].tolist()
[3, 1, 0, 2]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compiled import compiled
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats, Ints, Queries

LONG = 131_072  # documents from which a query is sorted on several threads
RUN = 32  # sorted by counting up to here, by merges above


class Ranking(NamedTuple):
    """Documents of every query in ranked order.

    Attributes
    ----------
    place : (n,) int64
        Index into `Queries.base` (and into `Strata.code`) of the document at each rank.
    score : (n,) float64
        Its score; -0.0 is 0.0.
    """

    place: Ints
    score: Floats


def rank(queries: Queries, scores: ArrayLike) -> Ranking:
    """Rank every query by descending score.

    Parameters
    ----------
    queries : Queries
    scores : (n,) array_like
        Finite; a ValueError says which row is not.
    """
    given = queries.check_scores(scores)
    place, score = np.empty(given.size, dtype=np.int64), np.empty(given.size)
    # In training the last round's ranking is nearly the next one's: sorting starts from there.
    # Where it starts makes no difference to the result, so threads may race for what is kept.
    start = queries.facts.get("last ranking")
    start = np.arange(given.size) if start is None else start
    pieces, joins = _pieces(queries.boundaries)
    over_queries(_rank, pieces, given, queries.base, pieces, start, place, score)
    for low, edges in joins:
        high = low + edges[-1]
        while edges.size > 2:
            wider = edges[::2]
            over_queries(_join, wider, edges, place[low:high], score[low:high])
            edges = wider
    queries.facts["last ranking"] = place
    return Ranking(place, score)


def _pieces(boundaries: Ints) -> tuple[Ints, list[tuple[int, Ints]]]:
    """What is sorted at a time: queries, and equal parts of long ones, one a thread and more.

    Also the beginning of each long query, with the edges of its parts from there.  A power of two
    of them, so that they can be joined two by two.  The ranking is the same whatever the parts.
    """
    parts = 1 << (numba.get_num_threads() - 1).bit_length()
    long = np.flatnonzero(np.diff(boundaries) >= LONG) if parts > 1 else np.empty(0, np.int64)
    joins = []
    for low, high in zip(boundaries[long].tolist(), boundaries[long + 1].tolist(), strict=True):
        joins.append((low, np.linspace(0, high - low, parts + 1).astype(np.int64)))
    inner = [low + edges[1:-1] for low, edges in joins]
    return np.sort(np.concatenate([boundaries, *inner])), joins


def split_ties(queries: Queries, ranking: Ranking, key: Floats) -> Ranking:
    """The ranking with tied documents in ascending order of a key, and no ties left.

    Parameters
    ----------
    queries : Queries
    ranking : Ranking
    key : (n,) float64
        By document, in the order of `Queries.base`.
    """
    starts = np.ones(ranking.score.size, dtype=bool)
    starts[1:] = ranking.score[1:] != ranking.score[:-1]
    starts[queries.boundaries[:-1]] = True
    order = np.lexsort((key[ranking.place], np.cumsum(starts)))
    return Ranking(ranking.place[order], -np.arange(ranking.score.size, dtype=np.float64))


@compiled
def _rank(
    first: int,
    last: int,
    given: Any,
    base: Any,
    boundaries: Any,
    start: Any,
    place: Any,
    score: Any,
) -> None:
    longest = 0
    for q in range(first, last):
        longest = max(longest, boundaries[q + 1] - boundaries[q])
    spare_score = np.empty(longest)
    spare_place = np.empty(longest, dtype=np.int64)
    for q in range(first, last):
        low, high = boundaries[q], boundaries[q + 1]
        for i in range(low, high):
            place[i] = start[i]
            score[i] = given[base[start[i]]] + 0.0  # -0.0 + 0.0 is 0.0
        _sort(score[low:high], place[low:high], spare_score, spare_place)


@compiled(inline="always")
def _before(score: float, place: int, other_score: float, other_place: int) -> bool:
    return score > other_score or (score == other_score and place < other_place)


@compiled
def _sort(score: Any, place: Any, spare_score: Any, spare_place: Any) -> None:
    """Sort by (score descending, place ascending), in place.

    A merge sort of our own: it carries the places along, takes time in proportion to the disorder
    when it starts from a good order, and numba compiles it in a tenth of the time of np.argsort.
    """
    n = score.size
    for start in range(0, n, RUN):
        stop = min(start + RUN, n)
        _count(score[start:stop], place[start:stop], spare_score, spare_place)
    width = RUN
    while width < n:
        for start in range(0, n - width, 2 * width):
            stop = min(start + 2 * width, n)
            _merge(score, place, start, start + width, stop, spare_score, spare_place)
        width *= 2


@compiled
def _count(score: Any, place: Any, spare_score: Any, spare_place: Any) -> None:
    """Sort a short run by counting, for each, those before it: no branch to mispredict."""
    n = score.size
    for i in range(n):
        s, p = score[i], place[i]
        before = 0
        for j in range(n):
            before += (score[j] > s) | ((score[j] == s) & (place[j] < p))
        spare_score[before], spare_place[before] = s, p
    for i in range(n):
        score[i], place[i] = spare_score[i], spare_place[i]


@compiled
def _merge(
    score: Any, place: Any, start: int, middle: int, stop: int, spare_score: Any, spare_place: Any
) -> None:
    """Merge start .. middle - 1 and middle .. stop - 1, each sorted."""
    overlap = middle  # what of the left run comes after the head of the right one
    while overlap > start and _before(
        score[middle], place[middle], score[overlap - 1], place[overlap - 1]
    ):
        overlap -= 1
    left = middle - overlap
    for i in range(left):  # a slice would make numba compile the text of a shape error
        spare_score[i], spare_place[i] = score[overlap + i], place[overlap + i]
    i, j, k = 0, middle, overlap
    while i < left:  # what is left of the right run is in its place already
        if j < stop and _before(score[j], place[j], spare_score[i], spare_place[i]):
            score[k], place[k] = score[j], place[j]
            j += 1
        else:
            score[k], place[k] = spare_score[i], spare_place[i]
            i += 1
        k += 1


@compiled
def _join(first: int, last: int, edges: Any, place: Any, score: Any) -> None:
    """Merge the parts of a long query, two by two."""
    for pair in range(first, last):
        start, middle, stop = edges[2 * pair], edges[2 * pair + 1], edges[2 * pair + 2]
        spare = middle - start
        _merge(score, place, start, middle, stop, np.empty(spare), np.empty(spare, dtype=np.int64))
