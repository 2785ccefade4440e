"""The gradient and Hessian of a ranking metric as a plain function."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.terms import Terms, scope, terms
from lambdaplus.objectives import long_lists
from lambdaplus.objectives.kernels import pair_kernel
from lambdaplus.objectives.lambdas import lambda_queries, query_scale
from lambdaplus.objectives.one_list import list_lambdas
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats, Queries
from lambdaplus.ranking import rank


@dataclass(frozen=True)
class Shape:
    """How swap deltas become gradients, whatever the metric.

    Attributes
    ----------
    sigma : float
        Steepness of the logistic pair function: the larger, the less a pair that is already in
        order by a wide margin counts.
    normalize : bool
        Scale each query by log2(1 + S) / S, S the sum over its pairs of ``2 |lambda|``, as LightGBM
        does; one ungrouped data set is scaled so that absolute gradients sum to half the rows.
        Without it gradients are the textbook ones, whose scale differs from metric to metric and
        from query to query.
    damping : float or None
        Divide each pair by ``damping + |score distance|`` (unless all scores of the query are
        equal), as LightGBM and XGBoost do with 0.01: close pairs then count most.  None or 0:
        don't.
    """

    sigma: float = 1.0
    normalize: bool = True
    damping: float | None = None

    def __post_init__(self) -> None:
        if not (_is_number(self.sigma) and self.sigma > 0):
            raise ValueError(f"sigma must be a positive number, got {self.sigma!r}")
        if self.damping is not None and not (_is_number(self.damping) and self.damping >= 0):
            raise ValueError(f"damping must be None or a number >= 0, got {self.damping!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and math.isfinite(value)


def objective_metric(metric: str | RankingMetric | Declaration, **options: Any) -> RankingMetric:
    """Parse the name of a metric that is to be optimised; a ValueError if it can't be."""
    found = parse_metric(metric, **options)
    if found.declaration.no_objective:
        raise ValueError(f"{found} is no objective: {found.declaration.no_objective}")
    return found


def lambda_gradients(
    metric: RankingMetric,
    queries: Queries,
    scores: ArrayLike,
    shape: Shape,
    *,
    all_pairs: bool = False,
) -> tuple[Floats, Floats]:
    """Gradient and Hessian of every row, (n,) float64 each, weights applied."""
    ranking = rank(queries, scores)
    found = terms(metric, queries)
    plain = pair_kernel(float(shape.sigma), 0.0)
    kernel = pair_kernel(float(shape.sigma), float(shape.damping)) if shape.damping else plain
    pooled = not queries.grouped and metric.declaration.pooled is not None
    all_pairs = all_pairs or metric.declaration.signed_deltas
    gradient, hessian = np.empty(queries.n_documents), np.empty(queries.n_documents)
    alone = _lists_alone(queries, found, all_pairs)
    if not alone.all():
        over_queries(
            lambda_queries, queries.boundaries, queries.boundaries, queries.base, ranking, found,
            kernel, plain, shape.normalize and not pooled, all_pairs, alone, gradient, hessian,
        )  # fmt: skip
    for q in np.flatnonzero(alone).tolist():
        tied = ranking.score[queries.boundaries[q]] == ranking.score[queries.boundaries[q + 1] - 1]
        mine = list_lambdas(
            metric, queries, ranking, found, q, plain if tied else kernel, all_pairs
        )
        scale = 1.0
        if shape.normalize and not pooled and mine.total > 0:
            scale = query_scale(mine.total)
        gradient[mine.rows] = scale * mine.gradient
        hessian[mine.rows] = scale * mine.hessian
    if pooled and shape.normalize:
        # Sums in ranked order: the same bits whatever the order of the rows.
        ranked = queries.base[ranking.place]
        copies = queries.multiplicities
        n = queries.n_documents if copies is None else copies[ranked].sum()
        size = np.abs(gradient[ranked]).sum()
        if size > 0:
            gradient *= n / 2 / size
            hessian *= n / 2 / size
    elif not pooled and queries.weights is not None:
        gradient *= queries.weights
        hessian *= queries.weights
    return gradient, hessian


def _lists_alone(queries: Queries, terms: Terms, all_pairs: bool) -> NDArray[np.bool_]:
    """Which queries take all cores, one after the other: (n_queries,)."""
    classes = np.diff(terms.first)
    simple = ((classes == 2) | ((classes > 2) & terms.gains_only)) & (terms.scale > 0)
    if queries.multiplicities is not None:
        return np.asarray(simple)
    return np.asarray(simple & (queries.sizes >= long_lists.LONG) & (not all_pairs))


def gradients(
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    metric: str | RankingMetric | Declaration,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    sigma: float = 1.0,
    normalize: bool = False,
    damping: float | None = None,
    one_group: bool = False,
    all_pairs: bool = False,
    **options: Any,
) -> tuple[Floats, Floats]:
    """Lambda-gradient and Hessian of a metric: what one boosting round would be given.

    With the defaults (``normalize=False, damping=None``) the textbook ones: each pair of documents
    of different labels adds ``-sigma * |delta M| * rho`` to the better document's gradient and the
    opposite to the worse one's, and ``sigma^2 * |delta M| * rho * (1 - rho)`` to both Hessians.
    rho is ``1 / (1 + exp(sigma * d))``, d the better document's score minus the other's, and
    delta M what the metric changes by if the two trade places in the ranking.

    Parameters
    ----------
    labels, scores : (n,) array_like
    metric : str
        Such as ``"ndcg@10"``.
    group : (n_queries,) array_like of int, optional
        Query sizes; or qid, the query of each row.  With neither, AUC and MAP take all rows as
        one ranking, other metrics if one_group=True.
    qid : (n,) array_like, optional
    weight : (n,) array_like, optional
        Row weights.  They multiply the rows' gradients; without queries AUC and MAP rank by them
        instead, as `lambda_objective` says of ``one_group``.
    sigma, normalize, damping
        See `Shape`.
    all_pairs : bool
        Visit every pair, in O(n^2), instead of sweeping: the reference that tests use.
    **options
        Parameters of the metric, such as ``gain="linear"`` or ``relevant=2``.

    Returns
    -------
    gradient, hessian : (n,) float64

    Raises
    ------
    ValueError
        For labels, scores, groups or weights that can't be used: see ``lambdaplus.queries``.

    Notes
    -----
    Welleck 2016, eqs. 6-19, for AUC and MAUC; Burges 2010 for the others.

    Examples
    --------
    >>> from lambdaplus.objectives import gradients
    >>> gradient, hessian = gradients([0, 1, 0], [2.0, 1.0, 0.0], metric="auc", group=[3])
    >>> gradient.round(4).tolist()
    [0.3655, -0.5, 0.1345]
    """
    shape = Shape(sigma, normalize, damping)
    found = objective_metric(metric, **options)
    queries = scope(found, Queries(labels, group=group, qid=qid, weight=weight), one_group)
    return lambda_gradients(found, queries, scores, shape, all_pairs=all_pairs)
