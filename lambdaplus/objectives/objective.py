"""Lambda objectives that LightGBM and XGBoost train with."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike

from lambdaplus.metrics import Declaration, RankingMetric
from lambdaplus.metrics.arrays import scope
from lambdaplus.metrics.declaration import shortest
from lambdaplus.metrics.names import share_options
from lambdaplus.metrics.weighted_sum import WeightedSum, terms_of
from lambdaplus.objectives.base import Objective
from lambdaplus.objectives.combined import CombinedObjective
from lambdaplus.objectives.gradients import Shape, lambda_gradients, objective_metric
from lambdaplus.queries import Floats, Queries


class LambdaObjective(Objective):
    """A custom objective that optimises a ranking metric; made by ``lambda_objective``.

    Attributes
    ----------
    metric : RankingMetric
    shape : Shape
        sigma, normalize and damping.
    one_group : bool
    optimised : RankingMetric
        What gradients are of: the metric, or its surrogate.
    """

    metric: RankingMetric

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

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row, (n,) float64 each, weights applied."""
        queries = scope(self.metric, queries, self.one_group)
        return lambda_gradients(self.optimised, queries, scores, self.shape)

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


def lambda_objective(
    metric: str | RankingMetric | Declaration | WeightedSum,
    *,
    sigma: float = 1.0,
    normalize: bool = True,
    damping: float | Literal["default"] | None = "default",
    one_group: bool = False,
    surrogate: Literal["default"] | None = "default",
    **options: Any,
) -> LambdaObjective | CombinedObjective:
    """An objective that optimises a ranking metric, or several at once.

    Parameters
    ----------
    metric : str
        Such as ``"ndcg@10"``, ``"map"``, ``"mrr@5"``, ``"auc"``;
        `~lambdaplus.metrics.metric_names` lists them.  A cutoff restricts what the objective cares
        about to the top of the ranking, and with it the pairs that carry a gradient; not so that of
        NDCG, see ``surrogate``.  A sum such as
        ``"ndcg@10 + 0.5*map"`` optimises several: see ``lambdaplus.objectives.combined`` for what
        the weights mean.
    sigma : float
        Steepness of the pairs' logistic function.  A larger one turns to the pairs that are still
        out of order sooner.
    normalize : bool
        Scale each query's gradient by log2(1 + S) / S, S the sum over its pairs of ``2 |lambda|``,
        so that every query has a say and the Hessians pass the frameworks' floors
        (``min_child_weight``, ``min_sum_hessian_in_leaf``).  One ungrouped data set is scaled so
        that absolute gradients sum to half the rows, as in log-loss at even odds.
    damping : float or None
        Divide each pair by ``damping + |score distance|`` (unless all scores of the query are
        equal), which turns to pairs that are close.  The default is that of the metric that is
        optimised: 0.01 for NDCG and DCG, as in LightGBM and XGBoost, and none for the others.
    one_group : bool
        Take a data set without queries as a single one.  AUC and MAP do so anyway.  Their metrics
        then take row weights as multiplicities, and so does the gradient of AUC, where a row of
        weight k gets what k copies of it would get together; that of MAP is defined by weighted
        ranks, and differs from the copies' (see ``lambdaplus.objectives.lists``).  With other
        metrics a row's weight multiplies its gradient.
    surrogate : None, optional
        None: optimise the metric itself, as in textbooks, where the default is to optimise another
        one in its place: NDCG@k and MRR are trained as NDCG, of all ranks and with damping; so a
        sum of these two trains NDCG alone.  See Notes.
    **options
        Parameters of the metric: ``gain="linear"`` (NDCG), ``relevant=2`` (label from which a
        document counts as relevant), ``classes=`` and ``share=`` (MAUC).  In a sum they go to the
        metrics that have them.

    Returns
    -------
    LambdaObjective, or CombinedObjective for a sum

    Raises
    ------
    ValueError
        For unknown metrics or options, with the known ones, and values out of range.

    Notes
    -----
    Defaults were chosen on validation queries of MQ2008, OHSUMED, ClueWeb09, an MSLR sample and
    made-up web search: five folds, three seeds, both frameworks, the better of two draws of
    parameters (``benchmarks/accuracy.py``; with standard errors).

    - NDCG@10 trained as NDCG has an NDCG@10 that is higher by .006 (.003) than with the cutoff in
      the swap deltas, which leave out what the pairs below it could teach.
    - MRR sees the first relevant document alone: once it stands on top of a training query, what
      the others could teach is lost (Chakrabarti et al. 2008 conjecture so), and a hundred small
      trees reach a training MRR of 1 on MQ2008.  Trained as average precision, its MRR was .737,
      where the textbook's was .714 (.009; ``benchmarks/mrr.py``, four sets, four seeds).  NDCG,
      which sees grades too, is ahead of that by .002 (.006), and with a single draw of parameters
      by .009 (.006).
    - Damping lifts the NDCG@10 of NDCG by .002 (.002); without it a gradient takes less time.
    - Sigma, the scaling of queries and noise on the scores make little difference
      (``benchmarks/choices.py``): ``sigma=0.5``, some noise and ``"ndcg + map"`` lift the MAP of
      the MAP objective by .003 to .004 (.001 to .002), not significantly so among 23 comparisons.

    Examples
    --------
    >>> from lambdaplus import lambda_objective
    >>> lambda_objective("ndcg@10", gain="linear")
    lambda_objective('ndcg(gain=linear)@10', sigma=1, normalize=True, damping=0.01)
    >>> lambda_objective("ndcg@10 + 0.5*map").metric.parts[1][1]
    0.5
    """
    if surrogate not in ("default", None):
        raise ValueError(f"surrogate must be 'default' or None, got {surrogate!r}")
    names, weights = zip(*terms_of(metric), strict=True)
    shares = share_options(names, options) if len(names) > 1 else [options]
    parts = []
    for name, mine in zip(names, shares, strict=True):
        found = objective_metric(name, **mine)
        optimised = found.surrogate if surrogate == "default" else found
        chosen = optimised.declaration.training.damping if damping == "default" else damping
        parts.append(LambdaObjective(found, Shape(sigma, normalize, chosen), one_group, optimised))
    if len(parts) == 1 and weights == (1.0,):
        return parts[0]
    return CombinedObjective(tuple(zip(parts, weights, strict=True)))
