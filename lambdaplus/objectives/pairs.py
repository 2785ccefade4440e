"""Every pair of a ranked list, one by one: the sweep's reference, and faster on short lists."""

from __future__ import annotations

import math
from typing import Any

from lambdaplus.compiled import compiled


@compiled(error_model="numpy")
def visit_pairs(ranked: Any, kernel: Any, out: Any) -> float:
    """As `lambdaplus.objectives.sweep.sweep`, in O(n^2) and with exact pair functions."""
    score, relevance = ranked.score, ranked.relevance
    received = 0.0
    for p in range(score.size):
        for q in range(p + 1, score.size):
            if relevance[p] == relevance[q]:
                continue
            distance = score[p] - score[q]
            wrong = 1.0 / (1.0 + math.exp(kernel.sigma * distance))  # rho, for a concordant pair
            slope = wrong * (1.0 - wrong)
            if relevance[p] > relevance[q]:
                delta = abs(ranked.U[p] - ranked.U[q])
            else:
                delta = abs(ranked.V[p] - ranked.V[q])
                wrong = 1.0 - wrong
            delta *= kernel.sigma * abs(ranked.gain[relevance[p]] - ranked.gain[relevance[q]])
            if ranked.copies.size:
                delta *= ranked.copies[p] * ranked.copies[q]
            if kernel.damping > 0.0:
                delta /= kernel.damping + distance
            push = delta * wrong if relevance[p] > relevance[q] else -delta * wrong
            out.gradient[p] -= push
            out.gradient[q] += push
            out.hessian[p] += kernel.sigma * delta * slope
            out.hessian[q] += kernel.sigma * delta * slope
            received += 2.0 * abs(push)
    return received
