"""Neighbours in noisy rankings against their definition, pair by pair, and invariances.

The noise itself is taken from the library; ranking, swap deltas (by evaluating the metric before
and after) and sums are written out here.
"""

from __future__ import annotations

import pickle
from typing import Any

import brute_force
import numpy as np
import pytest
from brute_force import OBJECTIVES, plain, swap_deltas
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded

from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data.queries import Queries
from lambdaplus.metrics import CATALOGUE, RankingMetric, parse_metric
from lambdaplus.metrics.declared_arrays import metric_arrays
from lambdaplus.metrics.entries import Entries, merge_ties
from lambdaplus.metrics.sort import rank
from lambdaplus.objectives import Noise, lambda_objective
from lambdaplus.objectives.noise import _keys, _perturb, neighbour_sums
from lambdaplus.objectives.sums import Sums

# Differences of two values of the metric, each about 1, and a few hundred terms.
ROUNDING = 1e-10
PLAIN = [plain(d) for d in OBJECTIVES]
CUT = [d(5, **dict(plain(d).changed)) for d in OBJECTIVES if d.cutoff != "no"]
LISTED = [d.name + ("@5" if d.cutoff == "required" else "") for d in OBJECTIVES if d in CATALOGUE]
GRADES = [0.0, 2.0, 1.0, 0.0, 3.0, 0.0, 1.0, 4.0, 0.0, 2.0, 0.0, 1.0]
SCORES = np.random.default_rng(0).permutation(12) / 5.0
HALF = Noise(seed=3)


def entries_of(metric: RankingMetric, queries: Queries, scores: Any) -> Entries:
    classes = metric_arrays(metric, queries).relevance
    return merge_ties(queries.boundaries, *rank(queries, scores), classes, None)[0]


def noise_of(entries: Entries, noise: Noise) -> list[Any]:
    """The noisy scores of each ranking, by rank without noise; no scores are tied."""
    keys = np.empty(entries.edges.size - 1, dtype=np.uint64)
    bits = entries.score.view(np.uint64)
    _keys(entries.edges, bits, entries.relevance, np.uint64(noise.seed), keys)
    found = []
    for k in range(noise.rankings):
        found.append(np.empty(entries.score.size))
        _perturb(entries.edges, entries.score, keys, k, noise.scale, found[-1])
    return found


def textbook(metric: RankingMetric, labels: Any, scores: Any, noise: Noise, sigma: float) -> Any:
    """Gradient, Hessian and S of one query without tied scores, in units of Z."""
    labels, scores = np.asarray(labels, dtype=float), np.asarray(scores, dtype=float)
    queries = Queries(labels, group=[len(labels)])
    scale, row = metric_arrays(metric, queries).scale[0], np.argsort(-scores)
    gradient, hessian, received = np.zeros(len(labels)), np.zeros(len(labels)), 0.0
    for noisy in noise_of(entries_of(metric, queries, scores), noise):
        order = row[np.argsort(-noisy, kind="stable")]
        deltas = np.abs(swap_deltas(metric, labels[order].tolist(), labels.tolist())) / scale
        seen = brute_force.classes(metric, labels[order].tolist())
        for p in range(len(order)):
            for q in range(p + 1, min(p + 1 + noise.neighbours, len(order))):
                if seen[p] == seen[q]:
                    continue
                better, worse = (order[p], order[q])[:: 1 if seen[p] > seen[q] else -1]
                rho = 1 / (1 + np.exp(sigma * (scores[better] - scores[worse])))
                push = sigma * deltas[p, q] / noise.rankings * rho
                gradient[better] -= push
                gradient[worse] += push
                hessian[[better, worse]] += sigma * push * (1 - rho)
                received += 2 * push
    return gradient, hessian, received


def by_library(metric: RankingMetric, labels: Any, scores: Any, noise: Noise, sigma: float) -> Sums:
    queries = Queries(labels, group=[len(labels)])
    entries = entries_of(metric, queries, scores)
    sums = neighbour_sums(metric, metric_arrays(metric, queries), 0, entries, noise, sigma)
    row = np.argsort(-np.asarray(scores))
    by_row = [np.empty(len(labels)), np.empty(len(labels))]
    for part, by_rank in zip(by_row, sums[:2], strict=True):
        part[row] = by_rank
    return Sums(*by_row, sums.received)


