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

from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compiled import compiled
from lambdaplus.objectives.lanes import (
    LANES,
    decay,
    load,
    madd,
    mul,
    pick,
    splat,
    store,
    totals,
)
from lambdaplus.queries import Floats

# Documents whose steps are laid out at a time, to stay in the first-level cache.
CHUNK = 256

# Added to the running sums at every step, so that they never decay into denormal numbers.
TINY = 1e-200

# Up to so many classes the weights of all pairs of classes are tabled once for a list.
TABLED = 64


class Scratch(NamedTuple):
    """Memory of the sweep, made once for many lists: rows of LANES, and the steps of one chunk.

    Attributes
    ----------
    counts, gaps : (classes * blocks of rates, LANES) float64
        E and M.
    slopes, bends, sizes : (classes * classes * blocks, LANES) float64
        What a document of each class receives per unit of M: coefficients of its gradient, its
        Hessian and of S.
    decays : (blocks * (CHUNK + 1), LANES) float64
        exp(-rate * distance) of the step from each rank to the next.
    high, low, distance : (CHUNK + 1,) float64
        Gaps of U, V and the score of the same steps.
    """

    counts: Floats
    gaps: Floats
    slopes: Floats
    bends: Floats
    sizes: Floats
    decays: Floats
    high: Floats
    low: Floats
    distance: Floats


@compiled
def scratch_for(classes: int, blocks: int) -> Scratch:
    """Room for lists of up to so many classes, and kernels of up to so many blocks of rates."""
    rows = classes * blocks
    table = rows * (classes if classes <= TABLED else 1)
    return Scratch(
        _aligned(rows), _aligned(rows), _aligned(table), _aligned(table), _aligned(table),
        _aligned(blocks * (CHUNK + 1)), np.empty(CHUNK + 1),
        np.empty(CHUNK + 1), np.empty(CHUNK + 1),
    )  # fmt: skip


