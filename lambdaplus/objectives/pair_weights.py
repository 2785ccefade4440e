"""Gradients of pairs of clicked and unclicked documents with a separate weight for each pair.

The sweep does not support arbitrary pair weights; click lists are short, so every pair is visited.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from lambdaplus.compiled import compiled
from lambdaplus.metrics.arrays import classes_of
from lambdaplus.metrics.potentials import OWN_AND_ABOVE, Potentials, potentials
from lambdaplus.queries import Floats


class Ratios(NamedTuple):
    """Values by position of the clicked and of the unclicked document, (n_positions,) each."""

    clicked: Floats
    unclicked: Floats


@compiled
def weighted_pairs(
    ranked: Any, position: Any, ratios: Any, kernel: Any, room: Any, received: Any, out: Any
) -> Ratios:
    """Add up all pairs of a clicked and an unclicked document, query by query.

    Parameters
    ----------
    ranked : Ranked
        Class 1 is a click if a query has both classes.
    position : (n,) int64
        Position of each row.
    ratios : Ratios
        The propensity ratios t+ and t-: a pair is divided by both.
    kernel : PairKernel
    room : Potentials
        Working memory for the longest query.
    received : (n_queries,) float64
        S of each query is added to it.
    out : Derivatives
        Sums by row, in units of Z, are added to it.

    Returns
    -------
    Ratios
        Sums over pairs of their loss divided by the other document's ratio.
    """
    losses = Ratios(ratios.clicked * 0.0, ratios.unclicked * 0.0)
    for q in range(ranked.boundaries.size - 1):
        start, stop = ranked.boundaries[q], ranked.boundaries[q + 1]
        if ranked.metric.first[q + 1] - ranked.metric.first[q] != 2:
            continue
        row, score = ranked.row[start:stop], ranked.score[start:stop]
        relevance, n = ranked.relevance[start:stop], stop - start
        both, classes = Potentials(room.U[:n], room.V[:n]), classes_of(ranked.metric, q)
        discount = ranked.discount[:n]
        potentials(relevance, discount, ranked.copies, classes, (1, 0), OWN_AND_ABOVE, both)
        _average_ties(score, relevance, both)
        apart = score[0] != score[-1]
        for p in range(n):
            for r in range(n):
                if relevance[p] != 1 or relevance[r] == 1:
                    continue
                i, j, distance = row[p], row[r], score[p] - score[r]
                delta = abs(both.U[p] - both.U[r] if p < r else both.V[r] - both.V[p])
                margin = kernel.sigma * distance
                loss = delta * ranked.metric.scale[q] * _log_loss(margin)
                if kernel.damping > 0.0 and apart:
                    delta /= kernel.damping + abs(distance)
                wrong = 1.0 / (1.0 + math.exp(margin))
                clicked, unclicked = ratios.clicked[position[i]], ratios.unclicked[position[j]]
                push = kernel.sigma * delta * wrong / (clicked * unclicked)
                curve = kernel.sigma * push * (1.0 - wrong)
                out.gradient[i] -= push
                out.gradient[j] += push
                out.hessian[i] += curve
                out.hessian[j] += curve
                received[q] += 2.0 * push
                losses.clicked[position[i]] += loss / unclicked
                losses.unclicked[position[j]] += loss / clicked
    return losses


@compiled
def _average_ties(score: Any, relevance: Any, both: Any) -> None:
    """Replace the potentials of documents with the same score and class by their mean."""
    first = 0
    for end in range(1, score.size + 1):
        if end < score.size and score[end] == score[first] and relevance[end] == relevance[first]:
            continue
        both.U[first:end] = both.U[first:end].mean()
        both.V[first:end] = both.V[first:end].mean()
        first = end


@compiled
def _log_loss(margin: float) -> float:
    return max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))
