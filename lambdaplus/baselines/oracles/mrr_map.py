"""MRR with its own feature map: the bad documents ahead of the best good one, minus that one.

Chakrabarti et al. 2008, eq. 5, sec. 3.6 and fact 3.5.
"""

from lambdaplus.baselines.oracles.constraint import Constraint, of_each_query, split
from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.metric_arrays import metric_arrays
from lambdaplus.ranking.sort import Ranking


class MRRMapOracle:
    """Most violated constraints for 1 - RR with labels 0 and 1: O(n + cutoff)."""

    def __init__(self, metric: RankingMetric, queries: Queries) -> None:
        self.queries = queries
        self.discount = metric_arrays(metric, queries).discount
        self.cutoff = metric.cutoff or queries.longest

    def __call__(self, ranking: Ranking) -> Constraint:
        return of_each_query(_mrr_map, self.queries, ranking, self.discount, self.cutoff)


@compiled
def _mrr_map(
    first: int, last: int, boundaries: Ints, ranking: Ranking, code: Int32s, n_classes: Ints,
    discount: Floats, cutoff: int, loss: Floats, coefficient: Floats,
) -> None:  # fmt: skip
    """Write loss and coefficients of the most violated constraint of each query."""
    for q in range(first, last):
        if n_classes[q] < 2:
            continue
        good, bad, good_row, bad_row = split(boundaries, ranking, code, q)
        lowest = good[-1]  # the good document with the largest violation if it is the first
        total = 0.0
        best, ahead = 0.0, 0
        # With the r best bad documents ahead: a loss of 1 - discount[r], and the feature map of r
        # pairs.
        for r in range(1, bad.size + 1):
            total += bad[r - 1] - lowest
            value = discount[0] - (discount[r] if r < cutoff else 0.0) + total
            if value > best:
                best, ahead = value, r
        loss[q] = discount[0] - (discount[ahead] if ahead < cutoff else 0.0)
        coefficient[good_row[-1]] = -float(ahead)
        for j in range(ahead):
            coefficient[bad_row[j]] = 1.0
