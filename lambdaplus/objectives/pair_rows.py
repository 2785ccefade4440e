"""Sums over all pairs of a list of some hundred elements, an element with all below it at a time.

With e = exp(sigma s), rho of two elements is e_q / (e_p + e_q): one exponential for each element,
and one division for each pair.  The loop over the elements below is a function of slices, which
LLVM turns into vector instructions; a loop with two indices it does not.
"""

from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.objectives.exponentials import PairFunction, PairShape
from lambdaplus.objectives.lists import Lists, Sums
from lambdaplus.objectives.pair_by_pair import short

SHORTEST = 64  # with fewer elements, pair by pair is as fast
FARTHEST = 600.0  # exp(-FARTHEST) is not yet denormal


def fit_for_rows(lists: Lists, sigma: float) -> Bools:
    """Whether vector instructions for an element and all below it are faster than pairs, each."""
    size = lists.stop - lists.start
    # Of more than two classes, since U and V are the same.
    fit: Bools = (size >= SHORTEST) & (lists.n_classes > 2) & short(lists)
    some = np.flatnonzero(fit)
    apart = lists.score[lists.start[some]] - lists.score[lists.stop[some] - 1]
    fit[some] = sigma * apart <= FARTHEST
    return fit


def add_pair_rows(which: Ints, lists: Lists, function: PairFunction, out: Sums) -> None:
    pair_rows(which, lists, lists.U, lists.near_top, function.shape, out)


@compiled(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _with_those_below(
    factor: float, code_p: int, gain_p: float, U_p: float, e_p: float, score_p: float,
    sigma: float, damping: float, one: float, with_gain: bool, with_U: bool, weight: Floats,
    code: Int32s, gain: Floats, U: Floats, e: Floats, score: Floats, gradient: Floats,
    hessian: Floats,
) -> tuple[float, float, float]:  # fmt: skip
    """Add the pairs of an element with those below; return its sums, and that of |lambda|."""
    own = bend = lambdas = 0.0
    for q in range(weight.size):
        rho = e[q] / (e_p + e[q])
        delta = factor * weight[q]
        if with_gain:
            delta *= abs(gain_p - gain[q])
        else:
            delta *= 1.0 if code_p != code[q] else 0.0
        if with_U:
            delta *= U_p - U[q]
        if damping > 0.0:
            # Written simply, LLVM multiplies in another order, which changes last bits.
            delta *= 1.0 - one + one / (damping + score_p - score[q])
        # Of a concordant pair, whose upper element is raised, or a discordant one.
        push = delta * (rho if code_p > code[q] else rho - 1.0)
        curve = sigma * delta * rho * (1.0 - rho)
        own -= push
        bend += curve
        gradient[q] += push
        hessian[q] += curve
        lambdas += abs(push)
    return own, bend, lambdas


@compiled(error_model="numpy")
def pair_rows(
    which: Ints, lists: Lists, U: Any, near_top: Any, shape: PairShape, out: Sums
) -> None:
    """Add the sums over the pairs of these lists, of more than two classes each."""
    start, stop, gain_at, gain = lists.start, lists.stop, lists.gain_at, lists.gain
    score, code, weight = lists.score, lists.code, lists.weight
    (sigma, damping), (gradient, hessian, received) = shape, out
    for k in range(which.size):
        begin, end, at = start[which[k]], stop[which[k]], gain_at[which[k]]
        n = end - begin
        e, of_class, potential = np.empty(n), np.zeros(n), np.zeros(n)
        for i in range(n):
            e[i] = np.exp(sigma * (score[begin + i] - score[begin]))
            if gain.size:
                of_class[i] = gain[at + code[begin + i]]
            if U is not None:
                potential[i] = U[begin + i]
        lambdas = 0.0
        for p in range(n - 1):
            i = begin + p
            factor = sigma * weight[i]
            if near_top is not None:
                factor *= near_top[i]
            own, bend, added = _with_those_below(
                factor, code[i], of_class[p], potential[p], e[p], score[i], sigma, damping,
                1.0, gain.size > 0, U is not None, weight[i + 1 : end], code[i + 1 : end],
                of_class[p + 1 :], potential[p + 1 :], e[p + 1 :], score[i + 1 : end],
                gradient[i + 1 : end], hessian[i + 1 : end],
            )  # fmt: skip
            gradient[i] += own
            hessian[i] += bend
            lambdas += added
        received[which[k]] += 2.0 * lambdas
