"""Gradients from pairs of neighbours in noisy rankings, with weights from the same potentials.

Noise is added to the scores of a query, its documents are ranked by the sum, and each document is
compared with its neighbours in that ranking only.  The weight of a pair is its swap delta in the
noisy ranking, a difference of potentials (see ``lambdaplus.metrics.potentials``), so this works for
every declared metric.  The logistic function is evaluated at the scores without noise.  With w the
mean weight of a pair over several rankings and d the score of the better document minus that of the
other,

    gradient  -sigma w rho, rho = 1 / (1 + exp(sigma d)), for the better document, its opposite for
              the other,
    Hessian   sigma^2 w rho (1 - rho) for both; or sigma^2 w with curvature="weights", which bounds
              each step by the weights of the pairs in a leaf, regardless of their scores.  This is
              a stronger regularisation and needs more rounds.

The noise is determined by the seed and by the scores and labels of a query, document by document in
ranked order.  It does not depend on the order of the rows or on the number of threads, changes with
the scores in every round, and is not repeated when a training is continued.

This is the method of CatBoost's YetiRank, whose weights can be reproduced: `YETIRANK_MAP` for its
mode MAP, and ``dcg(gain=linear)`` for its mode NDCG without division by the ideal.  Lyzhin,
Ustimenko, Gulin, Prokhorenkova 2023, "Which Tricks are Important for Learning to Rank?", ICML.

Examples
--------
>>> from lambdaplus import lambda_objective
>>> from lambdaplus.objectives import Noise
>>> objective = lambda_objective("map", noise=Noise(scale=1.0, rankings=3, share=1.0))
>>> gradient, hessian = objective([1, 0, 0], [0.0, 1.0, 2.0], None, [3])
>>> bool(gradient[0] < 0 < gradient[2])
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from lambdaplus.compiled import borrowed, compiled
from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics import components as c
from lambdaplus.metrics.parameters import shortest
from lambdaplus.objectives.lists import n_lists, ranked_list
from lambdaplus.objectives.ranked import Ranked, discount_of_copies
from lambdaplus.objectives.rows import write_by_row
from lambdaplus.objectives.sweep import Derivatives
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats
from lambdaplus.ranking import Ranking, sort_lists

YETIRANK_MAP = Declaration(
    name="yetirank_map",
    title="Gain with a discount that decreases by 1/r from rank r to the next",
    source="CatBoost 1.2, YetiRank:mode=MAP, for one neighbour",
    binary=True,
    discount=lambda metric, rank: -_harmonic(rank - 1.0),
    gain=c.relevance,
    normalizer=c.any_relevant,
)


def _harmonic(n: Floats) -> Floats:
    """1 + 1/2 + ... + 1/n for whole numbers n."""
    sums = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, n.max() + 1.0))])
    return np.asarray(sums[n.astype(np.int64)])


# Below this, sums of two strengths lose digits, as they are close to the smallest float64.
FAINT = 1e-280


@dataclass(frozen=True)
class Noise:
    """Parameters of the part of the gradient that comes from neighbours in noisy rankings.

    Attributes
    ----------
    scale : float
        Scale of the logistic noise added to the scores (1 as in YetiRank).  More noise moves
        documents from lower ranks to the top, and regularises more.
    rankings : int
        Number of noisy rankings in each round.  Three gave the same accuracy as ten.
    neighbours : int, optional
        Number of following documents that each document is compared with.  Defaults to that of the
        metric which gives the weights: 1, or where few pairs of direct neighbours have a weight,
        10 for metrics of the first relevant document, as MRR, and 30 with other cutoffs.
    share : float
        Share of the gradient, above 0 and at most 1; the rest comes from all pairs in the ranking
        without noise.  Each part is first divided by its mean absolute gradient.
    metric : RankingMetric or str, optional
        Metric that gives the weights of neighbours.  Defaults to the metric of the objective.
    all_pairs : RankingMetric or str, optional
        Metric that gives the weights of all pairs in the ranking without noise.  Defaults to the
        metric of the objective without its cutoff, and to AUC for metrics of the first relevant
        document, which give few pairs a weight.
    divide : bool
        Divide weights by the normaliser Z of the metric, such as the number of relevant documents
        in average precision.  If False, as in CatBoost, queries with a larger normaliser have
        larger weights.
    curvature : {"logistic", "weights"}
        The Hessian: the weights of a document's pairs times rho (1 - rho), or only the weights.
    seed : int
        Seed of the noise.
    """

    scale: float = 1.0
    rankings: int = 3
    neighbours: int | None = None
    share: float = 0.5
    metric: RankingMetric | str | None = None
    all_pairs: RankingMetric | str | None = None
    divide: bool = False
    curvature: Literal["logistic", "weights"] = "logistic"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("metric", "all_pairs"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, parse_metric(getattr(self, name)))
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ValueError(f"the noise's scale must be a positive number, got {self.scale!r}")
        if not 0 < self.share <= 1:
            raise ValueError(f"the noise's share must be above 0 and at most 1, got {self.share!r}")
        for name in ("rankings", "neighbours"):
            number = getattr(self, name)
            if number is not None and (number < 1 or number != int(number)):
                raise ValueError(f"{name} must be a whole number, at least 1")
        if self.curvature not in ("weights", "logistic"):
            raise ValueError(f"curvature={self.curvature!r} is not one of weights, logistic")

    def __repr__(self) -> str:
        changed = []
        for one in fields(self):
            value = getattr(self, one.name)
            if value != one.default:
                text = shortest(value) if isinstance(value, float) else repr(value)
                text = repr(str(value)) if one.name in ("metric", "all_pairs") else text
                changed.append(f"{one.name}={text}")
        return f"Noise({', '.join(changed)})"


def neighbour_sums(
    ranked: Ranked, metric: RankingMetric, noise: Noise, sigma: float, out: Derivatives
) -> float:
    """Write gradient and Hessian of the noisy rankings by row.

    Parameters
    ----------
    ranked : Ranked
        Documents in the order of the scores without noise.
    metric : RankingMetric
        The metric of the arrays in ``ranked``.

    Returns
    -------
    float
        The sum of absolute gradients.
    """
    n, boundaries = ranked.score.size, ranked.boundaries
    keys = np.empty(boundaries.size - 1, dtype=np.uint64)
    over_queries(_keys, boundaries, ranked, np.uint64(noise.seed), keys)
    best = np.repeat(ranked.score[boundaries[:-1]], np.diff(boundaries))
    with np.errstate(under="ignore", over="ignore"):  # scores may be any finite numbers
        strength = np.exp(sigma * (ranked.score - best))
    neighbours = noise.neighbours or metric.neighbours
    weighing = (sigma, neighbours, noise.curvature == "logistic", noise.divide)
    by_rank = Derivatives(np.zeros(n), np.zeros(n))
    relevance = np.empty(n, np.int32)
    for k in range(noise.rankings):
        noisy = Ranking(np.arange(n, dtype=ranked.row.dtype), np.empty(n))
        over_queries(_perturb, boundaries, ranked, keys, k, noise.scale, noisy.score)
        sort_lists(noisy, boundaries)
        discount, copies = ranked.discount, ranked.copies
        if copies.size:
            copies = copies[noisy.permutation]
            discount = discount_of_copies(metric, copies)
        shuffled = ranked._replace(
            row=noisy.permutation,
            score=noisy.score,
            relevance=relevance,
            discount=discount,
            copies=copies,
        )
        over_queries(_compare_neighbours, boundaries, ranked, shuffled, strength, weighing, by_rank)
    for part in by_rank:
        part /= noise.rankings
    absolute = np.empty(boundaries.size - 1)
    over_queries(_write_queries, boundaries, ranked, by_rank, absolute, out)
    return float(absolute.sum())


@compiled
def _mixed(state: Any) -> Any:
    """SplitMix64 (Steele, Lea & Flood 2014): 64 bits that depend on all bits of the state."""
    state += np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def _keys(first: int, last: int, ranked: Any, seed: Any, keys: Any) -> None:
    """A number for each query that depends on the seed and on its ranked scores and classes."""
    bits, relevance = ranked.score.view(np.uint64), ranked.relevance
    for q in range(first, last):
        key = _mixed(seed)
        for r in range(ranked.boundaries[q], ranked.boundaries[q + 1]):
            key = _mixed(key ^ bits[r] ^ np.uint64(relevance[r]))
        keys[q] = key


@compiled
def _perturb(
    first: int, last: int, ranked: Any, keys: Any, ranking: int, scale: float, noisy: Any
) -> None:
    """Add logistic noise to the scores."""
    score, boundaries = ranked.score, ranked.boundaries
    for q in range(first, last):
        key = _mixed(keys[q] ^ np.uint64(ranking))
        for r in range(boundaries[q], boundaries[q + 1]):
            bits = _mixed(key + np.uint64(r - boundaries[q])) >> np.uint64(11)
            uniform = (float(bits) + 0.5) * 2.0**-53
            noisy[r] = score[r] + scale * math.log(uniform / (1.0 - uniform))


@compiled(error_model="numpy")
def _compare_neighbours(
    first: int, last: int, ranked: Any, shuffled: Any, strength: Any, weighing: Any, by_rank: Any
) -> None:
    """Add the pairs of neighbours of one noisy ranking, whose classes are written on the way.

    Parameters
    ----------
    ranked, shuffled : Ranked
        The ranking without noise, and the noisy one with the rank without noise as ``row``.
    strength : (n,) float64
        exp(sigma * score) in units of the best document of the query, by rank without noise.  With
        the strengths x and y of the better and the worse document, rho is y / (x + y) (Bradley &
        Terry 1952), so that one exponential of each document is enough.
    """
    sigma, neighbours, logistic, divide = weighing
    ranked, shuffled, by_rank = borrowed(ranked), borrowed(shuffled), borrowed(by_rank)
    gradient, hessian, clean_score = by_rank.gradient, by_rank.hessian, ranked.score
    for q in range(first, last):
        start, stop = shuffled.boundaries[q], shuffled.boundaries[q + 1]
        clean_rank = shuffled.row[start:stop]
        for r in range(stop - start):
            shuffled.relevance[start + r] = ranked.relevance[clean_rank[r]]
        scale = sigma * (shuffled.metric.scale[q] if divide else 1.0)
        for k in range(n_lists(shuffled, q)):
            members, its_list = ranked_list(shuffled, q, k)
            relevance, gain, copies = its_list.relevance, its_list.gain, its_list.copies
            U, V, every = its_list.U, its_list.V, members.size == 0
            # Below a cutoff, or the first relevant document, no pair has a weight.
            end = U.size - 1
            while end > 0 and U[end - 1] == U[end] and V[end - 1] == V[end]:
                end -= 1
            for apart in range(1, min(neighbours, U.size - 1) + 1):
                for i in range(min(end, U.size - apart)):
                    j = i + apart
                    rank_i, rank_j = (i, j) if every else (members[i], members[j])
                    if rank_j - rank_i > neighbours:
                        continue
                    a, b = relevance[i], relevance[j]
                    # Selections instead of branches, as no one can predict which class comes next;
                    # two documents of one class have the weight 0.
                    concordant, discordant = U[i] - U[j], V[i] - V[j]
                    gap = concordant if a > b else discordant
                    weight = scale * abs(gap * (gain[a] - gain[b]))
                    if copies.size:
                        weight *= copies[i] * copies[j]
                    x, y = clean_rank[rank_i], clean_rank[rank_j]
                    of_x, of_y = strength[x], strength[y]
                    both = of_x + of_y
                    if both > FAINT:
                        rho = (of_y if a > b else of_x) / both
                    else:
                        distance = clean_score[x] - clean_score[y]
                        rho = 1.0 / (1.0 + math.exp(sigma * (distance if a > b else -distance)))
                    push = weight * (rho if a > b else -rho)
                    curve = sigma * weight * (rho * (1.0 - rho) if logistic else 1.0)
                    gradient[x] -= push
                    gradient[y] += push
                    hessian[x] += curve
                    hessian[y] += curve


@compiled
def _write_queries(
    first: int, last: int, ranked: Any, by_rank: Any, absolute: Any, out: Any
) -> None:
    ranked, by_rank, out = borrowed(ranked), borrowed(by_rank), borrowed(out)
    for q in range(first, last):
        start, stop = ranked.boundaries[q], ranked.boundaries[q + 1]
        own = Derivatives(by_rank.gradient[start:stop], by_rank.hessian[start:stop])
        absolute[q] = write_by_row(ranked, q, own, start, stop, out)
