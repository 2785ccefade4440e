"""DORM with correct rankings by score, which depend on w: the concave-convex procedure.

Where several rankings are correct, the hinge of a query is

    max over y of [loss(y) + w . Psi(y)] - max over correct y of w . Psi(y),

convex less convex.  Each round replaces the second maximum by the correct ranking that attains it
at the current w, which bounds the hinge from above, and minimises this convex problem; so the
objective falls from round to round.  It may have local minima; where it ends depends on the start,
the mean of Psi over correct rankings less its mean over all: with two classes and queries of the
same size, the difference of the means of the classes.

Yuille & Rangarajan 2003.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from lambdaplus.baselines import StructuralSVM
from lambdaplus.baselines.cutting_planes import Hinges, Pass, Solution, solve
from lambdaplus.baselines.oracles.dorm import DORMOracle
from lambdaplus.compute.array_types import Floats


@dataclass(eq=False, repr=False)
class SortedDORM(StructuralSVM):
    """`StructuralSVM` with the map "dorm", whose correct rankings sort equal labels by score.

    ``coef_`` is of the best round, and ``primal_``, ``dual_``, ``slack_`` and w = 0 in warnings are
    of its convex problem.
    """

    loss: str = "ndcg"
    feature_map: str = "dorm"

    @property
    def _stops_by_gap(self) -> bool:
        return False

    def _solve(self, hinges: Hinges) -> Solution:
        return solve_by_rounds(
            hinges, self._weights(hinges), self.tol, self.max_passes, self.epsilon
        )


def solve_by_rounds(
    hinges: Hinges, weight: Floats, tol: float, max_passes: int, epsilon: float | None = None
) -> Solution:
    """Stop after the first round that lowers the objective by less than a share of ``tol``.

    Each round is solved by `solve`, whose errors may raise the objective; the best round is
    returned.  The solution's primal, dual and slack are those of its convex problem, and its
    history has the passes of all rounds.
    """
    w = hinges.X.T @ start(_oracle(hinges))
    value, history = np.inf, list[Pass]()
    lowest, best = np.inf, None
    while True:
        # A correct ranking that is fixed bounds the second maximum from below, and so the hinge
        # from above; at this w both are equal.
        convex = with_correct_rankings_of(w, hinges)
        solution = solve(convex, weight, tol, max_passes - len(history), epsilon)
        w, last = solution.w, value
        before = history[-1] if history else Pass(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        history += [
            step._replace(
                seconds=before.seconds + step.seconds,
                oracle_seconds=before.oracle_seconds + step.oracle_seconds,
            )
            for step in solution.history
        ]
        # The objective itself at the new w: at most that of the convex problem, which at the old w
        # was the last value. It falls, then, up to the tolerance of `solve`.
        value = float(w @ w / 2 + weight @ with_correct_rankings_of(w, hinges).at(w).hinge)
        if best is None or value < lowest:
            lowest, best = value, solution
        if value >= (1 - tol) * last or len(history) >= max_passes:
            return best._replace(history=history)


def _oracle(hinges: Hinges) -> DORMOracle:
    """That of its only loss."""
    [loss] = hinges.losses
    assert isinstance(loss.oracle, DORMOracle)
    return loss.oracle


def with_correct_rankings_of(w: Floats, hinges: Hinges) -> Hinges:
    """These hinges, with correct rankings that sort documents of the same label by X w."""
    oracle = sorted_by(hinges.scores(w), _oracle(hinges))
    return Hinges(hinges.X, [hinges.losses[0]._replace(oracle=oracle)], hinges.separate)


def sorted_by(scores: Floats, oracle: DORMOracle) -> DORMOracle:
    """The oracle whose correct rankings sort documents of the same label by score, (n,)."""
    other = copy.copy(oracle)
    other.ideal = _mean_decay(scores, oracle)
    return other


def start(oracle: DORMOracle) -> Floats:
    """Of each document: mean A over correct rankings less that over all rankings, (n,)."""
    sizes = oracle.queries.sizes
    every = np.cumsum(oracle.decay)[sizes - 1] / sizes
    return _mean_decay(np.zeros(oracle.ideal.size), oracle) - np.repeat(every, sizes)


def _mean_decay(scores: Floats, oracle: DORMOracle) -> Floats:
    """A at the rank of each document in the correct ranking, or its mean over tied scores."""
    # The correct ranking: by label, and by these scores within a label.
    stratum = oracle.stratum
    order = np.lexsort([-scores, -stratum, oracle.query])
    # Documents of one label and score share the places of their run, and get its mean decay.
    starts = np.ones(order.size, dtype=bool)  # of documents with the same label and score
    starts[1:] = (np.diff(stratum[order]) != 0) | (np.diff(scores[order]) != 0)
    first = np.flatnonzero(starts)
    count = np.diff(first, append=order.size)
    place = np.arange(order.size) - oracle.queries.boundaries[oracle.query]
    ideal = np.empty(order.size)
    ideal[order] = np.repeat(np.add.reduceat(oracle.decay[place], first) / count, count)
    return ideal
