"""Every pair of a ranked list, one by one: the sweep's reference, and faster on short lists."""

from __future__ import annotations

import math
from typing import Any

from lambdaplus.compiled import compiled


@compiled(error_model="numpy")
def visit_pairs(
    score: Any, code: Any, high: Any, low: Any, worth: Any, copies: Any, kernel: Any,
    gradient: Any, hessian: Any,
) -> float:  # fmt: skip
    """As `lambdaplus.objectives.sweep.sweep`, in O(n^2) and with exact pair functions."""
    n = score.size
    received = 0.0
    for p in range(n):
        for q in range(p + 1, n):
            if code[p] == code[q]:
                continue
            distance = score[p] - score[q]
            wrong = 1.0 / (1.0 + math.exp(kernel.sigma * distance))  # rho, for a concordant pair
            slope = wrong * (1.0 - wrong)
            if code[p] > code[q]:
                delta = abs(high[p] - high[q])
            else:
                delta = abs(low[p] - low[q])
                wrong = 1.0 - wrong
            delta *= kernel.sigma * abs(worth[code[p]] - worth[code[q]])
            if copies.size:
                delta *= copies[p] * copies[q]
            if kernel.damping > 0.0:
                delta /= kernel.damping + distance
            push = delta * wrong if code[p] > code[q] else -delta * wrong
            gradient[p] -= push
            gradient[q] += push
            hessian[p] += kernel.sigma * delta * slope
            hessian[q] += kernel.sigma * delta * slope
            received += 2.0 * abs(push)
    return received
