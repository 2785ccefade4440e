"""Sum over all pairs of a ranked list, without visiting each pair.

The lambda of a document is the sum, over all documents of other classes, of the swap delta times a
function of the score distance.  Since the delta is a difference of potentials (see
`lambdaplus.metrics.potentials`) and the function a sum of exponentials (`kernels`), the
contribution of the class-a documents above to the document at rank r is

    sum over k of  c_k * sum over i < r, x_i = a of  (U_i - U_r) exp(-rate_k (s_i - s_r)),

and each of the inner sums is a recurrence down the ranking.  Maintain, for every class and rate,

    E = sum over i of exp(-rate (s_i - s_r))              the decayed count,
    M = sum over i of (U_i - U_r) exp(-rate (s_i - s_r))  the decayed sum of potential differences;

one step from rank r - 1 to r, with gap g = U_(r-1) - U_r and decay x = exp(-rate (s_(r-1) - s_r)),
is M <- (M + g E) x, E <- E x, and then document r joins: E <- E + 1.  Gaps are not negative, so
there is no cancellation.  One pass down collects the contributions of the documents above, one pass
up those of the documents below: O(n * classes * rates) for all n^2 pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compiled import compiled
from lambdaplus.objectives.lanes import LANES, decay, load, madd, mul, pick, splat, store, totals
from lambdaplus.queries import Floats

# Number of documents whose steps are computed at a time, so that they stay in the cache.
CHUNK = 256

# Added to the running sums at every step, so that these never become denormal numbers.
TINY = 1e-200


class RankedList(NamedTuple):
    """One ranked list of documents, from the highest to the lowest score.

    Attributes
    ----------
    score : (n,) float64
    relevance : (n,) int32
        Class, higher is better.
    U, V : (n,) float64
        Potentials for concordant and for discordant pairs.  They must be the same if there are
        more than two classes.
    gain : (classes,) float64
        The swap delta of classes a and b is ``abs(gain[a] - gain[b])``, the pair weight, times the
        difference of the potentials.
    copies : (n,) float64 or empty
        Multiplicities; empty if all are 1.
    """

    score: Floats
    relevance: NDArray[np.int32]
    U: Floats
    V: Floats
    gain: Floats
    copies: Floats


class Derivatives(NamedTuple):
    """Gradient and Hessian of each document, (n,) float64 each."""

    gradient: Floats
    hessian: Floats


class Workspace(NamedTuple):
    """Working memory of the sweep, allocated once for many lists.

    Attributes
    ----------
    E, M : (blocks of rates * classes, LANES) float64
        Classes of the first block of rates, then those of the next.
    decays : (blocks * (CHUNK + 1), LANES) float64
        exp(-rate * distance) of the step from each rank to the next.
    gap_concordant, gap_discordant, distance : (CHUNK + 1,) float64
        Decrease of U, V and the score in the same steps.
    """

    E: Floats
    M: Floats
    decays: Floats
    gap_concordant: Floats
    gap_discordant: Floats
    distance: Floats


@compiled
def workspace_for(classes: int, blocks: int) -> Any:
    """Allocate memory for up to this number of classes and of blocks of rates."""
    steps = CHUNK + 1
    return Workspace(_aligned(classes * blocks), _aligned(classes * blocks),
                     _aligned(blocks * steps), np.empty(steps), np.empty(steps),
                     np.empty(steps))  # fmt: skip


@compiled
def _aligned(rows: int) -> Any:
    """Allocate rows of lanes that are aligned with cache lines."""
    memory = np.empty((rows + 1) * LANES)
    skip = (-(memory.ctypes.data // 8)) % LANES
    return memory[skip : skip + rows * LANES].reshape(rows, LANES)


@compiled(error_model="numpy")
def sweep(ranked: Any, kernel: Any, work: Any, out: Any) -> float:
    """Add the gradient and Hessian of every document of one list to ``out``; return S.

    Returns
    -------
    float
        Sum over pairs of 2 |lambda|.
    """
    n, received = ranked.score.size, 0.0
    chunks = (n + CHUNK - 1) // CHUNK
    forget(ranked, kernel, work)
    for first in range(0, n, CHUNK):
        last = min(first + CHUNK, n)
        lay_out(first, last, ranked, kernel, work)
        received += walk(first, last, True, ranked, kernel, work, out)
    forget(ranked, kernel, work)
    for i in range(chunks):
        first = (chunks - 1 - i) * CHUNK
        last = min(first + CHUNK, n)
        if i > 0:  # the last steps of the pass down are still in memory
            lay_out(first, last, ranked, kernel, work)
        received += walk(first, last, False, ranked, kernel, work, out)
    return received


@compiled
def forget(ranked: Any, kernel: Any, work: Any) -> None:
    """Set E and M to zero."""
    for row in range(ranked.gain.size * kernel.rates.shape[0]):
        store(splat(0.0), work.E, row)
        store(splat(0.0), work.M, row)


@compiled(error_model="numpy")
def lay_out(first: int, last: int, ranked: Any, kernel: Any, work: Any) -> None:
    """Compute the steps between the ranks first - 1 .. last; steps beyond the list's ends are 0.

    This is separate from `walk`, so that the processor can pipeline the exponentials of several
    documents.
    """
    score, U, V, rates = ranked.score, ranked.U, ranked.V, kernel.rates
    concordant, discordant, distance = work.gap_concordant, work.gap_discordant, work.distance
    decays, blocks, n = work.decays, rates.shape[0], score.size
    for step in range(last - first + 1):
        here, before = min(first + step, n - 1), max(first + step - 1, 0)
        concordant[step] = abs(U[before] - U[here])
        discordant[step] = abs(V[before] - V[here])
        distance[step] = score[before] - score[here]
    for block in range(blocks):
        rate = load(rates, block)
        for step in range(last - first + 1):
            store(decay(rate, distance[step]), decays, step * blocks + block)


@compiled(error_model="numpy")
def walk(first: int, last: int, down: bool, ranked: Any, kernel: Any, work: Any, out: Any) -> float:
    """Process the ranks first .. last - 1 in this direction, with the steps of `lay_out`.

    On entry, E and M are the sums at the rank before; on return, those at the last rank.  With an
    empty ``out``, only these sums are updated.
    """
    received = 0.0
    if ranked.gain.size > 2:
        return float(_many_classes(first, last, down, ranked, kernel, work, out))
    for block in range(kernel.rates.shape[0]):
        received += _two_classes(block, (first, last), down, ranked, kernel, work, out)
    return received


@compiled(error_model="numpy")
def _two_classes(
    block: int, ranks: Any, down: bool, ranked: Any, kernel: Any, work: Any, out: Any
) -> float:
    """Sweep like `walk` for one block of rates, with the sums in registers."""
    (first, last), blocks, relevance = ranks, kernel.rates.shape[0], ranked.relevance
    row_0, row_1 = 2 * block, 2 * block + 1
    E_0, E_1, M_0, M_1 = (
        load(work.E, row_0),
        load(work.E, row_1),
        load(work.M, row_0),
        load(work.M, row_1),
    )
    # Class 0 is the worse class: going down, pairs with a class-0 document above are discordant,
    # those with a class-1 document above are concordant; going up, it is the other way round.
    gap_0, gap_1 = (
        (work.gap_discordant, work.gap_concordant)
        if down
        else (work.gap_concordant, work.gap_discordant)
    )
    concordant, discordant = load(kernel.concordant, block), load(kernel.discordant, block)
    weight = splat(abs(ranked.gain[1] - ranked.gain[0]))
    from_0 = mul(weight, pick(down, discordant, concordant))
    from_1 = mul(weight, pick(down, concordant, discordant))
    curve, tiny = mul(weight, load(kernel.hessian, block)), splat(TINY)
    copies, decays, gradient, hessian = ranked.copies, work.decays, out.gradient, out.hessian
    collect, weighted, received = gradient.size > 0, copies.size > 0, 0.0
    for k in range(last - first):
        i = k if down else last - first - 1 - k
        step = i if down else i + 1
        # The class is a factor, not a branch: which one comes next is hard to predict.
        relevant = float(relevance[first + i])
        times = copies[first + i] if weighted else 1.0
        x = load(decays, step * blocks + block)
        M_0 = madd(madd(splat(gap_0[step]), E_0, M_0), x, tiny)
        M_1 = madd(madd(splat(gap_1[step]), E_1, M_1), x, tiny)
        E_0 = madd(E_0, x, splat(times * (1.0 - relevant) + TINY))
        E_1 = madd(E_1, x, splat(times * relevant + TINY))
        if collect:
            of_0 = mul(M_0, splat(times * relevant))
            of_1 = mul(M_1, splat(times * (1.0 - relevant)))
            both = madd(of_0, splat(1.0), of_1)
            push, bend = totals(madd(of_0, from_0, mul(of_1, from_1)), mul(both, curve))
            gradient[first + i] += push * (1.0 - 2.0 * relevant)
            hessian[first + i] += bend
            received += push
    store(E_0, work.E, row_0)
    store(E_1, work.E, row_1)
    store(M_0, work.M, row_0)
    store(M_1, work.M, row_1)
    return received


@compiled(error_model="numpy")
def _many_classes(
    first: int, last: int, down: bool, ranked: Any, kernel: Any, work: Any, out: Any
) -> float:
    """Sweep like `walk` with the sums in memory, one block of rates after the other."""
    blocks, classes, gain = kernel.rates.shape[0], ranked.gain.size, ranked.gain
    zero, tiny = splat(0.0), splat(TINY)
    E, M, decays, gaps = work.E, work.M, work.decays, work.gap_concordant
    copies, relevance = ranked.copies, ranked.relevance
    gradient, hessian = out.gradient, out.hessian
    collect, weighted, received = gradient.size > 0, copies.size > 0, zero
    of_concordant, of_discordant = kernel.concordant, kernel.discordant
    of_hessian = kernel.hessian
    # A row for each class of a document: its pair weights with the classes above it, and below.
    with_better, with_worse = np.zeros((classes, classes)), np.zeros((classes, classes))
    for a in range(classes):
        for b in range(classes):
            (with_better if b > a else with_worse)[a, b] = abs(gain[a] - gain[b])
    for k in range(last - first):
        i = k if down else last - first - 1 - k
        step = i if down else i + 1
        own = int(relevance[first + i])
        times = copies[first + i] if weighted else 1.0
        gap, slope, bend, met = splat(gaps[step]), zero, zero, zero
        for block in range(blocks):
            x = load(decays, step * blocks + block)
            worse = better = zero
            for c in range(classes):
                row = block * classes + c
                count = load(E, row)
                moved = madd(madd(gap, count, load(M, row)), x, tiny)
                store(moved, M, row)
                store(madd(count, x, tiny), E, row)
                better = madd(moved, splat(with_better[own, c]), better)
                worse = madd(moved, splat(with_worse[own, c]), worse)
            row = block * classes + own
            store(madd(splat(times), splat(1.0), load(E, row)), E, row)
            concordant, discordant = load(of_concordant, block), load(of_discordant, block)
            # Going down, better classes above are concordant with this document, worse ones
            # discordant.  Better ones push its score down, worse ones push it up.
            pushed = mul(better, pick(down, concordant, discordant))
            pulled = mul(worse, pick(down, discordant, concordant))
            met = madd(pushed, splat(1.0), madd(pulled, splat(1.0), met))
            slope = madd(pushed, splat(1.0), madd(pulled, splat(-1.0), slope))
            both = madd(better, splat(1.0), worse)
            bend = madd(both, load(of_hessian, block), bend)
        if collect:
            received = madd(splat(times), met, received)
            slope_sum, bend_sum = totals(slope, bend)
            gradient[first + i] += times * slope_sum
            hessian[first + i] += times * bend_sum
    return float(totals(received, zero)[0])
