"""RankSVM: a linear ranker with large margins on all pairs of documents, without the pairs.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.baselines import RankSVM
>>> X = np.random.default_rng(0).normal(size=(60, 3))
>>> y, qid = (X[:, 0] + X[:, 1] > 1).astype(int), np.repeat(np.arange(6), 10)
>>> model = RankSVM(C=10.0).fit(X, y, qid=qid)
>>> bool(model.gap_ <= 1e-6 * model.objective_)
True
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from lambdaplus.baselines.base import LinearRanker
from lambdaplus.baselines.preference_pairs import preference_pairs
from lambdaplus.baselines.rank_svm_kernels import active_pairs
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats, Queries
from lambdaplus.ranking import Ranking, rank


class Point(NamedTuple):
    """The objective at a weight vector.

    Attributes
    ----------
    w : (d,) float64
    value : float
    gradient : (d,) float64
    ranking : Ranking
    partners : (n,) float64
        Active pairs of each document.
    """

    w: Floats
    value: float
    gradient: Floats
    ranking: Ranking
    partners: Floats


class Objective:
    """P(w) = |w|^2/2 + C sum_q b_q sum over pairs of max(0, 1 - (s_i - s_j))^2, with s = X w.

    With N_i the active pairs of a document, D_i those in which it is the higher one less those in
    which it is the lower one, and V(u)_i the sum of u over its active partners, the loss of a query
    is (active pairs) - 2 s.D + s.(N s - V(s)), a quadratic form while the active set stays: its
    gradient is 2 (N s - V(s) - D), and its Hessian times u is 2 (N u - V(u)).

    Parameters
    ----------
    X : (n, d) float64
        In the order of `queries.base`.
    queries : Queries
    pair_weight : (n,) float64
        C b_q of each document's query.
    """

    def __init__(self, X: Floats, queries: Queries, pair_weight: Floats) -> None:
        strata = queries.strata()
        # Only differences within a query count; from its mean they are free of cancellation.
        mean = np.add.reduceat(X, queries.boundaries[:-1]) / queries.sizes[:, None]
        self.X = X - np.repeat(mean, queries.sizes, axis=0)
        self.pair_weight = pair_weight
        # Labels in ascending order within a query are in the order of `base` already.
        self.queries = Queries(queries.labels[queries.base], group=queries.sizes)
        self.code, self.n_classes = strata.code, np.diff(strata.first)

    def _sums(self, ranking: Ranking, value: Floats) -> tuple[Floats, Floats, Floats]:
        below, above, total = np.empty_like(value), np.empty_like(value), np.empty_like(value)
        boundaries = self.queries.boundaries
        over_queries(
            active_pairs, boundaries, boundaries, ranking.place, ranking.score, self.code,
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
    for _ in range(2 * point.w.size + 10):  # d would do, but for rounding
        if square <= enough:
            break
        image = objective.hessian_times(point, conjugate)
        step = square / float(conjugate @ image)
        direction += step * conjugate
        residual -= step * image
        square, previous = float(residual @ residual), square
        conjugate = residual + square / previous * conjugate
    return direction


class RankSVM(LinearRanker):
    """Linear ranker that minimises the squared hinge loss of all pairs of documents.

    Parameters
    ----------
    C : float
        Weight of the loss against |w|^2/2.
    balance : {"query", "pair"}
        Every query has the same weight, by 1/|S_q| a pair, or every pair has.
    tol : float
        Done when the gap is at most so large a share of the objective.
    max_iter : int
        Newton steps, at most.

    Attributes
    ----------
    coef_ : (d,) float64
    objective_ : float
    gradient_norm_ : float
    gap_ : float
        |gradient|^2/2, which is the duality gap: the objective is above its minimum by no more.
    n_iter_ : int
        Newton steps taken.

    Notes
    -----
    Herbrich, Graepel & Obermayer 2000; Joachims 2002. Primal truncated Newton for the squared
    hinge: Chapelle & Keerthi 2010; sums over pairs in O(n log n): Lee & Lin 2014.

    The pairs' dual variables a_p = 2 C b_q max(0, margin they lack) make w_a = sum a_p (x_i - x_j),
    and the dual objective at them falls short of P(w) by |w - w_a|^2/2. As gradient = w - w_a, the
    gap needs no pass of its own; and coef_ is within gradient_norm_ of the minimiser.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "balance": [StrOptions({"query", "pair"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        balance: Literal["query", "pair"] = "query",
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.balance = balance
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> Self:
        """Train.

        Parameters
        ----------
        X : (n, d) array_like
        y : (n,) array_like
            Labels; any numbers, a higher one is better.
        qid : (n,) array_like, optional
            Query of each row; without it all rows are one ranking.

        Returns
        -------
        RankSVM

        Raises
        ------
        ValueError
            For unusable data or parameters, and if no query holds two different labels.

        Warns
        -----
        ConvergenceWarning
            If the gap is above the tolerance after `max_iter` steps.
        """
        self._validate_params()
        sample = self._sample(X, y, qid)
        rate = preference_pairs(sample.queries).rate
        weight = self.C * (rate if self.balance == "query" else np.ones_like(rate))
        objective = Objective(sample.X[sample.queries.base], sample.queries, weight)
        point = objective.at(np.zeros(sample.X.shape[1]))
        first = float(np.linalg.norm(point.gradient))
        self.n_iter_ = 0
        while not self._done(point) and self.n_iter_ < self.max_iter:
            norm = float(np.linalg.norm(point.gradient))
            direction = newton_direction(objective, point, min(0.1, (norm / first) ** 0.5))
            point, moved = _line_search(objective, point, direction)
            self.n_iter_ += 1
            if not moved:  # rounding is all that is left
                break
        if not self._done(point):
            warnings.warn(
                f"the gap is {_gap(point):.3g} after {self.n_iter_} Newton steps, at an objective "
                f"of {point.value:.3g}: scale the features, lower C or raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coef_, self.objective_ = point.w, point.value
        self.gradient_norm_, self.gap_ = float(np.linalg.norm(point.gradient)), _gap(point)
        return self

    def _done(self, point: Point) -> bool:
        return _gap(point) <= self.tol * point.value


def _gap(point: Point) -> float:
    return 0.5 * float(point.gradient @ point.gradient)


def _line_search(objective: Objective, point: Point, direction: Floats) -> tuple[Point, bool]:
    """Halve the step until the objective falls by a share of what the slope promises."""
    slope = float(point.gradient @ direction)
    step = 1.0
    while step > 1e-10:
        found = objective.at(point.w + step * direction)
        if found.value <= point.value + 1e-4 * step * slope:
            return found, True
        step /= 2
    return point, False
