"""MRR with its own feature map: the bad documents ahead of the best good one, minus that one.

Chakrabarti et al. 2008, eq. 5, sec. 3.6 and fact 3.5.
"""

from __future__ import annotations

from typing import Any

from lambdaplus.baselines.oracles.ranked import Constraint, Ranked, blank, split
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.data.queries import Queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.declared_arrays import metric_arrays


class MRRMapOracle:
    """Most violated constraints for 1 - RR with labels 0 and 1: O(n + cutoff)."""

    def __init__(self, metric: RankingMetric, queries: Queries) -> None:
        self.discount = metric_arrays(metric, queries).discount
        self.cutoff = metric.cutoff or queries.longest

    def __call__(self, documents: Ranked) -> Constraint:
        worst = blank(documents)
        over_queries(_mrr_map, documents.boundaries, documents, self.discount, self.cutoff, *worst)
        return worst


@compiled
def _mrr_map(
    first: int, last: int, documents: Any, discount: Any, cutoff: int, loss: Any, coefficient: Any
) -> None:
    for q in range(first, last):
        if documents.classes[q] < 2:
            continue
        good, bad, good_row, bad_row = split(documents, q)
        lowest = good[-1]  # the good document with the largest violation if it is the first
        total = 0.0
        best, ahead = 0.0, 0
        for r in range(1, bad.size + 1):
            total += bad[r - 1] - lowest
            value = discount[0] - (discount[r] if r < cutoff else 0.0) + total
            if value > best:
                best, ahead = value, r
        loss[q] = discount[0] - (discount[ahead] if ahead < cutoff else 0.0)
        coefficient[good_row[-1]] = -float(ahead)
        for j in range(ahead):
            coefficient[bad_row[j]] = 1.0
