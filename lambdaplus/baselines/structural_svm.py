"""The structural SVM of one loss: AUC, MAP, NDCG or MRR."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from lambdaplus.baselines.allowed_values import AtLeastOne, Finite, Positive
from lambdaplus.baselines.oracles import Loss, make_loss
from lambdaplus.baselines.structural_ranker import StructuralRanker
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import parse_metric


@dataclass(eq=False, repr=False)
class StructuralSVM(StructuralRanker):
    """Linear ranker that minimises a convex upper bound of 1 - metric.

    Parameters
    ----------
    loss : "auc", "map", "ndcg" or "mrr"
        The loss is 1 - this metric: SVMauc (SVMroc), SVMmap, SVMndcg, SVMmrr.  Map,
        ndcg and mrr may have a cutoff, such as ``"ndcg@10"``; without, ndcg is SVMndcg-nc.
    feature_map : "po", "mrr" or "dorm"
        Feature map of a ranking.  "po": the mean over pairs of a better and a worse document.
        "mrr": the best relevant document and the non-relevant ones ahead of it, for the loss mrr.
        "dorm": the sum of documents times a decay A(rank), for the loss ndcg.
    C : float
        Weight of the mean hinge relative to ``|w|^2 / 2``.
    tol : float
        Relative duality gap, (primal - dual) / primal, at which to stop; a ConvergenceWarning says
        if it is not reached, and a UserWarning if w = 0 is optimal up to this gap.
    decay : "smooth" or int
        For the map "dorm": A(rank) is the discount of the loss without its cutoff, such as
        1 / log2(1 + rank); or this discount down to a rank, and 0 beyond (Chakrabarti et al. report
        30).
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

    In the correct ranking of the map "dorm", documents of the same label are in the order of the
    rows, as in the paper.

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

    loss: str = "map"
    feature_map: str = "po"
    C: Positive = 1.0
    tol: Positive = 1e-3
    _: KW_ONLY
    decay: str | int = "smooth"
    pair_scale: bool = True
    relevant: Finite | None = None
    max_passes: AtLeastOne = 300
    epsilon: Positive | None = None

    def _losses(self, queries: Queries) -> list[Loss]:
        metric = parse_metric(self.loss)
        labels = self._labels(metric, queries)
        return [make_loss(metric, labels, self.feature_map, self.decay, self.pair_scale)]
