"""Base class of the structural SVMs: the problem, its solution, its path and its warnings."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from lambdaplus.baselines.allowed_values import check_parameters, positive
from lambdaplus.baselines.base_ranker import BaseRanker
from lambdaplus.baselines.concave_convex import solve_by_rounds
from lambdaplus.baselines.cutting_planes import Hinges, Planes, Solution, solve
from lambdaplus.baselines.oracles import Loss
from lambdaplus.compute.array_types import Floats
from lambdaplus.metrics import RankingMetric
from lambdaplus.ranking.queries import Queries, reaches

ROUNDING = 1e-9  # gap below 0, relative to the objective, that rounding explains


class PathPoint(NamedTuple):
    """The solution of `StructuralSVM.fit_path` for one C.

    Attributes
    ----------
    C : float
    coef : (d,) float64
    primal : float
        Objective at coef.
    slack : float
        Mean hinge of the queries, an upper bound of the training loss.
    share, norm : float
        Objective divided by the objective at w = 0, and norm of coef.

    Examples
    --------
    >>> from lambdaplus.baselines import StructuralSVM
    >>> svm = StructuralSVM(loss="auc")
    >>> path = svm.fit_path([[0.0], [1.0], [2.0]], [0, 1, 1], [1, 1, 1], Cs=[0.1, 1.0])
    >>> [point.C for point in path]
    [0.1, 1.0]
    """

    C: float
    coef: Floats
    primal: float
    slack: float
    share: float
    norm: float


class StructuralRanker(BaseRanker):
    """Base class of `StructuralSVM` and `SVMCombo`."""

    C: float
    tol: float
    max_passes: int
    epsilon: float | None
    relevant: float | None
    _separate = False

    @abstractmethod
    def _losses(self, queries: Queries) -> list[Loss]:
        """One or more losses on these queries."""

    def _fit(self, X: Floats, queries: Queries) -> None:
        hinges, basis = self._hinges(X, queries)
        solution = self._solve(hinges, Planes(hinges.n_blocks, hinges.X.shape[1]), self.C)
        self.coef_ = _in_features(solution.w, basis)
        self.primal_, self.dual_, self.slack_ = solution.primal, solution.dual, solution.slack
        self.relative_gap_ = solution.relative_gap
        self.history_ = solution.history
        self.n_passes_ = len(solution.history)

    def fit_path(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None, *, Cs: Iterable[float]
    ) -> list[PathPoint]:
        """Solve for each C, starting from the planes of the previous ones, without fitting `self`.

        Parameters
        ----------
        X, y, qid
            As for `fit`.
        Cs : iterable of float
            Values, preferably ascending.

        Returns
        -------
        list of PathPoint
            One for each C, in the order given.

        Raises
        ------
        ValueError
            As for `fit`.

        Examples
        --------
        MAP on validation queries by C:

        >>> from lambdaplus import evaluate
        >>> from lambdaplus.baselines import StructuralSVM
        >>> from lambdaplus.data import digits_queries
        >>> train, valid = digits_queries()[0].train, digits_queries()[0].valid
        >>> svm = StructuralSVM("map", tol=1e-4)
        >>> path = svm.fit_path(train.features, train.labels, qid=train.qid, Cs=[1.0, 100.0, 1e4])
        >>> def value(point):
        ...     scores = valid.features @ point.coef
        ...     return evaluate(valid.labels, scores, qid=valid.qid, metrics="map")["map"]
        >>> [round(value(point), 2) for point in path]
        [0.72, 0.77, 0.78]
        """
        check_parameters(self)
        hinges, basis = self._hinges(*clone(self)._read(X, y, qid))
        planes = Planes(hinges.n_blocks, hinges.X.shape[1])
        at_zero = hinges.at(np.zeros(hinges.X.shape[1])).hinge
        path = []
        for C in Cs:
            solution = self._solve(hinges, planes, C)
            path.append(
                PathPoint(
                    C=float(C),
                    coef=_in_features(solution.w, basis),
                    primal=solution.primal,
                    slack=solution.slack,
                    share=solution.primal / float(self._weights(hinges, C) @ at_zero),
                    norm=float(np.linalg.norm(solution.w)),
                )
            )
        return path

    def _hinges(self, X: Floats, queries: Queries) -> tuple[Hinges, Floats | None]:
        """The hinges of documents in coordinates of their span, and its basis if they differ."""
        documents, basis = _fewest_features(X)
        hinges = Hinges(documents, self._losses(queries), self._separate)
        if hinges.n_blocks == 0:
            raise ValueError(
                f"there is nothing to rank: each of the {queries.n_queries} queries has "
                f"labels of one class only (relevant={self.relevant})"
            )
        return hinges, basis

    def _weights(self, hinges: Hinges, C: float) -> Floats:
        """Weight of each hinge: C / number of queries, including those with a single class."""
        return np.full(hinges.n_blocks, positive("C", C) / hinges.n_queries)

    def _solve(self, hinges: Hinges, planes: Planes, C: float) -> Solution:
        weight = self._weights(hinges, C)
        if hinges.convex:
            solution = solve(hinges, planes, weight, self.tol, self.max_passes, self.epsilon)
        else:
            solution = solve_by_rounds(hinges, weight, self.tol, self.max_passes, self.epsilon)
        by_passes, passes = self.epsilon is not None or not hinges.convex, len(solution.history)
        gap, problem = solution.relative_gap, ""
        kind: type[Warning] = ConvergenceWarning
        if gap < -ROUNDING:
            problem = (
                f"the lower bound is above the objective by {-gap:.1e} of it, so the fit is not "
                "certified: scale the features, or report an error of the loss's oracle"
            )
        elif by_passes and passes >= self.max_passes:
            problem = f"training did not end within {self.max_passes} passes: increase max_passes"
        elif self.epsilon is None and gap > self.tol:
            problem = (
                f"the duality gap is still {gap:.1e} of the objective after {passes} passes "
                f"(tol={self.tol:g}): increase max_passes"
            )
        elif not solution.w.any():
            kind = UserWarning
            problem = "w = 0 is optimal"
            if gap > ROUNDING:
                problem += (
                    f" up to {gap:.1e} of the objective (tol={self.tol:g}): try a smaller tol"
                )
            problem += (
                ". All documents have the same score: try another loss, feature map or cutoff"
            )
        if problem:
            warnings.warn(problem, kind, stacklevel=4)
        return solution

    def _labels(self, metric: RankingMetric, queries: Queries) -> Queries:
        """The labels for a loss: binary, or grades for AUC and NDCG by default."""
        if metric.declaration.name in ("auc", "ndcg") and self.relevant is None:
            return queries
        good = reaches(queries.labels, 1.0 if self.relevant is None else self.relevant)
        return Queries(good.astype(np.float64), group=queries.sizes)


def _fewest_features(X: Floats) -> tuple[Floats, Floats | None]:
    """The documents in coordinates of their span, (n, n), and its basis, (d, n), if d > n.

    The optimal w is a combination of documents, so the problem is the same.
    """
    if X.shape[1] <= X.shape[0]:
        return X, None
    with ThreadpoolController().limit(limits=1, user_api="blas"):
        basis, coordinates = qr(X.T, mode="economic")
    return np.ascontiguousarray(coordinates.T), basis


def _in_features(w: Floats, basis: Floats | None) -> Floats:
    return w if basis is None else np.asarray(basis @ w)
