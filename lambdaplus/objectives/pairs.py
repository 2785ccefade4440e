"""Sum over every pair of a ranked list: the reference for the sweep, and faster on short lists."""

from __future__ import annotations

import math
from typing import Any

from lambdaplus.compiled import compiled


@compiled(error_model="numpy")
def visit_pairs(ranked: Any, kernel: Any, out: Any) -> float:
    """Like `lambdaplus.objectives.sweep.sweep`, in O(n^2) and with exact pair functions."""
    score, relevance, U, V = ranked.score, ranked.relevance, ranked.U, ranked.V
    gain, copies, weighted = ranked.gain, ranked.copies, ranked.copies.size > 0
    gradient, hessian = out.gradient, out.hessian
    sigma, damping = kernel.sigma, kernel.damping
    received = 0.0
    for p in range(score.size):
        for q in range(p + 1, score.size):
            if relevance[p] == relevance[q]:
                continue
            distance = score[p] - score[q]
            wrong = 1.0 / (1.0 + math.exp(sigma * distance))  # rho, for a concordant pair
            slope = wrong * (1.0 - wrong)
            if relevance[p] > relevance[q]:
                delta = abs(U[p] - U[q])
            else:
                delta = abs(V[p] - V[q])
                wrong = 1.0 - wrong
            delta *= sigma * abs(gain[relevance[p]] - gain[relevance[q]])
            if weighted:
                delta *= copies[p] * copies[q]
            if damping > 0.0:
                delta /= damping + distance
            push = delta * wrong if relevance[p] > relevance[q] else -delta * wrong
            gradient[p] -= push
            gradient[q] += push
            hessian[p] += sigma * delta * slope
            hessian[q] += sigma * delta * slope
            received += 2.0 * abs(push)
    return received
