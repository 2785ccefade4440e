"""MAP, NDCG and MRR with the partial-order map, of pairs of relevant and other documents.

With m_i bad documents ahead of good document i, 0 <= m_0 <= m_1 <= ... <= N, the searches maximise

    sum over i of  weight * (sum of the m_i highest bad scores - m_i * score of good i)
                   - discount[i + m_i] * (gain + slope * i).

Yue et al. 2007, sec. 3.2 (MAP); Chakrabarti et al. 2008, secs. 3.1 to 3.4 (NDCG); see
research/mathematics/structural-svm.md.
"""

from typing import NamedTuple

import numpy as np

from lambdaplus.baselines.oracles.constraint import Constraint, of_each_query, split
from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.metric_arrays import metric_arrays
from lambdaplus.ranking.sort import Ranking


class PartialOrderOracle:
    """Most violated constraints for 1 - metric, for queries with at most two classes.

    Under MRR, only the first good document has a credit.
    """

    def __init__(self, metric: RankingMetric, queries: Queries, pair_scale: bool) -> None:
        self.queries, classes = queries, queries.strata().n_classes
        if classes.max() > 2:
            raise ValueError(
                f"the pair map separates two classes under {metric}, but query "
                f"{int(classes.argmax())} (from 0) has {classes.max()} different labels: pass "
                "relevant=, the label from which a document is relevant, or feature_map='dorm'"
            )
        arrays = metric_arrays(metric, queries)
        self.discount, self.first_only = arrays.discount, metric.declaration.name == "mrr"
        # The credit of a relevant document per unit of discount, and of each one above it.
        # Good document i, counted from 0, has the credit gain + slope i, wherever the i above it
        # are.
        self.gain, self.slope = np.zeros(queries.n_queries), np.zeros(queries.n_queries)
        two = classes == 2
        lower = arrays.strata[:-1][two]
        self.gain[two] = arrays.scale[two] * (arrays.gain[lower + 1] - arrays.gain[lower])
        self.slope[two] = arrays.scale[two] * arrays.coupling.within_class[lower + 1]
        self.cutoff = metric.cutoff or queries.longest
        # The fast search needs steps that do not grow with the rank, unlike LETOR's 1, 1, .63.
        falls = -np.diff(self.discount)
        self.convex = bool((np.diff(falls) <= 1e-15).all())
        self.pair_scale = pair_scale

    def __call__(self, ranking: Ranking) -> Constraint:
        credit = self.discount, self.gain, self.slope
        options = self.first_only, self.cutoff, self.convex, self.pair_scale
        return of_each_query(_partial_order, self.queries, ranking, *credit, *options)


@compiled
def _partial_order(
    first: int, last: int, boundaries: Ints, ranking: Ranking, code: Int32s, n_classes: Ints,
    discount: Floats, gains: Floats, slopes: Floats, only_first: bool, cutoff: int, convex: bool,
    pair_scale: bool, loss: Floats, coefficient: Floats,
) -> None:  # fmt: skip
    """Write loss and coefficients of the most violated constraint of each query."""
    for q in range(first, last):
        if n_classes[q] < 2:
            continue
        good, bad, good_row, bad_row = split(boundaries, ranking, code, q)
        R, N = good.size, bad.size
        gain, slope = gains[q], slopes[q]
        # A pair in the wrong order has -1/(RN) times the difference instead of +1/(RN).
        weight = 2.0 / (R * N) if pair_scale else 2.0
        m = np.empty(R, dtype=np.int64)
        if only_first:
            _first_only(good, bad, discount, gain, weight, cutoff, m)
        elif cutoff < R + N or not convex:
            _dynamic_programming(good, bad, discount, gain, slope, weight, min(cutoff, R + N), m)
        else:
            _divide_and_conquer(good, bad, discount, gain, slope, weight, m)
        for i in range(1 if only_first else R):
            # Good document i is at rank i + m_i; in the correct ranking it is at rank i.
            loss[q] += (discount[i] - discount[i + m[i]]) * (gain + slope * i)
        # The pair coefficients of bad document j: one for each good document with m_i > j. As m
        # rises with i, these are the last ones.
        behind = R  # number of good documents behind bad document j
        for j in range(N):
            while behind and m[R - behind] <= j:
                behind -= 1
            coefficient[bad_row[j]] = weight * behind
        for i in range(R):
            coefficient[good_row[i]] = -weight * m[i]


@compiled
def _divide_and_conquer(
    good: Floats, bad: Floats, discount: Floats, gain: float, slope: float, weight: float, m: Ints
) -> None:
    """Fill m for a convex discount: O(N + R log N).

    The best position of a bad document does not depend on those of the others, and falls with its
    score (Yue 2007, lemma 1), so that of the middle one bounds those of all others.
    """
    R, N = good.size, bad.size
    m[:] = 0
    pending = np.empty((130, 4), dtype=np.int64)  # a stack for up to 64 levels of halves
    # Bad documents begin ... end - 1 are to be put ahead of one of the good documents highest ...
    # lowest - 1, or stay below them (lowest).
    pending[0] = 0, N, 0, R
    depth = 1
    while depth:
        depth -= 1
        begin, end, highest, lowest = pending[depth]
        if begin >= end:
            continue
        if highest == lowest:
            if highest < R:
                m[highest] += end - begin
            continue
        middle = (begin + end) // 2
        best, place, total = 0.0, lowest, 0.0
        for i in range(lowest - 1, highest - 1, -1):
            # The bad document moves ahead of good document i, which has `middle` better bad ones
            # ahead already and falls from rank i + middle by one: Yue's eq. 5, with the factor of
            # the pair map.
            fall = discount[i + middle] - discount[i + middle + 1]
            total += fall * (gain + slope * i) + weight * (bad[middle] - good[i])
            if total > best:
                best, place = total, i
        if place < R:
            m[place] += 1
        # Better bad documents are not below the middle one, worse ones not above it.
        pending[depth] = begin, middle, highest, place
        pending[depth + 1] = middle + 1, end, place, lowest
        depth += 2
    for i in range(1, R):
        # From the number put directly ahead of each good document to all those ahead of it.
        m[i] += m[i - 1]


