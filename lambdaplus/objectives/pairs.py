"""Sum over every pair of a ranked list: the reference for the sweep, and faster on short lists."""

from __future__ import annotations

import math
from typing import Any

from lambdaplus.compute.compiled import compiled


@compiled(error_model="numpy")
def visit_pairs(
    which: Any, start: Any, stop: Any, score: Any, relevance: Any, U: Any, V: Any, weight: Any,
    gain: Any, gain_at: Any, sigma: float, damping: float, gradient: Any,
    hessian: Any, received: Any,
) -> None:  # fmt: skip
    """Like the kernels of `lambdaplus.objectives.sweep`, in O(n^2), with exact pair functions."""
    for k in range(which.size):
        at, met = gain_at[which[k]], 0.0
        for p in range(start[which[k]], stop[which[k]]):
            for q in range(p + 1, stop[which[k]]):
                a, b = relevance[p], relevance[q]
                if a == b:
                    continue
                distance = score[p] - score[q]
                wrong = 1.0 / (1.0 + math.exp(sigma * distance))  # rho, for a concordant pair
                slope = wrong * (1.0 - wrong)
                if a > b:
                    delta = abs(U[p] - U[q])
                else:
                    delta = abs(V[p] - V[q])
                    wrong = 1.0 - wrong
                delta *= sigma * abs(gain[at + a] - gain[at + b]) * weight[p] * weight[q]
                if damping > 0.0:
                    delta /= damping + distance
                push = delta * wrong if a > b else -delta * wrong
                gradient[p] -= push
                gradient[q] += push
                hessian[p] += sigma * delta * slope
                hessian[q] += sigma * delta * slope
                met += 2.0 * abs(push)
        received[which[k]] += met
