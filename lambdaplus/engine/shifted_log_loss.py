"""Log-loss of the documents of each query, whose scores are shifted by a constant.

In each query, or in a table, the constant that makes log-loss lowest is added to the scores.  So,
like a ranking, log-loss does not depend on where scores begin.  At this constant, the probabilities
of a query add up to its number of positive documents.

"Combined regression and ranking": Sculley 2010.
"""

import math

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.engine.lanes import (
    LANES,
    add,
    divide,
    exponential,
    load,
    madd,
    mul,
    splat,
    store,
    totals,
)
from lambdaplus.engine.lists import Sums
from lambdaplus.ranking.sort import Entries

FARTHEST = 1e9  # scores below the highest one, so that the sum with a constant keeps its digits
NEAR = 130.0  # scores below the highest one whose `exponential` is not 0
LARGEST_EXPONENT = 600.0  # far from overflow
PRECISE = 1e-13  # of the sum of probabilities
STEPS = 100
EPSILON = float(np.finfo(np.float64).eps)


@compiled(error_model="numpy")
def add_shifted_log_loss(
    entries: Entries, strata: Ints, label: Floats, sigma: float, weight: Floats, sums: Sums
) -> None:
    """Add log-loss to gradient and Hessian of a document of each entry.

    ``strata`` has the first stratum of each of these queries, ``label`` that of each stratum, and
    ``weight`` that of the loss of a document of each query.
    """
    (edges, score, code, _, copies), longest = entries, 0
    for q in range(edges.size - 1):
        longest = max(longest, edges[q + 1] - edges[q])
    # Behind the last document of a query is space for an octet of weight 0.
    room = np.zeros((5, longest + LANES))
    below, odds, labels, weights, p = room[0], room[1], room[2], room[3], room[4]
    for q in range(edges.size - 1):
        begin, n, at = edges[q], edges[q + 1] - edges[q], strata[q]
        positive = total = 0.0
        for i in range(n):
            below[i] = max(sigma * (score[begin + i] - score[begin]), -FARTHEST)
            labels[i], weights[i] = label[at + code[begin + i]], copies[begin + i]
            positive += weights[i] * labels[i]
            total += weights[i]
        if not 0.0 < positive < total:
            continue
        weights[n : n + LANES] = 0.0
        _write_probabilities(n, below, weights, positive, total, odds, p)
        # Divided by sigma, so that it has the size of pairs with any sigma.
        for i in range(n):
            sums.gradient[begin + i] += weight[q] * (p[i] - labels[i])
            sums.hessian[begin + i] += weight[q] * (sigma * p[i] * (1.0 - p[i]))


@compiled(error_model="numpy")
def _write_probabilities(
    n: int, below: Floats, weight: Floats, positive: float, total: float, odds: Floats, p: Floats
) -> None:
    """Write the probabilities of n documents that add up to ``positive``, at some constant.

    The constant is found by Newton's steps on the logit of the mean probability, which is nearly
    linear in it.
    """
    # At one end, no probability is above the base rate, at the other none below it.
    base = math.log(positive / (total - positive))
    low, high = base - 1e-3, base - below[n - 1] + 1e-3
    near, mean = below[n - 1] > -NEAR, splat(0.0)
    for i in range(0, n, LANES):
        store(exponential(load(below, i)), odds, i)
        mean = madd(load(odds, i), load(weight, i), mean)
    constant = min(max(base - math.log(totals(mean, mean)[0] / total), low), high)
    for _ in range(STEPS):
        if not near:
            for i in range(n):
                odds[i] = math.exp(min(below[i] + constant, LARGEST_EXPONENT))
        factor, sums, slopes = math.exp(constant) if near else 1.0, splat(0.0), splat(0.0)
        for i in range(0, n, LANES):
            scaled = mul(load(odds, i), factor)
            inverse = divide(1.0, add(scaled, 1.0))
            probability = mul(scaled, inverse)
            store(probability, p, i)
            weighted = mul(load(weight, i), probability)
            sums, slopes = add(weighted, sums), madd(weighted, inverse, slopes)
        reached, slope = totals(sums, slopes)
        excess = reached - positive
        # A step that rounding hides from the largest probabilities is the last one.
        if abs(excess) <= max(PRECISE * positive, EPSILON * abs(constant) * slope):
            break
        if excess > 0.0:
            high = constant
        else:
            low = constant
        rate = reached / total
        distance = math.log(rate / (1.0 - rate)) - base
        constant -= distance * rate * (1.0 - rate) * total / slope if slope > 0.0 else np.inf
        if not low < constant < high:
            constant = 0.5 * (low + high)
