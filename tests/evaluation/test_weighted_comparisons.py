"""Comparisons of runs with weights of queries: means are ratios, and so are their errors."""

from typing import Any

import numpy as np
import pytest
from compared_runs import run
from scipy import stats

from lambdaplus import compare_runs, evaluate
from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation import Evaluation
from lambdaplus.evaluation.effects import Effect, on_queries, over_folds


def of_ratio(values: Floats, weights: Floats) -> Effect:
    """The weighted mean of (n,) values, with its error by explicit matrices; Kish's freedom."""
    w = weights / weights.sum()
    deviation = np.eye(w.size) - w  # of a value from the weighted mean
    matrix = deviation.T @ np.diag(w**2) @ deviation
    variance = values @ matrix @ values * (w**2).sum() / np.trace(matrix)
    return Effect(w @ values, variance**0.5, weights.sum() ** 2 / (weights**2).sum() - 1)


def test_weights_of_queries_count_in_means_intervals_and_tests() -> None:
    """Whole weights are copies of queries, for means; a query of weight 0 is none."""
    of_query = np.random.default_rng(0).integers(0, 4, 40)
    weighted, plain = (
        {"a": run(0.5, 1, **weight), "b": run(2.0, 2, **weight)}
        for weight in ({"weight": np.repeat(of_query, 15)}, {})
    )
    compared = compare_runs(weighted)
    used = of_query > 0
    for metric, means in compared.means.items():
        gaps = {name: one.per_query[metric] for name, one in weighted.items()}
        for name, values in gaps.items():
            assert means[name] == pytest.approx(np.repeat(values, of_query).mean())
        [pair] = compared.of(metric)
        expected = of_ratio((gaps["a"] - gaps["b"])[used], of_query[used].astype(float))
        assert pair.difference == pytest.approx(expected.mean)
        assert pair.interval == pytest.approx(expected.interval())
        assert pair.p_value == pytest.approx(expected.p_value)
        assert pair.n_queries == used.sum()
    assert f"40 queries, of which {used.sum()} compared, weighted." in compared.foot[0]
    with pytest.raises(ValueError, match="'b' and 'a' were not evaluated with the same weights"):
        compare_runs({"a": weighted["a"], "b": plain["b"]})


@pytest.mark.parametrize("sigma", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("n", [2, 3, 30])
def test_errors_of_weighted_means_are_those_of_ratios(n: int, sigma: float) -> None:
    random = np.random.default_rng(n)
    weights, values = np.exp(sigma * random.normal(size=n)), random.normal(size=n)
    expected = of_ratio(values, weights)
    for scale in (1.0, 1e-9, 1e9):
        found = over_folds([on_queries(values, weights=scale * weights)])
        assert found[:3] == pytest.approx(expected[:3])
    without = over_folds([on_queries(np.r_[values, 7.0], weights=np.r_[weights, 0.0])])
    assert without[:3] == pytest.approx(expected[:3])


def test_equal_weights_give_students_test() -> None:
    values = np.random.default_rng(0).normal(0.3, 1, 25)
    found, expected = (
        over_folds([on_queries(values, weights=np.full(25, 0.1))]),
        stats.ttest_1samp(values, 0),
    )
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.freedom == pytest.approx(24)


@pytest.mark.parametrize("weight", [1e4, 1e9, 1e17])
def test_one_query_with_nearly_all_of_the_weight_tells_nothing(weight: float) -> None:
    labels, better, worse = [1, 0] * 20, [2, 1] * 20, [1, 2] * 9 + [2, 1] * 11
    given: dict[str, Any] = {"group": [2] * 20, "weight": np.repeat(np.r_[weight, np.ones(19)], 2)}
    runs = {
        name: evaluate(labels, scores, metrics="mrr", **given)
        for name, scores in (("better", better), ("worse", worse))
    }
    [pair] = compare_runs(runs).pairs
    assert pair.difference == pytest.approx(0.5, abs=1e-3)
    assert pair.interval == (-1.0, 1.0)
    assert pair.p_value > 0.9


def test_weighted_errors_have_their_level_and_are_without_bias() -> None:
    """Two methods, three seeds on each of two folds; weights of a lognormal distribution."""
    random = np.random.default_rng(1)
    weights = np.exp(random.normal(size=(2, 40)))
    effects = []
    for _ in range(1500):
        a, b = (
            0.1 * random.normal(size=(2, 3, 1)) + random.normal(size=(2, 3, 40)) for _ in range(2)
        )
        stable = 0.5 * random.normal(size=(2, 1, 40))
        folds = [on_queries(a[f] + stable[f], b[f], weights=weights[f]) for f in range(2)]
        effects.append(over_folds(folds))
    means, errors = (np.array([effect[i] for effect in effects]) for i in (0, 1))
    # Twice the relative error of a variance of 1,500 means is .07; the cut at 0 adds .05.
    assert np.mean(errors**2) == pytest.approx(means.var(), rel=0.12)
    alarms = np.mean([effect.p_value < 0.05 for effect in effects])
    assert 0.035 < alarms < 0.065


def with_a_heavy_query(heavy: int) -> dict[str, Evaluation]:
    """The first run is better on all 20 queries, by 1/2 or 2/3; one query has the weight 20."""
    second = [[2, 3, 1], [1, 3, 2]] * 10  # of documents of which the first is relevant
    weight = np.ones(20)
    weight[heavy] = 20.0
    given: dict[str, Any] = {"group": [3] * 20, "weight": np.repeat(weight, 3), "metrics": "mrr"}
    return {
        name: evaluate([1, 0, 0] * 20, scores, **given)
        for name, scores in {"first": [3, 2, 1] * 20, "second": np.ravel(second)}.items()
    }


@pytest.mark.parametrize("heavy", [0, 1])
def test_a_heavy_query_among_alike_ones_is_no_error(heavy: int) -> None:
    runs = with_a_heavy_query(heavy)
    gaps = runs["first"].per_query["mrr"] - runs["second"].per_query["mrr"]
    assert sorted(set(gaps.round(6))) == [0.5, 0.666667]
    [pair] = compare_runs(runs).pairs
    assert 0 < pair.interval[0] < 0.5 < 0.667 < pair.interval[1] < 1
    assert pair.p_value < 0.05
