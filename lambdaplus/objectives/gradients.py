"""The gradient and Hessian of a ranking metric as a plain function."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compiled import compiled
from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.arrays import scope
from lambdaplus.objectives.lists import Ranked, pair_sums, ranked_queries
from lambdaplus.objectives.noisy_neighbours import Noise, neighbour_sums
from lambdaplus.objectives.sweep import Derivatives
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats, Queries

# Where no pair is left, only the sweep's guard against denormal numbers is: it is not scaled up.
NOTHING = 1e-100


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
    parsed = parse_metric(metric, **options)
    if parsed.declaration.training.refusal:
        raise ValueError(f"{parsed} is no objective: {parsed.declaration.training.refusal}")
    return parsed


def lambda_gradients(
    metric: RankingMetric,
    queries: Queries,
    scores: ArrayLike,
    shape: Shape,
    *,
    all_pairs: bool = False,
) -> Derivatives:
    """Gradient and Hessian of every row, (n,) float64 each, weights applied."""
    out = _of_all_pairs(metric, queries, scores, shape, all_pairs)
    apply_weights(metric, queries, out)
    return out


def noisy_gradients(
    metric: RankingMetric, queries: Queries, scores: ArrayLike, shape: Shape, noise: Noise
) -> Derivatives:
    """As `lambda_gradients`, with noisy neighbours in their share of the gradient.

    Before weights are applied, absolute gradients sum to half the rows of the queries that have
    documents to compare, as those of one data set without queries sum to half its rows.
    """
    weighing = metric if noise.metric is None else parse_metric(noise.metric)
    ranked = ranked_queries(weighing, queries, scores)
    neighbours = _room(queries)
    neighbour_sums(ranked, weighing, noise, shape.sigma, neighbours)
    parts = [(noise.share, neighbours)]
    if noise.share < 1:
        parts.append((1 - noise.share, _of_all_pairs(metric, queries, scores, shape)))
    out = Derivatives(np.zeros(queries.n_documents), np.zeros(queries.n_documents))
    # Queries that teach nothing must not change what the others do.
    teaches = (np.diff(ranked.metric.first) > 1) & (ranked.metric.scale > 0)
    rows = float(queries.sizes[teaches].sum())
    for share, part in parts:
        # Sums in ranked order: the same bits whatever the order of the rows.
        size = float(np.abs(part.gradient[ranked.row]).sum())
        factor = share * rows / 2 / size if size > NOTHING else 0.0
        for total, array in zip(out, part, strict=True):
            total += factor * array
    apply_weights(metric, queries, out)
    return out


def _of_all_pairs(
    metric: RankingMetric,
    queries: Queries,
    scores: ArrayLike,
    shape: Shape,
    all_pairs: bool = False,
) -> Derivatives:
    ranked = ranked_queries(metric, queries, scores)
    all_pairs = all_pairs or metric.declaration.signed_deltas
    out = _room(queries)
    received = pair_sums(ranked, shape.sigma, shape.damping, all_pairs, out)
    scale_queries(metric, queries, ranked, received, shape.normalize, out)
    return out


def _room(queries: Queries) -> Derivatives:
    return Derivatives(np.empty(queries.n_documents), np.empty(queries.n_documents))


def _is_pooled(metric: RankingMetric, queries: Queries) -> bool:
    return not queries.grouped and metric.declaration.pooled is not None


def scale_queries(
    metric: RankingMetric,
    queries: Queries,
    ranked: Ranked,
    received: Floats,
    normalize: bool,
    out: Derivatives,
) -> None:
    """Divide by Z, and normalise if asked for, in place.

    Parameters
    ----------
    received : (n_queries,) float64
        S of each query, in units of Z as what stands in ``out``.
    """
    factor = ranked.metric.scale
    if normalize:
        pooled = _is_pooled(metric, queries)
        factor = factor * (
            _half_the_rows(ranked, out) if pooled else _log_of_sums(ranked, received)
        )
    over_queries(_multiply, queries.boundaries, queries.boundaries, factor, out)


def apply_weights(metric: RankingMetric, queries: Queries, out: Derivatives) -> None:
    """Multiply rows by their weights, in place, where these are not multiplicities."""
    if queries.weights is not None and not _is_pooled(metric, queries):
        for array in out:
            array *= queries.weights


def _log_of_sums(ranked: Ranked, received: Floats) -> Floats:
    """log2(1 + S) / S of each query, to the last digits where S is small too; 1 where it is 0."""
    S = received * ranked.metric.scale
    return np.divide(np.log1p(S), math.log(2.0) * S, out=np.ones_like(S), where=S > 0)


def _half_the_rows(ranked: Ranked, out: Derivatives) -> float:
    """What makes absolute gradients add up to half the rows of one data set."""
    # Sums in ranked order: the same bits whatever the order of the rows.
    size = float(np.abs(out.gradient[ranked.row]).sum() * ranked.metric.scale[0])
    rows = ranked.copies.sum() if ranked.copies.size else ranked.row.size
    return float(rows / 2 / size) if size > NOTHING else 1.0


@compiled
def _multiply(first: int, last: int, boundaries: Any, factor: Any, out: Any) -> None:
    gradient, hessian = out.gradient, out.hessian
    for q in range(first, last):
        for row in range(boundaries[q], boundaries[q + 1]):
            gradient[row] *= factor[q]
            hessian[row] *= factor[q]


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
    """The textbook lambda-gradient and Hessian of a metric.

    Each pair of documents of different labels adds ``-sigma * |delta M| * rho`` to the better
    document's gradient and the opposite to the worse one's, and
    ``sigma^2 * |delta M| * rho * (1 - rho)`` to both Hessians.  Here rho is
    ``1 / (1 + exp(sigma * d))``, d the better document's score minus the other's, and delta M what
    the metric changes by if the two trade places in the ranking.  What a boosting round is given
    is the objective's answer, ``lambda_objective(metric)(labels, scores, None, group)``, which is
    normalised and has defaults of its own.

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
    one_group : bool
    all_pairs : bool
        Visit every pair, in O(n^2), instead of sweeping: the reference that tests use.
    **options
        ``sigma=1.0``, ``normalize=False`` and ``damping=None``, see `Shape`; and parameters of the
        metric, such as ``gain="linear"`` or ``relevant=2``.

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
    textbook: dict[str, Any] = {"sigma": 1.0, "normalize": False, "damping": None}
    shape = Shape(**{name: options.pop(name, value) for name, value in textbook.items()})
    chosen = objective_metric(metric, **options)
    queries = scope(chosen, Queries(labels, group=group, qid=qid, weight=weight), one_group)
    return lambda_gradients(chosen, queries, scores, shape, all_pairs=all_pairs)
