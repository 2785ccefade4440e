"""Structural SVMs that optimise AUC, MAP, NDCG or MRR, with a certificate of optimality."""

from __future__ import annotations

from lambdaplus.baselines.oracles import Loss, make_loss
from lambdaplus.baselines.structural_ranker import StructuralRanker
from lambdaplus.data.arguments import check_flag
from lambdaplus.data.queries import Queries


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
        "dorm": the sum of documents times a decay A(rank), for the loss ndcg.
    cutoff : int, optional
        Last rank that is considered, for map, ndcg and mrr.  NDCG without cutoff is SVMndcg-nc.
    C : float
        Weight of the mean hinge relative to ``|w|^2 / 2``.
    tol : float
        Relative duality gap, (primal - dual) / primal, at which to stop.
    decay : "smooth", "cutoff" or int
        For the map "dorm": A(rank) = 1 / log2(1 + rank) at every rank, down to the cutoff, or down
        to this rank (Chakrabarti et al. report 30).
    pair_scale : bool
        For the map "po": whether pairs are averaged over each query, the factor 1/(n+ n-) in the
        papers, or summed.
    relevant : float, optional
        Label from which a document is relevant.  By default, it is 1 for map and mrr, and auc and
        ndcg use the grades (see the table below).
    max_passes : int
        Maximum number of passes over the data.

    Attributes
    ----------
    coef_ : (d,) float64
    primal_, dual_ : float
        Objective at ``coef_``, and a lower bound of its minimum.
    relative_gap_ : float
        ``(primal_ - dual_) / primal_``: a certificate, evaluated exactly.
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

    (*) With three or more grades, each pair is violated independently of the others, as in Ranking
    SVM; if these violations contradict each other, the hinge is above that of all rankings.

    In the map "dorm", the correct ranking of documents that share a label is not unique: Psi is the
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
        check_flag(pair_scale=self.pair_scale)
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