class TailSums(NamedTuple):
    """The sums for `_remainder`."""

    above: Ints  # (R,) number of bad documents with a higher score than good document i
    upto: Floats  # (N + 1,) running sums of the bad scores
    good_upto: Floats  # (R + 1,) and of the good ones
    rest: Floats  # (R + 1,) maximum score term of good documents i, i + 1, ..., each with above[i]


@compiled
def _tail_sums(good: Floats, bad: Floats) -> TailSums:
    """The sums of one query, from its good and bad scores in descending order."""
    R, N = good.size, bad.size
    above = np.empty(R, dtype=np.int64)
    upto, good_upto, rest = np.zeros(N + 1), np.zeros(R + 1), np.zeros(R + 1)
    for j in range(N):
        upto[j + 1] = upto[j] + bad[j]
    passed = 0
    for i in range(R):
        good_upto[i + 1] = good_upto[i] + good[i]
        while passed < N and bad[passed] > good[i]:
            passed += 1
        above[i] = passed
    for i in range(R - 1, -1, -1):
        rest[i] = rest[i + 1] + upto[above[i]] - above[i] * good[i]
    return TailSums(above, upto, good_upto, rest)


@compiled
def _remainder(i: int, least: int, sums: TailSums) -> float:
    """Maximum score term of good documents i, i + 1, ... with at least ``least`` ahead: O(log R).

    For each, the best number is above[i], or ``least`` if larger: the sum is concave in m_i.
    """
    above, upto, good_upto, rest = sums
    end = max(i, int(np.searchsorted(above, least)))
    bound = (end - i) * upto[least] - least * (good_upto[end] - good_upto[i])
    return float(bound + rest[end])


@compiled
def _dynamic_programming(
    good: Floats, bad: Floats, discount: Floats, gain: float, slope: float, weight: float,
    cutoff: int, m: Ints,
) -> None:  # fmt: skip
    """Fill m for any discount that is 0 from rank cutoff on: O(N + cutoff * (R + log R)).

    Row by row over the good documents that have credit, with the best value of all columns to the
    left (Chakrabarti 2008, facts 3.2 and 3.3).
    """
    R, N = good.size, bad.size
    rows, columns = min(R, cutoff), min(cutoff, N + 1)
    sums = _tail_sums(good, bad)
    above, upto = sums.above, sums.upto
    best = np.zeros(columns)  # of the rows so far, with the last in this column or one to the left
    came = np.empty((rows, columns), dtype=np.int64)
    top, top_rows, top_column = -np.inf, 0, 0
    for i in range(rows + 1):
        # Good documents from i on are at rank cutoff and beyond, those before i within the cutoff.
        least = cutoff - i
        if i == R or least <= N:
            # Good documents before i have their best places with at most `least` bad ones ahead, so
            # that all are within the cutoff; those from i on have no credit, and at least `least`
            # ahead.
            value = best[min(least, columns - 1)] if i else 0.0
            if i < R:
                value += weight * _remainder(i, least, sums)
            if value > top:
                top, top_rows, top_column = value, i, min(least, columns - 1)
        if i == rows:
            break
        left, left_column = -np.inf, 0
        for column in range(min(columns, cutoff - i)):
            # The term of the module's docstring with m_i = column, after the best m_(i-1) up to it.
            credit = discount[i + column] * (gain + slope * i)
            value = best[column] - credit + weight * (upto[column] - column * good[i])
            if value > left:
                left, left_column = value, column
            best[column], came[i, column] = left, left_column
    for i in range(top_rows, R):
        # The places of the tail, and then, backwards, those that led to the best end.
        m[i] = max(cutoff - top_rows, above[i])
    column = top_column
    for i in range(top_rows - 1, -1, -1):
        column = came[i, column]
        m[i] = column


@compiled
def _first_only(
    good: Floats, bad: Floats, discount: Floats, gain: float, weight: float, cutoff: int, m: Ints
) -> None:
    """Fill m if only the best good document has credit: O(R + N + cutoff log R)."""
    R, N = good.size, bad.size
    sums = _tail_sums(good, bad)
    above, upto = sums.above, sums.upto
    best, place = -np.inf, 0
    for ahead in range(min(cutoff, N + 1)):
        # The best good document behind `ahead` bad ones; the others, without credit, need as many.
        value = (discount[0] - discount[ahead]) * gain
        value += weight * (upto[ahead] - ahead * good[0])
        value += weight * _remainder(1, ahead, sums)
        if value > best:
            best, place = value, ahead
    if cutoff <= N:
        # Or it is beyond the cutoff, and the metric is 0.
        value = discount[0] * gain + weight * _remainder(0, cutoff, sums)
        if value > best:
            place = max(cutoff, above[0])
    m[0] = place
    for i in range(1, R):
        m[i] = max(place, above[i])
