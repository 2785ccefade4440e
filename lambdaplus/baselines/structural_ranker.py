"""Base class of the structural SVMs: the problem, its solution and its warnings."""

from __future__ import annotations

import warnings
from abc import abstractmethod

import numpy as np
from scipy.linalg import qr
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from lambdaplus.baselines.allowed_values import positive
from lambdaplus.baselines.base_ranker import BaseRanker
from lambdaplus.baselines.cutting_planes import Hinges, Solution, solve
from lambdaplus.baselines.oracles import Loss
from lambdaplus.compute.array_types import Floats
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.strata import reaches
from lambdaplus.metrics import RankingMetric

ROUNDING = 1e-9  # gap below 0, relative to the objective, that rounding explains


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
        solution = self._solve(hinges)
        self._warn_of(solution)
        self.coef_ = _in_features(solution.w, basis)
        self.primal_, self.dual_, self.slack_ = solution.primal, solution.dual, solution.slack
        self.relative_gap_ = solution.relative_gap
        self.history_ = solution.history
        self.n_passes_ = len(solution.history)

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

    def _weights(self, hinges: Hinges) -> Floats:
        """Weight of each hinge: C / number of queries, including those with a single class."""
        return np.full(hinges.n_blocks, positive("C", self.C) / hinges.n_queries)

    def _solve(self, hinges: Hinges) -> Solution:
        return solve(hinges, self._weights(hinges), self.tol, self.max_passes, self.epsilon)

    @property
    def _stops_by_gap(self) -> bool:
        return self.epsilon is None

    def _warn_of(self, solution: Solution) -> None:
        """Warn of a solution that is not certified, not precise, or 0."""
        gap, passes, problem = solution.relative_gap, len(solution.history), ""
        kind: type[Warning] = ConvergenceWarning
        if gap < -ROUNDING:
            problem = (
                f"the lower bound is above the objective by {-gap:.1e} of it, so the fit is not "
                "certified: scale the features, or report an error of the loss's oracle"
            )
        elif not self._stops_by_gap and passes >= self.max_passes:
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

    def _labels(self, metric: RankingMetric, queries: Queries) -> Queries:
        """The labels for a loss: binary, or grades for AUC and NDCG by default."""
        if metric.declaration.name in ("auc", "ndcg") and self.relevant is None:
            return queries
        good = reaches(queries.labels, 1.0 if self.relevant is None else self.relevant)
        return queries.with_labels(good.astype(np.float64))


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
