"""One ungrouped data set whose row weights are multiplicities: a row of weight k counts as k rows.

With T the cumulative weight of the ranking, AUC's potential is minus the middle rank of a row's
copies, T - (w - 1) / 2, and AP's is C/T - H with C the cumulative relevant weight and H the sum of
w/T over relevant rows; a pair's delta is w_i w_j times their difference.  In AP a discordant pair
adds w_rel w_i w_j (1/T_p - 1/T_q), what the relevant row's own copies contribute: the same sweep
once more, with multiplicities that count the relevant row's weight twice.  For AP this is a
definition (equal to the swap delta for unit weights), not the exact finite swap.
"""

from __future__ import annotations

import numpy as np

from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.metrics.potentials import potential
from lambdaplus.metrics.terms import Terms
from lambdaplus.objectives.kernels import PairKernel
from lambdaplus.objectives.lambdas import share_ties
from lambdaplus.objectives.lanes import LANES
from lambdaplus.objectives.pairs import visit_pairs
from lambdaplus.objectives.sweep import KEPT, sweep
from lambdaplus.queries import Floats, Queries
from lambdaplus.ranking import Ranking


def pooled_lambdas(
    metric: RankingMetric,
    queries: Queries,
    ranking: Ranking,
    terms: Terms,
    kernel: PairKernel,
    all_pairs: bool,
) -> tuple[Floats, Floats]:
    """Gradient and Hessian of every row, (n,) float64 each, before any normalisation."""
    assert queries.multiplicities is not None
    n = queries.n_documents
    copies = queries.multiplicities[queries.base][ranking.place]
    code = terms.code[ranking.place]
    reached = np.cumsum(copies)
    # A row of weight 0 at the very top is at rank 0; its multiplicity keeps it out of every sum.
    ranks = np.maximum(reached - (copies - 1) / 2, 1e-9)
    if metric.declaration.pooled == "last":
        ranks = np.where(reached > 0, reached, 1.0)
    discount = metric.discounts(ranks)
    blocks = kernel.rates.shape[0]
    counts, gaps = np.empty((2 * blocks, LANES)), np.empty((2 * blocks, LANES))
    decays = np.empty((blocks * KEPT, LANES))
    gradient, hessian = np.zeros(n), np.zeros(n)

    def add(high: Floats, low: Floats, worth: Floats, times: Floats) -> None:
        if all_pairs:
            visit_pairs(ranking.score, code, high, low, worth, times, kernel, gradient, hessian)
        else:
            sweep(ranking.score, code, high, low, worth, times, kernel, counts, gaps,
                  decays, gradient, hessian)  # fmt: skip

    if terms.gains_only:
        add(discount, discount, terms.gain, copies)
    else:

        def potentials(own: float) -> tuple[Floats, Floats]:
            high, low = np.empty(n), np.empty(n)
            for a, b, sign, out in ((1, 0, 1.0, high), (0, 1, -1.0, low)):
                potential(code, discount, terms, 0, a, b, sign, own, copies, out)
            return high, low

        worth = np.array([0.0, 1.0])
        high, low = potentials(own=0.0)
        add(high, low, worth, copies)
        all_high, all_low = potentials(own=1.0)
        add(all_high - high, all_low - low, worth, np.where(code == 1, copies**2, copies))
    share_ties(ranking.score, code, copies, gradient, hessian)
    rows = queries.base[ranking.place]
    out = np.empty(n), np.empty(n)
    out[0][rows], out[1][rows] = terms.scale[0] * gradient, terms.scale[0] * hessian
    return out
