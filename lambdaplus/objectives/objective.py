"""Lambda objectives that LightGBM and XGBoost train with."""

from __future__ import annotations

import numbers
from typing import Any, Literal

from numpy.typing import ArrayLike

from lambdaplus.metrics import Declaration, RankingMetric
from lambdaplus.metrics.arrays import scope
from lambdaplus.metrics.declaration import shortest
from lambdaplus.metrics.names import share_options
from lambdaplus.metrics.weighted_sum import WeightedSum, terms_of
from lambdaplus.objectives.base import Objective
from lambdaplus.objectives.combined import CombinedObjective
from lambdaplus.objectives.gradients import (
    Shape,
    lambda_gradients,
    noisy_gradients,
    objective_metric,
)
from lambdaplus.objectives.noisy_neighbours import Noise
from lambdaplus.queries import Floats, Queries


class LambdaObjective(Objective):
    """A custom objective that optimises a ranking metric; made by ``lambda_objective``.

    Attributes
    ----------
    metric : RankingMetric
    shape : Shape
        sigma, normalize and damping.
    noise : Noise or None
    one_group : bool
    optimised : RankingMetric
        What gradients are of: the metric, or the surrogate that was asked for.
    """

    metric: RankingMetric

    def __init__(
        self,
        metric: RankingMetric,
        shape: Shape,
        noise: Noise | None = None,
        one_group: bool = False,
        surrogate: RankingMetric | None = None,
    ) -> None:
        self.metric = metric
        self.shape = shape
        self.noise = noise
        self.one_group = one_group
        self.optimised = metric if surrogate is None else surrogate

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row, (n,) float64 each, weights applied."""
        ranked = scope(self.metric, queries, self.one_group)
        if self.noise is None or not ranked.grouped:
            return lambda_gradients(self.optimised, ranked, scores, self.shape)
        return noisy_gradients(self.optimised, ranked, scores, self.shape, self.noise)

    def __repr__(self) -> str:
        s, default = self.shape, default_noise()
        noise = "" if self.noise == default else f", noise={self.noise!r}"
        one = ", one_group=True" if self.one_group else ""
        other = "" if self.optimised == self.metric else f", surrogate={str(self.optimised)!r}"
        return (
            f"lambda_objective({str(self.metric)!r}, sigma={shortest(s.sigma)}, "
            f"normalize={s.normalize}, damping={s.damping}{noise}{one}{other})"
        )

    def _key(self) -> tuple[Any, ...]:
        return self.metric, self.shape, self.noise, self.one_group, self.optimised


def lambda_objective(
    metric: str | RankingMetric | Declaration | WeightedSum,
    *,
    sigma: float = 1.0,
    normalize: bool = True,
    damping: float | Literal["default"] | None = "default",
    noise: Noise | float | Literal["default"] | None = "default",
    one_group: bool = False,
    surrogate: str | RankingMetric | None = None,
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
    names, weights = zip(*terms_of(metric), strict=True)
    shares = share_options(names, options) if len(names) > 1 else [options]
    parts = []
    for name, mine in zip(names, shares, strict=True):
        named = objective_metric(name, **mine)
        optimised = named if surrogate is None else objective_metric(surrogate)
        chosen = optimised.declaration.training.damping if damping == "default" else damping
        noisy = default_noise() if noise == "default" else as_noise(noise)
        shape = Shape(sigma, normalize, chosen)
        parts.append(LambdaObjective(named, shape, noisy, one_group, optimised))
    if len(parts) == 1 and weights == (1.0,):
        return parts[0]
    return CombinedObjective(tuple(zip(parts, weights, strict=True)))


def default_noise() -> Noise:
    """What takes part in the gradient of a metric unless the user says otherwise.

    Half of the gradient.  See Notes of `lambda_objective` for what it was chosen by.
    """
    return Noise()


def as_noise(noise: Noise | float | str | None) -> Noise | None:
    """Noise of a scale; none for None and 0."""
    if isinstance(noise, Noise) or noise is None:
        return noise
    if isinstance(noise, str) or not isinstance(noise, numbers.Real):
        raise ValueError(f"noise must be 'default', None, a scale or a Noise, got {noise!r}")
    return Noise(scale=float(noise)) if noise else None
