"""All pairs of a ranked list, without visiting one.

A document's lambda is a sum over all documents of another class, of the swap delta times a
function of the score distance.  With the delta a difference of potentials (see
`lambdaplus.metrics.potentials`) and the function a sum of exponentials (`kernels`), what a
document at rank r receives from the class-a documents above it is

    sum over k of  c_k * sum over i < r, x_i = a of  (U_i - U_r) exp(-rate_k (s_i - s_r)),

and each of the inner sums is a recurrence down the ranking.  Keep, for every class and rate,

    E = sum over i of exp(-rate (s_i - s_r))              the decayed count,
    M = sum over i of (U_i - U_r) exp(-rate (s_i - s_r))  the decayed count of potential gaps;

one step from rank r - 1 to r, with gap g = U_(r-1) - U_r and decay x = exp(-rate (s_(r-1) - s_r)),
is M <- (M + g E) x, E <- E x, and then document r joins: E <- E + 1.  Gaps are not negative, so
nothing cancels.  One sweep down collects from the documents above, one sweep up from those below:
O(n * classes * rates) for all n^2 pairs.
"""

from __future__ import annotations

from typing import Any

import numba

from lambdaplus.objectives.lanes import decay, load, madd, splat, store, total

# Decays of lists up to this length are kept on the way down for the way up.
KEPT = 512

# Added to the running sums at every step, so that they never decay into denormal numbers.
TINY = 1e-200


@numba.njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    score: Any, code: Any, high: Any, low: Any, worth: Any, copies: Any, kernel: Any,
    counts: Any, gaps: Any, decays: Any, gradient: Any, hessian: Any,
) -> float:  # fmt: skip
    """Add the gradient and Hessian of every document of one ranked list; return S.

    Parameters
    ----------
    score : (n,) float64
        Descending.
    code : (n,) int
        Class at each rank, higher is better.
    high, low : (n,) float64
        Potentials U and V.  With more than two classes they must be the same.
    worth : (classes,) float64
        The delta of classes a and b is abs(worth[a] - worth[b]) times the potentials' difference.
    copies : (n,) float64 or empty
        Multiplicity at each rank; empty for ones.
    kernel : PairKernel
    counts, gaps : (blocks of rates * classes or more, LANES) float64
        Scratch: E and M.
    decays : (blocks of rates * KEPT, LANES) float64
        Scratch.
    gradient, hessian : (n,) float64
        Added to.

    Returns
    -------
    float
        Sum over pairs of 2 |lambda|.
    """
    n, classes, blocks = score.size, worth.size, kernel.rates.shape[0]
    rates, gradients, hessians = kernel.rates, kernel.gradients, kernel.hessians
    zero, one, less, tiny = splat(0.0), splat(1.0), splat(-1.0), splat(TINY)
    received = zero
    for direction in (1, -1):
        # On the way down, better classes met are concordant with us and use U, worse ones are
        # discordant and use V; on the way up it is the other way round.
        better_pair = 0 if direction > 0 else 1
        worse_pair = 1 - better_pair
        for i in range(blocks * classes):
            store(zero, counts, i)
            store(zero, gaps, i)
        r = before = 0 if direction > 0 else n - 1
        for _ in range(n):
            own = code[r]
            times = copies[r] if copies.size else 1.0
            distance = abs(score[before] - score[r])
            gap_high, gap_low = splat(abs(high[before] - high[r])), splat(abs(low[before] - low[r]))
            gap_bottom = gap_low if direction > 0 else gap_high  # class 0 is never the better one
            gap_others = gap_high if direction > 0 else gap_low
            push = pull = bend = zero
            for block in range(blocks):
                if direction > 0 or n > KEPT:
                    x = decay(load(rates, block), distance)
                    if n <= KEPT:
                        store(x, decays, r * blocks + block)
                else:
                    x = load(decays, before * blocks + block)
                better = worse = zero  # M summed over the classes above and below ours in label
                for c in range(classes):
                    i = block * classes + c
                    count = load(counts, i)
                    moved = madd(gap_others if c > 0 else gap_bottom, count, load(gaps, i))
                    moved = madd(moved, x, tiny)
                    store(moved, gaps, i)
                    store(madd(count, x, tiny), counts, i)
                    # Both sums always: a branch on labels would be mispredicted half the time.
                    weight = abs(worth[c] - worth[own])
                    better = madd(splat(weight if c > own else 0.0), moved, better)
                    worse = madd(splat(weight if c < own else 0.0), moved, worse)
                mine = block * classes + own
                store(madd(one, load(counts, mine), splat(times)), counts, mine)
                i, j = 2 * block + better_pair, 2 * block + worse_pair
                push = madd(better, load(gradients, i), push)  # from better documents: gradient +
                pull = madd(worse, load(gradients, j), pull)
                bend = madd(better, load(hessians, i), bend)
                bend = madd(worse, load(hessians, j), bend)
            gradient[r] += times * total(madd(less, pull, push))
            hessian[r] += times * total(bend)
            received = madd(splat(times), madd(one, push, pull), received)
            before = r
            r += direction
    return float(total(received))
