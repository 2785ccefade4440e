"""Log-loss of rows, to whose scores one constant is added."""

import math
from typing import Any

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.compiled import compiled


@compiled(error_model="numpy")
def add_log_loss(
    scores: Any, labels: Floats, weights: Floats, threshold: float, sigma: float, constant: float,
    times: float, gradient: Floats, hessian: Floats,
) -> None:  # fmt: skip
    """Add gradient and Hessian of each row, times its weight if there are weights, and ``times``.

    Rows are positive whose label is at least the threshold.  Derivatives are divided by sigma, so
    that they have the size of pairs with any sigma.
    """
    for i in range(labels.size):
        x = sigma * scores[i] + constant
        small = math.exp(-abs(x))  # does not overflow
        p = (1.0 if x >= 0.0 else small) / (1.0 + small)
        weight = times * weights[i] if weights.size else times
        gradient[i] += weight * (p - (1.0 if labels[i] >= threshold else 0.0))
        hessian[i] += weight * sigma * small / ((1.0 + small) * (1.0 + small))
