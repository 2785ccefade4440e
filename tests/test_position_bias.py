"""Position bias: the estimates against brute force, their state, and simulated clicks."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import brute_force
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded

import lambdaplus as lp
from lambdaplus.metrics import parse_metric
from lambdaplus.objectives.position_bias import PositionBias, PropensityRatios

lgb = pytest.importorskip("lightgbm", minversion="4")

SIZES = [7, 3, 5, 2, 4]


def clicks(seed: int = 0) -> Any:
    """Clicks, scores without ties, and query sizes."""
    random = np.random.default_rng(seed)
    labels = (random.random(sum(SIZES)) < 0.4).astype(float)
    return labels, random.permutation(np.arange(sum(SIZES))) / 7.0, SIZES


def swap_delta(metric: str, labels: Any, scores: Any, i: int, j: int) -> float:
    swapped = scores.copy()
    swapped[[i, j]] = scores[[j, i]]
    before, after = (
        brute_force.value(parse_metric(metric), labels[np.argsort(-s)].tolist())
        for s in (scores, swapped)
    )
    return abs(after - before)


@pytest.mark.parametrize("metric", ["ndcg", "map", "mrr", "auc", "ndcg@3"])
def test_pairs_are_divided_by_both_ratios(metric: str) -> None:
    # Hu et al. 2019, eqs. 23, 30 and 31, pair by pair, the swap deltas from the textbook.
    labels, scores, sizes = clicks()
    objective = PropensityRatios(
        lp.lambda_objective(metric, normalize=False, damping=None, sigma=1.5, noise=None),
        regularization=0.5,
    )
    n_positions = max(sizes)
    clicked, unclicked = np.ones(n_positions), np.ones(n_positions)
    objective(labels, np.zeros_like(scores), None, sizes)  # a training starts with equal scores
    objective.clicked_[:], objective.unclicked_[:] = 1.0, 1.0
    for _ in range(2):
        gradient, hessian = np.zeros_like(scores), np.zeros_like(scores)
        losses = np.zeros((2, n_positions))
        start = 0
        for size in sizes:
            y, s = labels[start : start + size], scores[start : start + size]
            for i in np.flatnonzero(y == 1):
                for j in np.flatnonzero(y == 0):
                    delta = swap_delta(metric, y, s, i, j)
                    margin = 1.5 * (s[i] - s[j])
                    push = 1.5 * delta / (1 + math.exp(margin)) / (clicked[i] * unclicked[j])
                    curve = 1.5 * push * (1 - 1 / (1 + math.exp(margin)))
                    gradient[start + i] -= push
                    gradient[start + j] += push
                    hessian[start + i] += curve
                    hessian[start + j] += curve
                    loss = delta * math.log1p(math.exp(-margin))
                    losses[0, i] += loss / unclicked[j]
                    losses[1, j] += loss / clicked[i]
            start += size
        found = objective(labels, scores, None, sizes)
        assert_allclose(found[0], gradient, rtol=1e-5, atol=1e-7)
        assert_allclose(found[1], hessian, rtol=1e-5, atol=1e-7)
        for ratio, loss in ((clicked, losses[0]), (unclicked, losses[1])):
            seen = loss > 0
            ratio[seen] = (loss[seen] / loss[0]) ** (1 / 1.5)
        assert_allclose(objective.clicked_, clicked, rtol=1e-9)
        assert_allclose(objective.unclicked_, unclicked, rtol=1e-9)
        assert (clicked != 1).any()


@pytest.mark.parametrize("metric", ["ndcg@10", "map", "auc"])
@pytest.mark.parametrize("normalize", [True, False])
def test_without_bias_the_ratios_change_nothing(metric: str, normalize: bool) -> None:
    labels, scores, sizes = clicks(1)
    plain = lp.lambda_objective(metric, normalize=normalize, noise=None)
    expected = plain(labels, scores, None, sizes)
    found = PropensityRatios(plain)(labels, scores, None, sizes)  # the first call: all ratios 1
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=2e-3, atol=1e-6)  # the sweep's kernel is fitted to 1e-3


def test_a_bias_is_added_to_the_scores_and_takes_newton_steps() -> None:
    labels, scores, sizes = clicks()
    plain = lp.lambda_objective("ndcg", noise=None)
    objective = PositionBias(plain, learning_rate=0.3, regularization=0.01)
    place = np.concatenate([np.arange(size) for size in sizes])
    bias = np.zeros(max(sizes))
    for _ in range(3):
        gradient, hessian = plain(labels, scores + bias[place], None, sizes)
        found = objective(labels, scores, None, sizes)
        assert_allclose(found[0], gradient, rtol=1e-5, atol=1e-7)
        assert_allclose(found[1], hessian, rtol=1e-5, atol=1e-7)
        for k in range(bias.size):
            there = place == k
            slope = gradient[there].sum(dtype=float) + 0.01 * there.sum() * bias[k]
            bias[k] -= 0.3 * slope / (hessian[there].sum() + 0.01 * there.sum() + 1e-3)
        bias -= bias[0]
        assert_allclose(objective.bias_, bias, rtol=1e-4, atol=1e-6)
    assert np.abs(bias).max() > 0.05


EACH = pytest.mark.parametrize("kind", [PositionBias, PropensityRatios])
SINCE_POSITION = pytest.mark.skipif(
    not hasattr(lgb.Dataset, "get_position"), reason="Dataset(position=) needs LightGBM 4.1"
)


def state(objective: Any) -> Any:
    names = ("bias_", "clicked_", "unclicked_")
    return np.concatenate([getattr(objective, name) for name in names if hasattr(objective, name)])


@EACH
def test_a_training_starts_afresh(kind: Any) -> None:
    labels, scores, sizes = clicks()
    objective = kind(lp.lambda_ndcg)

    def rounds(labels: Any) -> Any:
        for turn in range(3):
            objective(labels, turn * scores, None, sizes)
        return state(objective).copy()

    first = rounds(labels)
    other = rounds(1 - labels)
    assert not np.allclose(first, other)
    assert_array_equal(rounds(labels), first)


@SINCE_POSITION
@EACH
def test_the_state_can_be_read_from_the_object_that_lightgbm_was_given(kind: Any) -> None:
    objective, data = kind(lp.lambda_ndcg), graded()
    position = np.concatenate([np.arange(size) for size in data.sizes])
    given = lgb.Dataset(data.features, data.binary, group=data.sizes, position=position)
    lgb.train({"objective": objective, "verbose": -1, "num_threads": 1}, given, 5)
    assert state(objective).size % data.sizes.max() == 0
    assert not np.allclose(state(objective), state(objective)[0])
    loaded = pickle.loads(pickle.dumps(objective))
    assert_array_equal(state(loaded), state(objective))
    assert copy.deepcopy(objective) is objective


@SINCE_POSITION
@EACH
def test_positions_are_the_given_ones_and_else_the_order_of_rows(kind: Any) -> None:
    labels, scores, sizes = clicks()
    position = np.concatenate([np.arange(size) for size in sizes])
    query = np.repeat(range(5), sizes)
    key = np.where(query > 0, np.random.default_rng(0).random(len(labels)), position)
    order = np.lexsort([key, query])
    given = lgb.Dataset(
        np.zeros((len(labels), 1)), labels[order], group=sizes, position=position[order]
    ).construct()
    with_field, by_rows = kind(lp.lambda_ndcg), kind(lp.lambda_ndcg)
    for turn in range(3):
        found = with_field(turn * scores[order], given)
        expected = by_rows(labels, turn * scores, None, sizes)
        for one, other in zip(found, expected, strict=True):
            assert_allclose(one, other[order], rtol=1e-5, atol=1e-6)
    assert_allclose(state(with_field), state(by_rows))


@EACH
def test_xgboost_rows_stand_as_they_were_shown(kind: Any) -> None:
    xgb = pytest.importorskip("xgboost")
    labels, scores, sizes = clicks()
    given = xgb.DMatrix(np.zeros((len(labels), 1)), labels, group=sizes)
    found = kind(lp.lambda_ndcg)(scores.astype(np.float32), given)
    expected = kind(lp.lambda_ndcg)(labels, scores.astype(np.float32), None, sizes)
    for one, other, factor in zip(found, expected, (1, 2), strict=True):
        assert_array_equal(one, factor * other)  # XGBoost gets twice the Hessian


@EACH
def test_what_is_missing_is_said(kind: Any) -> None:
    labels, scores, sizes = clicks()
    objective = kind(lp.lambda_ndcg)
    with pytest.raises(ValueError, match="set group="):
        objective(labels, scores)
    given = lgb.Dataset(np.zeros((len(labels), 1)), labels, group=sizes).construct()
    with pytest.raises(ValueError, match=r"Dataset\(position=\)"):
        objective(scores, given)


def test_ratios_are_for_clicks() -> None:
    labels, scores, sizes = clicks()
    with pytest.raises(ValueError, match="clicks, 0 or 1"):
        PropensityRatios(lp.lambda_ndcg)(2 * labels, scores, None, sizes)


@SINCE_POSITION
def test_bias_is_found_where_there_is_nothing_else_to_find() -> None:
    # Relevance depends on a feature that has nothing to do with the position: the click rates of
    # the positions, 1 / (r + 1) of the first's, are all bias.
    random = np.random.default_rng(0)
    n_queries, size = 3000, 6
    position = np.tile(np.arange(size), n_queries)
    feature = random.normal(size=n_queries * size)
    relevant = random.random(feature.size) < 1 / (1 + np.exp(-2 * feature))
    clicked = relevant & (random.random(feature.size) < 1 / (position + 1.0))
    objective = PositionBias(lp.lambda_auc)
    given = lgb.Dataset(feature[:, None], clicked, group=[size] * n_queries, position=position)
    lgb.train({"objective": objective, "verbose": -1, "num_threads": 1, "num_leaves": 7}, given, 60)
    assert (np.diff(objective.bias_) < 0).all()
    # A pair's odds compare logit(r e) with logit(r): by log(1/6) for small r, by more for others.
    assert -4.6 < objective.bias_[-1] < math.log(1 / 6)


def test_pairs_of_the_whole_data_set_have_no_ratios() -> None:
    with pytest.raises(ValueError, match=r"auc\(over=dataset\) ignores queries"):
        PropensityRatios(lp.lambda_objective("auc", over="dataset"))
    with pytest.raises(TypeError, match="one metric"):
        PropensityRatios(lp.lambda_objective("ndcg + map"))
