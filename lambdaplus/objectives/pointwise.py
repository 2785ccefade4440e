"""The pointwise part of a gradient: log-loss of the documents of each query, up to a constant.

It is the log-loss of the score plus the constant, for each query, that makes it lowest, so that
like a ranking it does not depend on where scores begin.  At this constant, the probabilities of a
query add up to its labels.  The label of a document is its gain, from 0 for the lowest of its query
to 1 for the highest, which for a binary metric is its relevance.

"Combined regression and ranking": Sculley 2010.
"""

import math

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import MetricArrays
from lambdaplus.ranking.sort import Entries

FARTHEST = 1e9  # scores below the highest one
MEANS = 1024  # of the scores of neighbours, of which the first constant of a long list is
PRECISE = 1e-13  # of the sum of probabilities
STEPS = 100
EPSILON = float(np.finfo(np.float64).eps)


def labels_from_gains(arrays: MetricArrays, most_classes: int) -> Floats:
    """Labels from 0 to 1 by stratum; 0 in queries of more classes, or without different gains."""
    start, classes = arrays.strata[:-1], np.diff(arrays.strata)
    lowest, highest = (f.reduceat(arrays.gain, start) for f in (np.minimum, np.maximum))
    spread = np.repeat(np.where(classes > most_classes, 0.0, highest - lowest), classes)
    above = arrays.gain - np.repeat(lowest, classes)
    label: Floats = np.divide(above, spread, out=np.zeros_like(above), where=spread > 0)
    return label


def log_loss(entries: Entries, strata: Ints, label: Floats, sigma: float) -> tuple[Floats, Floats]:
    """Gradient and Hessian of a document of each entry, (m, 2), and the sum of |gradient| by query.

    ``strata`` has the first stratum of each of these queries, and ``label`` that of each stratum.
    """
    values, size = np.zeros((entries.score.size, 2)), np.zeros(entries.edges.size - 1)
    _log_loss(*entries, strata, label, sigma, values, size)
    return values, size


@compiled(error_model="numpy")
def _log_loss(
    edges: Ints, score: Floats, code: Int32s, _: Ints, weight: Floats, strata: Ints, label: Floats,
    sigma: float, values: Floats, size: Floats,
) -> None:  # fmt: skip
    for q in range(edges.size - 1):
        begin, end, at = edges[q], edges[q + 1], strata[q]
        positive = total = 0.0
        for e in range(begin, end):
            positive += weight[e] * label[at + code[e]]
            total += weight[e]
        if not 0.0 < positive < total:
            continue
        # Below the highest, and not so far that the sum with a constant loses its digits.
        below = np.empty(end - begin)
        for e in range(begin, end):
            below[e - begin] = max(sigma * (score[e] - score[begin]), -FARTHEST)
        weights = weight[begin:end]
        constant = math.log(positive / (total - positive))
        step = below.size // MEANS
        if step > 1:
            means, mass = np.zeros(below.size // step), np.zeros(below.size // step)
            for i in range(below.size):
                k = min(i // step, means.size - 1)
                means[k] += weights[i] * below[i]
                mass[k] += weights[i]
            for k in range(means.size):
                means[k] /= max(mass[k], 1e-300)
            constant = _best_constant(means, mass, positive, total, constant)
        constant = _best_constant(below, weights, positive, total, constant)
        for e in range(begin, end):
            p = 1.0 / (1.0 + math.exp(-below[e - begin] - constant))
            values[e, 0] = sigma * (p - label[at + code[e]])
            values[e, 1] = sigma * sigma * p * (1.0 - p)
            size[q] += weight[e] * abs(values[e, 0])


@compiled(error_model="numpy")
def _best_constant(
    below: Floats, weight: Floats, positive: float, total: float, constant: float
) -> float:
    """The constant with which probabilities add up to ``positive``, by Newton's steps from one."""
    # At one end, no probability is above the base rate, at the other none below it.
    base = math.log(positive / (total - positive))
    low, high = base - 1e-3, base - float(below.min()) + 1e-3
    for _ in range(STEPS):
        excess, slope = -positive, 0.0
        for i in range(below.size):
            p = 1.0 / (1.0 + math.exp(-below[i] - constant))
            excess += weight[i] * p
            slope += weight[i] * p * (1.0 - p)
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
    return constant
