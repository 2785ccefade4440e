"""One list at a time, from Python: lists long enough to take all cores, and multiplicities.

Without queries, row weights are multiplicities: a row of weight k counts as k rows.  With T the
cumulative weight of the ranking, AUC's potential is minus the middle rank of a row's copies,
T - (w - 1) / 2, and AP's is C/T - H with C the cumulative relevant weight and H the sum of w/T over
relevant rows; a pair's delta is w_i w_j times their difference.  In AP a discordant pair adds
w_rel w_i w_j (1/T_p - 1/T_q), what the relevant row's own copies contribute: the same sweep once
more, with multiplicities that count the relevant row's weight twice.

AUC's gradient of a row is then the sum of its copies'.  AP's is not: copies of a row would stand at
ranks one after the other and trade places one by one, where the row stands at one rank and trades
places as a block.  It is a definition, equal to the swap delta for unit weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.metrics.potentials import potentials
from lambdaplus.metrics.terms import Terms
from lambdaplus.objectives import long_lists
from lambdaplus.objectives.kernels import PairKernel
from lambdaplus.objectives.lambdas import share_ties
from lambdaplus.objectives.pairs import visit_pairs
from lambdaplus.objectives.sweep import scratch_for, sweep
from lambdaplus.queries import Floats, Ints, Queries
from lambdaplus.ranking import Ranking


class ListLambdas(NamedTuple):
    """What the documents of one list receive, before any normalisation.

    Attributes
    ----------
    rows : (n,) int64
        Row of the document at each rank.
    gradient, hessian : (n,) float64
        By rank.
    total : float
        Sum over pairs of 2 |lambda|.
    """

    rows: Ints
    gradient: Floats
    hessian: Floats
    total: float


def list_lambdas(
    metric: RankingMetric,
    queries: Queries,
    ranking: Ranking,
    terms: Terms,
    q: int,
    kernel: PairKernel,
    all_pairs: bool = False,
) -> ListLambdas:
    """Lambdas of query q, which has two classes or a metric that is a sum of gains."""
    documents = slice(queries.boundaries[q], queries.boundaries[q + 1])
    score, place = ranking.score[documents], ranking.place[documents]
    code, rows = terms.code[place], queries.base[place]
    n, strata = score.size, slice(terms.first[q], terms.first[q + 1])
    gradient, hessian = np.zeros(n), np.zeros(n)
    copies = np.empty(0) if queries.multiplicities is None else queries.multiplicities[rows]
    discount = _discount_of_copies(metric, copies) if copies.size else terms.discount[:n]

    def add(high: Floats, low: Floats, worth: Floats, times: Floats) -> float:
        given = (score, code, high, low, worth, times, kernel)
        if all_pairs:
            return float(visit_pairs(*given, gradient, hessian))
        if n >= long_lists.LONG:
            return long_lists.sweep_by_blocks(*given, gradient, hessian)
        scratch = scratch_for(worth.size, kernel.rates.shape[0])
        return float(sweep(*given, scratch, gradient, hessian))

    def laid_out(own: float) -> tuple[Floats, Floats]:
        high, low = np.empty(n), np.empty(n)
        potentials(code, discount, terms, q, 1, 0, own, copies, high, low)
        return high, low

    worth = np.array([0.0, 1.0])
    if terms.gains_only:
        total = add(discount, discount, terms.gain[strata], copies)
    elif not copies.size:
        total = add(*laid_out(own=1.0), worth, copies)
    else:
        high, low = laid_out(own=0.0)
        total = add(high, low, worth, copies)
        all_high, all_low = laid_out(own=1.0)
        twice = np.where(code == 1, copies**2, copies)
        total += add(all_high - high, all_low - low, worth, twice)
    share_ties(score, code, copies, gradient, hessian)
    scale = terms.scale[q]
    gradient *= scale
    hessian *= scale
    return ListLambdas(rows, gradient, hessian, scale * total)


def _discount_of_copies(metric: RankingMetric, copies: Floats) -> Floats:
    reached = np.cumsum(copies)
    # A row of weight 0 at the very top is at rank 0; its multiplicity keeps it out of every sum.
    ranks = np.maximum(reached - (copies - 1) / 2, 1e-9)
    if metric.declaration.pooled == "last":
        ranks = np.where(reached > 0, reached, 1.0)
    return metric.discounts(ranks)
