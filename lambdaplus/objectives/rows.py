"""Gradient and Hessian by row, from the sums by rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaplus.compiled import borrowed, compiled
from lambdaplus.objectives.sweep import Derivatives


def derivatives_of(n: int) -> Derivatives:
    """Memory for the gradient and Hessian of n rows, by row.

    Both values of a row are adjacent: rows are written in ranked order, and in a long list nearly
    each of them needs another line of the cache.
    """
    by_row = np.empty((n, 2))
    return Derivatives(by_row[:, 0], by_row[:, 1])


@compiled
def write_by_row(ranked: Any, q: int, own: Any, first: int, stop: int, out: Any) -> float:
    """Write the sums of query q by row, those of the elements first .. stop - 1 of ``ranked``.

    Documents with the same score and class share equally, as their order in the ranking is
    arbitrary; shares are proportional to multiplicities.  All documents that share are written with
    the first of them.

    Returns
    -------
    float
        The sum of absolute gradients.
    """
    ranked, own, out = borrowed(ranked), borrowed(own), borrowed(out)
    start, n = ranked.boundaries[q], own.gradient.size
    first, stop = first - start, stop - start  # ranks
    score, relevance = ranked.score[start : start + n], ranked.relevance[start : start + n]
    copies, row = ranked.copies[start : start + n], ranked.row[start : start + n]
    own_gradient, own_hessian = own.gradient, own.hessian
    gradient, hessian, absolute = out.gradient, out.hessian, 0.0
    while 0 < first < stop and _tied(score, relevance, first):
        first += 1
    while first < stop:
        last = first + 1
        while last < n and _tied(score, relevance, last):
            last += 1
        if last - first > 1:
            total = copies[first:last].sum() if copies.size else float(last - first)
            slope, bend = own_gradient[first:last].sum(), own_hessian[first:last].sum()
            for r in range(first, last):
                times = copies[r] if copies.size else 1.0
                share = times / total if total > 0.0 else 0.0
                own_gradient[r], own_hessian[r] = slope * share, bend * share
        for r in range(first, last):
            absolute += abs(own_gradient[r])
            gradient[row[r]] = own_gradient[r]
            hessian[row[r]] = own_hessian[r]
        first = last
    return absolute


@compiled
def _tied(score: Any, relevance: Any, r: int) -> bool:
    """Whether the document at rank r has the same score and class as the one before."""
    return bool(score[r] == score[r - 1] and relevance[r] == relevance[r - 1])
