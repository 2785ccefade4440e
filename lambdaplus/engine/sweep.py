"""Sum over all pairs of a ranked list, without visiting each pair.

The lambda of a document is the sum, over all documents of other classes, of the swap delta times a
function of the score distance.  The delta is a difference of potentials U (see
`lambdaplus.metrics.forms.form`), and the function a sum of exponentials (`exponentials`), so the
contribution of the documents above is computed from two sums for each class and rate,

    E = sum over i of exp(-rate (s_i - s_r)),
    M = sum over i of (U_i - U_r) exp(-rate (s_i - s_r)),

with a recurrence down the ranking: research/mathematics/sweep.md.  A second pass, up, adds the
contributions of the documents below.  If the swap delta of two classes is the same for all pairs,
there are no potentials (``U`` and ``V`` are None), and E alone is needed.

Eight rates, an octet, are swept at a time, one in each lane.
"""

from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.engine.exponentials import Exponentials
from lambdaplus.engine.lanes import LANES, decay, load, madd, mul, pick, splat, store, totals
from lambdaplus.engine.ranked_lists import Lists, Sums

# Number of elements whose decays are computed at a time, so that they stay in the cache.
# The decays of a chunk are computed in one loop, and read in another on the way down and up.
CHUNK = 256

STEPS = CHUNK + 1  # decays of a chunk, of one octet

DOWN, UP = 0, 1

# Added to the running sums in every step, so that these do not become denormal numbers.
TINY = 1e-200


