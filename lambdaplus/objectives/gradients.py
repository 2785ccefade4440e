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
from lambdaplus.objectives.lists import Sums, pair_sums
from lambdaplus.objectives.noisy_neighbours import Noise, neighbour_sums
from lambdaplus.objectives.ranked import Ranked, ranked_queries, with_metric
from lambdaplus.objectives.rows import derivatives_of
from lambdaplus.objectives.sweep import Derivatives
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats, Queries
from lambdaplus.ranking import rank

# If no pair contributes, sums only contain the sweep's guard against denormal numbers, which must
# not be scaled up.
NOTHING = 1e-100


@dataclass(frozen=True)
class Shape:
    """Parameters of the gradient that do not depend on the metric.

    Attributes
    ----------
    sigma : float
        Steepness of the logistic pair function.  The larger it is, the smaller is the contribution
        of pairs that are already ordered correctly by a wide margin.
    normalize : bool
        Scale each query by log2(1 + S) / S, where S is the sum over its pairs of ``2 |lambda|``, as
        in LightGBM; one ungrouped data set is scaled so that absolute gradients sum to half the
        number of rows.  If False, gradients are those of the textbook definition, whose scale
        differs between metrics and between queries.
    damping : float or None
        Divide each pair by ``damping + |score distance|`` (unless all scores of the query are
        equal), so that pairs with close scores have the largest weight; LightGBM and XGBoost use
        0.01.  None or 0: no damping.
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
    """Parse the name of a metric, and raise a ValueError if it cannot be optimised."""
    parsed = parse_metric(metric, **options)
    if parsed.declaration.training.refusal:
        raise ValueError(
            f"{parsed} is not available as an objective: {parsed.declaration.training.refusal}"
        )
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
    ranked = ranked_queries(metric, queries, scores)
    out, _ = _of_all_pairs(metric, queries, ranked, shape, all_pairs)
    apply_weights(metric, queries, out)
    return out


def noisy_gradients(
    metric: RankingMetric, queries: Queries, scores: ArrayLike, shape: Shape, noise: Noise
) -> Derivatives:
    """Like `lambda_gradients`, with a share of the gradient from noisy neighbours.

    Before weights are applied, absolute gradients sum to half the number of rows in queries that
    have pairs to compare, just as those of one data set without queries sum to half its rows.
    """
    weighing, to_train = (parse_metric(one or metric) for one in (noise.metric, noise.all_pairs))
    ranking = rank(queries, scores)
    ranked = with_metric(weighing, queries, ranking)
    neighbours = derivatives_of(queries.n_documents)
    size = neighbour_sums(ranked, weighing, noise, shape.sigma, neighbours)
    parts = [(noise.share, neighbours, size)]
    if noise.share < 1:
        clean = ranked if to_train == weighing else with_metric(to_train, queries, ranking)
        parts.append((1 - noise.share, *_of_all_pairs(to_train, queries, clean, shape)))
    # Queries without pairs must not change the scale of the others.
    teaches = (np.diff(ranked.metric.first) > 1) & (ranked.metric.scale > 0)
    rows = float(queries.sizes[teaches].sum())
    for share, part, size in parts:
        for array in part:
            array *= share * rows / 2 / size if size > NOTHING else 0.0
    out = neighbours
    for _, part, _ in parts[1:]:
        for total, array in zip(out, part, strict=True):
            total += array
    apply_weights(metric, queries, out)
    return out


def _of_all_pairs(
    metric: RankingMetric,
    queries: Queries,
    ranked: Ranked,
    shape: Shape,
    all_pairs: bool = False,
) -> tuple[Derivatives, float]:
    """Gradient and Hessian of every row, and the sum of absolute gradients."""
    all_pairs = all_pairs or metric.declaration.signed_deltas
    out = derivatives_of(queries.n_documents)
    sums = pair_sums(ranked, shape.sigma, shape.damping, all_pairs, out)
    return out, scale_queries(metric, queries, ranked, sums, shape.normalize, out)


def _is_pooled(metric: RankingMetric, queries: Queries) -> bool:
    return not queries.grouped and metric.declaration.pooled is not None


def scale_queries(
    metric: RankingMetric,
    queries: Queries,
    ranked: Ranked,
    sums: Sums,
    normalize: bool,
    out: Derivatives,
) -> float:
    """Divide by Z, and normalise if ``normalize``, in place; return the sum of absolute gradients.

    Parameters
    ----------
    sums : Sums
        Sums of each query, in units of Z like the values in ``out``.
    """
    factor = ranked.metric.scale
    if normalize:
        pooled = _is_pooled(metric, queries)
        factor = factor * (
            _half_the_rows(ranked, sums) if pooled else _log_of_sums(ranked, sums.received)
        )
    over_queries(_multiply, queries.boundaries, queries.boundaries, factor, out)
    return float((sums.absolute * factor).sum())


def apply_weights(metric: RankingMetric, queries: Queries, out: Derivatives) -> None:
    """Multiply rows by their weights, in place, unless these are multiplicities."""
    if queries.weights is not None and not _is_pooled(metric, queries):
        for array in out:
            array *= queries.weights


def _log_of_sums(ranked: Ranked, received: Floats) -> Floats:
    """log2(1 + S) / S of each query, in full precision also for small S; 1 if S is 0."""
    S = received * ranked.metric.scale
    return np.divide(np.log1p(S), math.log(2.0) * S, out=np.ones_like(S), where=S > 0)


def _half_the_rows(ranked: Ranked, sums: Sums) -> float:
    """The factor by which absolute gradients add up to half the rows of one data set."""
    size = float(sums.absolute[0] * ranked.metric.scale[0])
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
    """Compute the lambda-gradient and Hessian of a metric by the textbook definition.

    Each pair of documents with different labels adds ``-sigma * |delta M| * rho`` to the gradient
    of the better document and the opposite to that of the worse one, and
    ``sigma^2 * |delta M| * rho * (1 - rho)`` to both Hessians.  Here rho is
    ``1 / (1 + exp(sigma * d))``, d is the score of the better document minus that of the other, and
    delta M is the change of the metric if the two are swapped in the ranking.  A boosting round
    uses the values of the objective instead, ``lambda_objective(metric)(labels, scores, None,
    group)``, which are normalised and have other defaults.

    Parameters
    ----------
    labels, scores : (n,) array_like
    metric : str
        For example ``"ndcg@10"``.
    group : (n_queries,) array_like of int, optional
        Query sizes.  If neither ``group`` nor ``qid`` is given, AUC and MAP treat all rows as one
        ranking; other metrics require ``one_group=True``.
    qid : (n,) array_like, optional
        Query of each row.
    weight : (n,) array_like, optional
        Row weights.  They multiply the gradients of the rows; for AUC and MAP without queries they
        are multiplicities, see ``one_group`` of `lambda_objective`.
    one_group : bool
        Treat data without queries as a single ranking.
    all_pairs : bool
        Visit every pair, in O(n^2), instead of using the sweep.  This is the reference in tests.
    **options
        ``sigma=1.0``, ``normalize=False`` and ``damping=None``, see `Shape`; and parameters of the
        metric, such as ``gain="linear"`` or ``relevant=2``.

    Returns
    -------
    gradient, hessian : (n,) float64

    Raises
    ------
    ValueError
        For invalid labels, scores, groups or weights: see ``lambdaplus.queries``.

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
