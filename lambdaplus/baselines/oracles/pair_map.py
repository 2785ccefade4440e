"""MAP, NDCG and MRR with the pair map of relevant and non-relevant documents.

The formulas use the declaration of the metric: discounts, gains, what a relevant document above
adds, and whether the reader stops.  Only the search differs.

References
----------
Yue et al. 2007, sec. 3.2 (MAP); Chakrabarti et al. 2008, secs. 3.1 to 3.4 (NDCG).  The score term
of Yue's eq. 5 lacks the factor 1/(R N) of the feature map.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaplus.baselines.oracles.interleave import divide_and_conquer, first_only, table
from lambdaplus.baselines.oracles.ranked import Constraint, Ranked, blank, split
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.data.queries import Queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.declared_arrays import metric_arrays
from lambdaplus.metrics.forms import Cascade, CountAbove


class PairMapOracle:
    """Most violated constraints for 1 - metric, for queries with at most two classes.

    Parameters
    ----------
    metric : RankingMetric
        A metric with best value 1 in which the contribution of non-relevant documents does not
        depend on the documents above them.
    queries : Queries
    pair_scale : bool
        Whether pairs are averaged over each query or summed.

    Raises
    ------
    ValueError
        If a query has three classes or more.
    """

    def __init__(self, metric: RankingMetric, queries: Queries, pair_scale: bool) -> None:
        classes = np.diff(queries.strata().first)
        if classes.max() > 2:
            raise ValueError(
                f"the pair map separates two classes under {metric}, but query "
                f"{int(classes.argmax())} (from 0) has {classes.max()} different labels: pass "
                "relevant=, the label from which a document is relevant, or feature_map='dorm'"
            )
        arrays, form = metric_arrays(metric, queries), metric.declaration.form
        self.discount = arrays.discount
        # Of each query, what a relevant document adds to a discount, and each one above it.
        self.gain, self.slope = np.zeros(queries.n_queries), np.zeros(queries.n_queries)
        two = classes == 2
        lower = arrays.first[:-1][two]
        self.gain[two] = arrays.scale[two] * (arrays.gain[lower + 1] - arrays.gain[lower])
        if isinstance(form, CountAbove):
            row, column = arrays.parts[:2]
            self.slope[two] = arrays.scale[two] * row[lower + 1] * column[lower + 1]
        self.first_only = isinstance(form, Cascade)
        longest = int(queries.sizes.max())
        self.cutoff = longest if metric.cutoff is None else min(metric.cutoff, longest)
        # The fast search needs steps that do not grow with the rank, unlike LETOR's 1, 1, .63.
        falls = -np.diff(self.discount)
        self.convex = bool((np.diff(falls) <= 1e-15).all())
        self.pair_scale = pair_scale

    def __call__(self, found: Ranked) -> Constraint:
        answer = blank(found)
        over_queries(
            _pair_map, found.boundaries, found, self.discount, self.gain, self.slope,
            self.first_only, self.cutoff, self.convex, self.pair_scale, *answer,
        )  # fmt: skip
        return answer


@compiled
def _pair_map(
    first: int, last: int, found: Any, discount: Any, gains: Any, slopes: Any, only_first: bool,
    cutoff: int, convex: bool, pair_scale: bool, loss: Any, coefficient: Any,
) -> None:  # fmt: skip
    for q in range(first, last):
        if found.classes[q] < 2:
            continue
        low, high = found.boundaries[q], found.boundaries[q + 1]
        score, n = found.score[low:high], high - low
        good, bad = np.empty(n), np.empty(n)
        good_at, bad_at = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        R, N = split(score, found.code[low:high], good, bad, good_at, bad_at)
        good, bad = good[:R], bad[:N]
        gain, slope = gains[q], slopes[q]
        weight = 2.0 / (R * N) if pair_scale else 2.0
        m = np.empty(R, dtype=np.int64)
        if only_first:
            first_only(good, bad, discount, gain, weight, cutoff, m)
            scored = 1
        else:
            if cutoff < n or not convex:
                table(good, bad, discount, gain, slope, weight, min(cutoff, n), m)
            else:
                divide_and_conquer(good, bad, discount, gain, slope, weight, m)
            scored = R
        for i in range(scored):
            loss[q] += (discount[i] - discount[i + m[i]]) * (gain + slope * i)
        behind = R  # number of good documents behind bad document j
        for j in range(N):
            while behind and m[R - behind] <= j:
                behind -= 1
            coefficient[found.row[low + bad_at[j]]] = weight * behind
        for i in range(R):
            coefficient[found.row[low + good_at[i]]] = -weight * m[i]