@compiled
def _aligned(rows: int) -> Any:
    """Memory for rows of lanes, none of which lies in two cache lines."""
    memory = np.empty((rows + 1) * LANES)
    skip = (-(memory.ctypes.data // 8)) % LANES
    return memory[skip : skip + rows * LANES].reshape(rows, LANES)


@compiled(error_model="numpy")
def sweep(
    score: Any, code: Any, high: Any, low: Any, worth: Any, copies: Any, kernel: Any,
    scratch: Any, gradient: Any, hessian: Any,
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
    scratch : Scratch
    gradient, hessian : (n,) float64
        Added to.

    Returns
    -------
    float
        Sum over pairs of 2 |lambda|.
    """
    received = 0.0
    for down in (True, False):
        for row in range(worth.size * kernel.rates.shape[0]):
            store(splat(0.0), scratch.counts, row)
            store(splat(0.0), scratch.gaps, row)
        received += walk(0, score.size, down, score, code, high, low, worth, copies, kernel,
                         scratch, gradient, hessian)  # fmt: skip
    return received


@compiled(error_model="numpy")
def walk(
    start: int, stop: int, down: bool, score: Any, code: Any, high: Any, low: Any, worth: Any,
    copies: Any, kernel: Any, scratch: Any, gradient: Any, hessian: Any,
) -> float:  # fmt: skip
    """Collect for the ranks start .. stop - 1 from those before in this direction, E and M given.

    E and M are as they were at the rank before; then as at the last one.
    """
    blocks = kernel.rates.shape[0]
    if worth.size <= TABLED:
        for own in range(worth.size):
            _weigh(worth, own, kernel, down, scratch, own * worth.size * blocks)
    chunks = (stop - start + CHUNK - 1) // CHUNK
    received = 0.0
    for i in range(chunks):
        first = start + (i if down else chunks - 1 - i) * CHUNK
        last = min(first + CHUNK, stop)
        if down or score.size > CHUNK:  # what a short list laid out on the way down is still there
            lay_out(score, high, low, first, last, kernel, scratch)
        if worth.size == 2:
            for block in range(blocks):
                received += _two_classes(code, copies, first, last, down, block, blocks, scratch,
                                         gradient, hessian)  # fmt: skip
        else:
            received += _many_classes(code, copies, first, last, down, worth, kernel, scratch,
                                      gradient, hessian)  # fmt: skip
    return received


@compiled(error_model="numpy")
def lay_out(
    score: Any, high: Any, low: Any, first: int, last: int, kernel: Any, scratch: Any
) -> None:
    """Lay out the steps between the ranks first - 1 .. last, those over the list's ends as none.

    Apart from the walk, so that the exponentials of several documents are under way at a time.
    """
    rates, blocks, n = kernel.rates, kernel.rates.shape[0], score.size
    for step in range(last - first + 1):
        here, before = min(first + step, n - 1), max(first + step - 1, 0)
        scratch.high[step] = abs(high[before] - high[here])
        scratch.low[step] = abs(low[before] - low[here])
        scratch.distance[step] = score[before] - score[here]
    for block in range(blocks):
        rate = load(rates, block)
        for step in range(last - first + 1):
            x = decay(rate, scratch.distance[step])
            store(x, scratch.decays, step * blocks + block)


@compiled(error_model="numpy")
def _two_classes(
    code: Any, copies: Any, first: int, last: int, down: bool, block: int, blocks: int,
    scratch: Any, gradient: Any, hessian: Any,
) -> float:  # fmt: skip
    """Walk the ranks first .. last - 1 with one block of rates, the sums in registers."""
    counts, gaps, decays = scratch.counts, scratch.gaps, scratch.decays
    count_0, count_1 = load(counts, block), load(counts, blocks + block)
    moved_0, moved_1 = load(gaps, block), load(gaps, blocks + block)
    # Class 0 is never the better one: going down it uses V and class 1 U; going up, the opposite.
    gap_0, gap_1 = (scratch.low, scratch.high) if down else (scratch.high, scratch.low)
    slope_0, slope_1 = (
        load(scratch.slopes, blocks + block),
        load(scratch.slopes, 2 * blocks + block),
    )
    bend_0, bend_1 = load(scratch.bends, blocks + block), load(scratch.bends, 2 * blocks + block)
    tiny = splat(TINY)
    received = 0.0
    for k in range(last - first):
        i = k if down else last - first - 1 - k
        step = i if down else i + 1
        relevant = code[first + i] > 0
        times = copies[first + i] if copies.size else 1.0
        x = load(decays, step * blocks + block)
        moved_0 = madd(madd(splat(gap_0[step]), count_0, moved_0), x, tiny)
        moved_1 = madd(madd(splat(gap_1[step]), count_1, moved_1), x, tiny)
        count_0 = madd(count_0, x, splat(TINY if relevant else times))
        count_1 = madd(count_1, x, splat(times if relevant else TINY))
        moved = pick(relevant, moved_0, moved_1)
        slope = mul(moved, pick(relevant, slope_1, slope_0))
        slope_sum, bend_sum = totals(slope, mul(moved, pick(relevant, bend_1, bend_0)))
        gradient[first + i] += times * slope_sum
        hessian[first + i] += times * bend_sum
        received += times * (-slope_sum if relevant else slope_sum)
    store(count_0, counts, block)
    store(count_1, counts, blocks + block)
    store(moved_0, gaps, block)
    store(moved_1, gaps, blocks + block)
    return received


@compiled(error_model="numpy")
def _many_classes(
    code: Any, copies: Any, first: int, last: int, down: bool, worth: Any, kernel: Any,
    scratch: Any, gradient: Any, hessian: Any,
) -> float:  # fmt: skip
    """Walk the ranks first .. last - 1, the sums in memory."""
    blocks = kernel.rates.shape[0]
    rows, mask = worth.size * blocks, blocks - 1  # blocks is a power of two
    counts, gaps, decays = scratch.counts, scratch.gaps, scratch.decays
    slopes, bends, sizes = scratch.slopes, scratch.bends, scratch.sizes
    zero, tiny = splat(0.0), splat(TINY)
    received = zero
    for k in range(last - first):
        i = k if down else last - first - 1 - k
        step = i if down else i + 1
        own = int(code[first + i])
        times = copies[first + i] if copies.size else 1.0
        at = own * rows if worth.size <= TABLED else 0
        if worth.size > TABLED:
            _weigh(worth, own, kernel, down, scratch, at)
        gap = splat(scratch.high[step])
        slope = bend = met = zero
        for row in range(rows):
            x, count = load(decays, step * blocks + (row & mask)), load(counts, row)
            moved = madd(madd(gap, count, load(gaps, row)), x, tiny)
            store(moved, gaps, row)
            store(madd(count, x, tiny), counts, row)
            slope = madd(moved, load(slopes, at + row), slope)
            bend = madd(moved, load(bends, at + row), bend)
            met = madd(moved, load(sizes, at + row), met)
        joining = splat(times)
        for row in range(own * blocks, (own + 1) * blocks):
            store(madd(joining, splat(1.0), load(counts, row)), counts, row)
        received = madd(joining, met, received)
        slope_sum, bend_sum = totals(slope, bend)
        gradient[first + i] += times * slope_sum
        hessian[first + i] += times * bend_sum
    return float(totals(received, zero)[0])


@compiled
def _weigh(worth: Any, own: int, kernel: Any, down: bool, scratch: Any, at: int) -> None:
    """Table what a document of class own receives from each class, per unit of M.

    On the way down better classes met are concordant with us, worse ones discordant; on the way
    up it is the other way round.  Better documents push our score down, worse ones pull it up.
    """
    blocks = kernel.rates.shape[0]
    i = at
    for c in range(worth.size):
        weight = splat(abs(worth[c] - worth[own]))
        sign = splat(1.0 if c > own else -1.0)
        kind = 0 if (c > own) == down else 1
        for block in range(blocks):
            slope = mul(weight, load(kernel.gradients, 2 * block + kind))
            store(slope, scratch.sizes, i)
            store(mul(sign, slope), scratch.slopes, i)
            store(mul(weight, load(kernel.hessians, 2 * block + kind)), scratch.bends, i)
            i += 1
