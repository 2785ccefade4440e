"""NDCG with the assignment map of DORM: the sum of A(rank) x with A decreasing, for any grades.

Le & Smola 2007 (DORM); Chakrabarti et al. 2008, secs. 3.1.3 and 3.5.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from lambdaplus.baselines.oracles.constraint import Constraint, split
from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.forms.form import MetricArrays
from lambdaplus.metrics.metric_arrays import metric_arrays
from lambdaplus.ranking.sort import Ranking, rank


class DORMOracle:
    """Most violated constraints for 1 - NDCG; A is its discount up to the rank ``reach``.

    If A is the discount of the loss, a sort solves the assignment; otherwise two classes are merged
    in the order of their scores, and a solver assigns more classes.

    Every order of documents with the same label is correct; Psi(correct) is of that of the rows.
    """

    def __init__(self, metric: RankingMetric, queries: Queries, reach: float) -> None:
        self.queries = queries
        self.arrays: MetricArrays = metric_arrays(metric, queries)
        ranks = np.arange(1.0, queries.longest + 1)
        self.decay = np.where(ranks <= reach, metric.declaration.discount(metric, ranks), 0.0)
        self.same = bool(np.array_equal(self.decay, self.arrays.discount))
        strata = queries.strata()
        stratum = np.repeat(strata.edges[:-1], queries.sizes) + strata.code  # of each row
        self.graded = np.flatnonzero(strata.n_classes > 2)
        self.by_row = (self.arrays.gain * self.arrays.scale[strata.query])[stratum]
        self.query, self.stratum = strata.query[stratum], stratum
        # A at the rank of each document in the correct ranking.
        self.ideal = np.empty(stratum.size)
        order = np.lexsort([-stratum, self.query])  # keeps the order of rows with the same label
        self.ideal[order] = self.decay[np.arange(order.size) - queries.boundaries[self.query]]

    def __call__(self, ranking: Ranking) -> Constraint:
        row, boundaries, strata = ranking.row, self.queries.boundaries, self.queries.strata()
        place = np.zeros(row.size, dtype=np.int64)  # rank, from 0, if most violated
        # The value of a place is then (score - gain / ideal) times one decay, which the product of
        # two sorted sequences maximises.
        if self.same:
            score = np.empty(row.size)
            score[row] = ranking.score
            order = rank(self.queries, score - self.by_row).row
            place[order] = np.arange(row.size) - np.repeat(boundaries[:-1], np.diff(boundaries))
        else:
            over_queries(
                _merge, boundaries, ranking, strata.code, strata.n_classes, self.arrays.discount,
                self.decay, self.by_row, place,
            )  # fmt: skip
            for q in self.graded:
                self._assign(ranking, slice(*boundaries[q : q + 2]), place)
        return self._constraint(place)

    def _assign(self, ranking: Ranking, of_query: slice, place: Ints) -> None:
        score, row = ranking.score[of_query], ranking.row[of_query]
        decay, discount = self.decay[: row.size], self.arrays.discount[: row.size]
        # Ranks of weight 0 are interchangeable and need no assignment.
        counting = int(np.flatnonzero(decay + discount)[-1]) + 1
        # The value of each document at each rank: its score in Psi, less its share of NDCG.
        value = np.outer(score, decay[:counting])
        value -= np.outer(self.by_row[row], discount[:counting])
        document, assigned_rank = linear_sum_assignment(value, maximize=True)
        assigned = np.full(row.size, row.size)
        assigned[document] = assigned_rank
        assigned[assigned == row.size] = np.arange(counting, row.size)
        place[row] = assigned

    def _constraint(self, place: Ints) -> Constraint:
        two = self.queries.strata().n_classes > 1
        separable = np.repeat(two, self.queries.sizes)
        by_rank = self.by_row * self.arrays.discount[place]
        value = np.add.reduceat(by_rank, self.queries.boundaries[:-1])
        coefficient = np.where(separable, self.decay[place] - self.ideal, 0.0)
        return Constraint(np.where(two, 1.0 - value, 0.0), coefficient)


@compiled
def _merge(
    first: int, last: int, boundaries: Ints, ranking: Ranking, code: Int32s, n_classes: Ints,
    discount: Floats, decay: Floats, gain: Floats, place: Ints,
) -> None:  # fmt: skip
    """Most violated ranking of two classes: the best path through the table of placed documents."""
    for q in range(first, last):
        if n_classes[q] != 2:
            continue
        good, bad, good_row, bad_row = split(boundaries, ranking, code, q)
        R, N = good.size, bad.size
        good_gain, bad_gain = gain[good_row[0]], gain[bad_row[0]]
        # best[j] is the largest value with the first i good and j bad documents, each in the order
        # of their scores; row i replaces row i - 1 from left to right.
        best = np.zeros(N + 1)  # with i good and j bad documents placed
        good_last = np.empty((R + 1, N + 1), dtype=np.bool_)
        for i in range(R + 1):
            for j in range(N + 1):
                if i + j == 0:
                    continue
                rank = i + j - 1
                value = -np.inf
                if j:
                    value = best[j - 1] + decay[rank] * bad[j - 1] - discount[rank] * bad_gain
                    good_last[i, j] = False
                if i:
                    other = best[j] + decay[rank] * good[i - 1] - discount[rank] * good_gain
                    if other > value:
                        value = other
                        good_last[i, j] = True
                best[j] = value
        # Back along the decisions.
        i, j = R, N
        while i + j:
            rank = i + j - 1
            if good_last[i, j]:
                i -= 1
                place[good_row[i]] = rank
            else:
                j -= 1
                place[bad_row[j]] = rank
