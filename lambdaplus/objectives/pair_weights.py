"""Gradients of clicked against unclicked documents, each pair with a weight of its own.

A sweep can't weigh pairs; click lists are short, so every pair is visited.
"""

from __future__ import annotations

import math
from typing import Any

from lambdaplus.compiled import compiled
from lambdaplus.metrics.potentials import potentials
from lambdaplus.objectives.lambdas import query_scale


@compiled
def weighted_pairs(
    boundaries: Any, order: Any, code: Any, score: Any, place: Any, terms: Any, sigma: float,
    damping: float, normalize: bool, clicked: Any, unclicked: Any, high: Any, low: Any,
    gradient: Any, hessian: Any, clicked_loss: Any, unclicked_loss: Any,
) -> None:  # fmt: skip
    """Add up all pairs of a clicked and an unclicked document, query by query.

    Parameters
    ----------
    boundaries : (n_queries + 1,) int64
    order : (n,) int64
        Rows of each query by score, best first.
    code, score, place : (n,)
        Class, score and position of each row.  Class 1 is a click where a query has both.
    terms : Terms
    clicked, unclicked : (n_positions,) float64
        The propensity ratios t+ and t-: a pair is divided by both.
    high, low : (longest query,) float64
        Working space.
    gradient, hessian : (n,) float64
    clicked_loss, unclicked_loss : (n_positions,) float64
        Sums over pairs of their loss divided by the other document's ratio.
    """
    for q in range(boundaries.size - 1):
        start, n = boundaries[q], boundaries[q + 1] - boundaries[q]
        if terms.first[q + 1] - terms.first[q] != 2:
            continue
        rows = order[start : start + n]
        ranked = code[rows]
        up, down = high[:n], low[:n]
        potentials(ranked, terms.discount, terms, q, 1, 0, 1.0, clicked[:0], up, down)
        _average_ties(score, rows, ranked, up, down)
        apart = score[rows[0]] != score[rows[-1]]
        received = 0.0
        for p in range(n):
            if ranked[p] != 1:
                continue
            i = rows[p]
            for r in range(n):
                if ranked[r] == 1:
                    continue
                j = rows[r]
                distance = score[i] - score[j]
                delta = up[p] - up[r] if p < r else down[r] - down[p]
                delta = abs(delta) * terms.scale[q]
                loss = delta * _log_loss(sigma * distance)
                if damping > 0.0 and apart:
                    delta /= damping + abs(distance)
                wrong = 1.0 / (1.0 + math.exp(sigma * distance))
                weight = 1.0 / (clicked[place[i]] * unclicked[place[j]])
                push = sigma * delta * wrong * weight
                curve = sigma * push * (1.0 - wrong)
                gradient[i] -= push
                gradient[j] += push
                hessian[i] += curve
                hessian[j] += curve
                received += 2.0 * push
                clicked_loss[place[i]] += loss / unclicked[place[j]]
                unclicked_loss[place[j]] += loss / clicked[place[i]]
        if normalize and received > 0.0:
            factor = query_scale(received)
            for p in range(n):
                gradient[rows[p]] *= factor
                hessian[rows[p]] *= factor


@compiled
def _average_ties(score: Any, rows: Any, ranked: Any, up: Any, down: Any) -> None:
    """Give documents of one score and class the mean of their ranks' potentials."""
    first = 0
    for end in range(1, rows.size + 1):
        one, other = rows[first], rows[min(end, rows.size - 1)]
        alike = score[one] == score[other] and ranked[first] == ranked[min(end, rows.size - 1)]
        if end < rows.size and alike:
            continue
        up[first:end] = up[first:end].mean()
        down[first:end] = down[first:end].mean()
        first = end


@compiled
def _log_loss(margin: float) -> float:
    return max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))
