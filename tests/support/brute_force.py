"""Swap deltas and lambda-gradients pair by pair, in plain Python: the oracle of gradients.

A swap delta is the metric of `textbook_metrics` before and after.
"""

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from textbook_metrics import Labels, comparable, order_of, textbook, value

from lambdaplus.metrics import RankingMetric

Floats = NDArray[np.float64]


def swap_deltas(
    metric: RankingMetric, ranked: Labels, data: Labels | None = None, neighbours: bool = False
) -> Floats:
    """What the metric changes by when the documents at places p and q change places, (n, n).

    As neighbours, the document at place q is first moved to the place below p.
    """
    measure, data = textbook(metric), ranked if data is None else data
    deltas = np.zeros((len(ranked), len(ranked)))
    before = measure(ranked, data)
    for p, q in itertools.combinations(range(len(ranked)), 2):
        if ranked[p] != ranked[q]:
            places, other = list(ranked), q
            if neighbours:
                places.insert(p + 1, places.pop(q))
                before, other = measure(places, data), p + 1
            places[p], places[other] = places[other], places[p]
            deltas[p, q] = deltas[q, p] = measure(places, data) - before
    return deltas


def pair_weights(
    metric: RankingMetric, ranked: Labels, data: Labels | None = None, pairs: str = "swap"
) -> Floats:
    """What the pairs weigh in training, up to their signs, (n, n)."""
    if metric.declaration.name == "cindex":
        weights = np.zeros((len(ranked), len(ranked)))
        pairs = list(comparable(ranked))
        for i, j in pairs:
            weights[i, j] = weights[j, i] = 1 / len(pairs)
        return weights
    return swap_deltas(metric, ranked, data, neighbours=pairs == "equal")


def classes(metric: RankingMetric, labels: Labels) -> list[float]:
    """Labels as the metric sees them: relevant or not, if it knows no grades."""
    if metric.declaration.name == "cindex":  # by time, events first
        times = [abs(label) + 0.25 * (label < 0) for label in labels]
        return [-time for time in times] if metric["higher"] == "risk" else times
    if not metric.declaration.binary:
        return [float(label) for label in labels]
    return [float(label >= metric["relevant"]) for label in labels]


def ideal_scores(metric: RankingMetric, labels: Labels) -> list[float]:
    """Scores of the best order: the labels, except for a risk."""
    return classes(metric, labels) if metric.declaration.name == "cindex" else list(labels)


def lambda_gradients(
    metric: RankingMetric,
    labels: Labels,
    scores: Labels,
    *,
    sigma: float = 1.0,
    data: Labels | None = None,
    pairs: str = "swap",
) -> tuple[Floats, Floats, float]:
    """Gradient and Hessian of one query, pair by pair, and S, the sum of 2 |lambda| over pairs."""
    labels, scores = [float(y) for y in labels], [float(s) for s in scores]
    seen = classes(metric, labels)
    order = order_of(seen, scores)
    ranked = [labels[i] for i in order]
    size = np.zeros((len(labels), len(labels)))
    if not math.isnan(value(metric, ranked, data)):
        place = np.argsort(order)
        size = np.abs(pair_weights(metric, ranked, data, pairs)[np.ix_(place, place)])
        size[size < 1e-13] = 0.0  # a rounded zero: on short lists no true change is as small
    gradient, hessian, total = pair_sums(size * np.greater.outer(seen, seen), scores, sigma)
    kinds = list(zip(scores, seen, strict=True))
    for kind in kinds:
        tied = [j for j, pair in enumerate(kinds) if pair == kind]
        gradient[tied] = gradient[tied].mean()
        hessian[tied] = hessian[tied].mean()
    return gradient, hessian, total


def pair_sums(size: Floats, scores: Labels, sigma: float = 1.0) -> tuple[Floats, Floats, float]:
    """Gradient, Hessian and the sum of 2 |lambda| of pairs with these weights.

    ``size[i, j]`` is that of the pair of which document i is the better one.
    """
    distance = sigma * np.subtract.outer(scores, scores)
    rho, rest = (1 / (1 + np.exp(np.minimum(sign * distance, 700))) for sign in (1, -1))
    pushes, bends = sigma * size * rho, sigma**2 * size * rho * rest
    return pushes.sum(0) - pushes.sum(1), bends.sum(0) + bends.sum(1), 2 * float(pushes.sum())
