"""Neighbours in noisy rankings against their definition, pair by pair, and invariances.

The noise itself is taken from the library; ranking, swap deltas (by evaluating the metric before
and after) and sums are written out here.
"""

from typing import Any

import brute_force
import numpy as np
import pytest
from brute_force import OBJECTIVES, kinds, plain, swap_deltas
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded

from lambdaplus.metrics import RankingMetric, parse_metric
from lambdaplus.metrics.declared_arrays import metric_arrays
from lambdaplus.objectives import lambda_objective
from lambdaplus.objectives.noise import RANKINGS, _add_noise, neighbour_sums
from lambdaplus.objectives.sums import Sums
from lambdaplus.ranking.queries import Queries
from lambdaplus.ranking.sort import Entries, merge_ties, rank

# Differences of two values of the metric, each about 1, and a few hundred terms.
ROUNDING = 1e-10
# The neighbours of censored times may not be comparable, so noise is refused there.
PLAIN = [metric for metric in map(plain, OBJECTIVES) if not metric.compares_some]
CUT = [d(5) for d in kinds(OBJECTIVES) if d.cutoff == "optional"]
GRADES = [0.0, 2.0, 1.0, 0.0, 3.0, 0.0, 1.0, 4.0, 0.0, 2.0, 0.0, 1.0]
SCORES = np.random.default_rng(0).permutation(12) / 5.0


def entries_of(metric: RankingMetric, queries: Queries, scores: Any) -> Entries:
    classes = metric_arrays(metric, queries).code
    return merge_ties(queries.boundaries, *rank(queries, scores), classes, None)[0]


def noisy_scores(entries: Entries, scale: float) -> Any:
    """The noisy scores of each ranking, by rank without noise; no scores are tied."""
    noisy = np.empty((RANKINGS, entries.score.size))
    bits = entries.score.view(np.uint64)
    _add_noise(entries.edges, entries.score, bits, entries.code, scale, noisy)
    return noisy


def textbook(metric: RankingMetric, labels: Any, scores: Any, scale: float, sigma: float) -> Any:
    """Gradient, Hessian and S of one query without tied scores, in units of Z."""
    labels, scores = np.asarray(labels, dtype=float), np.asarray(scores, dtype=float)
    queries = Queries(labels, group=[len(labels)])
    unit, row = metric_arrays(metric, queries).scale[0], np.argsort(-scores)
    gradient, hessian, received = np.zeros(len(labels)), np.zeros(len(labels)), 0.0
    for noisy in noisy_scores(entries_of(metric, queries, scores), scale):
        order = row[np.argsort(-noisy, kind="stable")]
        deltas = np.abs(swap_deltas(metric, labels[order].tolist(), labels.tolist())) / unit
        seen = brute_force.classes(metric, labels[order].tolist())
        for p in range(len(order) - 1):
            if seen[p] == seen[p + 1]:
                continue
            better, worse = (order[p], order[p + 1])[:: 1 if seen[p] > seen[p + 1] else -1]
            rho = 1 / (1 + np.exp(sigma * (scores[better] - scores[worse])))
            push = sigma * deltas[p, p + 1] / RANKINGS * rho
            gradient[better] -= push
            gradient[worse] += push
            hessian[[better, worse]] += sigma * push * (1 - rho)
            received += 2 * push
    return gradient, hessian, received


def by_library(metric: RankingMetric, labels: Any, scores: Any, scale: float, sigma: float) -> Sums:
    queries = Queries(labels, group=[len(labels)])
    entries = entries_of(metric, queries, scores)
    sums = neighbour_sums(metric, metric_arrays(metric, queries), 0, entries, scale, sigma)
    by_row = np.empty((2, len(labels)))
    by_row[:, np.argsort(-np.asarray(scores))] = sums[:2]
    return Sums(*by_row, sums.received)


@pytest.mark.parametrize("metric", PLAIN + CUT, ids=str)
@pytest.mark.parametrize("scale", [1.0, 0.4])
def test_each_pair_of_neighbours_adds_its_swap_delta(metric: RankingMetric, scale: float) -> None:
    expected = textbook(metric, GRADES, SCORES, scale, 1.5)
    size = max(np.abs(expected[0]).max(), 1.0)
    for ours, right in zip(by_library(metric, GRADES, SCORES, scale, 1.5), expected, strict=True):
        assert_allclose(ours, right, rtol=ROUNDING, atol=ROUNDING * size * 100)


@pytest.mark.parametrize("lead", [500.0, 700.0, 2000.0, 1.7e308])
def test_neighbours_far_below_the_best_document_are_compared_as_exactly(lead: float) -> None:
    """Their strengths are close to the smallest float64, or below it."""
    metric, labels, scores = parse_metric("ndcg"), [0.0, *GRADES], [lead, *SCORES]
    right = textbook(metric, labels, scores, 1.0, 1.5)
    for ours, expected in zip(by_library(metric, labels, scores, 1.0, 1.5), right, strict=True):
        assert_allclose(ours, expected, rtol=ROUNDING, atol=ROUNDING * 100)


def test_noise_is_logistic_of_the_given_scale_and_new_in_each_round() -> None:
    metric, n = parse_metric("auc"), 20_000
    scores = np.linspace(0, 1e-9, n)  # not tied
    entries = entries_of(metric, Queries(np.arange(n) % 2, group=[n]), scores)
    first, second, _ = noisy_scores(entries, 2.0)
    moved = noisy_scores(entries._replace(score=entries.score + 1e-10), 2.0)[0]
    deviation = 2.0 * np.pi / np.sqrt(3)  # of a logistic distribution
    error = 5 / np.sqrt(n)  # five standard errors, in units of the deviation
    for drawn in (first, second):
        assert abs(drawn.mean()) < error * deviation
        assert abs(drawn.std() / deviation - 1) < error
        assert abs((drawn < 2.0 * np.log(3)).mean() - 0.75) < error
    for one, other in ((first, second), (first[1:], first[:-1]), (first, moved)):
        assert abs(np.corrcoef(one, other)[0, 1]) < error


@pytest.mark.parametrize("name", ["map", "ndcg@5", "mrr", "err"])
def test_half_of_the_gradient_is_of_neighbours_and_half_of_all_pairs(name: str) -> None:
    metric = parse_metric(name)
    gradient, hessian, received = textbook(metric, GRADES, SCORES, 1.0, 1.0)
    *clean, total = brute_force.lambda_gradients(metric, GRADES, list(SCORES))
    expected = [
        np.log2(1 + total) * (near / received + far / total) / 2
        for near, far in zip((gradient, hessian), clean, strict=True)
    ]
    objective = lambda_objective(name, noise=1.0, surrogate=name, damping=None)
    found = objective.derivatives(Queries(GRADES, group=[12]), SCORES)
    for ours, right in zip(found, expected, strict=True):
        assert_allclose(ours, right, rtol=2e-5, atol=2e-6)  # the sweep's Hessian is within 1e-5


def test_nothing_to_compare_gives_no_gradient_and_one_ranking_no_noise() -> None:
    for metric in PLAIN:
        for labels in ([1.0], [0.0, 0.0, 0.0], [1.0, 1.0]):
            objective = lambda_objective(metric, noise=1.0)
            found = objective(labels, np.zeros(len(labels)), None, [len(labels)])
            assert_array_equal(found, np.zeros((2, len(labels))))
    data = graded(20)
    with_noise, without = (lambda_objective("auc", noise=noise) for noise in (1.0, None))
    given = data.labels, data.scores()
    assert_array_equal(with_noise(*given), without(*given))
