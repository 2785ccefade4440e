"""The squared hinge of all pairs of documents as a function of the weights, and its minimum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lambdaplus.baselines.rank_svm_kernels import active_pairs
from lambdaplus.compute.parallel import over_queries
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.metrics.sort import Ranking, rank


class Point(NamedTuple):
    """The objective at a weight vector.

    Attributes
    ----------
    w : (d,) float64
    value : float
    gradient : (d,) float64
    ranking : Ranking
    partners : (n,) float64
        Number of active pairs of each document.
    """

    w: Floats
    value: float
    gradient: Floats
    ranking: Ranking
    partners: Floats

    @property
    def gap(self) -> float:
        """The duality gap, an upper bound of the distance of the value from the minimum."""
        return 0.5 * float(self.gradient @ self.gradient)


class Objective:
    """P(w) = |w|^2/2 + C sum_q b_q sum over pairs of max(0, 1 - (s_i - s_j))^2, with s = X w.

    Let N_i be the number of active pairs of a document, D_i the number in which it is the higher
    one minus the number in which it is the lower one, and V(u)_i the sum of u over its active
    partners.  The loss of a query is (active pairs) - 2 s.D + s.(N s - V(s)), a quadratic form as
    long as the active set does not change: its gradient is 2 (N s - V(s) - D), and its Hessian
    times u is 2 (N u - V(u)).

    Parameters
    ----------
    X : (n, d) float64
        Features in the order of `queries.row_order`.
    queries : Queries
    pair_weight : (n,) float64
        C b_q of the query of each document.
    """

    def __init__(self, X: Floats, queries: Queries, pair_weight: Floats) -> None:
        strata = queries.strata()
        # Only differences within a query matter; subtracting its mean avoids cancellation.
        mean = np.add.reduceat(X, queries.boundaries[:-1]) / queries.sizes[:, None]
        self.X = X - np.repeat(mean, queries.sizes, axis=0)
        self.pair_weight = pair_weight
        # Labels in ascending order within a query are already in the order of `base`.
        self.queries = Queries(queries.labels[queries.row_order], group=queries.sizes)
        self.code = strata.relevance[queries.row_order]
        self.n_classes = np.diff(strata.first)

    def _sums(self, ranking: Ranking, value: Floats) -> tuple[Floats, Floats, Floats]:
        below, above, total = np.empty_like(value), np.empty_like(value), np.empty_like(value)
        boundaries = self.queries.boundaries
        over_queries(
            active_pairs, boundaries, boundaries, ranking.row, ranking.score, self.code,
            self.n_classes, value, below, above, total,
        )  # fmt: skip
        return below, above, total

    def at(self, w: Floats) -> Point:
        """Value and gradient, in O(n (d + log n))."""
        scores = self.X @ w
        ranking = rank(self.queries, scores)
        below, above, total = self._sums(ranking, scores)
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
        _, _, total = self._sums(point.ranking, moved)
        bend = 2.0 * self.pair_weight * (point.partners * moved - total)
        return np.asarray(direction + self.X.T @ bend)


def newton_direction(objective: Objective, point: Point, tolerance: float) -> Floats:
    """Solve Hessian d = -gradient by conjugate gradients, to a relative residual."""
    direction = np.zeros_like(point.w)
    residual = -point.gradient
    conjugate = residual.copy()
    square = float(residual @ residual)
    enough = tolerance**2 * square
    for _ in range(2 * point.w.size + 10):  # d steps would be enough without rounding
        if square <= enough:
            break
        image = objective.hessian_times(point, conjugate)
        step = square / float(conjugate @ image)
        direction += step * conjugate
        residual -= step * image
        square, previous = float(residual @ residual), square
        conjugate = residual + square / previous * conjugate
    return direction


def minimise(
    objective: Objective, start: Floats, tolerance: float, max_iter: int
) -> tuple[Point, int]:
    """Newton steps until the gap is at most a share of the value; return also their number."""
    point = objective.at(start)
    first = np.linalg.norm(point.gradient)
    for steps in range(max_iter):
        if point.gap <= tolerance * point.value:
            return point, steps
        forcing = min(0.1, float(np.linalg.norm(point.gradient) / first) ** 0.5)
        found = _line_search(objective, point, newton_direction(objective, point, forcing))
        if found is None:  # no further progress because of rounding
            return point, steps
        point = found
    return point, max_iter


def _line_search(objective: Objective, point: Point, direction: Floats) -> Point | None:
    """Halve the step until the objective decreases by a share of the predicted decrease."""
    slope = float(point.gradient @ direction)
    step = 1.0
    while step > 1e-10:
        found = objective.at(point.w + step * direction)
        if found.value <= point.value + 1e-4 * step * slope:
            return found
        step /= 2
    return None
