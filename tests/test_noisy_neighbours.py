"""Noisy neighbours against their definition, pair by pair, and invariances.

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

import lambdaplus as lp
from lambdaplus.metrics import CATALOGUE, RankingMetric, parse_metric
from lambdaplus.objectives import Noise, lambda_objective
from lambdaplus.objectives.gradients import Shape, noisy_gradients
from lambdaplus.objectives.noisy_neighbours import (
    YETIRANK_MAP,
    _keys,
    _perturb,
    neighbour_sums,
)
from lambdaplus.objectives.ranked import ranked_queries
from lambdaplus.objectives.rows import derivatives_of
from lambdaplus.parallel import limit_threads
from lambdaplus.queries import Queries

# Differences of two values of the metric, each about 1, and a few hundred terms.
ROUNDING = 1e-10
PLAIN = [plain(d) for d in OBJECTIVES]
CUT = [d(5, **dict(plain(d).changed)) for d in OBJECTIVES if d.cutoff != "no"]
LISTED = [d.name + ("@5" if d.cutoff == "required" else "") for d in OBJECTIVES if d in CATALOGUE]
GRADES = [0.0, 2.0, 1.0, 0.0, 3.0, 0.0, 1.0, 4.0, 0.0, 2.0, 0.0, 1.0]
SCORES = np.random.default_rng(0).permutation(12) / 5.0


def noise_of(ranked: Any, noise: Noise) -> list[Any]:
    """The noisy scores of each ranking, by rank without noise."""
    keys = np.empty(ranked.boundaries.size - 1, dtype=np.uint64)
    _keys(0, keys.size, ranked, np.uint64(noise.seed), keys)
    found = []
    for k in range(noise.rankings):
        noisy = np.empty(ranked.score.size)
        _perturb(0, keys.size, ranked, keys, k, noise.scale, noisy)
        found.append(noisy)
    return found


def textbook(metric: RankingMetric, labels: Any, scores: Any, noise: Noise, sigma: float) -> Any:
    """Gradient and Hessian of one query without tied scores, before any scaling."""
    labels, scores = np.asarray(labels, dtype=float), np.asarray(scores, dtype=float)
    ranked = ranked_queries(metric, Queries(labels, group=[len(labels)]), scores)
    gradient, hessian = np.zeros(len(labels)), np.zeros(len(labels))
    neighbours = noise.neighbours or metric.neighbours
    for noisy in noise_of(ranked, noise):
        order = ranked.row[np.argsort(-noisy, kind="stable")]
        deltas = np.abs(swap_deltas(metric, labels[order].tolist(), labels.tolist()))
        if not noise.divide:
            deltas = deltas / ranked.metric.scale[0]
        for p in range(len(order)):
            for q in range(p + 1, min(p + 1 + neighbours, len(order))):
                better, worse = order[p], order[q]
                seen = brute_force.classes(metric, labels[order].tolist())
                if seen[p] == seen[q]:
                    continue
                if seen[p] < seen[q]:
                    better, worse = worse, better
                rho = 1 / (1 + np.exp(sigma * (scores[better] - scores[worse])))
                weight = deltas[p, q] / noise.rankings
                curve = rho * (1 - rho) if noise.curvature == "logistic" else 1.0
                gradient[better] -= sigma * weight * rho
                gradient[worse] += sigma * weight * rho
                hessian[[better, worse]] += sigma**2 * weight * curve
    return gradient, hessian


def found_by_library(metric: RankingMetric, labels: Any, scores: Any, noise: Noise, sigma: float):
    ranked = ranked_queries(metric, Queries(labels, group=[len(labels)]), scores)
    out = derivatives_of(len(labels))
    neighbour_sums(ranked, metric, noise, sigma, out)
    return out


@pytest.mark.parametrize("metric", PLAIN + CUT, ids=str)
@pytest.mark.parametrize(
    "noise",
    [
        Noise(),
        Noise(scale=0.4, rankings=1, neighbours=3, curvature="weights", divide=True, seed=5),
    ],
    ids=["default", "other"],
)
def test_each_pair_of_neighbours_adds_its_swap_delta(metric: RankingMetric, noise: Noise) -> None:
    expected = textbook(metric, GRADES, SCORES, noise, 1.5)
    found = found_by_library(metric, GRADES, SCORES, noise, 1.5)
    size = max(np.abs(expected[0]).max(), 1e-6)
    for ours, right in zip(found, expected, strict=True):
        assert_allclose(ours, right, rtol=ROUNDING, atol=ROUNDING * max(size, 1.0) * 100)


@pytest.mark.parametrize("lead", [500.0, 700.0, 2000.0, 1.7e308])
def test_neighbours_far_below_the_best_document_are_compared_as_exactly(lead: float) -> None:
    """Their strengths are close to the smallest float64, or below it."""
    metric = parse_metric("ndcg")
    scores = [lead, *SCORES]
    right = textbook(metric, [0.0, *GRADES], scores, Noise(), 1.5)
    found = found_by_library(metric, [0.0, *GRADES], scores, Noise(), 1.5)
    for ours, expected in zip(found, right, strict=True):
        assert_allclose(ours, expected, rtol=ROUNDING, atol=ROUNDING * 100)


def test_more_neighbours_than_documents_are_all_documents() -> None:
    metric = parse_metric("map")
    every, more = (
        found_by_library(metric, GRADES, SCORES, Noise(neighbours=n), 1.0)
        for n in (len(GRADES), 10**15)
    )
    assert_array_equal(every, more)


@pytest.mark.parametrize(
    ("name", "own", "other"), [("map", 1, 30), ("mrr", 10, 1), ("p@5", 30, 1), ("map@5", 30, 1)]
)
def test_the_metric_gives_the_number_of_neighbours(name: str, own: int, other: int) -> None:
    metric = parse_metric(name)
    unsaid, said, not_its_own = (
        found_by_library(metric, GRADES, SCORES, noise, 1.0)
        for noise in (Noise(), Noise(neighbours=own), Noise(neighbours=other))
    )
    assert metric.neighbours == own
    assert_array_equal(unsaid, said)
    assert np.abs(unsaid.gradient - not_its_own.gradient).max() > 0.01


def test_many_neighbours_where_one_gives_few_pairs_a_weight() -> None:
    """Counted in one ranking of 48 documents."""
    cutoffs = {"required": [5], "optional": [None, 5], "no": [None]}
    for declaration in CATALOGUE:
        for cutoff in [] if declaration.refusal else cutoffs[declaration.cutoff]:
            metric = declaration(cutoff)
            deltas = np.array(swap_deltas(metric, GRADES * 4, GRADES * 4))
            direct = np.count_nonzero(np.diagonal(deltas, 1))
            if metric.neighbours == 1:
                assert direct > 2, metric
            else:
                assert direct <= 5, metric


@pytest.mark.parametrize("name", ["ndcg", "dcg", "map", "mrr", "auc", "ndcg@5", "dcg@5", "mrr@5"])
def test_only_discounted_gain_without_a_cutoff_has_no_noise_by_default(name: str) -> None:
    found = {str(noise): lambda_objective(name, noise=noise) for noise in (None, Noise())}
    usual, other = ("None", "Noise()") if name in ("ndcg", "dcg") else ("Noise()", "None")
    assert lambda_objective(name) == found[usual] != found[other]
    # Another metric for all pairs is always shown.
    assert ("noise" in repr(found[usual])) == (name == "mrr" or "@" in name)
    assert f"noise={other}" in repr(found[other])
    # What is trained decides, not what is named.
    assert lambda_objective("auc", surrogate=name).noise == found[usual].noise
    queries = (GRADES, SCORES, None, [12])
    gradient, clean = (one(*queries)[0] for one in (lambda_objective(name), found["None"]))
    assert np.array_equal(gradient, clean) == (usual == "None")


@pytest.mark.parametrize("name", [*LISTED, "ndcg@5", "map@5", "mrr@5", "err@5", "rbp@5"])
def test_the_rest_of_the_gradient_is_of_the_declared_metric_or_without_cutoff(name: str) -> None:
    # Of a cutoff that may be left out, and of the first relevant document.
    rest = name.removesuffix("@5") if name not in LISTED else name
    rest = "auc" if name in ("mrr", "mrr@5", "success@5") else rest
    usual, explicit = (
        lambda_objective(name, noise=noise) for noise in (Noise(), Noise(all_pairs=rest))
    )
    arguments = GRADES, SCORES, None, [12]
    assert_array_equal(usual(*arguments), explicit(*arguments))
    assert (f"all_pairs={rest!r}" in repr(usual)) == (rest != name)
    # Its half is that of the other metric, and that of the neighbours the metric's own.
    metric, queries = parse_metric(name), Queries(GRADES, group=[12])
    neighbours = noisy_gradients(metric, queries, SCORES, usual.shape, Noise(share=1.0))
    every = lambda_objective(rest, noise=None)
    clean = np.array(every.derivatives(queries, SCORES))
    clean *= 12 / 2 / np.abs(clean[0]).sum()
    assert_allclose(usual.derivatives(queries, SCORES), (neighbours + clean) / 2, rtol=1e-9)


def test_all_pairs_of_the_first_relevant_document_share_its_labels() -> None:
    objective = lambda_objective("mrr@3", relevant=2)
    assert str(objective.noise.all_pairs) == "auc(relevant=2)"
    assert "all_pairs='auc(relevant=2)'" in repr(objective)
    own = lambda_objective("mrr", noise=Noise(all_pairs="mrr"))
    arguments = GRADES, SCORES, None, [12]
    assert np.abs(own(*arguments)[0] - lambda_objective("mrr")(*arguments)[0]).max() > 0.01
    # Nothing of it without noise, or where all of the gradient is noisy.
    assert lambda_objective("mrr", noise=None).noise is None
    assert lambda_objective("mrr", noise=Noise(share=1.0)).noise.all_pairs is None


@pytest.mark.parametrize("option", ["metric", "all_pairs"])
def test_noise_with_a_metric_that_cannot_be_trained_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match="class_auc is not available as an objective"):
        lambda_objective("map", noise=Noise(**{option: "class_auc"}))


def test_the_definition_notices_another_neighbourhood() -> None:
    """A negative control: the textbook's two neighbours are not the library's one."""
    metric = parse_metric("map")
    right = textbook(metric, GRADES, SCORES, Noise(neighbours=2), 1.0)
    found = found_by_library(metric, GRADES, SCORES, Noise(neighbours=1), 1.0)
    assert np.abs(found.gradient - right[0]).max() > 0.01


def test_yetirank_weighs_neighbours_by_their_rank() -> None:
    """CatBoost's mode MAP gives neighbours at ranks i and i + 1 the weight 1 / i."""
    labels = np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    scores = np.array([4.0, 3.0, 2.0, 1.0, 0.0])
    metric, noise = (
        YETIRANK_MAP(),
        Noise(scale=1e-9, rankings=1, curvature="weights"),
    )  # the ranking without noise
    found = found_by_library(metric, labels, scores, noise, 1.0)
    wrong = 1 / (1 + np.e)  # where the better of two neighbours is ahead
    expected = [-wrong, wrong, (1 - wrong) / 3, -(1 - wrong) / 3 - wrong / 4, wrong / 4]
    assert_allclose(found.gradient, expected, rtol=1e-12)
    assert_allclose(found.hessian, [1, 1, 1 / 3, 1 / 3 + 1 / 4, 1 / 4], rtol=1e-12)


