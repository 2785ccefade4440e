"""Lambda objectives that LightGBM and XGBoost train with."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.frameworks import framework_of, read_call, refuse_bagging_by_query
from lambdaplus.metrics import Declaration, RankingMetric
from lambdaplus.metrics.declaration import shortest
from lambdaplus.metrics.terms import scope
from lambdaplus.objectives.gradients import Shape, lambda_gradients, objective_metric


class LambdaObjective:
    """A custom objective that optimises a ranking metric; made by `lambda_objective`.

    One object for every interface: LightGBM's ``params["objective"]`` (4.x) and ``fobj=`` (3.x),
    ``LGBMRanker(objective=)``, ``xgb.train(obj=)`` and ``XGBRegressor(objective=)``.  It holds no
    state but its options: it can be pickled, copied, shared by threads and used again.

    Attributes
    ----------
    metric : RankingMetric
    shape : Shape
        sigma, normalize and damping.
    one_group : bool
    optimised : RankingMetric
        What gradients are of: the metric, or its surrogate.
    """

    def __init__(
        self,
        metric: RankingMetric,
        shape: Shape,
        one_group: bool = False,
        optimised: RankingMetric | None = None,
    ) -> None:
        self.metric = metric
        self.shape = shape
        self.one_group = one_group
        self.optimised = metric if optimised is None else optimised

    @property
    def __name__(self) -> str:
        return f"lambda_{self.metric}"

    def __call__(
        self,
        y_true_or_preds: ArrayLike,
        y_pred_or_data: Any,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Gradient and Hessian at the given scores, as the frameworks call for them.

        Parameters
        ----------
        y_true_or_preds : (n,) array_like
            Scores, if the second argument is a data set; labels otherwise.
        y_pred_or_data : lightgbm.Dataset, xgboost.DMatrix or (n,) array_like
            Data set, or scores.
        sample_weight : (n,) array_like, optional
            With labels and scores only.
        group : (n_queries,) array_like of int, optional
            With labels and scores only.

        Returns
        -------
        gradient, hessian : (n,) float32

        Raises
        ------
        ValueError
            For NaN or infinite scores or labels, missing or cut queries, unusable weights, and
            LightGBM's bagging_by_query.
        """
        if framework_of(y_pred_or_data) != "xgboost":  # LightGBM's estimators pass arrays
            refuse_bagging_by_query(y_pred_or_data)
        call = read_call(y_true_or_preds, y_pred_or_data, sample_weight, group)
        queries = scope(self.metric, call.queries, self.one_group)
        gradient, hessian = lambda_gradients(self.optimised, queries, call.scores, self.shape)
        return gradient.astype(np.float32), hessian.astype(np.float32)

    def __repr__(self) -> str:
        s = self.shape
        one = ", one_group=True" if self.one_group else ""
        itself = "" if self.optimised == self.metric.surrogate else ", surrogate=None"
        return (
            f"lambda_objective({str(self.metric)!r}, sigma={shortest(s.sigma)}, "
            f"normalize={s.normalize}, "
            f"damping={s.damping}{one}{itself})"
        )

    def _key(self) -> tuple[Any, ...]:
        return self.metric, self.shape, self.one_group, self.optimised

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LambdaObjective) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def lambda_objective(
    metric: str | RankingMetric | Declaration,
    *,
    sigma: float = 1.0,
    normalize: bool = True,
    damping: float | Literal["default"] | None = "default",
    one_group: bool = False,
    surrogate: Literal["default"] | None = "default",
    **options: Any,
) -> LambdaObjective:
    """An objective that optimises a ranking metric.

    Parameters
    ----------
    metric : str
        Such as ``"ndcg@10"``, ``"map"``, ``"mrr@5"``, ``"auc"``; `lambdaplus.metric_names` lists
        them.  A cutoff restricts what the objective cares about to the top of the ranking, and
        with it the pairs that carry a gradient.
    sigma : float
        Steepness of the pairs' logistic function.  A larger one turns to the pairs that are still
        out of order sooner.
    normalize : bool
        Scale each query's gradient by log2(1 + S) / S, S the sum over its pairs of 2 |lambda|, so
        that every query has a say and the Hessians pass the frameworks' floors
        (``min_child_weight``, ``min_sum_hessian_in_leaf``).  One ungrouped data set is scaled so
        that absolute gradients sum to half the rows, as in log-loss at even odds.
    damping : float or None
        Divide each pair by damping + |score distance| (unless all scores of the query are equal),
        which turns to pairs that are close.  The default is the metric's: 0.01 for NDCG, as in
        LightGBM and XGBoost, and none for the others.
    one_group : bool
        Take a data set without queries as a single one.  AUC and MAP do so anyway, and their row
        weights then are multiplicities.
    surrogate : None, optional
        None: optimise the metric itself, as in textbooks, where the default is to optimise another
        one in its place.  That is so for MRR alone, which is trained as MAP: see Notes.
    **options
        Parameters of the metric: ``gain="linear"`` (NDCG), ``relevant=2`` (label from which a
        document counts as relevant), ``classes=`` and ``share=`` (MAUC).

    Returns
    -------
    LambdaObjective

    Raises
    ------
    ValueError
        For unknown metrics or options, with the known ones, and values out of range.

    Notes
    -----
    MRR sees the first relevant document alone: once it stands on top of a training query, what
    the other relevant documents could teach is lost (Chakrabarti et al. 2008 conjecture so), and a
    hundred small trees reach a training MRR of 1 on MQ2008.  Average precision is the same measure
    where one document is relevant, and counts every one where more are; so MRR@k is trained as
    AP@k.  Over MQ2008, OHSUMED, an MSLR sample and ClueWeb09 (five folds, four seeds) that lifted
    the mean validation MRR from .714 to .737, with a standard error of .009, and the test MRR from
    .696 to .732, of .010.  LightGBM's lambdarank had .734 and .716, NDCG without damping .739 and
    .738: no difference that these queries could show.  ``benchmarks/mrr.py`` compares them anew.

    Examples
    --------
    >>> from lambdaplus import lambda_objective
    >>> lambda_objective("ndcg@10", gain="linear")
    lambda_objective('ndcg(gain=linear)@10', sigma=1, normalize=True, damping=0.01)
    """
    if surrogate not in ("default", None):
        raise ValueError(f"surrogate must be 'default' or None, got {surrogate!r}")
    found = objective_metric(metric, **options)
    optimised = found.surrogate if surrogate == "default" else found
    chosen = optimised.declaration.damping if damping == "default" else damping
    return LambdaObjective(found, Shape(sigma, normalize, chosen), one_group, optimised)
