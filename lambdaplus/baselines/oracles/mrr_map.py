"""MRR with its own feature map: the bad documents ahead of the best good one, minus that one.

References
----------
Chakrabarti et al. 2008, eq. 5, sec. 3.6 and fact 3.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
        longest = int(queries.sizes.max())
        self.cutoff = longest if metric.cutoff is None else min(metric.cutoff, longest)

    def __call__(self, found: Ranked) -> Constraint:
        answer = blank(found)
        over_queries(_mrr_map, found.boundaries, found, self.discount, self.cutoff, *answer)
        return answer


@compiled
def _mrr_map(
    first: int, last: int, found: Any, discount: Any, cutoff: int, loss: Any, coefficient: Any
) -> None:
    for q in range(first, last):
        if found.classes[q] < 2:
            continue
        low, high = found.boundaries[q], found.boundaries[q + 1]
        n = high - low
        good, bad = np.empty(n), np.empty(n)
        good_at, bad_at = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        R, N = split(found.score[low:high], found.code[low:high], good, bad, good_at, bad_at)
        worst = good[R - 1]  # the good document with the largest violation if it is the first
        total = 0.0
        best, ahead = 0.0, 0
        for r in range(1, N + 1):
            total += bad[r - 1] - worst
            value = discount[0] - (discount[r] if r < cutoff else 0.0) + total
            if value > best:
                best, ahead = value, r
        loss[q] = discount[0] - (discount[ahead] if ahead < cutoff else 0.0)
        coefficient[found.row[low + good_at[R - 1]]] = -float(ahead)
        for j in range(ahead):
            coefficient[found.row[low + bad_at[j]]] = 1.0
