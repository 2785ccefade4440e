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
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from lambdaplus.baselines.base_ranker import ValidatedRanker, ValidationSet
from lambdaplus.baselines.preference_pairs import pair_rate
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.metrics import Metric
from lambdaplus.metrics.sort import Ranking, rank


class RankSVM(ValidatedRanker):
    """Linear ranker that minimises the squared hinge loss of all pairs of documents.

    Parameters
    ----------
    C : float or sequence of float
        Weight of the loss relative to ``|w|^2/2``.  Of several values, the best on ``eval_set`` is
        selected; each starts from the solution of the next smaller one.
    balance : {"query", "pair"}
        Every query has the same weight (``1/|S_q|`` per pair), or every pair has.
    tol : float
        Tolerance: training stops when the gap is at most this share of the objective.
    max_iter : int
        Maximum number of Newton steps.
    metric : str or RankingMetric
        Metric for ``eval_set``.

    Attributes
    ----------
    coef_ : (d,) float64
    C_ : float
        The selected C.
    validation_values_ : dict of float to float
        Value of the metric for each C; empty without ``eval_set``.
    objective_ : float
    gradient_norm_ : float
    gap_ : float
        ``|gradient|^2/2``, the duality gap, which bounds the distance of the objective from its
        minimum.
    n_iter_ : int
        Number of Newton steps.

    Notes
    -----
    Herbrich, Graepel & Obermayer 2000; Joachims 2002. Primal truncated Newton for the squared
    hinge: Chapelle & Keerthi 2010; sums over pairs in O(n log n): Lee & Lin 2014.

    The dual variables of pairs, a_p = 2 C b_q max(0, 1 - margin), give w_a = sum a_p (x_i - x_j),
    and the dual objective at these is P(w) minus ``|w - w_a|^2/2``. Since gradient = w - w_a, the
    gap needs no additional pass, and ``coef_`` is within ``gradient_norm_`` of the minimiser.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "balance": [StrOptions({"query", "pair"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        C: float | Sequence[float] = 1.0,
        *,
        balance: Literal["query", "pair"] = "query",
        tol: float = 1e-8,
        max_iter: int = 100,
        metric: Metric = "ndcg@10",
    ) -> None:
        self.C = C
        self.balance = balance
        self.tol = tol
        self.max_iter = max_iter
        self.metric = metric

    def _fit_validated(self, X: Floats, queries: Queries, validation: ValidationSet | None) -> None:
        candidates = np.unique(np.asarray(self.C, dtype=np.float64))
        if not (candidates.size and np.isfinite(candidates).all() and candidates[0] > 0):
            raise ValueError(f"C must be positive, one number or several; got {self.C!r}")
        if validation is None and candidates.size > 1:
            raise ValueError("several values of C need validation data: pass eval_set=")
        rate = pair_rate(queries, self.balance)
        best, solution = -np.inf, np.zeros(X.shape[1])
        self.validation_values_: dict[float, float] = {}
        for C in candidates:
            objective = PairHinge(X, queries, C * rate)
            point, steps = _minimise(objective, solution, self.tol, self.max_iter)
            solution = point.w  # the start of the next one
            if point.gap > self.tol * point.value:
                warnings.warn(
                    f"C={C:g}: the gap is {point.gap:.3g} after {steps} Newton steps, at an "
                    f"objective of {point.value:.3g}; scale the features, lower C, or raise "
                    "max_iter or tol",
                    ConvergenceWarning,
                    stacklevel=3,
                )
            value = 0.0
            if validation is not None:
                value = validation.value(validation.X @ point.w)
                self.validation_values_[float(C)] = value
            if value > best:
                best, self.C_, self.n_iter_ = value, float(C), steps
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
        """The duality gap, an upper bound of the distance of the value from the minimum."""
        return 0.5 * float(self.gradient @ self.gradient)


class PairHinge:
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

    def _sums(self, ranking: Ranking, value: Floats) -> tuple[Floats, Floats, Floats]:
        below, above, total = np.empty_like(value), np.empty_like(value), np.empty_like(value)
        boundaries, strata = self.queries.boundaries, self.queries.strata()
        over_queries(
            _active_pairs, boundaries, boundaries, ranking.row, ranking.score, strata.relevance,
            np.diff(strata.first), value, below, above, total,
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


def _newton_direction(objective: PairHinge, point: Point, tolerance: float) -> Floats:
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


def _minimise(
    objective: PairHinge, start: Floats, tolerance: float, max_iter: int
) -> tuple[Point, int]:
    """Newton steps until the gap is at most a share of the value; return also their number."""
    point = objective.at(start)
    first = np.linalg.norm(point.gradient)
    for steps in range(max_iter):
        if point.gap <= tolerance * point.value:
            return point, steps
        forcing = min(0.1, float(np.linalg.norm(point.gradient) / first) ** 0.5)
        found = _line_search(objective, point, _newton_direction(objective, point, forcing))
        if found is None:  # no further progress because of rounding
            return point, steps
        point = found
    return point, max_iter


def _line_search(objective: PairHinge, point: Point, direction: Floats) -> Point | None:
    """Halve the step until the objective decreases by a share of the predicted decrease."""
    slope = float(point.gradient @ direction)
    step = 1.0
    while step > 1e-10:
        found = objective.at(point.w + step * direction)
        if found.value <= point.value + 1e-4 * step * slope:
            return found
        step /= 2
    return None


@compiled
def _partners_below(
    score: Any, code: Any, value: Any, count_tree: Any, sum_tree: Any, count: Any, total: Any
) -> None:
    """For each document: number of active partners of a lower class, and sum of their values.

    Scores are descending.  Going down the ranking, active partners are only added, never removed; a
    Fenwick tree over the classes has their count and sum, with nodes numbered from 1.
    """
    count_tree[:] = 0.0
    sum_tree[:] = 0.0
    n = score.size
    entered = 0
    for r in range(n):
        while entered < n and score[r] - score[entered] < 1.0:
            node = code[entered] + 1
            while node < count_tree.size:
                count_tree[node] += 1.0
                sum_tree[node] += value[entered]
                node += node & -node
            entered += 1
        node = code[r]  # classes 0 ... code - 1
        while node > 0:
            count[r] += count_tree[node]
            total[r] += sum_tree[node]
            node -= node & -node


@compiled
def _active_pairs(
    first: int, last: int, boundaries: Any, place: Any, score: Any, code: Any, n_classes: Any,
    value: Any, below: Any, above: Any, total: Any,
) -> None:  # fmt: skip
    """For each document: active partners of lower and of higher classes, and sum of all values.

    `place` and `score` are a ranking; the other arrays are in the order of the rows.
    """
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n, top = stop - start, n_classes[q] - 1
        count_tree, sum_tree = np.empty(top + 2), np.empty(top + 2)
        s, c, v = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n)
        count, found = np.zeros(n), np.zeros(n)
        for r in range(n):
            document = place[start + r]
            s[r], c[r], v[r] = score[start + r], code[document], value[document]
        _partners_below(s, c, v, count_tree, sum_tree, count, found)
        for r in range(n):
            document = place[start + r]
            below[document] = count[r]
            total[document] = found[r]
            # In reversed order with opposite signs, higher classes are lower ones.
            mirror = start + n - 1 - r
            s[r], c[r] = -score[mirror], top - code[place[mirror]]
            v[r] = value[place[mirror]]
        count[:], found[:] = 0.0, 0.0
        _partners_below(s, c, v, count_tree, sum_tree, count, found)
        for r in range(n):
            document = place[start + n - 1 - r]
            above[document] = count[r]
            total[document] += found[r]
