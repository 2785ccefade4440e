"""The gradient of a metric by the options that a user writes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import check_flag
from lambdaplus.compute.array_types import Floats
from lambdaplus.engine.lambda_gradient import LambdaGradient, queries_to_round
from lambdaplus.engine.ranked_lists import NONE
from lambdaplus.lists.queries import Kind, Queries
from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.forms.form import MetricArrays
from lambdaplus.metrics.metric_arrays import metric_arrays
from lambdaplus.metrics.scope import scope
from lambdaplus.objectives.pair_options import PairOptions, WeighingMetric, refuse_pairs_of
from lambdaplus.ranking.rounding import MOST_CLASSES

# The options of pairs in `gradients`.
TEXTBOOK = {"sigma", "normalize", "pairs"}


def is_as_log_loss(weighing: WeighingMetric, queries: Queries) -> bool:
    """Whether the gradient on these lists has the size of that of log-loss."""
    equal_pairs = queries.kind is Kind.ONE_LIST and weighing.equal_pairs
    return queries.kind is Kind.WEIGHTED_ROWS or equal_pairs


def gradient_on(
    weighing: WeighingMetric, queries: Queries, options: PairOptions, all_pairs: bool = False
) -> LambdaGradient:  # fmt: skip
    """The gradient of a metric on a data set; a ValueError if it has none.

    With ``all_pairs``, every pair is visited, instead of using the sweep.
    """
    metric, equal_pairs = weighing
    arrays = metric_arrays(metric, queries)
    refuse_large_gains(metric, arrays, queries, options)
    total, of_class = size_of_log_loss(metric, queries, options.balance)
    to_round = queries_to_round(metric, equal_pairs, arrays, queries)
    return LambdaGradient(
        metric, equal_pairs, arrays, queries.multiplicities, queries.workers_of_list,
        is_as_log_loss(weighing, queries), total, of_class,
        float(options.sigma), options.normalize, all_pairs,
        [] if all_pairs and queries.workers_of_list.size == 1 else to_round,
    )  # fmt: skip


def size_of_log_loss(
    metric: RankingMetric, queries: Queries, balance: float
) -> tuple[float, Floats]:
    """The sum of the absolute gradients of one list, and factors of the Hessians of its classes."""
    if queries.grouped:
        return 0.0, NONE
    if metric.compares_some:
        return queries.longest / 2, NONE  # as for log-loss of two equal classes
    count = queries.strata(metric.relevant).count
    # That of log-loss at the base rates, so that bounds of Hessians mean the same.
    total = float((count * (1.0 - count / count.sum())).sum())
    # Of classes, not of many labels.
    if not balance or queries.kind is not Kind.WEIGHTED_ROWS or count.size > MOST_CLASSES:
        return total, NONE
    # Rows of weight 0 do not count, nor do classes of such rows.
    return total, (count * ((count > 0).sum() / count.sum())) ** balance


def refuse_large_gains(
    metric: RankingMetric, arrays: MetricArrays, queries: Queries, options: PairOptions
) -> None:
    """Raise a ValueError for metrics and data that have no gradient, or one that overflows."""
    gain, sigma = float(np.abs(arrays.gain).max(initial=0.0)), float(options.sigma)
    row = 1.0 if queries.weights is None else max(float(queries.weights.max(initial=0.0)), 1.0)
    sums = gain * max(queries.longest, 1)
    in_units = 0.0 if options.normalize else sums * float(arrays.scale.max(initial=0.0))
    if sums > 1e300 or in_units > 1e30:
        raise ValueError(
            f"{metric} has gains up to {gain:g}, whose sums over a query would be too large for "
            "its gradient: divide the labels by a constant"
        )
    # Sums are of float64, with the multiplicities of both rows; results are of float32, to 3e38.
    pair = max(1.0, sigma) ** 2 * (1.0 if queries.multiplicities is None else row**2)
    result = max(in_units * sigma, 1.0) * sigma * row
    if sums > 1e300 / pair or result > 1e36:
        raise ValueError(
            f"{metric} with sigma={sigma:g}, gains up to {gain:g} and weights up to {row:g} has "
            "Hessians that would be too large: divide one of them by a constant"
        )
    if queries.multiplicities is not None:
        count = queries.strata(metric.relevant).count
        if (count > 0).sum() == 1 < count.size:
            raise ValueError(
                f"{metric}: the rows of all classes but one have weight 0, so there is nothing to "
                "rank: pass weights above 0 for some rows of the others"
            )


def gradients(
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    metric: str | RankingMetric | Declaration,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    one_group: bool = False,
    all_pairs: bool = False,
    **options: Any,
) -> tuple[Floats, Floats]:
    """Compute the lambda-gradient and Hessian of a metric by the textbook definition.

    Each pair of documents with different labels adds ``-sigma * |delta M| * rho`` to the gradient
    of the better document and the opposite to that of the worse one, and
    ``sigma^2 * |delta M| * rho * (1 - rho)`` to both Hessians.  Here rho is
    ``1 / (1 + exp(sigma * d))``, d is the score of the better document minus that of the other, and
    delta M is the change of the metric if the two are swapped in the ranking (Burges 2010; for AUC
    and MAUC: Welleck 2016, eqs. 6-19).  For the normalised values of a training, call an objective:
    ``lambda_objective(metric)(labels, scores, None, group)``.

    Parameters
    ----------
    labels, scores : (n,) array_like
    metric : str, RankingMetric or Declaration
        For example ``"ndcg@10"``.
    group : (n_queries,) array_like of int, optional
        Query sizes.  If neither ``group`` nor ``qid`` is given, AUC, MAUC and MAP treat all rows
        as one ranking; other metrics require ``one_group=True``.
    qid : (n,) array_like, optional
        Query of each row; the rows of a query must be adjacent.
    weight : (n,) array_like, optional
        Row weights.  They multiply the gradients of the rows; for AUC, MAUC and MAP without
        queries they are multiplicities, see ``one_group`` of `lambda_objective`.
    one_group : bool, default=False
        Treat data without queries as a single ranking.
    all_pairs : bool, default=False
        Visit every pair, in O(n^2), instead of using the sweep.
    **options
        ``sigma=1.0``, ``normalize=False`` and ``pairs="swap"`` of `lambda_objective`; and
        parameters of the metric, such as ``gain="linear"`` or ``relevant=2``.

    Returns
    -------
    gradient, hessian : (n,) float64

    Raises
    ------
    ValueError
        For invalid labels, scores, groups, weights or options, for a metric that is unknown or
        cannot be an objective, and for data without queries if the metric needs them.

    Examples
    --------
    >>> from lambdaplus.objectives import gradients
    >>> gradient, hessian = gradients([0, 1, 0], [2.0, 1.0, 0.0], metric="auc", group=[3])
    >>> gradient.round(4).tolist()
    [0.3655, -0.5, 0.1345]
    """
    check_flag(one_group=one_group, all_pairs=all_pairs)
    of_pairs = {name: options.pop(name) for name in TEXTBOOK & options.keys()}
    pairs = PairOptions(**{"normalize": False, "balance": 0.0, **of_pairs})
    optimised = parse_metric(metric, **options)
    if pairs.pairs != "default":
        refuse_pairs_of([optimised])
    queries = scope(optimised, Queries(labels, group=group, qid=qid, weight=weight), one_group)
    weighing = WeighingMetric(optimised, pairs.pairs == "equal" or optimised.compares_some)
    return gradient_on(weighing, queries, pairs, all_pairs=all_pairs).at(queries, scores)
