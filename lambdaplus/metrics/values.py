"""The value of a metric on every query.

Tied documents are valued at the mean over their orders, in closed form: expected counts above a
place in a block of ties are linear in the place.  Only a reader who may or may not stop (ERR) has
no closed form; there ties count in their worst order.  On one ungrouped data set a threshold can't
split tied rows, so they enter together, as in scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.metrics.potentials import coupling
from lambdaplus.metrics.terms import NO_RELATION, Terms, terms
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats, Queries
from lambdaplus.ranking import Ranking


def values(metric: RankingMetric, queries: Queries, ranking: Ranking) -> Floats:
    """Value of a metric on each query.

    Parameters
    ----------
    metric : RankingMetric
    queries : Queries
    ranking : Ranking
        Of the same queries.

    Returns
    -------
    (n_queries,) float64
        NaN where the metric is not defined, such as without a relevant document.
    """
    found = terms(metric, queries)
    if not queries.grouped and metric.declaration.pooled is not None:
        return _pooled_value(metric, queries, ranking, found)
    out = np.empty(queries.n_queries)
    over_queries(_values, queries.boundaries, queries.boundaries, ranking, found, out)
    return out


@numba.njit(cache=True, nogil=True)
def _values(first: int, last: int, boundaries: Any, ranking: Any, terms: Any, out: Any) -> None:
    most = 0
    for q in range(first, last):
        most = max(most, terms.first[q + 1] - terms.first[q])
    above, block = np.zeros(most), np.zeros(most)
    for q in range(first, last):
        if terms.scale[q] == 0.0:
            out[q] = np.nan
            continue
        places = slice(boundaries[q], boundaries[q + 1])
        strata = slice(terms.first[q], terms.first[q + 1])
        score, code = ranking.score[places], terms.code[ranking.place[places]]
        gain, stop = terms.gain[strata], terms.stop[strata]
        row, column = terms.row[strata], terms.column[strata]
        if terms.stops:
            total = _stopping_sum(score, code, terms.discount, gain, stop)
        else:
            total = _expected_sum(
                score, code, terms.discount, gain, terms.relation, row, column, above, block
            )
        out[q] = terms.scale[q] * (terms.offset[q] + total)


@numba.njit(cache=True, nogil=True)
def _expected_sum(
    score: Any, code: Any, discount: Any, gain: Any, relation: int, row: Any, column: Any,
    above: Any, block: Any,
) -> float:  # fmt: skip
    """Sum of d (g + A C) over ranks, in the mean over all orders of tied documents."""
    n, classes = score.size, gain.size
    above[:] = 0.0
    total = 0.0
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and score[stop] == score[start]:
            stop += 1
        m = stop - start
        block[:] = 0.0
        weight = slope = 0.0  # sums of d, and of d times the place within the block
        for t in range(m):
            block[code[start + t]] += 1.0
            weight += discount[start + t]
            slope += discount[start + t] * t
        for x in range(classes):
            if block[x] == 0.0:
                continue
            before = within = 0.0
            if relation != NO_RELATION:
                for c in range(classes):
                    each = coupling(relation, row, column, x, c)
                    before += each * above[c]
                    within += each * (block[c] - (1.0 if c == x else 0.0))
            expected = weight * (gain[x] + before)
            if m > 1:
                expected += slope * within / (m - 1)
            total += block[x] / m * expected
        for c in range(classes):
            above[c] += block[c]
        start = stop
    return total


@numba.njit(cache=True, nogil=True)
def _stopping_sum(score: Any, code: Any, discount: Any, gain: Any, stop: Any) -> float:
    """Sum of d g h over ranks: the mean over orders of ties if stops are sure, else the worst."""
    n = score.size
    total, reach = 0.0, 1.0
    start = 0
    while start < n and reach > 0.0:
        end = start + 1
        while end < n and score[end] == score[start]:
            end += 1
        sure, their_gain, doubtful = 0, 0.0, False
        for r in range(start, end):
            if stop[code[r]] == 1.0:
                sure += 1
                their_gain += gain[code[r]]
            elif stop[code[r]] > 0.0:
                doubtful = True
        if doubtful:
            for r in range(start, end):  # lower labels first: the order of `Queries.base`
                total += discount[r] * gain[code[r]] * reach
                reach *= 1.0 - stop[code[r]]
        elif sure > 0:
            missed = reach  # chance that the first t of the block are none of the sure stops
            for t in range(end - start):
                left = end - start - t
                total += missed * (sure / left) * discount[start + t] * their_gain / sure
                missed *= 1.0 - sure / left
            reach = 0.0
        start = end
    return total


def _pooled_value(
    metric: RankingMetric, queries: Queries, ranking: Ranking, found: Terms
) -> Floats:
    """The metric of one ungrouped data set, rows weighted by their multiplicities: (1,)."""
    if found.scale[0] == 0.0:
        return np.array([np.nan])
    copies = queries.multiplicities
    times = np.ones(ranking.score.size) if copies is None else copies[queries.base][ranking.place]
    code = found.code[ranking.place]
    ends = np.flatnonzero(np.append(ranking.score[1:] != ranking.score[:-1], True))
    upto = np.cumsum(times)[ends]
    total = 0.0
    for x in range(found.gain.size):
        here = np.cumsum(np.where(code == x, times, 0.0))[ends]  # class x, block by block
        here_above = np.append(0.0, here[:-1])
        if found.relation == NO_RELATION:
            middle = (np.append(0.0, upto[:-1]) + upto + 1.0) / 2  # mean rank of a block's copies
            term = found.gain[x] * metric.discounts(middle)
        else:
            # Everything tied is above, the document itself included: A counts it, so g need not.
            term = np.zeros(ends.size)
            for c in range(found.gain.size):
                each = coupling(found.relation, found.row, found.column, x, c)
                if each:
                    count = np.cumsum(np.where(code == c, times, 0.0))[ends]
                    term += each * count
            safe = np.where(upto > 0, upto, 1.0)  # rows of weight 0 at the very top
            term *= metric.discounts(safe)
        total += float(np.sum((here - here_above) * term))
    return np.asarray(found.scale * (found.offset + total))
