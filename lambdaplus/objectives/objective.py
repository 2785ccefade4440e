"""Lambda objectives for LightGBM and XGBoost."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.data.arguments import check_flag, number
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.metrics import Declaration, RankingMetric
from lambdaplus.metrics.declared_arrays import scope
from lambdaplus.metrics.names import share_options
from lambdaplus.metrics.parameters import shortest
from lambdaplus.metrics.weighted_sum import WeightedSum, terms_of
from lambdaplus.objectives.callable_objective import Objective
from lambdaplus.objectives.combined import CombinedObjective
from lambdaplus.objectives.defaults import BALANCE, default_damping, default_surrogate
from lambdaplus.objectives.lambda_gradient import LambdaGradient, Shape, objective_metric
from lambdaplus.objectives.noise import Noise


class LambdaObjective(Objective):
    """A custom objective that optimises a ranking metric, returned by ``lambda_objective``.

    Attributes
    ----------
    metric : RankingMetric
    shape : Shape
        sigma, normalize and damping.
    noise : Noise or None
    one_group : bool
    optimised : RankingMetric
        The metric of the gradients: ``metric``, or its surrogate.
    balance : float
    """

    metric: RankingMetric

    def __init__(
        self,
        metric: RankingMetric,
        shape: Shape,
        noise: Noise | None = None,
        one_group: bool = False,
        surrogate: RankingMetric | None = None,
        balance: float = BALANCE,
    ) -> None:
        self.metric = metric
        self.shape = shape
        self.one_group = one_group
        self.optimised = metric if surrogate is None else surrogate
        self.noise = noise
        self.balance = number("balance", balance, least=0.0, most=1.0)
        check_flag(one_group=one_group)

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row, (n,) float64 each, weights applied."""
        ranked = scope(self.metric, queries, self.one_group)
        if not ranked.n_queries:  # a worker without rows
            return np.empty(0), np.empty(0)
        gradient = LambdaGradient(
            self.optimised, ranked, self.shape, self.noise, balance=self.balance
        )
        return gradient.at(scores)

    def compares_within_queries(self, queries: Queries) -> bool:
        return scope(self.metric, queries, self.one_group).grouped

    def __repr__(self) -> str:
        s = self.shape
        noise = "" if self.noise is None else f", noise={self.noise!r}"
        one = ", one_group=True" if self.one_group else ""
        other = "" if self.optimised == self.metric else f", surrogate={str(self.optimised)!r}"
        balance = "" if self.balance == BALANCE else f", balance={shortest(self.balance)}"
        return (
            f"lambda_objective({str(self.metric)!r}, sigma={shortest(s.sigma)}, "
            f"normalize={s.normalize}, damping={s.damping}{noise}{one}{other}{balance})"
        )

    def _key(self) -> tuple[Any, ...]:
        s = self
        return s.metric, s.shape, s.noise, s.one_group, s.optimised, s.balance