def test_noise_is_logistic_of_the_given_scale() -> None:
    queries = Queries(np.arange(20_000) % 2, group=[20_000])
    ranked = ranked_queries(parse_metric("auc"), queries, np.zeros(20_000))
    first, second = noise_of(ranked, Noise(scale=2.0, rankings=2))
    deviation = 2.0 * np.pi / np.sqrt(3)  # of a logistic distribution
    error = 5 / np.sqrt(20_000)  # five standard errors, in units of the deviation
    for drawn in (first, second):
        assert abs(drawn.mean()) < error * deviation
        assert abs(drawn.std() / deviation - 1) < error
        assert abs((drawn < 2.0 * np.log(3)).mean() - 0.75) < error
    assert abs(np.corrcoef(first, second)[0, 1]) < error
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < error


# What must not matter -----------------------------------------------------------------------------

each_metric = pytest.mark.parametrize("name", LISTED)
HALF = Noise(seed=3)


def respond(objective: Any, data: Any, scores: Any, order: Any = None) -> Any:
    if order is None:
        return objective(data.labels, scores, None, data.sizes)
    return objective(data.labels[order], scores[order], None, data.sizes)


@each_metric
def test_row_order_and_threads_change_no_bit(name: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("lambdaplus.parallel.WORTH_A_THREAD", 50)
    data, random = graded(40), np.random.default_rng(1)
    objective = lambda_objective(name, noise=HALF)
    ends = np.cumsum(data.sizes)[:-1]
    order = np.concatenate([random.permutation(part) for part in
                            np.split(np.arange(len(data.labels)), ends)])  # fmt: skip
    for scores in (data.scores(), np.round(data.scores()), np.zeros(len(data.labels))):
        expected = respond(objective, data, scores)
        with limit_threads(1):
            assert_array_equal(respond(objective, data, scores), expected)
        found = respond(objective, data, scores, order)
        assert_array_equal(found, [part[order] for part in expected])
        assert np.isfinite(expected).all()
        assert expected[1].min() >= 0


def test_seeds_and_rounds_draw_other_noise() -> None:
    data = graded(20)
    one, other = (lambda_objective("map", noise=Noise(share=1.0, seed=s)) for s in (0, 1))
    scores = data.scores()
    assert_array_equal(respond(one, data, scores), respond(one, data, scores))
    assert (respond(one, data, scores)[0] != respond(other, data, scores)[0]).any()
    queries = Queries(data.labels, group=data.sizes)
    noises = []
    for moved in (scores, scores + 1e-3 * np.sign(scores)):  # of two rounds of one training
        ranked = ranked_queries(parse_metric("map"), queries, moved)
        noises.append(noise_of(ranked, Noise(rankings=1))[0] - ranked.score)
    assert abs(np.corrcoef(*noises)[0, 1]) < 0.2


def test_weights_multiply_the_rows_of_both_parts() -> None:
    data = graded(20)
    weight = np.repeat(np.random.default_rng(0).choice([0.5, 2.0], len(data.sizes)), data.sizes)
    metric, queries = parse_metric("ndcg"), Queries(data.labels, group=data.sizes)
    heavy = Queries(data.labels, group=data.sizes, weight=weight)
    plain_, weighted = (
        noisy_gradients(metric, q, data.scores(), Shape(), Noise(share=1.0))
        for q in (queries, heavy)
    )
    ratio = weighted.gradient / np.where(plain_.gradient == 0, np.nan, plain_.gradient * weight)
    assert np.nanmax(ratio) == pytest.approx(np.nanmin(ratio), rel=1e-12)  # one scale for all


@each_metric
@pytest.mark.parametrize("labels", [[1.0], [0.0, 0.0, 0.0], [1.0, 1.0]])
def test_nothing_to_compare_gives_no_gradient(name: str, labels: list[float]) -> None:
    found = lambda_objective(name, noise=HALF)(labels, np.zeros(len(labels)), None, [len(labels)])
    assert_array_equal(found, np.zeros((2, len(labels))))


def test_parts_are_mixed_by_their_share() -> None:
    data = graded(30)
    metric, queries = parse_metric("map"), Queries(data.labels, group=data.sizes)
    mixed = noisy_gradients(metric, queries, data.scores(), Shape(), Noise(share=0.25))
    alone = noisy_gradients(metric, queries, data.scores(), Shape(), Noise(share=1.0))
    every = lp.gradients(data.labels, data.scores(), group=data.sizes, metric="map", normalize=True)
    ends = np.cumsum(data.sizes)[:-1]
    teach = [(y >= 1).any() and (y < 1).any() for y in np.split(data.labels, ends)]
    rows = data.sizes[teach].sum()  # of the queries that have something to compare
    scale = rows / 2 / np.abs(every[0]).sum()
    for part, ours, theirs in zip(mixed, alone, every, strict=True):
        assert_allclose(part, 0.25 * ours + 0.75 * scale * theirs, rtol=1e-9, atol=1e-9)
    assert np.abs(alone.gradient).sum() == pytest.approx(rows / 2)


def test_a_list_that_is_in_order_is_not_scaled_up_from_rounding() -> None:
    labels, scores = np.repeat([1.0, 0.0], [5, 595]), np.linspace(600, 0, 600)
    metric, queries = parse_metric("success@5"), Queries(labels, group=[600])
    found = noisy_gradients(metric, queries, scores, Shape(), Noise(0.5, share=0.01))
    assert np.abs(found.gradient).sum() < 0.01 * 600


def test_without_queries_an_objective_has_no_noise() -> None:
    data = graded(20)
    with_noise, without = (lambda_objective("auc", noise=noise) for noise in (HALF, None))
    for found, expected in zip(
        with_noise(data.labels, data.scores()), without(data.labels, data.scores()), strict=True
    ):
        assert_array_equal(found, expected)


def test_objectives_with_noise_are_values() -> None:
    objective = lambda_objective("ndcg@10 + map", noise=Noise(rankings=2))
    assert pickle.loads(pickle.dumps(objective)) == objective
    assert objective != lambda_objective("ndcg@10 + map", noise=1.0)
    assert lambda_objective("map", noise=0) == lambda_objective("map", noise=None)
    assert lambda_objective("map", noise=0.5).noise == Noise(scale=0.5)
    made = eval(
        repr(lambda_objective("map", noise=Noise(metric=parse_metric("dcg"), seed=2))),
        {"lambda_objective": lambda_objective, "Noise": Noise},
    )
    assert made == lambda_objective("map", noise=Noise(metric=parse_metric("dcg"), seed=2))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scale": 0.0}, "scale must be a positive number"),
        ({"scale": float("nan")}, "scale must be a positive number"),
        ({"share": 0.0}, "share must be above 0"),
        ({"share": 1.5}, "share must be above 0"),
        ({"rankings": 0}, "rankings must be a whole number"),
        ({"neighbours": 1.5}, "neighbours must be a whole number"),
        ({"curvature": "flat"}, "curvature='flat' is not one of"),
    ],
)
def test_noise_that_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Noise(**options)


def test_noise_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="noise must be None, a scale or a Noise"):
        lambda_objective("map", noise="much")
