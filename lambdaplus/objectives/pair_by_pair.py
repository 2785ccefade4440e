"""Sums over the pairs of a list, pair by pair, in O(n^2): faster than the sweep on short lists."""

import math
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Bools, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.objectives.exponentials import PairFunction, PairShape
from lambdaplus.objectives.lists import Lists, Sums

# A list of n entries in L classes is summed pair by pair if n < FEW + FEW_PER_CLASS * L: that costs
# n^2 / 2 logistic functions, the sweep some decays and sums of each element.
FEW, FEW_PER_CLASS = 12, 3


def short(lists: Lists) -> Bools:
    """Whether pair by pair is faster than a sweep, (n_lists,)."""
    size, n_classes = lists.stop - lists.start, lists.n_classes
    many = (n_classes > THRESHOLDS.few_labels) & (size <= THRESHOLDS.few_elements)
    return np.asarray((size < FEW + FEW_PER_CLASS * n_classes) | many)


def add_pair_by_pair(which: Ints, lists: Lists, function: PairFunction, out: Sums) -> None:
    """Visit each pair of these lists, with the exact function of the distance."""
    visit_pairs(which, lists, lists.U, lists.V, lists.near_top, function.shape, out)


@compiled(error_model="numpy")
def visit_pairs(
    which: Ints, lists: Lists, U: Any, V: Any, near_top: Any, shape: PairShape, out: Sums
) -> None:
    """Add the sums over all pairs of these lists."""
    start, stop, gain_at, gain = lists.start, lists.stop, lists.gain_at, lists.gain
    score, code, weight = lists.score, lists.code, lists.weight
    (sigma, damping), (gradient, hessian, received) = shape, out
    for k in range(which.size):
        at, lambdas = gain_at[which[k]], 0.0
        for p in range(start[which[k]], stop[which[k]]):
            for q in range(p + 1, stop[which[k]]):
                a, b = code[p], code[q]
                if a == b:
                    continue
                distance = score[p] - score[q]
                # Element p is ahead of q, so the distance is not negative. If p is better, the pair
                # is concordant, and else 1 - rho and V are those of a discordant one. The Hessian
                # is the same.
                wrong = 1.0 / (1.0 + math.exp(sigma * distance))  # rho, for a concordant pair
                slope = wrong * (1.0 - wrong)
                if a < b:
                    wrong = 1.0 - wrong
                delta = sigma * weight[p] * weight[q]
                if near_top is not None:
                    delta *= near_top[p]
                if gain.size:
                    delta *= abs(gain[at + a] - gain[at + b])
                if U is not None:
                    delta *= abs(U[p] - U[q]) if a > b else abs(V[p] - V[q])
                if damping > 0.0:
                    delta *= 1.0 / (damping + distance)
                # The better element is pushed up, by a negative gradient.
                push = delta * wrong if a > b else -delta * wrong
                gradient[p] -= push
                gradient[q] += push
                hessian[p] += sigma * delta * slope
                hessian[q] += sigma * delta * slope
                lambdas += 2.0 * abs(push)
        received[which[k]] += lambdas