def lambda_objective(
    metric: str | RankingMetric | Declaration | WeightedSum,
    *,
    sigma: float = 1.0,
    normalize: bool = True,
    damping: float | Literal["default"] | None = "default",
    noise: Noise | float | None = None,
    one_group: bool = False,
    surrogate: str | RankingMetric | None = None,
    balance: float = BALANCE,
    **options: Any,
) -> LambdaObjective | CombinedObjective:
    """Create an objective that optimises a ranking metric or a weighted sum of metrics.

    Parameters
    ----------
    metric : str
        For example ``"ndcg@10"``, ``"map"``, ``"mrr@5"`` or ``"auc"``;
        `~lambdaplus.metrics.metric_names` lists all names.  A sum such as ``"ndcg@10 + 0.5*map"``
        optimises several metrics; ``lambdaplus.objectives.combined`` describes the meaning of the
        weights.
    sigma : float
        Steepness of the logistic function of pairs.  With a larger value, the gradient is
        concentrated earlier on pairs that are still in the wrong order.
    normalize : bool
        Scale the gradient of each query by log2(1 + S) / S, where S is the sum over its pairs of
        ``2 |lambda|``, so that every query contributes and Hessians exceed the thresholds of the
        frameworks (``min_child_weight``, ``min_sum_hessian_in_leaf``).  One ungrouped data set is
        scaled so that absolute gradients sum to half the number of rows, as for log-loss at even
        odds.
    damping : float or None, default=0.01 for NDCG and DCG with a cutoff, None for all others
        Divide each pair by ``damping + |score distance|`` (unless all scores of the query are
        equal), which gives more weight to pairs with close scores, as LightGBM and XGBoost do with
        0.01.  Worth a try where labels are clean or rounds are few.
    noise : Noise, float or None, default=None
        For data with queries, half of the gradient comes from neighbours in rankings by noisy
        scores, as in CatBoost's YetiRank.  A number is the scale of the noise.  It helps a little
        on many data sets, at three times the price of a gradient; see
        `lambdaplus.objectives.noise`.
    one_group : bool
        Treat a data set without queries as a single query, which is always the case for AUC and
        MAP.  For these two metrics row weights are multiplicities, also in the gradient of AUC,
        where a row of weight k gets the sum of the gradients of k copies; the gradient of MAP is
        defined by weighted ranks and differs from that of copies (see
        ``lambdaplus.objectives.lists``).  For other metrics, a weight multiplies the gradient of
        its row.
    surrogate : str or RankingMetric, optional
        The metric whose swap deltas weigh the pairs, while ``metric`` is still the one that is
        evaluated.  Where few pairs change a metric, another one is the default: the metric without
        its cutoff (NDCG for ``"ndcg@10"``), or AUC for metrics of the first relevant document such
        as MRR, P@k and others with a required cutoff.  It is shown in the ``repr`` of the
        objective.  ``surrogate=metric`` weighs the pairs by the metric itself.
    balance : float, default=0.5
        For data without queries, the Hessians of class c are multiplied by
        ``(k n_c / n) ** balance``, where n_c of n rows are of that class and k is the number of
        classes.  With 0, the Hessians of the pairs are used, and those of a rare class are much
        larger than the others'; with 1, all classes have the same mean Hessian, as in log-loss at
        the base rate.  It has no effect for data with queries, nor for metrics that need
        ``one_group``.  See `lambdaplus.objectives.class_balance`.
    **options
        Parameters of the metric: ``gain="linear"`` (NDCG), ``relevant=2`` (label from which a
        document counts as relevant), ``classes=`` and ``share=`` (MAUC).  For a sum, they are
        passed to the metrics that have them.

    Returns
    -------
    LambdaObjective, or CombinedObjective for a sum

    Raises
    ------
    ValueError
        For unknown metrics or options (the message lists the known ones) and for values out of
        range.

    Notes
    -----
    Defaults were chosen on validation queries by one rule: the cheapest option within one standard
    error of the best (``benchmarks/defaults.py``; the page on options has the tables).

    Examples
    --------
    >>> from lambdaplus import lambda_objective
    >>> lambda_objective("ndcg", gain="linear")
    lambda_objective('ndcg(gain=linear)', sigma=1, normalize=True, damping=None)
    >>> lambda_objective("ndcg@10")
    lambda_objective('ndcg@10', sigma=1, normalize=True, damping=0.01, surrogate='ndcg')
    >>> lambda_objective("ndcg@10 + 0.5*map").metric.parts[1][1]
    0.5
    """
    names, weights = zip(*terms_of(metric), strict=True)
    shares = share_options(names, options) if len(names) > 1 else [options]
    parts = []
    for name, mine in zip(names, shares, strict=True):
        named = objective_metric(name, **mine)
        trained = default_surrogate(named) if surrogate is None else objective_metric(surrogate)
        damps = default_damping(named, trained) if damping == "default" else damping
        shape = Shape(sigma, normalize, damps)
        parts.append(LambdaObjective(named, shape, as_noise(noise), one_group, trained, balance))
    if len(parts) == 1 and weights == (1.0,):
        return parts[0]
    return CombinedObjective(tuple(zip(parts, weights, strict=True)))


def as_noise(noise: Noise | float | None) -> Noise | None:
    """Convert a scale to Noise; None and 0 give None."""
    if isinstance(noise, Noise) or noise is None:
        return noise
    scale = number("noise, if it is no Noise or None,", noise, least=0.0)
    return Noise(scale=scale) if scale else None
