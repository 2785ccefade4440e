"""A cutting plane solver for structural SVMs, with one working set per hinge and a certificate.

    min over w   P(w) = 1/2 |w|^2 + sum over blocks of weight_b * hinge_b(w)

Every pass evaluates all hinges at the minimiser w of the problem with planes, which gives the exact
P(w) and a new plane for each hinge; the minimum of the problem with planes is a lower bound of P.
The difference is the certificate.

References
----------
Tsochantaridis et al. 2005 (n-slack cutting planes); Joachims, Finley & Yu 2009.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from lambdaplus.baselines.hinges import Hinges
from lambdaplus.baselines.interior_point import minimise
from lambdaplus.baselines.planes import Planes
from lambdaplus.data.queries import Floats

INNER = 0.1  # tolerance of the problem with planes, as a share of the gap


class Pass(NamedTuple):
    """The progress of one pass over the data.

    Attributes
    ----------
    primal : float
        Objective at the w of this pass.
    dual : float
        Best lower bound before the pass.
    slack : float
        Mean over the queries of their hinges (summed over losses if slacks are separate).
    norm : float
        Norm of w.
    seconds : float
        Time since the start of the fit.
    oracle_seconds : float
        Part of it spent on hinges: scores, the most violated ranking of every query, and planes.
    """

    primal: float
    dual: float
    slack: float
    norm: float
    seconds: float
    oracle_seconds: float


class Solution(NamedTuple):
    """The best w found, (d,), and its certificate."""

    w: Floats
    primal: float
    dual: float
    slack: float
    history: list[Pass]

    @property
    def relative_gap(self) -> float:
        return (self.primal - self.dual) / self.primal


def solve(
    hinges: Hinges, planes: Planes, weight: Floats, n_queries: int, tol: float, max_passes: int
) -> Solution:
    """Minimise P to a relative duality gap of ``tol``.

    Parameters
    ----------
    hinges : Hinges
    planes : Planes
        Planes collected so far; new ones are added.  Planes do not depend on the weights, so those
        of one C are a warm start for the next.
    weight : (n_blocks,) float64
        Positive.
    n_queries : int
        Number of queries over which slacks are averaged.
    tol : float
    max_passes : int
    """
    begin = time.perf_counter()
    in_oracle = 0.0
    w = np.zeros(hinges.X.shape[1])
    best, primal, dual, mean_slack = w, np.inf, 0.0, np.inf
    history: list[Pass] = []
    warm = planes.offset.size > hinges.n_blocks
    # BLAS uses one thread, since the systems are small and results depend on its threads.
    with ThreadpoolController().limit(limits=1, user_api="blas"):
        while True:
            called = time.perf_counter()
            cut = hinges.at(w)
            in_oracle += time.perf_counter() - called
            value = float(w @ w / 2 + weight @ cut.hinge)
            slack = float(cut.hinge.sum()) / n_queries
            if value < primal:
                best, primal, mean_slack = w, value, slack
            seconds = time.perf_counter() - begin
            norm = float(np.linalg.norm(w))
            history.append(Pass(value, dual, slack, norm, seconds, in_oracle))
            if primal - dual <= tol * primal or len(history) == max_passes:
                return Solution(best, primal, dual, mean_slack, history)
            planes.evict()
            planes.add(cut.block, cut.slope, cut.offset)
            # With planes from another C, a precise minimum is computed immediately.
            gap = tol * primal if warm and len(history) == 1 else primal - dual
            w, found = _inner(planes, weight, INNER * gap)
            dual = max(dual, found)


def _inner(planes: Planes, weight: Floats, gap: float) -> tuple[Floats, float]:
    """Minimise over the planes: w and the value of the dual."""
    planes.alpha = minimise(planes.first, planes.slope, planes.offset, weight, gap)
    mass = weight[planes.block] * planes.alpha
    w = -(mass @ planes.slope)
    return w, float(mass @ planes.offset - w @ w / 2)
