"""Base class of structural SVMs: the problem, its solution, paths over C, and warnings."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from numbers import Real
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lambdaplus.baselines.base_ranker import LinearRanker
from lambdaplus.baselines.hinges import Hinges
from lambdaplus.baselines.oracles import Loss, binary
from lambdaplus.baselines.planes import Planes
from lambdaplus.baselines.solver import Pass, Solution, solve
from lambdaplus.data.arguments import whole_number
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.metrics import RankingMetric, parse_metric


class PathPoint(NamedTuple):
    """The solution for one C.

    Attributes
    ----------
    C : float
    coef : (d,) float64
    primal, dual : float
        Objective at coef, and a lower bound of its minimum.
    slack : float
        Mean hinge of the queries, an upper bound of the training loss.
    share : float
        Objective divided by the objective at w = 0.
    norm : float
        Norm of coef.
    passes : int
    seconds : float
    """

    C: float
    coef: Floats
    primal: float
    dual: float
    slack: float
    share: float
    norm: float
    passes: int
    seconds: float


class StructuralRanker(LinearRanker):
    """Base class of `StructuralSVM` and `SVMCombo`: the problem, its solver and its warnings."""

    C: float | Iterable[float]
    tol: float
    max_passes: int
    relevant: float | None
    _separate = False

    @abstractmethod
    def _losses(self, queries: Queries) -> list[Loss]:
        """One or more losses on these queries."""

    def fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Learn a weight vector.

        Parameters
        ----------
        X : (n, d) array_like
            Features, on comparable scales.
        y : (n,) array_like
            Relevance labels.
        qid : (n,) array_like, optional
            Query of each row, in any order; without it all rows are one ranking.

        Raises
        ------
        ValueError
            For NaN or infinite entries, empty data, parameters out of range, labels that the loss
            does not support, or if no query has two classes.

        Warns
        -----
        ConvergenceWarning
            If the gap is above ``tol`` after ``max_passes`` passes.
        UserWarning
            If w = 0 is optimal, so that all documents have the same score.
        """
        hinges, n_queries = self._problem(X, y, qid)
        weight = self._weights(hinges, n_queries, self.C)
        planes = Planes(hinges.n_blocks, hinges.X.shape[1])
        found = solve(hinges, planes, weight, n_queries, self.tol, self.max_passes)
        self._warn(found)
        self.coef_ = found.w
        self.primal_, self.dual_, self.slack_ = found.primal, found.dual, found.slack
        self.relative_gap_ = found.relative_gap
        self.history_: list[Pass] = found.history
        self.n_passes_ = len(found.history)
        return self

    def fit_path(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None, *, Cs: Iterable[float]
    ) -> list[PathPoint]:
        """Solve for each C, starting from the planes of previous ones; results are not stored.

        Parameters
        ----------
        X, y, qid
            As for `fit`.
        Cs : iterable of float
            Values, preferably ascending.  With several losses, each has this C.

        Returns
        -------
        list of PathPoint
            One for each C, in the order given.
        """
        hinges, n_queries = clone(self)._problem(X, y, qid)
        planes = Planes(hinges.n_blocks, hinges.X.shape[1])
        at_zero = hinges.at(np.zeros(hinges.X.shape[1])).hinge
        path = []
        for C in Cs:
            weight = self._weights(hinges, n_queries, C)
            found = solve(hinges, planes, weight, n_queries, self.tol, self.max_passes)
            self._warn(found)
            path.append(
                PathPoint(
                    C=float(C),
                    coef=found.w,
                    primal=found.primal,
                    dual=found.dual,
                    slack=found.slack,
                    share=found.primal / float(weight @ at_zero),
                    norm=float(np.linalg.norm(found.w)),
                    passes=len(found.history),
                    seconds=found.history[-1].seconds,
                )
            )
        return path

    def _problem(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None) -> tuple[Hinges, int]:
        if not (isinstance(self.tol, Real) and 0 < self.tol < np.inf):
            raise ValueError(f"tol={self.tol!r} must be a positive number")
        whole_number("max_passes", self.max_passes, least=1)
        sample = self._sample(X, y, qid)
        hinges = Hinges(sample.X, self._losses(sample.queries), self._separate)
        if hinges.n_blocks == 0:
            raise ValueError(
                f"there is nothing to rank: each of the {sample.queries.n_queries} queries has "
                f"labels of one class only (relevant={self.relevant})"
            )
        return hinges, sample.queries.n_queries

    def _weights(self, hinges: Hinges, n_queries: int, C: float | Iterable[float]) -> Floats:
        """Weight of each hinge: C / number of queries, including those with a single class."""
        each = np.asarray(C, dtype=np.float64).ravel()
        if not (np.isfinite(each) & (each > 0)).all():
            raise ValueError(f"C={C!r} must be positive")
        number = len(hinges.losses) if self._separate else 1
        if each.size not in (1, number):
            raise ValueError(f"{each.size} values of C for {number} kinds of slack")
        return np.broadcast_to(each, number)[hinges.loss_of_block] / n_queries

    def _warn(self, found: Solution) -> None:
        if found.relative_gap > self.tol:
            warnings.warn(
                f"the duality gap is still {found.relative_gap:.1e} of the objective after "
                f"{len(found.history)} passes (tol={self.tol:g}): increase max_passes",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not found.w.any():
            warnings.warn(
                f"w = 0 is optimal (to a relative gap of {found.relative_gap:.1e}): this loss and "
                "feature map cannot improve on it with this data, and all documents have the same "
                "score; try another loss, feature map or cutoff",
                UserWarning,
                stacklevel=3,
            )

    def _metric(self, loss: str | RankingMetric, cutoff: int | None = None) -> RankingMetric:
        metric = parse_metric(loss)
        if cutoff is None:
            return metric
        if metric.cutoff not in (None, cutoff):
            raise ValueError(f"loss={str(metric)!r} already has a cutoff, which is not {cutoff}")
        return metric.declaration(cutoff, **dict(metric.changed))

    def _labels(self, metric: RankingMetric, queries: Queries) -> Queries:
        """The labels for a loss: binary, or grades for AUC and NDCG by default."""
        if metric.declaration.name in ("auc", "ndcg") and self.relevant is None:
            return queries
        return binary(queries, 1.0 if self.relevant is None else self.relevant)
