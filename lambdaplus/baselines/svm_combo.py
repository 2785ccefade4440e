"""SVMCombo: several losses at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from lambdaplus.baselines.allowed_values import AtLeastOne, Finite, Positive
from lambdaplus.baselines.oracles import Loss, make_loss
from lambdaplus.baselines.structural_ranker import StructuralRanker
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import parse_metric
from lambdaplus.ranking.sort import rank


@dataclass(eq=False, repr=False)
class SVMCombo(StructuralRanker):
    """Linear ranker that minimises several losses at once.

    Parameters
    ----------
    losses : sequence of str
        For example ``["map", "mrr", "ndcg@10"]``, as in `StructuralSVM`.  The feature map is "mrr"
        for mrr and "po" for the others, as in the paper.
    slack : "shared" or "separate"
        "shared": one slack per query, the maximum of its hinges, which bounds the largest loss.
        "separate": the sum of one slack per query and loss, each of which bounds its loss.
    C : float
        Weight of the mean hinge.
    scale_maps : bool
        Whether all maps are scaled to the size of the first: the sum of absolute coefficients of
        the most violated rankings at w = 0.  Without, as in the paper, "mrr", a sum over documents,
        outweighs "po", a mean.
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

    losses: Sequence[str] = ("map", "mrr", "ndcg")
    slack: Literal["shared", "separate"] = "shared"
    C: Positive = 1.0
    tol: Positive = 1e-3
    _: KW_ONLY
    scale_maps: bool = True
    relevant: Finite = 1.0
    max_passes: AtLeastOne = 300
    epsilon: Positive | None = None

    @property
    def _separate(self) -> bool:  # type: ignore[override]
        return self.slack == "separate"

    def _losses(self, queries: Queries) -> list[Loss]:
        losses = self.losses
        if isinstance(losses, str) or not np.iterable(losses) or not len(losses):
            raise ValueError(f"losses={losses!r} must be a non-empty list of losses")
        metrics = [parse_metric(loss) for loss in losses]
        labels = self._labels(metrics[0], queries)  # the same object, so that they share one sort
        made = [
            make_loss(metric, labels, "mrr" if metric.declaration.name == "mrr" else "po")
            for metric in metrics
        ]
        if not self.scale_maps:
            return made
        tied = rank(labels, np.zeros(labels.n_documents))
        size = [float(np.abs(loss.oracle(tied).coefficient).sum()) or 1.0 for loss in made]
        return [loss._replace(scale=size[0] / own) for loss, own in zip(made, size, strict=True)]
