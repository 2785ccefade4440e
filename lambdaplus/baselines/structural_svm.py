"""Structural SVMs that optimise AUC, MAP, NDCG or MRR: convex, certified, fast."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lambdaplus.baselines.base import LinearRanker
from lambdaplus.baselines.hinges import Hinges
from lambdaplus.baselines.oracles import Loss, binary, make_loss
from lambdaplus.baselines.planes import Planes
from lambdaplus.baselines.solver import Pass, Solution, solve
from lambdaplus.metrics import RankingMetric, parse_metric
from lambdaplus.queries import Floats, Queries


class PathPoint(NamedTuple):
    """The solution for one C.

    Attributes
    ----------
    C : float
    coef : (d,) float64
    primal, dual : float
        Objective at coef, and a lower bound of the least one.
    slack : float
        Mean hinge of the queries, an upper bound of the training loss.
    share : float
        Objective over the objective at w = 0.
    norm : float
        Of coef.
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
    """What `StructuralSVM` and `SVMCombo` share: the problem, its solver and its warnings."""

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
            can't take, or if no query has two classes.

        Warns
        -----
        ConvergenceWarning
            If the gap is above ``tol`` after ``max_passes`` passes.
        UserWarning
            If w = 0 is optimal, so that all documents score the same.
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
        """Solve for every C in turn, each from the planes of those before; not kept in self.

        Parameters
        ----------
        X, y, qid
            As for `fit`.
        Cs : iterable of float
            Best in ascending order.  With several losses each has this C.

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
        if not (np.isfinite(self.tol) and self.tol > 0):
            raise ValueError(f"tol={self.tol!r} must be a positive number")
        if self.max_passes < 1:
            raise ValueError(f"max_passes={self.max_passes!r} must be at least 1")
        sample = self._sample(X, y, qid)
        hinges = Hinges(sample.X, self._losses(sample.queries), self._separate)
        if hinges.n_blocks == 0:
            raise ValueError(
                f"there is nothing to rank: each of the {sample.queries.n_queries} queries has one "
                f"class of labels only (relevant={self.relevant})"
            )
        return hinges, sample.queries.n_queries

    def _weights(self, hinges: Hinges, n_queries: int, C: float | Iterable[float]) -> Floats:
        """Weight of each hinge: C over the number of all queries, one-class ones included."""
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
                "feature map can't gain anything on this data, and all documents score the same; "
                "try another loss, feature map or cutoff",
                UserWarning,
                stacklevel=3,
            )

    def _metric(self, loss: str | RankingMetric, cutoff: int | None = None) -> RankingMetric:
        metric = parse_metric(loss)
        if cutoff is None:
            return metric
        if metric.cutoff not in (None, cutoff):
            raise ValueError(f"loss={str(metric)!r} has a cutoff of its own, not {cutoff}")
        return metric.declaration(cutoff, **dict(metric.changed))

    def _labels(self, metric: RankingMetric, queries: Queries) -> Queries:
        """The labels that a loss sees: binary, or for AUC and NDCG the grades unless told not."""
        if metric.declaration.name in ("auc", "ndcg") and self.relevant is None:
            return queries
        return binary(queries, 1.0 if self.relevant is None else self.relevant)


class StructuralSVM(StructuralRanker):
    """Linear ranker that minimises a convex upper bound of 1 - metric.

    Parameters
    ----------
    loss : "auc", "map", "ndcg" or "mrr"
        1 - this metric is the loss: SVMauc (SVMroc), SVMmap, SVMndcg, SVMmrr.  Also with a cutoff,
        ``"ndcg@10"``.
    feature_map : "po", "mrr" or "dorm"
        What a ranking is seen as.  "po": its pairs of a better and a worse document, averaged.
        "mrr": the best relevant document against the non-relevant ones ahead of it, for the loss
        mrr.  "dorm": the sum of documents times a decay A(rank), for the loss ndcg.
    cutoff : int, optional
        Rank from which on nothing counts; map, ndcg and mrr.  NDCG without one is SVMndcg-nc.
    C : float
        Weight of the mean hinge against |w|^2 / 2.
    tol : float
        Relative duality gap, (primal - dual) / primal, at which to stop.
    decay : "smooth", "cutoff" or int
        Of the map "dorm": A(rank) = 1 / log2(1 + rank) at every rank, down to the cutoff, or down
        to this rank (Chakrabarti et al. report 30).
    pair_scale : bool
        Of the map "po": whether pairs are averaged over each query, the papers' factor 1/(n+ n-),
        or summed.
    relevant : float, optional
        Label from which a document is relevant.  Unless given it is 1 for map and mrr, and auc and
        ndcg keep the grades (see the table below).
    max_passes : int
        Over the data.

    Attributes
    ----------
    coef_ : (d,) float64
    primal_, dual_ : float
        Objective at coef_, and a lower bound of the least one.
    relative_gap_ : float
        (primal_ - dual_) / primal_: a certificate, evaluated exactly.
    slack_ : float
        Mean hinge of the queries: an upper bound of the training loss.
    n_passes_ : int
    history_ : list of Pass
        Primal, dual, slack, norm of w and seconds of each pass.

    Notes
    -----
    The objective is P(w) = |w|^2 / 2 + C/n * sum over queries of max over rankings y of
    [loss(y) + w . (Psi(y) - Psi(right ranking))].  A query of one class has nothing to rank: it
    counts in n, as in SVMstruct, and adds 0.  Features are taken as they are; scale them before
    (`QueryScaler`).  The result does not depend on the number of threads.

    ============  ===============================  =================  ============================
    loss          "po"                             "mrr"              "dorm"
    ============  ===============================  =================  ============================
    auc           graded: the mean over all pairs  no                 no
                  of different grades (*)
    map           relevant or not                  no                 no
    mrr           relevant or not                  relevant or not    no
    ndcg          two grades a query; with more,   no                 graded, exact
                  an error: pass ``relevant=``
    ============  ===============================  =================  ============================

    (*) With three grades or more each pair decides for itself whether it is violated, as in Ranking
    SVM; where such choices contradict each other the hinge is above that of all rankings.

    In the map "dorm" the right ranking of documents that share a label is not unique: Psi is its
    mean over their orders.

    References
    ----------
    Yue, Finley, Radlinski & Joachims 2007, optimization problem 1; Chakrabarti, Khanna, Sawant &
    Bhattacharyya 2008, eq. 1 and secs. 3.1-3.6; Joachims 2005 (AUC); Le & Smola 2007 (DORM).

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.baselines import StructuralSVM
    >>> X = np.array([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0], [2.0, 0.0], [1.0, 3.0]])
    >>> y, qid = [1, 0, 0, 1, 0], ["a", "a", "a", "b", "b"]
    >>> model = StructuralSVM(loss="map", C=10.0).fit(X, y, qid=qid)
    >>> model.predict(X).argmax(), model.relative_gap_ <= 1e-3
    (np.int64(0), True)
    """

    def __init__(
        self,
        loss: str = "map",
        feature_map: str = "po",
        cutoff: int | None = None,
        C: float = 1.0,
        tol: float = 1e-3,
        *,
        decay: str | int = "smooth",
        pair_scale: bool = True,
        relevant: float | None = None,
        max_passes: int = 300,
    ) -> None:
        self.loss = loss
        self.feature_map = feature_map
        self.cutoff = cutoff
        self.C = C
        self.tol = tol
        self.decay = decay
        self.pair_scale = pair_scale
        self.relevant = relevant
        self.max_passes = max_passes

    def _losses(self, queries: Queries) -> list[Loss]:
        metric = self._metric(self.loss, self.cutoff)
        return [
            make_loss(
                metric,
                self._labels(metric, queries),
                feature_map=self.feature_map,
                decay=self.decay,
                pair_scale=self.pair_scale,
            )
        ]