@pytest.mark.parametrize("metric", PLAIN + CUT, ids=str)
@pytest.mark.parametrize(
    "noise", [Noise(), Noise(scale=0.4, rankings=1, neighbours=3, seed=5)], ids=["usual", "other"]
)
def test_each_pair_of_neighbours_adds_its_swap_delta(metric: RankingMetric, noise: Noise) -> None:
    expected = textbook(metric, GRADES, SCORES, noise, 1.5)
    found = by_library(metric, GRADES, SCORES, noise, 1.5)
    size = max(np.abs(expected[0]).max(), 1.0)
    for ours, right in zip(found, expected, strict=True):
        assert_allclose(ours, right, rtol=ROUNDING, atol=ROUNDING * size * 100)


@pytest.mark.parametrize("lead", [500.0, 700.0, 2000.0, 1.7e308])
def test_neighbours_far_below_the_best_document_are_compared_as_exactly(lead: float) -> None:
    """Their strengths are close to the smallest float64, or below it."""
    metric, labels, scores = parse_metric("ndcg"), [0.0, *GRADES], [lead, *SCORES]
    right = textbook(metric, labels, scores, Noise(), 1.5)
    for ours, expected in zip(by_library(metric, labels, scores, Noise(), 1.5), right, strict=True):
        assert_allclose(ours, expected, rtol=ROUNDING, atol=ROUNDING * 100)


def test_more_neighbours_than_documents_are_all_documents() -> None:
    metric = parse_metric("map")
    every, more = (
        by_library(metric, GRADES, SCORES, Noise(neighbours=n), 1.0) for n in (len(GRADES), 10**9)
    )
    for one, other in zip(every, more, strict=True):
        assert_array_equal(one, other)


def test_the_definition_notices_another_neighbourhood() -> None:
    """A negative control: the textbook's two neighbours are not the library's one."""
    metric = parse_metric("map")
    right = textbook(metric, GRADES, SCORES, Noise(neighbours=2), 1.0)
    found = by_library(metric, GRADES, SCORES, Noise(neighbours=1), 1.0)
    assert np.abs(found.gradient - right[0]).max() > 0.01


def test_noise_is_logistic_of_the_given_scale() -> None:
    metric, n = parse_metric("auc"), 20_000
    scores = np.linspace(0, 1e-9, n)  # not tied
    entries = entries_of(metric, Queries(np.arange(n) % 2, group=[n]), scores)
    first, second = noise_of(entries, Noise(scale=2.0, rankings=2))
    deviation = 2.0 * np.pi / np.sqrt(3)  # of a logistic distribution
    error = 5 / np.sqrt(n)  # five standard errors, in units of the deviation
    for drawn in (first, second):
        assert abs(drawn.mean()) < error * deviation
        assert abs(drawn.std() / deviation - 1) < error
        assert abs((drawn < 2.0 * np.log(3)).mean() - 0.75) < error
    assert abs(np.corrcoef(first, second)[0, 1]) < error
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < error


# The gradient of a query --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["map", "ndcg@5", "mrr", "err"])
@pytest.mark.parametrize("share", [0.25, 1.0])
def test_parts_have_the_same_sum_over_pairs_and_are_mixed_by_their_share(
    name: str, share: float
) -> None:
    noise, metric = Noise(share=share, neighbours=4), parse_metric(name)
    queries = Queries(GRADES, group=[12])
    gradient, hessian, received = textbook(metric, GRADES, SCORES, noise, 1.0)
    *clean, total = brute_force.lambda_gradients(metric, GRADES, list(SCORES))
    if share == 1.0:  # only what all pairs add up to is taken from them
        clean = [np.zeros_like(part) for part in clean]
    expected = [
        np.log2(1 + total) * (share * near / received + (1 - share) * far / total)
        for near, far in zip((gradient, hessian), clean, strict=True)
    ]
    objective = lambda_objective(name, noise=noise, surrogate=name, damping=None)
    found = objective.derivatives(queries, SCORES)
    for ours, right in zip(found, expected, strict=True):
        assert_allclose(ours, right, rtol=2e-5, atol=2e-6)  # the sweep's Hessian is within 1e-5


@pytest.mark.parametrize("labels", [[1.0], [0.0, 0.0, 0.0], [1.0, 1.0]])
def test_nothing_to_compare_gives_no_gradient(labels: list[float]) -> None:
    for name in LISTED:
        objective = lambda_objective(name, noise=HALF)
        found = objective(labels, np.zeros(len(labels)), None, [len(labels)])
        assert_array_equal(found, np.zeros((2, len(labels))))


