"""The concave-convex procedure, for hinges whose correct rankings depend on w.

Where several rankings are correct, the hinge of a query is

    max over y of [loss(y) + w . Psi(y)] - max over correct y of w . Psi(y),

convex less convex.  Each round replaces the second maximum by the correct ranking that attains it
at the current w, which bounds the hinge from above, and minimises this convex problem; so the
objective falls from round to round.  It may have local minima; where it ends depends on the start,
the mean of Psi over correct rankings less its mean over all: with two classes and queries of the
same size, the difference of the means of the classes.

Yuille & Rangarajan 2003.
"""

import numpy as np

from lambdaplus.baselines.cutting_planes import Hinges, Pass, Planes, Solution, solve
from lambdaplus.compute.array_types import Floats


def solve_by_rounds(
    hinges: Hinges, weight: Floats, tol: float, max_passes: int, epsilon: float | None = None
) -> Solution:
    """Stop after the first round that lowers the objective by less than a share of ``tol``.

    Each round is solved by `solve`, whose errors may raise the objective; the best round is
    returned.  The solution's primal, dual and slack are those of its convex problem, and its
    history has the passes of all rounds.
    """
    w = hinges.start()
    value, history = np.inf, list[Pass]()
    lowest, best = np.inf, None
    while True:
        # A correct ranking that is fixed bounds the second maximum from below, and so the hinge
        # from above; at this w both are equal.
        convex = hinges.with_correct_rankings_of(w)
        # Planes of the last round bound other hinges.
        planes = Planes(hinges.n_blocks, hinges.X.shape[1])
        solution = solve(convex, planes, weight, tol, max_passes, epsilon, history)
        w, history, last = solution.w, solution.history, value
        # The objective itself at the new w: at most that of the convex problem, which at the old w
        # was the last value. It falls, then, up to the tolerance of `solve`.
        value = float(w @ w / 2 + weight @ hinges.with_correct_rankings_of(w).at(w).hinge)
        if best is None or value < lowest:
            lowest, best = value, solution
        if value >= (1 - tol) * last or len(history) >= max_passes:
            return best._replace(history=history)
