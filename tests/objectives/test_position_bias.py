"""Position bias: the estimates against brute force, their state, and simulated clicks."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import GRADED, graded

import lambdaplus as lp
from lambdaplus.objectives.position_bias import PositionBias

lgb = pytest.importorskip("lightgbm", minversion="4")

# Clicks, scores without ties, sizes of queries, and where their rows were shown.
SIZES = [7, 3, 5, 2, 4]
CLICKS = (np.random.default_rng(0).random(sum(SIZES)) < 0.4).astype(float)
SCORES = np.random.default_rng(1).permutation(np.arange(sum(SIZES))) / 7.0


def places(sizes: Any) -> Any:
    return np.concatenate([np.arange(size) for size in sizes])


def dataset(labels: Any, **options: Any) -> Any:
    features = np.zeros((len(labels), 1))
    return lgb.Dataset(features, labels, group=SIZES, **options).construct()


@pytest.mark.parametrize("metric", ["ndcg", "ndcg@10 + 0.5*map"])
def test_a_bias_is_added_to_the_scores_and_takes_newton_steps(metric: str) -> None:
    plain = lp.lambda_objective(metric)
    objective = PositionBias(plain, learning_rate=0.3, regularization=0.01)
    place, bias = places(SIZES), np.zeros(max(SIZES))
    for _ in range(3):
        gradient, hessian = plain(CLICKS, SCORES + bias[place], None, SIZES)
        found = objective(CLICKS, SCORES, None, SIZES)
        assert_allclose(found[0], gradient, rtol=1e-5, atol=1e-7)
        assert_allclose(found[1], hessian, rtol=1e-5, atol=1e-7)
        for k in range(bias.size):
            there = place == k
            slope = gradient[there].sum(dtype=float) + 0.01 * there.sum() * bias[k]
            bias[k] -= 0.3 * slope / (hessian[there].sum() + 0.01 * there.sum() + 1e-3)
        bias -= bias[0]
        assert_allclose(objective.bias_, bias, rtol=1e-4, atol=1e-6)
    assert np.abs(bias).max() > 0.05


SINCE_POSITION = pytest.mark.skipif(
    not hasattr(lgb.Dataset, "get_position"), reason="Dataset(position=) needs LightGBM 4.1"
)


@SINCE_POSITION
def test_the_state_can_be_read_from_the_object_that_lightgbm_was_given() -> None:
    objective = PositionBias(lp.lambda_ndcg)
    position = places(GRADED.sizes)
    given = lgb.Dataset(GRADED.features, GRADED.binary, group=GRADED.sizes, position=position)
    lgb.train({"objective": objective, "verbose": -1, "num_threads": 1}, given, 5)
    assert objective.bias_.size % GRADED.sizes.max() == 0
    assert not np.allclose(objective.bias_, objective.bias_[0])
    loaded = pickle.loads(pickle.dumps(objective))
    assert_array_equal(loaded.bias_, objective.bias_)


@SINCE_POSITION
def test_a_copy_and_a_training_at_the_same_time_have_estimates_of_their_own() -> None:
    position = places(GRADED.sizes)
    one, other, both = (PositionBias(lp.lambda_ndcg) for _ in range(3))
    copied = copy.deepcopy(both)
    assert copied is not both

    def booster(objective: PositionBias, labels: Any) -> tuple[Any, PositionBias]:
        given = lgb.Dataset(GRADED.features, labels, group=GRADED.sizes, position=position)
        params = {"objective": "none", "verbose": -1, "num_threads": 1}
        return lgb.Booster(params, given), objective

    clicks = GRADED.binary, GRADED.binary[::-1].copy()
    alone = [
        booster(objective, label) for objective, label in zip((one, other), clicks, strict=True)
    ]
    shared = [booster(both, label) for label in clicks]
    for _ in range(4):
        for trained, objective in alone + shared:
            trained.update(fobj=objective)
    for (left, _), (right, _) in zip(alone, shared, strict=True):
        assert_array_equal(left.predict(GRADED.features), right.predict(GRADED.features))
    assert_array_equal(both.bias_, other.bias_)
    assert not np.array_equal(one.bias_, other.bias_)
    assert copied.bias_.size == 0


@SINCE_POSITION
def test_positions_are_the_given_ones_and_else_the_order_of_rows() -> None:
    position, query = places(SIZES), np.repeat(range(5), SIZES)
    key = np.where(query > 0, np.random.default_rng(0).random(CLICKS.size), position)
    order = np.lexsort([key, query])
    given = dataset(CLICKS[order], position=position[order])
    with_field, by_rows = PositionBias(lp.lambda_ndcg), PositionBias(lp.lambda_ndcg)
    for turn in range(3):
        found = with_field(turn * SCORES[order], given)
        expected = by_rows(CLICKS, turn * SCORES, None, SIZES)
        for one, other in zip(found, expected, strict=True):
            assert_allclose(one, other[order], rtol=1e-5, atol=1e-6)
    assert_allclose(with_field.bias_, by_rows.bias_)


def test_xgboost_rows_stand_as_they_were_shown() -> None:
    xgb = pytest.importorskip("xgboost")
    given = xgb.DMatrix(np.zeros((CLICKS.size, 1)), CLICKS, group=SIZES)
    scores = SCORES.astype(np.float32)
    found = PositionBias(lp.lambda_ndcg)(scores, given)
    expected = PositionBias(lp.lambda_ndcg)(CLICKS, scores, None, SIZES)
    for one, other, factor in zip(found, expected, (1, 2), strict=True):
        assert_array_equal(one, factor * other)  # XGBoost gets twice the Hessian


def test_missing_queries_and_positions_are_errors() -> None:
    objective = PositionBias(lp.lambda_ndcg)
    with pytest.raises(ValueError, match="set group="):
        objective(CLICKS, SCORES)
    with pytest.raises(ValueError, match=r"Dataset\(position=\)"):
        objective(SCORES, dataset(CLICKS))


def test_positions_reach_the_outermost_objective_alone() -> None:
    """A part of a sum or a second correction would take the order of the rows for positions."""
    bias = PositionBias(lp.lambda_ndcg)
    with pytest.raises(TypeError, match=r"cannot be a part of a sum: pass the sum to PositionBias"):
        lp.combine({bias: 1.0, lp.lambda_map: 1.0})
    for wrong in (bias, "ndcg", None):
        with pytest.raises(TypeError, match="PositionBias corrects an objective such as"):
            PositionBias(wrong)


@pytest.mark.parametrize("value", [-1, 2e100, float("nan"), "0.1", None])
def test_parameters_out_of_range_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="learning_rate must be a number above 0 and at most 1"):
        PositionBias(lp.lambda_ndcg, learning_rate=value)
    with pytest.raises(ValueError, match="regularization must be a number at least 0"):
        PositionBias(lp.lambda_ndcg, regularization=value)


@SINCE_POSITION
def test_a_second_training_on_scores_of_a_first_one_starts_without_bias() -> None:
    data = graded(30)
    position = places(data.sizes)
    given = lgb.Dataset(
        data.features, label=data.labels, group=data.sizes, position=position,
        init_score=data.scores(), free_raw_data=False,
    )  # fmt: skip
    objective = PositionBias(lp.lambda_ndcg)
    params = {"objective": objective, "verbose": -1, "metric": "None", "num_threads": 1}
    lgb.train(params, given, 5)
    first = objective.bias_.copy()
    lgb.train(params, given, 5)
    assert_array_equal(objective.bias_, first)
    assert np.abs(first).max() > 0