def test_without_queries_an_objective_has_no_noise() -> None:
    data = graded(20)
    with_noise, without = (lambda_objective("auc", noise=noise) for noise in (HALF, None))
    for found, expected in zip(
        with_noise(data.labels, data.scores()), without(data.labels, data.scores()), strict=True
    ):
        assert_array_equal(found, expected)


# What must not matter -----------------------------------------------------------------------------


def respond(objective: Any, data: Any, scores: Any, order: Any = slice(None)) -> Any:
    return objective(data.labels[order], scores[order], None, data.sizes)


# The number of classes of the data set is in that of each query.
ALONE = [name for name in LISTED if name != "printed_precision@5"]


@pytest.mark.parametrize("name", ALONE)
def test_row_order_threads_and_other_queries_change_no_bit(name: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("lambdaplus.compute.parallel.WORTH_A_THREAD", 50)
    monkeypatch.setattr("lambdaplus.compute.parallel.BLOCK", 100)
    data, random = graded(40), np.random.default_rng(1)
    objective = lambda_objective(name, noise=HALF, surrogate=name)
    parts = np.split(np.arange(len(data.labels)), np.cumsum(data.sizes)[:-1])
    order = np.concatenate([random.permutation(part) for part in parts])
    for scores in (data.scores(), np.round(data.scores()), np.zeros(len(data.labels))):
        expected = respond(objective, data, scores)
        with limit_threads(1):
            assert_array_equal(respond(objective, data, scores), expected)
        found = respond(objective, data, scores, order)
        assert_array_equal(found, [part[order] for part in expected])
        for rows in parts[:5]:
            alone = objective(data.labels[rows], scores[rows], None, [rows.size])
            assert_array_equal(alone, [part[rows] for part in expected])
        assert np.isfinite(expected).all()
        assert expected[1].min() >= 0


def test_seeds_and_rounds_draw_other_noise() -> None:
    data = graded(20)
    one, other = (lambda_objective("map", noise=Noise(share=1.0, seed=s)) for s in (0, 1))
    scores = data.scores()
    assert_array_equal(respond(one, data, scores), respond(one, data, scores))
    assert (respond(one, data, scores)[0] != respond(other, data, scores)[0]).any()
    metric, queries = parse_metric("map"), Queries(data.labels, group=data.sizes)
    noises = []
    for moved in (scores, scores + 1e-3 * np.sign(scores)):  # of two rounds of one training
        entries = entries_of(metric, queries, moved)
        noises.append(noise_of(entries, Noise(rankings=1))[0] - entries.score)
    assert abs(np.corrcoef(*noises)[0, 1]) < 0.2


# Parameters ---------------------------------------------------------------------------------------


def test_objectives_with_noise_are_values() -> None:
    objective = lambda_objective("ndcg@10 + map", noise=Noise(rankings=2))
    assert pickle.loads(pickle.dumps(objective)) == objective
    assert objective != lambda_objective("ndcg@10 + map", noise=1.0)
    assert lambda_objective("map", noise=0) == lambda_objective("map", noise=None)
    assert lambda_objective("map", noise=0.5).noise == Noise(scale=0.5)
    other = lambda_objective("map", noise=Noise(neighbours=7, seed=2))
    assert eval(repr(other), {"lambda_objective": lambda_objective, "Noise": Noise}) == other


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scale": 0.0}, "scale of the noise must be a number above 0"),
        ({"scale": "1"}, "scale of the noise must be a number"),
        ({"scale": float("nan")}, "scale of the noise must be a number"),
        ({"share": 0.0}, "share of the noise must be a number above 0 and at most 1"),
        ({"share": 1.5}, "share of the noise must be a number above 0 and at most 1"),
        ({"rankings": 0}, "rankings must be a whole number"),
        ({"rankings": 2.0}, "rankings must be a whole number"),
        ({"neighbours": 2**63}, "neighbours must be below"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 2**64}, "seed must be below"),
        ({"seed": "a"}, "seed must be a whole number"),
    ],
)
def test_noise_that_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Noise(**options)


def test_noise_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="noise, if it is no Noise or None, must be a number"):
        lambda_objective("map", noise="much")
