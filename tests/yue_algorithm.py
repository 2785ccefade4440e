"""Yue's Algorithm 1 as printed, the reference for the solver of structural SVMs.

One constraint at a time, and after each the quadratic problem over the working sets is solved again
(here by SciPy's SLSQP on the primal).  Slow, and independent of the package's solver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]
Separate = Callable[[int, Floats], tuple[float, Floats]]


def cutting_planes(
    separate: Separate, n_queries: int, n_features: int, C: float, epsilon: float
) -> tuple[Floats, Floats, int]:
    """w, the slacks of its working sets, and how many constraints were added.

    Parameters
    ----------
    separate : callable
        Of query and w: loss and slope, Psi(y) - Psi(right), of the most violated ranking.
    """
    sets: list[list[tuple[float, Floats]]] = [[] for _ in range(n_queries)]
    w, added, changed = np.zeros(n_features), 0, True
    while changed:
        changed = False
        for q in range(n_queries):
            loss, slope = separate(q, w)
            slack = max([0.0, *(b + a @ w for b, a in sets[q])])
            if loss + slope @ w > slack + epsilon:
                sets[q].append((loss, slope))
                w = optimise(sets, n_features, C)
                added += 1
                changed = True
    slacks = np.array([max([0.0, *(b + a @ w for b, a in mine)]) for mine in sets])
    return w, slacks, added


def optimise(sets: list[list[tuple[float, Floats]]], n_features: int, C: float) -> Floats:
    """Optimization problem 1 over the working sets."""
    n = len(sets)
    rows = [(q, b, a) for q, mine in enumerate(sets) for b, a in mine]
    A = np.zeros((len(rows), n_features + n))
    for i, (q, _, a) in enumerate(rows):
        A[i, :n_features] = -a
        A[i, n_features + q] = 1.0
    b = np.array([loss for _, loss, _ in rows])
    price = np.concatenate([np.zeros(n_features), np.full(n, C / n)])

    def objective(x: Floats) -> tuple[float, Floats]:
        w = np.where(np.arange(x.size) < n_features, x, 0.0)
        return float(w @ w / 2 + price @ x), w + price

    start = np.concatenate([np.zeros(n_features), [max([0, *(b for b, _ in s)]) for s in sets]])
    constraint: dict[str, Any] = {"type": "ineq", "fun": lambda x: A @ x - b, "jac": lambda x: A}
    bounds = [(None, None)] * n_features + [(0.0, None)] * n
    found = minimize(
        objective, start, jac=True, bounds=bounds, constraints=constraint, method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    assert found.success, found.message
    return np.asarray(found.x[:n_features])
