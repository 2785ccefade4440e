"""The pointwise part of a gradient: log-loss of the documents of each query, up to a constant.

In each query, the constant that makes log-loss lowest is added to the scores.  So, like a ranking,
log-loss does not depend on where scores begin.  At this constant, the probabilities of a query add
up to its labels.  The label of a document is its gain, from 0 for the lowest of its query
to 1 for the highest, which for a binary metric is its relevance.

"Combined regression and ranking": Sculley 2010.
"""

import math

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import MetricArrays
from lambdaplus.ranking.sort import Entries

FARTHEST = 1e9  # scores below the highest one
LARGEST_EXPONENT = 600.0  # constants whose exponential is far from overflow
MEANS = 1024  # of the scores of neighbours, of which the first constant of a long list is
PRECISE = 1e-13  # of the sum of probabilities
STEPS = 100
EPSILON = float(np.finfo(np.float64).eps)


def labels_from_gains(arrays: MetricArrays) -> Floats:
    """Labels from 0 to 1 by stratum; 0 in queries without different gains."""
    start, classes = arrays.strata[:-1], np.diff(arrays.strata)
    lowest, highest = (f.reduceat(arrays.gain, start) for f in (np.minimum, np.maximum))
    spread = np.repeat(highest - lowest, classes)
    above = arrays.gain - np.repeat(lowest, classes)
    label: Floats = np.divide(above, spread, out=np.zeros_like(above), where=spread > 0)
    return label


@compiled(error_model="numpy")
def mix_log_loss(
    entries: Entries, strata: Ints, label: Floats, sigma: float, share: float, unit: float,
    values: Floats,
) -> None:  # fmt: skip
    """Replace a share of gradient and Hessian, (m, 2), of a document of each entry by log-loss.

    ``strata`` has the first stratum of each of these queries, and ``label`` that of each stratum.
    ``unit`` multiplies log-loss; below 0, log-loss gets the size of the gradient in each query.
    """
    edges, score, code, _, weight = entries
    for q in range(edges.size - 1):
        begin, end, at = edges[q], edges[q + 1], strata[q]
        n = end - begin
        below, labels, weights = np.empty(n), np.empty(n), weight[begin:end]
        positive = total = size = 0.0
        for i in range(n):
            # Below the highest, and not so far that the sum with a constant loses its digits.
            below[i] = max(sigma * (score[begin + i] - score[begin]), -FARTHEST)
            labels[i] = label[at + code[begin + i]]
            positive += weights[i] * labels[i]
            total += weights[i]
            size += weights[i] * abs(values[begin + i, 0])
        if not 0.0 < positive < total:
            continue
        start = math.log(positive / (total - positive))
        step = n // MEANS
        if step > 1:
            means, mass = np.zeros(n // step), np.zeros(n // step)
            for i in range(n):
                k = min(i // step, means.size - 1)
                means[k] += weights[i] * below[i]
                mass[k] += weights[i]
            for k in range(means.size):
                means[k] /= max(mass[k], 1e-300)
            start = _best_constant(means, mass, positive, total, start)[0]
        p = _best_constant(below, weights, positive, total, start)[1]
        factor = unit
        if unit < 0.0:
            factor = 0.0
            for i in range(n):
                factor += weights[i] * sigma * abs(p[i] - labels[i])
            factor = size / factor if factor > 0.0 else 0.0
        for i in range(n):
            slope, bend = sigma * (p[i] - labels[i]), sigma * sigma * p[i] * (1.0 - p[i])
            e = begin + i
            values[e, 0] = (1.0 - share) * values[e, 0] + share * factor * slope
            values[e, 1] = (1.0 - share) * values[e, 1] + share * factor * bend


@compiled(error_model="numpy")
def _best_constant(
    below: Floats, weight: Floats, positive: float, total: float, constant: float
) -> tuple[float, Floats]:
    """The constant with which probabilities add up to ``positive``, by Newton's steps from one.

    And the probabilities.
    """
    # At one end, no probability is above the base rate, at the other none below it.
    base = math.log(positive / (total - positive))
    low, high = base - 1e-3, base - float(below.min()) + 1e-3
    near = high < LARGEST_EXPONENT
    odds, p = np.empty(below.size if near else 0), np.empty(below.size)
    for i in range(odds.size):
        odds[i] = math.exp(below[i])
    for _ in range(STEPS):
        if near:  # no exponential, and vector instructions
            excess, slope = _sums(odds, math.exp(constant), weight, p)
        else:
            excess = slope = 0.0
            for i in range(below.size):
                p[i] = 1.0 / (1.0 + math.exp(-below[i] - constant))
                excess += weight[i] * p[i]
                slope += weight[i] * p[i] * (1.0 - p[i])
        excess -= positive
        # A step that rounding hides from the largest probabilities is the last one.
        if abs(excess) <= max(PRECISE * positive, EPSILON * abs(constant) * slope):
            break
        if excess > 0.0:
            high = constant
        else:
            low = constant
        constant -= excess / slope if slope > 0.0 else np.inf
        if not low < constant < high:
            constant = 0.5 * (low + high)
    return constant, p


@compiled(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _sums(odds: Floats, factor: float, weight: Floats, p: Floats) -> tuple[float, float]:
    """Write probabilities from odds times a factor; return their sum and that of p (1 - p)."""
    total = slope = 0.0
    for i in range(odds.size):
        scaled = odds[i] * factor
        p[i] = scaled / (1.0 + scaled)
        total += weight[i] * p[i]
        slope += weight[i] * p[i] * (1.0 - p[i])
    return total, slope
