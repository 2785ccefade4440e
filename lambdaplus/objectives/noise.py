"""Gradients from pairs of neighbours in noisy rankings, with weights from the same potentials.

Noise is added to the scores of a query, its documents are ranked by the sum, and each document is
compared with its neighbours in that ranking only.  The weight of a pair is its swap delta in the
noisy ranking, a difference of potentials (see ``lambdaplus.metrics.forms.form``), so this works for
every declared metric.  The logistic function is evaluated at the scores without noise.  With w the
mean weight of a pair over several rankings, d the score of the better document minus that of the
other, and rho = 1 / (1 + exp(sigma d)), the gradient is -sigma w rho for the better document and
its opposite for the other, and the Hessian is sigma^2 w rho (1 - rho) for both.

The noise is determined by the seed and by the scores and labels of a query, document by document in
ranked order.  It does not depend on the order of the rows, on other queries or on the number of
threads, changes with the scores in every round, and is not repeated when a training is continued.

This is the method of CatBoost's YetiRank.  Lyzhin, Ustimenko, Gulin, Prokhorenkova 2023, "Which
Tricks are Important for Learning to Rank?", ICML.

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
from typing import Any

import numpy as np

from lambdaplus.compute.compiled import compiled
from lambdaplus.data.arguments import number, whole_number
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.declared_arrays import MetricArrays
from lambdaplus.metrics.entries import Entries, each_alone
from lambdaplus.metrics.parameters import shortest
from lambdaplus.metrics.sort import rank_some
from lambdaplus.objectives.lists import ranked_lists
from lambdaplus.objectives.sums import Sums

# Below this, sums of two strengths lose digits, as they are close to the smallest float64.
FAINT = 1e-280
NOTHING = 1e-100  # sums below this only contain the sweep's guard against denormal numbers


@dataclass(frozen=True)
class Noise:
    """Parameters of the part of the gradient that comes from neighbours in noisy rankings.

    Attributes
    ----------
    scale : float
        Scale of the logistic noise added to the scores (1 as in YetiRank).  More noise moves
        documents from lower ranks to the top, and regularises more.
    rankings : int
        Number of noisy rankings in each round.
    neighbours : int
        Number of following documents that each document is compared with.  With a cutoff, few pairs
        of direct neighbours have a weight.
    share : float
        Share of the gradient of each query, above 0 and at most 1; the rest comes from all pairs in
        the ranking without noise.
    seed : int
        Seed of the noise.
    """

    scale: float = 1.0
    rankings: int = 3
    neighbours: int = 1
    share: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        number("scale of the noise", self.scale, above=0.0, most=1e100)
        number("share of the noise", self.share, above=0.0, most=1.0)
        whole_number("rankings", self.rankings, least=1, below=1001)
        whole_number("neighbours", self.neighbours, least=1, below=2**31)
        whole_number("seed", self.seed)

    def __repr__(self) -> str:
        changed = []
        for one in fields(self):
            value = getattr(self, one.name)
            if value != one.default:
                text = shortest(value) if isinstance(value, float) else repr(value)
                changed.append(f"{one.name}={text}")
        return f"Noise({', '.join(changed)})"


def neighbour_sums(
    metric: RankingMetric,
    arrays: MetricArrays,
    first: int,
    entries: Entries,
    noise: Noise,
    sigma: float,
) -> Sums:
    """Sums over the pairs of neighbours in the noisy rankings of some queries.

    Parameters
    ----------
    metric, arrays
        The metric, and its arrays on the data set.
    first : int
        The first of these queries.
    entries : Entries
        Their documents in the order of the scores without noise.
    """
    documents = each_alone(entries)
    edges, score, relevance = documents[:3]
    keys = np.empty(edges.size - 1, dtype=np.uint64)
    _keys(edges, score.view(np.uint64), relevance, np.uint64(noise.seed), keys)
    best = np.repeat(score[edges[:-1]], np.diff(edges))
    with np.errstate(under="ignore", over="ignore"):  # scores may be any finite numbers
        strength = np.exp(sigma * (score - best))
    gradient, hessian = np.zeros(score.size), np.zeros(score.size)
    received, noisy = np.zeros(edges.size - 1), np.empty(score.size)
    order = np.arange(score.size, dtype=np.int32)
    for k in range(noise.rankings):
        _perturb(edges, score, keys, k, noise.scale, noisy)
        ranking = rank_some(edges, noisy, order)
        shuffled = documents._replace(score=ranking.score, relevance=relevance[ranking.row])
        for lists in ranked_lists(metric, arrays, first, shuffled, False):
            _compare_neighbours(
                lists.query, lists.start, lists.stop, lists.relevance, lists.U, lists.V,
                lists.gain, lists.gain_at, lists.entry, ranking.row, score, strength, sigma,
                noise.neighbours, gradient, hessian, received,
            )  # fmt: skip
    sums = Sums(*(part / noise.rankings for part in (gradient, hessian, received)))
    return sums.of_entries(entries.size)


def mixed(every: Sums, near: Sums, share: float, entries: Entries) -> Sums:
    """Sums over all pairs and over noisy neighbours, mixed within each query.

    Both parts of a query are given the same sum over their pairs of ``2 |lambda|``, that of all
    pairs.
    """
    scale = np.divide(
        share * every.received, near.received, out=np.zeros_like(near.received),
        where=near.received > NOTHING,
    )  # fmt: skip
    of_near = np.repeat(scale, np.diff(entries.edges))
    gradient, hessian = (
        (1.0 - share) * clean + of_near * noisy
        for clean, noisy in zip(every[:2], near[:2], strict=True)
    )
    return Sums(gradient, hessian, every.received)


@compiled
def _scrambled(state: Any) -> Any:
    """SplitMix64 (Steele, Lea & Flood 2014): 64 bits that depend on all bits of the state."""
    state += np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def _keys(edges: Any, bits: Any, relevance: Any, seed: Any, keys: Any) -> None:
    """A number for each query that depends on the seed and on its ranked scores and classes."""
    for q in range(edges.size - 1):
        key = _scrambled(seed)
        for r in range(edges[q], edges[q + 1]):
            key = _scrambled(key ^ bits[r] ^ np.uint64(relevance[r]))
        keys[q] = key


@compiled
def _perturb(edges: Any, score: Any, keys: Any, ranking: int, scale: float, noisy: Any) -> None:
    """Add logistic noise to the scores."""
    for q in range(edges.size - 1):
        key = _scrambled(keys[q] ^ np.uint64(ranking))
        for r in range(edges[q], edges[q + 1]):
            bits = _scrambled(key + np.uint64(r - edges[q])) >> np.uint64(11)
            uniform = (float(bits) + 0.5) * 2.0**-53
            noisy[r] = score[r] + scale * math.log(uniform / (1.0 - uniform))


@compiled(error_model="numpy")
def _compare_neighbours(
    query: Any, start: Any, stop: Any, relevance: Any, U: Any, V: Any, gain: Any, gain_at: Any,
    entry: Any, clean: Any, clean_score: Any, strength: Any, sigma: float, neighbours: int,
    gradient: Any, hessian: Any, received: Any,
) -> None:  # fmt: skip
    """Add the pairs of neighbours of one noisy ranking.

    Parameters
    ----------
    query, start, ..., entry
        `lambdaplus.objectives.lists.Lists` of the noisy ranking.
    clean : (n,) int
        Rank without noise of each document of the noisy ranking.
    clean_score : (n,) float64
    strength : (n,) float64
        exp(sigma * score) in units of the best document of the query, by rank without noise.  With
        the strengths x and y of the better and the worse document, rho is y / (x + y) (Bradley &
        Terry 1952), so that one exponential of each document is enough.
    gradient, hessian : (n,) float64
        By rank without noise.
    received : (n_queries,) float64
    """
    for k in range(query.size):
        first, last, at, met = start[k], stop[k], gain_at[k], 0.0
        # Below a cutoff, or the first relevant document, no pair has a weight.
        end = last - 1
        while end > first and U[end - 1] == U[end] and V[end - 1] == V[end]:
            end -= 1
        for apart in range(1, min(neighbours, last - first - 1) + 1):
            for i in range(first, min(end, last - apart)):
                j = i + apart
                rank_i, rank_j = (entry[i], entry[j]) if entry.size else (i, j)
                if rank_j - rank_i > neighbours:
                    continue
                a, b = relevance[i], relevance[j]
                # Selections instead of branches, as no one can predict which class comes next;
                # two documents of one class have the weight 0.
                concordant, discordant = U[i] - U[j], V[i] - V[j]
                gap = concordant if a > b else discordant
                weight = sigma * abs(gap * (gain[at + a] - gain[at + b]))
                x, y = clean[rank_i], clean[rank_j]
                both = strength[x] + strength[y]
                if both > FAINT:
                    rho = (strength[y] if a > b else strength[x]) / both
                else:
                    distance = clean_score[x] - clean_score[y]
                    rho = 1.0 / (1.0 + math.exp(sigma * (distance if a > b else -distance)))
                push = weight * (rho if a > b else -rho)
                curve = sigma * weight * rho * (1.0 - rho)
                gradient[x] -= push
                gradient[y] += push
                hessian[x] += curve
                hessian[y] += curve
                met += 2.0 * abs(push)
        received[query[k]] += met
