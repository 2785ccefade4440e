"""Gradients from pairs of neighbours in noisy rankings, as in CatBoost's YetiRank.

Noise is added to the scores of a query, its documents are ranked by the sum, and each document is
compared with the next one only.  The weight of a pair is its swap delta in the noisy ranking; the
logistic function is evaluated at the scores without noise.  With w the mean weight of a pair over
three rankings, d the score of the better document minus that of the other, and rho = 1 / (1 +
exp(sigma d)), the gradient is -sigma w rho for the better document and its opposite for the other,
and the Hessian is sigma^2 w rho (1 - rho) for both.

The noise is logistic, and a function of the scores and labels of a query: it depends neither on the
order of the rows nor on other queries or threads, and changes in every round.

Lyzhin, Ustimenko, Gulin, Prokhorenkova 2023, "Which Tricks are Important for Learning to Rank?".
"""

import math
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints, Rows, Words
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.forms.form import MetricArrays
from lambdaplus.objectives.lists import ranked_lists
from lambdaplus.objectives.sums import Sums
from lambdaplus.ranking.sort import Entries, each_alone, rank_some

RANKINGS = 3  # in each round
INEXACT = 1e-280  # sums of two strengths below this are inexact
NOTHING = 1e-100  # sums below this consist of the TINY that the sweep adds


def neighbour_sums(
    metric: RankingMetric, arrays: MetricArrays, first: int, entries: Entries, scale: float,
    sigma: float,
) -> Sums:  # fmt: skip
    """Sums over neighbours in rankings of the queries from ``first`` on, with noise of a scale."""
    # Noise differs between tied documents, so each is an entry of its own.
    single = each_alone(entries)
    edges, score, code = single.edges, single.score, single.code
    noisy = np.empty((RANKINGS, score.size))
    _add_noise(edges, score, score.view(np.uint64), code, scale, noisy)
    # Relative to the best score of the query, the strength is at most 1 and does not overflow.
    best = np.repeat(score[edges[:-1]], np.diff(edges))
    with np.errstate(under="ignore", over="ignore"):  # scores may be any finite numbers
        strength = np.exp(sigma * (score - best))
    gradient, hessian = np.zeros(score.size), np.zeros(score.size)
    received = np.zeros(edges.size - 1)
    order = np.arange(score.size, dtype=np.int32)
    for of_ranking in noisy:
        # The entries of a noisy ranking: positions have moved, potentials are computed for the new
        # ranks, and `ranking.row` leads back to the documents.
        ranking = rank_some(edges, of_ranking, order)
        shuffled = single._replace(score=ranking.score, code=code[ranking.row])
        for lists in ranked_lists(metric, arrays, first, shuffled, False):
            noisy_lists = *lists.arrays, lists.query, lists.entry
            sums = gradient, hessian, received
            _compare_neighbours(*noisy_lists, ranking.row, score, strength, sigma, *sums)
    # The mean over the rankings, added up for the tied documents of each entry.
    mean = Sums(*(part / RANKINGS for part in (gradient, hessian, received)))
    return mean.of_entries(entries.size)


def mixed(every: Sums, near: Sums, entries: Entries) -> Sums:
    """Half of the sums over all pairs plus half of those over neighbours, of equal ``received``."""
    # Both sums have the same `received` in a query, so normalisation does not favour one of them. A
    # query whose neighbours all have the weight 0 keeps half of the sums over all pairs alone.
    scale = np.divide(
        0.5 * every.received, near.received, out=np.zeros_like(near.received),
        where=near.received > NOTHING,
    )  # fmt: skip
    of_near = np.repeat(scale, np.diff(entries.edges))
    gradient = 0.5 * every.gradient + of_near * near.gradient
    return Sums(gradient, 0.5 * every.hessian + of_near * near.hessian, every.received)


@compiled
def _scrambled(state: Any) -> Any:
    """SplitMix64 (Steele, Lea & Flood 2014)."""
    # The golden gamma, and a bijection that mixes all 64 bits (Stafford's variant 13).
    state += np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def _add_noise(
    edges: Ints, score: Floats, bits: Words, code: Int32s, scale: float, noisy: Floats
) -> None:
    """Write the scores of each noisy ranking; ``bits`` are those of the scores without noise."""
    for q in range(edges.size - 1):
        # A seed from all scores and classes of the query, in ranked order: the same noise for the
        # same scores, whatever the rows' order, other queries or threads, and other noise in the
        # next round.
        of_query = _scrambled(np.uint64(0))
        for r in range(edges[q], edges[q + 1]):
            of_query = _scrambled(of_query ^ bits[r] ^ np.uint64(code[r]))
        for k in range(noisy.shape[0]):
            key = _scrambled(of_query ^ np.uint64(k))
            for r in range(edges[q], edges[q + 1]):
                # The top 53 bits, plus 1/2, are a uniform number above 0 and below 1. Its logit has
                # the logistic distribution.
                random = _scrambled(key + np.uint64(r - edges[q])) >> np.uint64(11)
                uniform = (float(random) + 0.5) * 2.0**-53
                noisy[k, r] = score[r] + scale * math.log(uniform / (1.0 - uniform))


@compiled(error_model="numpy")
def _compare_neighbours(
    start: Ints, stop: Ints, gain_at: Ints, gain: Floats, n_classes: Ints, noisy: Floats,
    code: Int32s, U: Any, V: Any, weight: Floats, query: Ints, entry: Ints, clean: Rows,
    score: Floats, strength: Floats, sigma: float, gradient: Floats, hessian: Floats,
    received: Floats,
) -> None:  # fmt: skip
    """Add the pairs of neighbours of one noisy ranking, from its `Lists`.

    ``clean`` is the rank of each document without noise, which is the index of ``score`` and the
    following arrays.  ``strength`` is exp(sigma * score), divided by that of the best document:
    with x and y those of the better and the worse document, rho is y / (x + y).
    """
    for k in range(query.size):
        at, lambdas = gain_at[k], 0.0
        # Pairs below a cutoff, or below the first relevant document, have no weight.
        lowest = stop[k] - 1
        if U is not None:
            while lowest > start[k] and U[lowest - 1] == U[lowest] and V[lowest - 1] == V[lowest]:
                lowest -= 1
        for i in range(start[k], lowest):
            j = i + 1
            rank_i, rank_j = (entry[i], entry[j]) if entry.size else (i, j)
            # A list of two classes leaves out the documents of others, so elements next to each
            # other in the list need not be neighbours in the ranking.
            if rank_j > rank_i + 1:
                continue
            a, b = code[i], code[j]
            # Selections are faster than branches here.  Documents of one class have the weight 0.
            times = 0.0 if a == b else sigma
            if U is not None:
                times *= abs(U[i] - U[j] if a > b else V[i] - V[j])
            if gain.size:
                times *= abs(gain[at + a] - gain[at + b])
            x, y = clean[rank_i], clean[rank_j]
            both = strength[x] + strength[y]
            # rho without another exponential: 1 / (1 + exp(sigma d)) = y / (x + y).
            if both > INEXACT:
                rho = (strength[y] if a > b else strength[x]) / both
            else:
                distance = score[x] - score[y]
                rho = 1.0 / (1.0 + math.exp(sigma * (distance if a > b else -distance)))
            push = times * (rho if a > b else -rho)
            curve = sigma * times * rho * (1.0 - rho)
            gradient[x] -= push
            gradient[y] += push
            hessian[x] += curve
            hessian[y] += curve
            lambdas += 2.0 * abs(push)
        received[query[k]] += lambdas
