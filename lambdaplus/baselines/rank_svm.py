"""RankSVM: a linear ranker with large margins on all pairs of documents."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from lambdaplus.baselines.active_pairs import active_pairs, pair_weight
from lambdaplus.baselines.allowed_values import AtLeastOne, Positive
from lambdaplus.baselines.base_ranker import BaseRanker
from lambdaplus.compute.arguments import number
from lambdaplus.compute.array_types import Floats
from lambdaplus.lists.queries import Queries
from lambdaplus.ranking.sort import Ranking, rank


@dataclass(eq=False, repr=False)
class RankSVM(BaseRanker):
    """Linear ranker that minimises the squared hinge loss of all pairs of documents.

    Parameters
    ----------
    C : float
        Weight of the loss relative to ``|w|^2/2``.
    tol : float
        Training stops when the gap is at most this share of the objective; a ConvergenceWarning
        says if it does not.
    max_iter : int
        Maximum number of Newton steps.

    Attributes
    ----------
    coef_ : (d,) float64
    objective_, gradient_norm_ : float
        Value of the objective and norm of its gradient at ``coef_``.
    gap_ : float
        ``|gradient|^2/2``, the duality gap, which bounds the distance of the objective from its
        minimum; ``coef_`` is within ``gradient_norm_`` of the minimiser.
    n_iter_ : int

    Notes
    -----
    Herbrich, Graepel & Obermayer 2000; Joachims 2002. Primal truncated Newton for the squared
    hinge: Chapelle & Keerthi 2010; sums over pairs in O(n log n): Lee & Lin 2014.

    Examples
    --------
    >>> from lambdaplus.baselines import RankSVM
    >>> X, y, qid = [[1, 9], [2, 7], [4, 8], [3, 6]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> RankSVM(C=10.0).fit(X, y, qid=qid).predict(X).argmax()
    np.int64(3)
    """

    C: Positive = 1.0
    _: KW_ONLY
    tol: Annotated[float, partial(number, least=0.0)] = 1e-8
    max_iter: AtLeastOne = 100

    def _fit(self, X: Floats, queries: Queries) -> None:
        objective = PrimalObjective(X, queries, self.C * pair_weight(queries))
        point, self.n_iter_ = _minimise(objective, self.tol, self.max_iter)
        if point.gap > self.tol * point.value:
            warnings.warn(
                f"C={self.C:g}: the gap is {point.gap:.3g} after {self.n_iter_} Newton steps, at "
                f"an objective of {point.value:.3g}; scale the features, lower C, or raise "
                "max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.coef_, self.objective_, self.gap_ = point.w, point.value, point.gap
        self.gradient_norm_ = float(np.linalg.norm(point.gradient))


class Point(NamedTuple):
    """The objective at a weight vector; `partners` is the number of active pairs by document."""

    w: Floats
    value: float
    gradient: Floats
    ranking: Ranking
    partners: Floats

    @property
    def gap(self) -> float:
        """P(w) minus the dual objective at the dual variables 2 C b_q max(0, 1 - margin)."""
        return 0.5 * float(self.gradient @ self.gradient)


class PrimalObjective:
    """P(w) = |w|^2/2 + C sum_q b_q sum over pairs of max(0, 1 - (s_i - s_j))^2, with s = X w.

    Let N_i be the number of active pairs of a document, D_i the number in which it is the higher
    one minus the number in which it is the lower one, and V(u)_i the sum of u over its active
    partners.  The loss of a query is (active pairs) - 2 s.D + s.(N s - V(s)), a quadratic form as
    long as the active set does not change: its gradient is 2 (N s - V(s) - D), and its Hessian
    times u is 2 (N u - V(u)).

    X is (n, d), and pair_weight, (n,), is C b_q of the query of each document.
    """

    def __init__(self, X: Floats, queries: Queries, pair_weight: Floats) -> None:
        # Only differences within a query matter; subtracting its mean avoids cancellation.
        mean = np.add.reduceat(X, queries.boundaries[:-1]) / queries.sizes[:, None]
        self.X = X - np.repeat(mean, queries.sizes, axis=0)
        self.queries, self.pair_weight = queries, pair_weight
        self.margin = np.ones(queries.n_queries)

    def at(self, w: Floats) -> Point:
        """Value and gradient, in O(n (d + log n))."""
        scores = self.X @ w
        ranking = rank(self.queries, scores)
        below, above, total = active_pairs(self.queries, ranking, self.margin, scores)
        # N, D and V(s) of the class's docstring.
        partners = below + above
        bend = partners * scores - total
        difference = below - above
        loss = below + scores * (bend - 2.0 * difference)
        slope = 2.0 * self.pair_weight * (bend - difference)
        value = 0.5 * float(w @ w) + float(self.pair_weight @ loss)
        return Point(w, value, w + self.X.T @ slope, ranking, partners)

    def hessian_times(self, point: Point, direction: Floats) -> Floats:
        """The generalised Hessian at a point times a direction, in O(n (d + log n))."""
        moved = self.X @ direction
        total = active_pairs(self.queries, point.ranking, self.margin, moved).total
        bend = 2.0 * self.pair_weight * (point.partners * moved - total)
        return np.asarray(direction + self.X.T @ bend)


def _minimise(objective: PrimalObjective, tolerance: float, max_iter: int) -> tuple[Point, int]:
    """Newton steps until the gap is at most a share of the value; return also their number."""
    d = objective.X.shape[1]
    point = objective.at(np.zeros(d))
    first = np.linalg.norm(point.gradient)
    for steps in range(max_iter):
        if point.gap <= tolerance * point.value:
            return point, steps
        norm = float(np.linalg.norm(point.gradient))
        # Solve more exactly the nearer the minimum, so that Newton steps converge superlinearly.
        forcing = min(0.1, float(norm / first) ** 0.5)
        hessian = LinearOperator((d, d), partial(objective.hessian_times, point), dtype=np.float64)
        # Without rounding errors, d steps would be enough.
        direction, _ = cg(hessian, -point.gradient, atol=forcing * norm, maxiter=2 * d + 10)
        lower = _line_search(objective, point, direction)
        if lower is None:  # no further progress because of rounding
            return point, steps
        point = lower
    return point, max_iter


def _line_search(objective: PrimalObjective, point: Point, direction: Floats) -> Point | None:
    """Halve the step until the objective decreases by a share of the predicted decrease."""
    slope = float(point.gradient @ direction)
    step = 1.0
    while step > 1e-10:
        candidate = objective.at(point.w + step * direction)
        if candidate.value <= point.value + 1e-4 * step * slope:
            return candidate
        step /= 2
    return None
