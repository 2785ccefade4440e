"""Structural SVMs that optimise AUC, MAP, NDCG or MRR to a given duality gap."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from lambdaplus.baselines.base_ranker import Ranker
from lambdaplus.baselines.concave_convex import solve_by_rounds
from lambdaplus.baselines.cutting_planes import Hinges, Planes, Solution, solve
from lambdaplus.baselines.oracles import Loss, make_loss
from lambdaplus.compute.array_types import Floats
from lambdaplus.data.arguments import check_flag, number, whole_number
from lambdaplus.data.queries import Queries, reaches
from lambdaplus.metrics import RankingMetric, parse_metric
from lambdaplus.metrics.sort import rank


class PathPoint(NamedTuple):
    """The solution of `StructuralSVM.fit_path` for one C.

    Attributes
    ----------
    C : float
    coef : (d,) float64
    primal, dual : float
        Objective at coef, and a lower bound of its minimum.
    slack : float
        Mean hinge of the queries, an upper bound of the training loss.
    share, norm : float
        Objective divided by the objective at w = 0, and norm of coef.
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


class StructuralRanker(Ranker):
    """Base class of `StructuralSVM` and `SVMCombo`: the problem, its solution and its warnings."""

    C: float | Iterable[float]
    tol: float
    max_passes: int
    epsilon: float | None
    relevant: float | None
    _separate = False

    @abstractmethod
    def _losses(self, queries: Queries) -> list[Loss]:
        """One or more losses on these queries."""

    def _fit(self, X: Floats, queries: Queries) -> None:
        documents, basis = _fewest_features(X)
        hinges = self._hinges(documents, queries)
        solution = self._solve(hinges, Planes(hinges.n_blocks, documents.shape[1]), self.C)
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
            Values, preferably ascending.  With several losses, each has this C.

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
        read, queries = clone(self)._read(X, y, qid)
        documents, basis = _fewest_features(read)
        hinges = self._hinges(documents, queries)
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
                    dual=solution.dual,
                    slack=solution.slack,
                    share=solution.primal / float(self._weights(hinges, C) @ at_zero),
                    norm=float(np.linalg.norm(solution.w)),
                    passes=len(solution.history),
                    seconds=solution.history[-1].seconds,
                )
            )
        return path

    def _hinges(self, X: Floats, queries: Queries) -> Hinges:
        number("tol", self.tol)
        if self.epsilon is not None:
            number("epsilon", self.epsilon)
        whole_number("max_passes", self.max_passes, least=1)
        hinges = Hinges(X, self._losses(queries), self._separate)
        if hinges.n_blocks == 0:
            raise ValueError(
                f"there is nothing to rank: each of the {queries.n_queries} queries has "
                f"labels of one class only (relevant={self.relevant})"
            )
        return hinges

    def _weights(self, hinges: Hinges, C: float | Iterable[float]) -> Floats:
        """Weight of each hinge: C / number of queries, including those with a single class."""
        each = np.array([number("C", value) for value in np.asarray(C).ravel().tolist()])
        slacks = len(hinges.losses) if self._separate else 1
        if each.size not in (1, slacks):
            raise ValueError(f"C has {each.size} values, but a query has {slacks} slack variables")
        return np.broadcast_to(each, slacks)[hinges.loss_of_block] / hinges.n_queries

    def _solve(self, hinges: Hinges, planes: Planes, C: float | Iterable[float]) -> Solution:
        weight = self._weights(hinges, C)
        if hinges.convex:
            solution = solve(hinges, planes, weight, self.tol, self.max_passes, self.epsilon)
        else:
            solution = solve_by_rounds(hinges, weight, self.tol, self.max_passes, self.epsilon)
        by_passes = self.epsilon is not None or not hinges.convex
        if by_passes and len(solution.history) >= self.max_passes:
            warnings.warn(
                f"training did not end within {self.max_passes} passes: increase max_passes",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif self.epsilon is None and solution.relative_gap > self.tol:
            warnings.warn(
                f"the duality gap is still {solution.relative_gap:.1e} of the objective after "
                f"{len(solution.history)} passes (tol={self.tol:g}): increase max_passes",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not solution.w.any():
            warnings.warn(
                f"w = 0 is optimal (to a relative gap of {solution.relative_gap:.1e}), so all "
                "documents have the same score: try another loss, feature map or cutoff",
                UserWarning,
                stacklevel=4,
            )
        return solution

    def _metric(self, loss: str | RankingMetric, cutoff: int | None = None) -> RankingMetric:
        metric = parse_metric(loss)
        if cutoff is None:
            return metric
        if metric.cutoff not in (None, cutoff):
            raise ValueError(
                f"loss={str(metric)!r} already has a cutoff: leave out cutoff={cutoff}"
            )
        return metric.declaration(cutoff, **dict(metric.changed))

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


class StructuralSVM(StructuralRanker):
    """Linear ranker that minimises a convex upper bound of 1 - metric.

    Parameters
    ----------
    loss : "auc", "map", "ndcg" or "mrr"
        The loss is 1 - this metric: SVMauc (SVMroc), SVMmap, SVMndcg, SVMmrr.  It may have a
        cutoff, such as ``"ndcg@10"``.
    feature_map : "po", "mrr" or "dorm"
        Feature map of a ranking.  "po": the mean over pairs of a better and a worse document.
        "mrr": the best relevant document and the non-relevant ones ahead of it, for the loss mrr.
        "dorm": the sum of documents times a decay A(rank), for the loss ndcg; its problem is not
        convex (see Notes).
    cutoff : int, optional
        Last rank that is considered, for map, ndcg and mrr.  NDCG without cutoff is SVMndcg-nc.
    C : float
        Weight of the mean hinge relative to ``|w|^2 / 2``.
    tol : float
        Relative duality gap, (primal - dual) / primal, at which to stop; a ConvergenceWarning says
        if it is not reached, and a UserWarning if w = 0 is optimal.
    decay : "smooth" or int
        For the map "dorm": A(rank) = 1 / log2(1 + rank) at every rank, or down to this rank and 0
        beyond (Chakrabarti et al. report 30).
    pair_scale : bool
        For the map "po": whether pairs are averaged over each query, the factor 1/(n+ n-) in the
        papers, or summed.
    relevant : float, optional
        Label from which a document is relevant.  By default, it is 1 for map and mrr, and auc and
        ndcg use the labels as grades.
    max_passes : int
        Maximum number of passes over the data.
    epsilon : float, optional
        Stop as in the papers, once no constraint is violated by more than this, at the w of the
        constraints so far.  It need not be near the minimum, and ranks where w = 0 is optimal.

    Attributes
    ----------
    coef_ : (d,) float64
    primal_, dual_ : float
        Objective at ``coef_``, and a lower bound of its minimum.
    relative_gap_ : float
        ``(primal_ - dual_) / primal_``.
    slack_ : float
        Mean hinge of the queries: an upper bound of the training loss.
    n_passes_ : int
    history_ : list of Pass
        Primal, dual, slack, norm of w, seconds and oracle seconds of each pass.

    Notes
    -----
    The objective is P(w) = ``|w|^2 / 2`` + C/n * sum over queries of max over rankings y of
    [loss(y) + w . (Psi(y) - Psi(correct ranking))].  A query with a single class contributes 0 and
    is included in n, as in SVMstruct.  Features are not scaled; scale them before (`QueryScaler`).
    The result does not depend on the number of threads.

    Grades: the loss auc is the mean over all pairs of documents with different labels, where pairs
    are violated independently of each other, as in Ranking SVM; with three or more labels in a
    query, its hinge may be above that of all rankings.  With more than two labels in a query, ndcg
    needs ``relevant`` or the map "dorm".

    With the map "dorm", the correct ranking sorts documents of the same label by score, so that the
    problem is not convex.  Rounds of the concave-convex procedure (Yuille & Rangarajan 2003) sort
    them by the scores of the last w, at first of the mean of Psi over correct rankings less that
    over all, and minimise the convex problem that results, until a round lowers the objective by
    less than ``tol`` of it.  ``primal_``, ``dual_``, ``slack_`` and w = 0 in warnings are of the
    convex problem of the last round.  `fit_path` begins anew with each C.
    References
    ----------
    Yue, Finley, Radlinski & Joachims 2007, optimization problem 1; Chakrabarti, Khanna, Sawant &
    Bhattacharyya 2008, eq. 1 and secs. 3.1-3.6; Joachims 2005 (AUC); Le & Smola 2007 (DORM).

    Examples
    --------
    >>> from lambdaplus.baselines import StructuralSVM
    >>> X, y, qid = [[1, 9], [2, 7], [4, 8], [3, 6]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> model = StructuralSVM("map", C=10.0).fit(X, y, qid=qid)
    >>> model.predict(X).argmax(), model.relative_gap_ <= 1e-3
    (np.int64(3), True)
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
        epsilon: float | None = None,
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
        self.epsilon = epsilon

    def _losses(self, queries: Queries) -> list[Loss]:
        check_flag(pair_scale=self.pair_scale)
        metric = self._metric(self.loss, self.cutoff)
        labels = self._labels(metric, queries)
        return [make_loss(metric, labels, self.feature_map, self.decay, self.pair_scale)]


class SVMCombo(StructuralRanker):
    """Linear ranker that minimises several losses at once.

    Parameters
    ----------
    losses : sequence of str
        For example ``["map", "mrr", "ndcg@10"]``, as in `StructuralSVM`.
    slack : "shared" or "separate"
        "shared": one slack per query, the maximum of its hinges, which bounds the largest loss.
        "separate": the sum of one slack per query and loss, each of which bounds its loss.
    C : float or sequence of float
        Weight of the mean hinge; with separate slacks, it may be one weight for each loss.
    feature_maps : sequence of str, optional
        One for each loss; by default, "mrr" for mrr and "po" for the others, as in the paper.  All
        are scaled to the size of the first: the sum of absolute coefficients of the most violated
        rankings at w = 0.  Otherwise "mrr", a sum over documents, outweighs "po", a mean.
    relevant : float
        Label from which a document is relevant; all losses use binary labels.
    tol, max_passes, epsilon
        As in `StructuralSVM`.

    Attributes
    ----------
    coef_, primal_, dual_, relative_gap_, n_passes_, history_
        As in `StructuralSVM`.
    slack_ : float
        Mean over the queries of their hinges, summed over the losses if slacks are separate.

    References
    ----------
    Chakrabarti, Khanna, Sawant & Bhattacharyya 2008, sec. 3.7.

    Examples
    --------
    >>> from lambdaplus.baselines import SVMCombo
    >>> X, y, qid = [[1, 9], [2, 7], [4, 8], [3, 6]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> SVMCombo(["map", "ndcg"], slack="separate").fit(X, y, qid=qid).predict(X).argmax()
    np.int64(3)
    """

    relevant: float

    def __init__(
        self,
        losses: Sequence[str] = ("map", "mrr", "ndcg"),
        slack: str = "shared",
        C: float | Sequence[float] = 1.0,
        tol: float = 1e-3,
        *,
        feature_maps: Sequence[str] | None = None,
        relevant: float = 1.0,
        max_passes: int = 300,
        epsilon: float | None = None,
    ) -> None:
        self.losses = losses
        self.slack = slack
        self.C = C
        self.tol = tol
        self.feature_maps = feature_maps
        self.relevant = relevant
        self.max_passes = max_passes
        self.epsilon = epsilon

    @property
    def _separate(self) -> bool:  # type: ignore[override]
        return self.slack == "separate"

    def _losses(self, queries: Queries) -> list[Loss]:
        losses = self.losses
        if self.slack not in ("shared", "separate"):
            raise ValueError(f"slack={self.slack!r} is not 'shared' or 'separate'")
        if isinstance(losses, str) or not np.iterable(losses) or not len(losses):
            raise ValueError(f"losses={losses!r} must be a non-empty list of losses")
        metrics = [self._metric(loss) for loss in losses]
        maps = self.feature_maps
        if maps is None:
            maps = ["mrr" if metric.declaration.name == "mrr" else "po" for metric in metrics]
        if len(maps) != len(metrics):
            raise ValueError(f"{len(maps)} feature maps for {len(metrics)} losses")
        labels = self._labels(metrics[0], queries)  # the same object, so that they share one sort
        made = [make_loss(metric, labels, each) for metric, each in zip(metrics, maps, strict=True)]
        tied = rank(labels, np.zeros(labels.n_documents))
        size = [float(np.abs(loss.oracle(tied).coefficient).sum()) or 1.0 for loss in made]
        return [loss._replace(scale=size[0] / own) for loss, own in zip(made, size, strict=True)]


class ClassAUCSVM(Ranker):
    """Ranks by the sum of c * f_c(x) over classes c, f_c an AUC SVM of class c against the rest.

    Parameters
    ----------
    C, tol, max_passes
        As in `StructuralSVM`, for every class.

    Attributes
    ----------
    coef_ : (d,) float64
        Sum of the coefficients of the classes times their labels.
    classes_ : (k,) float64
        Labels above 0, ascending.
    class_coef_ : (k, d) float64
        Coefficients of the SVM of each class.

    References
    ----------
    Welleck 2016, sec. 5.2.1.

    Examples
    --------
    >>> from lambdaplus.baselines import ClassAUCSVM
    >>> X, y = [[4.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [2, 1, 0]
    >>> ClassAUCSVM(C=10.0).fit(X, y).predict(X).round(1)
    array([1. , 0.5, 0. ])
    """

    def __init__(self, C: float = 1.0, tol: float = 1e-3, max_passes: int = 300) -> None:
        self.C = C
        self.tol = tol
        self.max_passes = max_passes

    def _fit(self, X: Floats, queries: Queries) -> None:
        labels = queries.labels
        if labels.min() < 0 or labels.max() <= 0:
            raise ValueError(
                f"labels must be 0 or more, some of them above; they are {labels.min():g} to "
                f"{labels.max():g}"
            )
        query = queries.query_of_row
        self.classes_: Floats = np.unique(labels[labels > 0])
        svm = StructuralSVM("auc", C=self.C, tol=self.tol, max_passes=self.max_passes)
        self.class_coef_ = np.array([svm.fit(X, labels == c, query).coef_ for c in self.classes_])
        self.coef_ = self.classes_ @ self.class_coef_
