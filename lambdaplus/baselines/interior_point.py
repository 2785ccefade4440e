"""A primal-dual interior point method for |w|^2 / 2 plus weighted maxima of planes.

With planes p of blocks b, the problem and its dual are

    min over w, xi   1/2 |w|^2 + sum of weight_b xi_b
                     with slack_p = xi_b - offset_p - slope_p . w >= 0
    max over z >= 0  z . offset - 1/2 |w|^2
                     with w = -z slope and the sum of z over a block = weight_b.

Eliminating slacks, maxima and duals leaves one positive definite system in w for a Newton step.

Mehrotra 1992 (predictor and corrector); Joachims, Finley & Yu 2009 (the problem).
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, blas, cho_factor, cho_solve, lapack

from lambdaplus.compute.array_types import Floats, Ints

MAX_STEPS = 60
STEP_SHARE = 0.995  # of the largest step to the boundary


def minimise(edges: Ints, slope: Floats, offset: Floats, weight: Floats, gap: float) -> Floats:
    """Dual variables of planes, (m,), that sum to 1 in each block: z / weight.

    ``edges``, (n_blocks + 1,), has the first plane of each block, none of which is empty, and the
    number of planes.  If the absolute gap cannot be reached because of rounding, the best point is
    returned.
    """
    start, sizes = edges[:-1], np.diff(edges)
    slope = _fewest_columns(slope)

    def spread(per_block: Floats) -> Floats:
        return np.repeat(per_block, sizes)

    # A start inside: equal dual variables in each block, their w, and tops above all planes, so
    # that z and slack are positive and z sums to the weights.
    z = spread(weight / sizes)
    w = -(z @ slope)
    height = slope @ w + offset
    top = np.maximum.reduceat(height, start)
    slack = spread(top + np.maximum(0.01, top - np.minimum.reduceat(height, start))) - height
    best: Floats = z
    least = np.inf
    for _ in range(MAX_STEPS):
        height = slope @ w + offset
        primal = w @ w / 2 + weight @ np.maximum.reduceat(height, start)
        # The w of this z. Steps of w and z are equally long, so it differs from w by rounding only.
        dual_w = -(z @ slope)
        now = float(primal - (z @ offset - dual_w @ dual_w / 2))
        if now < least:
            best, least = z, now
        if not now > gap:
            break
        # A Newton step for slack z = target: slack d_z + z d_slack = target - slack z - d_slack
        # d_z.
        curvature = z / slack
        try:
            solve = _newton(slope, curvature, w - dual_w, start, spread)
        except (LinAlgError, ValueError):  # no further progress because of rounding
            break
        mean = slack @ z / z.size
        # The predictor aims at target 0. The less it gets there, the larger the target of the
        # corrector, which also has the predictor's product d_slack d_z.
        _, d_slack, d_z = solve(-z)
        length = min(_largest_step(slack, d_slack), _largest_step(z, d_z))
        predicted = (slack + length * d_slack) @ (z + length * d_z) / z.size
        target = (predicted / mean) ** 3 * mean
        d_w, d_slack, d_z = solve((target - d_slack * d_z) / slack - z)
        length = STEP_SHARE * min(_largest_step(slack, d_slack), _largest_step(z, d_z))
        w, slack, z = w + length * d_w, slack + length * d_slack, z + length * d_z
    # The sums of the blocks are the weights, up to rounding.
    return best / spread(np.add.reduceat(best, start))


def _fewest_columns(slope: Floats) -> Floats:
    """The planes in coordinates of their span, since only inner products are used."""
    m, d = slope.shape
    if d <= m:
        return slope
    # A Cholesky factor of the inner products has the same inner products, in m columns. The ridge
    # makes the matrix positive definite if planes are linearly dependent.
    products = slope @ slope.T
    products[np.diag_indices(m)] += 1e-12 * np.trace(products) / m + 1e-300
    factor, failed = lapack.dpotrf(products, lower=1)
    return slope if failed else np.ascontiguousarray(np.tril(factor))


def _newton(
    slope: Floats, curvature: Floats, residual: Floats, start: Ints,
    spread: Callable[[Floats], Floats],
) -> Callable[[Floats], tuple[Floats, Floats, Floats]]:  # fmt: skip
    """Factor the system of a step; return a function that solves it for complementarity terms c.

    d_z = c - curvature * d_slack with sum 0 in each block, and d_w + slope' d_z = -residual.
    """
    # Eliminated: d_slack = d_top - slope d_w and d_z = c - curvature d_slack, with the d_top of
    # each block for which d_z sums to 0. What is left is (1 + sum over planes of curvature slope
    # slope' - sum over blocks of block_sum block_sum' / block_total) d_w = ...: 1 plus covariances
    # of slopes, and so positive definite.
    weighted = curvature[:, None] * slope
    block_sum = np.add.reduceat(weighted, start)
    block_total = np.add.reduceat(curvature, start)
    hessian = blas.dsyrk(1.0, (np.sqrt(curvature)[:, None] * slope).T)
    hessian = blas.dsyrk(
        -1.0, (block_sum / np.sqrt(block_total)[:, None]).T, beta=1.0, c=hessian, overwrite_c=1
    )
    hessian[np.diag_indices(slope.shape[1])] += 1.0
    factor = cho_factor(hessian, overwrite_a=True)

    def solve(c: Floats) -> tuple[Floats, Floats, Floats]:
        summed = np.add.reduceat(c, start)
        d_w = cho_solve(factor, (summed / block_total) @ block_sum - c @ slope - residual)
        d_top = (summed + block_sum @ d_w) / block_total
        d_slack = spread(d_top) - slope @ d_w
        return d_w, d_slack, c - curvature * d_slack

    return solve


def _largest_step(value: Floats, change: Floats) -> float:
    """Largest step, at most 1, after which the value is not negative."""
    falls = change < 0
    return min(1.0, float(np.min(-value[falls] / change[falls], initial=1.0)))
