"""Objectives of a metric or of a sum of metrics, by name and options."""

from __future__ import annotations

from typing import Any, cast

from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.names import default_surrogate, share_options
from lambdaplus.metrics.weighted_sum import WeightedSum, terms_of
from lambdaplus.objectives.combined_objective import CombinedObjective
from lambdaplus.objectives.log_loss import LogLoss, find_log_loss
from lambdaplus.objectives.metric_objective import LambdaObjective
from lambdaplus.objectives.objective import Objective
from lambdaplus.objectives.pair_options import PairOptions, allows_equal_pairs, refuse_pairs_of

DEFAULT = PairOptions()


def lambda_objective(
    metric: str | RankingMetric | Declaration | WeightedSum,
    *,
    sigma: float = DEFAULT.sigma,
    normalize: bool = DEFAULT.normalize,
    one_group: bool = False,
    surrogate: str | RankingMetric | None = None,
    balance: float = DEFAULT.balance,
    pairs: str = DEFAULT.pairs,
    **options: Any,
) -> LambdaObjective | CombinedObjective:
    """Create an objective that optimises a ranking metric or a weighted sum of metrics.

    Parameters
    ----------
    metric : str, RankingMetric or Declaration
        For example ``"ndcg@10"``, ``"map"``, ``"mrr@5"`` or ``"auc"``;
        `~lambdaplus.metrics.metric_names` lists all names.  A sum such as ``"ndcg@10 + 0.5*map"``
        optimises several metrics; `combine` describes the meaning of the weights.  A part may be
        ``logloss``, see `LogLoss`.
    sigma : float, default=1.0
        Scale of score differences in the pairwise loss.  With a larger value, the gradient is
        concentrated earlier on pairs that are in the wrong order.
    normalize : bool, default=True
        Scale the gradient of each query by log2(1 + S) / S, where S is the sum over its pairs of
        ``2 |lambda|``, so that every query contributes and Hessians exceed the thresholds of the
        frameworks (``min_child_weight``, ``min_sum_hessian_in_leaf``).  One data set without
        queries is scaled so that the absolute gradients sum to those of log-loss at a constant
        prediction of the base rate: n times the sum over classes of p (1 - p), where p is the
        class's share of the n rows.
    one_group : bool, default=False
        Treat a data set without queries as a single query, which is always the case for AUC, MAUC
        and MAP.  For these metrics a row of weight k counts as k identical rows; for AUC, it gets
        the sum of their gradients (see the page "What is one ranking").  For other
        metrics, a weight multiplies the gradient of its row.
    surrogate : str, RankingMetric or Declaration, optional
        The metric whose swap deltas weight the pairs; ``metric`` is still the one that is
        evaluated.  By default it is ``metric`` without its cutoff (NDCG for ``"ndcg@10"``), except
        for metrics that few swaps change: ``"arhr"``, the reciprocal ranks of all relevant
        documents, stands in for MRR and success@k, and MAP for P@k, recall@k, F1@k, R-precision
        and ``top_precision``.  The name and the repr of the objective show it.
        ``surrogate=metric`` weights the pairs by the metric itself.  Metrics with the same
        surrogate train the same model: ``"ndcg@1"`` and ``"ndcg@100"``, or ``"p@5"``,
        ``"recall@10"`` and ``"map"``.
    balance : float, default=0.5
        For data without queries, the Hessians of class c are multiplied by
        ``(k n_c / n) ** balance``, where n_c of n rows are of that class and k is the number of
        classes (with weights, n_c and n are sums of weights).  With 0, the Hessians of the pairs
        are used, which are much larger for a rare class, so that its leaves take small steps; with
        1, all classes have the same mean Hessian, as in log-loss at the base rate.  It has no
        effect for data with queries, nor for metrics that need ``one_group``.
    pairs : {"default", "swap", "equal"}
        For AUC, MAUC and concordance, the weight of a pair: the change of the metric (or of the
        surrogate) if the two documents are swapped, or if they were neighbours, which is equal for
        all pairs of two labels.  The default is ``"equal"`` without queries and for concordance,
        and else ``"swap"``.  A ``surrogate`` that is set has ``"swap"``.  AUC without queries is by
        default the sum ``"0.5*auc + 0.5*logloss"``; with ``pairs="equal"``, in a sum, or with
        ``normalize=False``, it has no log-loss.
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
        For unknown metrics or options (the message lists the known ones), and values of the wrong
        type or out of range.

    Examples
    --------
    >>> from lambdaplus import lambda_objective
    >>> lambda_objective("ndcg", gain="linear")
    lambda_objective('ndcg(gain=linear)')
    >>> lambda_objective("ndcg@10")
    lambda_objective('ndcg@10', surrogate='ndcg')
    >>> lambda_objective("ndcg@10 + 0.5*map").metric.parts[1][1]
    0.5
    >>> lambda_objective("map", sigma=2.0, normalize=False).sigma
    2.0
    >>> lambda_objective("auc", balance=0.0).balance  # for data without queries
    0.0
    >>> lambda_objective("map + logloss").__name__
    'lambda_map+logloss'
    >>> lambda_objective("mauc", pairs="swap")
    lambda_objective('mauc', pairs='swap')
    >>> lambda_objective("err", one_group=True).one_group
    True
    >>> str(lambda_objective("mrr", surrogate="mrr").surrogate)
    'mrr'
    """
    terms = terms_of(metric)
    losses = [find_log_loss(name, options.get("relevant"), sigma) for name, _ in terms]
    names = [name for (name, _), loss in zip(terms, losses, strict=True) if loss is None]
    if not names:
        raise ValueError(
            f"{metric!r} does not rank: add a ranking metric, as in 'logloss + map', or use the "
            "framework's own log-loss, objective='binary' or 'binary:logistic'"
        )
    of_pairs = PairOptions(sigma=sigma, normalize=normalize, balance=balance, pairs=pairs)
    shares = iter(share_options(names, options) if len(names) > 1 else [options])
    parts: list[tuple[Objective | LogLoss, float]] = []
    weighing: list[RankingMetric] = []
    for (name, weight), loss in zip(terms, losses, strict=True):
        if loss is not None:
            parts.append((loss, weight))
            continue
        parsed = parse_metric(name, **next(shares))
        weighs = parsed if surrogate is None else parse_metric(surrogate)
        weighing.append(weighs)
        own = pairs if allows_equal_pairs(weighs) else "default"
        if own == "default" and surrogate is None:
            weighs = default_surrogate(parsed)
        elif own == "default" and allows_equal_pairs(weighs):
            own = "swap"
        made = LambdaObjective(parsed, weighs, one_group, **{**vars(of_pairs), "pairs": own})
        parts.append((made, weight))
    if pairs != "default":
        refuse_pairs_of(weighing)
    only, weight = parts[0]
    if len(parts) == 1 and weight == 1.0 and isinstance(only, LambdaObjective):
        return only
    return CombinedObjective(tuple(parts))


lambda_auc, lambda_mauc, lambda_map, lambda_mrr, lambda_ndcg = (
    cast(LambdaObjective, lambda_objective(name)) for name in ("auc", "mauc", "map", "mrr", "ndcg")
)
