"""Sums over pairs for RankBoost, computed from sums over documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaplus.compute.compiled import compiled


@compiled
def potentials(
    first: int, last: int, boundaries: Any, code: Any, n_classes: Any, rate: Any, scores: Any,
    potential: Any, mass: Any,
) -> None:  # fmt: skip
    """The contribution of each document to r, and the total weight of the pairs of each query.

    The weight of a pair of a lower document j and a higher document i is rate exp(H_j - H_i), a
    product, so the sum over the partners of a document is a sum over the classes below or above it.
    """
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        middle = (scores[start:stop].min() + scores[start:stop].max()) / 2  # against overflow
        wrong, right = np.zeros(n_classes[q]), np.zeros(n_classes[q])
        for i in range(start, stop):
            wrong[code[i]] += np.exp(scores[i] - middle)
            right[code[i]] += np.exp(middle - scores[i])
        lower, higher = np.zeros(n_classes[q]), np.zeros(n_classes[q])
        for c in range(1, n_classes[q]):
            lower[c] = lower[c - 1] + wrong[c - 1]
            higher[-1 - c] = higher[-c] + right[-c]
        mass[q] = 0.0
        for i in range(start, stop):
            above = rate[i] * np.exp(middle - scores[i]) * lower[code[i]]
            potential[i] = above - rate[i] * np.exp(scores[i] - middle) * higher[code[i]]
            mass[q] += above


@compiled
def best_threshold(bins: Any, n_thresholds: Any, potential: Any) -> tuple[int, int, float]:
    """The feature and threshold with the largest absolute sum r of the documents above it."""
    n, d = bins.shape
    sums = np.zeros((d, n_thresholds.max() + 1))
    for i in range(n):
        for f in range(d):
            sums[f, bins[i, f]] += potential[i]
    feature, threshold, best = 0, 0, 0.0
    for f in range(d):
        r = 0.0
        for t in range(n_thresholds[f] - 1, -1, -1):
            r += sums[f, t + 1]
            if abs(r) > abs(best):
                feature, threshold, best = f, t, r
    return feature, threshold, best