@compiled
def aligned(rows: int) -> Any:
    """Allocate rows of lanes that are aligned with cache lines."""
    # So that a row of lanes, 64 bytes, does not lie across two cache lines.
    memory = np.empty((rows + 1) * LANES)
    skip = (-(memory.ctypes.data // 8)) % LANES
    return memory[skip : skip + rows * LANES].reshape(rows, LANES)


@compiled
def _write_decays(
    rate: Any, score: Floats, begin: int, end: int, low: int, high: int, decays: Any
) -> None:
    """Write the decays of the elements ``low`` to ``high`` of the list ``begin`` to ``end - 1``.

    Row i - low is the decay between elements i - 1 and i.  There is one more than elements of a
    chunk, since the way up begins with the decay between its last element and the next chunk.
    Beyond the ends of the list the distance is 0.
    """
    # In a loop of its own, so that the processor can pipeline exponentials.
    for i in range(low, high + 1):
        here, before = min(i, end - 1), max(i - 1, begin)
        store(decay(rate, score[before] - score[here]), decays, i - low)


@compiled(error_model="numpy")
def sweep_two_classes(
    which: Ints, lists: Lists, U: Any, V: Any, fits: Exponentials, first_way: int, last_way: int,
    out: Sums,
) -> None:  # fmt: skip
    """Add the sums over the pairs of the lists ``which``, of two classes each.

    ``U`` and ``V`` are those of the lists; numba leaves out what is None only of arguments.  From
    above come the contributions of way 0, `DOWN`, from below those of way 1, `UP`.
    """
    start, stop, gain_at, gain = lists.start, lists.stop, lists.gain_at, lists.gain
    score, code, weight = lists.score, lists.code, lists.weight
    (rates, concordant, discordant, curvature), (gradient, hessian, received) = fits, out
    decays, tiny = aligned(STEPS), splat(TINY)
    for k in range(which.size):
        begin, end, at = start[which[k]], stop[which[k]], gain_at[which[k]]
        chunks, lambdas = (end - begin + CHUNK - 1) // CHUNK, 0.0
        pair_weight = splat(abs(gain[at + 1] - gain[at]) if gain.size else 1.0)
        for octet in range(rates.shape[0]):  # their contributions add up
            laid_out, curve = -1, mul(pair_weight, load(curvature, octet))
            of_concordant = mul(pair_weight, load(concordant, octet))
            of_discordant = mul(pair_weight, load(discordant, octet))
            for way in range(first_way, last_way + 1):
                # Class 0 is the worse class: going down, pairs with a class-0 document above are
                # discordant, those with a class-1 document above are concordant; going up, it is
                # the other way round.
                down = way == DOWN
                if U is not None:
                    P_0, P_1 = (V, U) if down else (U, V)
                from_0 = pick(down, of_discordant, of_concordant)
                from_1 = pick(down, of_concordant, of_discordant)
                # The sums E and M of the module's docstring over the class-0 and the class-1
                # elements that were visited on this way, with the potentials P_0 and P_1.
                E_0 = E_1 = M_0 = M_1 = splat(0.0)
                for turn in range(chunks):
                    # The last chunk on the way down is the first one up, and its decays are still
                    # there.
                    chunk = turn if down else chunks - 1 - turn
                    low = begin + chunk * CHUNK
                    high = min(low + CHUNK, end)
                    if chunk != laid_out:
                        _write_decays(load(rates, octet), score, begin, end, low, high, decays)
                        laid_out = chunk
                    for step in range(high - low):
                        i = low + step if down else high - 1 - step
                        # The element that was visited before this one; itself at the start, where E
                        # and M are 0.
                        before = max(i - 1, begin) if down else min(i + 1, end - 1)
                        row = (i if down else i + 1) - low
                        x = load(decays, row)
                        # The class is a factor, since a branch would be hard to predict.
                        weight_1 = weight[i] * float(code[i])
                        weight_0 = weight[i] - weight_1
                        if U is None:
                            # The E of the elements before, which is the sum itself.
                            M_0, M_1 = madd(E_0, x, tiny), madd(E_1, x, tiny)
                        else:
                            gap_0 = splat(abs(P_0[before] - P_0[i]))
                            gap_1 = splat(abs(P_1[before] - P_1[i]))
                            # M <- (M + g E) x, then E <- E x: the recurrence of
                            # research/mathematics/sweep.md with the gap g. M comes first, since it
                            # takes the E of the element before. Potentials never increase with the
                            # rank, so absolute gaps are right on both ways, and no terms cancel.
                            M_0 = madd(madd(gap_0, E_0, M_0), x, tiny)
                            M_1 = madd(madd(gap_1, E_1, M_1), x, tiny)
                        # Only now the element joins its class, for those that follow: it is no
                        # partner of its own.
                        E_0 = madd(E_0, x, splat(weight_0 + TINY))
                        E_1 = madd(E_1, x, splat(weight_1 + TINY))
                        # Class 1 is paired with class 0, and class 0 with class 1.
                        of_0, of_1 = mul(M_0, splat(weight_1)), mul(M_1, splat(weight_0))
                        # The sum over rates: first products lane by lane, then one sum of the
                        # lanes.
                        slopes = madd(of_0, from_0, mul(of_1, from_1))
                        bends = mul(madd(of_0, splat(1.0), of_1), curve)
                        push, bend = totals(slopes, bends)
                        # A negative gradient raises the score of class 1. A pair is met once on
                        # each way, by its lower and by its higher element, so `lambdas` gets 2
                        # |lambda|.
                        gradient[i] += push * (1.0 - 2.0 * float(code[i]))
                        hessian[i] += bend
                        lambdas += push
        received[which[k]] += lambdas


@compiled(error_model="numpy")
def sweep_many_classes(
    which: Ints, lists: Lists, U: Any, V: Any, fits: Exponentials, first_way: int, last_way: int,
    out: Sums,
) -> None:  # fmt: skip
    """Like `sweep_two_classes`, for lists of more classes, of which U and V are the same."""
    start, stop, gain_at, gain = lists.start, lists.stop, lists.gain_at, lists.gain
    score, code, weight = lists.score, lists.code, lists.weight
    (rates, concordant, discordant, curvature), (gradient, hessian, received) = fits, out
    most, n_classes = 0, lists.n_classes
    for k in range(which.size):
        most = max(most, n_classes[which[k]])
    decays, E, M = aligned(STEPS), aligned(most), aligned(most)
    zero, tiny = splat(0.0), splat(TINY)
    # Pair weights of each class (row) with better classes, and with worse ones.
    with_better, with_worse = np.zeros((most, most)), np.zeros((most, most))
    for k in range(which.size):
        begin, end, at = start[which[k]], stop[which[k]], gain_at[which[k]]
        classes, chunks = n_classes[which[k]], (end - begin + CHUNK - 1) // CHUNK
        lambdas = zero
        for a in range(classes):
            for b in range(classes):
                # The row is the class of the element that gets the sum, the column that of its
                # partners.
                pair_weight = abs(gain[at + a] - gain[at + b]) if gain.size else 1.0
                with_better[a, b] = pair_weight if b > a else 0.0
                with_worse[a, b] = pair_weight if b < a else 0.0
        for octet in range(rates.shape[0]):
            # Octets, ways and chunks as for two classes.
            laid_out, curve = -1, load(curvature, octet)
            for way in range(first_way, last_way + 1):
                down = way == DOWN
                # Going down, better classes above are concordant with this document, worse ones
                # discordant.  Better ones push its score down, worse ones push it up.
                of_better = pick(down, load(concordant, octet), load(discordant, octet))
                of_worse = pick(down, load(discordant, octet), load(concordant, octet))
                for c in range(classes):
                    # Of each class, a row of lanes: registers would not hold them.
                    store(zero, E, c)
                    store(zero, M, c)
                for turn in range(chunks):
                    chunk = turn if down else chunks - 1 - turn
                    low = begin + chunk * CHUNK
                    high = min(low + CHUNK, end)
                    if chunk != laid_out:
                        _write_decays(load(rates, octet), score, begin, end, low, high, decays)
                        laid_out = chunk
                    for step in range(high - low):
                        i = low + step if down else high - 1 - step
                        before = max(i - 1, begin) if down else min(i + 1, end - 1)
                        row = (i if down else i + 1) - low
                        x = load(decays, row)
                        own, times = code[i], weight[i]
                        if U is not None:
                            gap = splat(abs(U[before] - U[i]))
                        worse = better = zero
                        for c in range(classes):
                            # The same recurrence, for all classes with one gap: one potential
                            # serves them all. The pair weight is applied to the moved sum, so that
                            # coefficients are applied once, below.
                            count = load(E, c)
                            moved = kept = madd(count, x, tiny)
                            if U is not None:
                                moved = madd(madd(gap, count, load(M, c)), x, tiny)
                                store(moved, M, c)
                            store(kept, E, c)
                            better = madd(moved, splat(with_better[own, c]), better)
                            worse = madd(moved, splat(with_worse[own, c]), worse)
                        # The element joins its class. Its own class has the weight 0 in both
                        # tables.
                        store(madd(splat(times), splat(1.0), load(E, own)), E, own)
                        # Better classes push the element down, a positive gradient; worse ones pull
                        # it up.
                        pushed, pulled = mul(better, of_better), mul(worse, of_worse)
                        bend = mul(madd(better, splat(1.0), worse), curve)
                        slope = madd(pulled, splat(-1.0), pushed)
                        lambdas = madd(splat(times), madd(pushed, splat(1.0), pulled), lambdas)
                        slope_sum, bend_sum = totals(slope, bend)
                        gradient[i] += times * slope_sum
                        hessian[i] += times * bend_sum
        received[which[k]] += totals(lambdas, zero)[0]
