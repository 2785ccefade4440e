"""Comparisons over seeds and folds, whose errors hold what a training changes."""

from typing import Any

import numpy as np
import pytest
from compared_runs import four_runs, run
from scipy import stats

from lambdaplus import compare_runs, evaluate
from lambdaplus.evaluation import Evaluation
from lambdaplus.evaluation.effects import Effect, on_queries, over_folds, over_sets


def by_parts(first: Any, second: Any) -> tuple[float, float, float]:
    """Mean, variance and degrees of freedom on one fold, (seeds, queries) each, by their sums."""
    gap = first.mean(0) - second.mean(0)
    n = gap.size
    squares = [(gap.var(ddof=1) / n, n - 1)]
    variance = squares[0][0]
    for runs in (first, second):
        seeds = len(runs)
        if seeds > 1:
            means = runs.mean(1)
            # The mean square of a two-way table of seeds and queries, without either's effect.
            rest = runs - means[:, None] - runs.mean(0) + runs.mean()
            residual = (rest**2).sum() / (seeds - 1) / (n - 1)
            variance += max(0.0, means.var(ddof=1) - residual / n) / seeds
            squares.append((means.var(ddof=1) / seeds, seeds - 1))
    total = sum(square for square, _ in squares)
    return gap.mean(), variance, total**2 / sum(square**2 / df for square, df in squares)


def test_runs_of_seeds_are_tested_over_queries_and_seeds() -> None:
    seeds = {"a": [run(0.5, seed) for seed in (1, 2, 3)], "b": [run(2.0, seed) for seed in (4, 5)]}
    found = compare_runs(seeds)
    for pair in found.pairs:
        each = {
            name: np.array([one.per_query[pair.metric] for one in runs])
            for name, runs in seeds.items()
        }
        mean, variance, freedom = by_parts(each["a"], each["b"])
        assert pair.difference == pytest.approx(mean)
        assert pair.p_value == pytest.approx(2 * stats.t.sf(abs(mean) / variance**0.5, freedom))
        half = stats.t.ppf(0.975, freedom) * variance**0.5
        assert pair.interval == pytest.approx((mean - half, mean + half))
        for name, values in each.items():
            means = [value.mean() for value in values]
            assert found.means[pair.metric][name] == pytest.approx(np.mean(means))
            assert found.deviations[pair.metric][name] == pytest.approx(np.std(means, ddof=1))
    assert [*found.table.columns] == ["run", "map", "sd", "ndcg@5", "sd"]
    assert "sd: standard deviation over the seeds of a fold" in found.foot[0]
    alone = compare_runs({"a": [four_runs()["good"]], "b": four_runs()["bad"]})
    assert alone.pairs == compare_runs({"a": four_runs()["good"], "b": four_runs()["bad"]}).pairs
    assert not alone.deviations
    assert "The test is of these models" in alone.foot[0]
    one = compare_runs({"a": seeds["a"], "b": seeds["b"][0]})
    assert "One run of b: tested as one that no seed changes." in one.foot[0]
    with pytest.raises(ValueError, match="'wilcoxon' compares two models by query, not lists"):
        compare_runs(seeds, test="wilcoxon")


def of_folds(noise: float, seeds: int, first: int, sizes: Any = (20, 30, 50)) -> list[Evaluation]:
    """Runs of a system on folds of so many queries, seed by seed."""
    runs = []
    for fold, n in enumerate(sizes):
        labels = np.random.default_rng(fold).integers(0, 3, 10 * n)
        for seed in range(first, first + seeds):
            scores = labels + noise * np.random.default_rng([fold, seed]).normal(size=10 * n)
            qid = np.repeat([f"{fold} {query}" for query in range(n)], 10)
            runs.append(evaluate(labels, scores, qid=qid, metrics="map"))
    return runs


def test_with_one_seed_the_means_of_folds_are_compared() -> None:
    """Also of unequal folds, whose means count equally, and in any order of the lists."""
    a, b = of_folds(1.0, 1, 0), of_folds(1.2, 1, 7)
    gaps = [one["map"] - other["map"] for one, other in zip(a, b, strict=True)]
    found = compare_runs({"a": a, "b": b[::-1]})
    [pair] = found.pairs
    expected = stats.ttest_1samp(gaps, 0.0)
    assert pair.difference == pytest.approx(np.mean(gaps))
    assert pair.p_value == pytest.approx(expected.pvalue)
    assert pair.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert pair.n_queries == pair.wins + pair.losses + pair.ties == 100
    assert found.means["map"]["a"] == pytest.approx(np.mean([one["map"] for one in a]))
    assert found.foot[0].startswith("3 folds, 100 queries.")
    with pytest.raises(ValueError, match="'b' and 'a' do not have runs on the same folds: they "
                       "have 2 and 3, of which 2"):  # fmt: skip
        compare_runs({"a": a, "b": b[:2]})


def test_with_folds_and_seeds_the_larger_variance_is_taken() -> None:
    a, b = of_folds(1.0, 3, 0), of_folds(1.2, 2, 7)
    [pair] = compare_runs({"a": a, "b": b}).pairs
    folds = []
    for fold in range(3):
        runs = a[3 * fold : 3 * fold + 3], b[2 * fold : 2 * fold + 2]
        folds.append(by_parts(*(np.array([one.per_query["map"] for one in each]) for each in runs)))
    means, variances, freedoms = np.array(folds).T
    within, between = variances.sum() / 9, means.var(ddof=1) / 3
    freedom = variances.sum() ** 2 / np.sum(variances**2 / freedoms)
    both = (between + within) ** 2 / (between**2 / 2 + within**2 / freedom)
    z = abs(means.mean()) / max(between, within) ** 0.5
    assert pair.p_value == pytest.approx(2 * stats.t.sf(z, both))


def test_a_method_is_not_better_than_itself() -> None:
    """Seeds that change the model as a whole, and single queries; 5 % of 600, 3 errors above."""
    random = np.random.default_rng(0)

    def method(folds: int, seeds: int) -> list[Any]:
        shape = (seeds, 60)
        return [
            0.1 * random.normal(size=(seeds, 1)) + 0.2 * random.normal(size=shape)
            for _ in range(folds)
        ]

    for folds, seeds in ((1, 3), (3, 1), (5, 1), (3, 3), (5, 3)):
        alarms = [
            over_folds([*map(on_queries, method(folds, seeds), method(folds, seeds))]).p_value
            < 0.05
            for _ in range(600)
        ]
        assert np.mean(alarms) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)
    plain = [on_queries(*(method(1, 1)[0] for _ in range(2))) for _ in range(200)]
    assert np.mean([over_folds([one]).p_value < 0.05 for one in plain]) > 0.5


def test_the_mean_over_data_sets_is_welchs() -> None:
    random = np.random.default_rng(0)
    one, other = random.normal(0.1, 1, 20), random.normal(-0.1, 3, 35)
    found = over_sets([over_folds([on_queries(one)]), over_folds([on_queries(-other)])])
    expected = stats.ttest_ind(one, other, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.freedom == pytest.approx(expected.df)
    assert found.mean == pytest.approx((one.mean() - other.mean()) / 2)
    assert Effect(0.0, 0.0, 4.0).p_value == 1.0
    equal = Effect(0.1, 0.0, 4.0)  # which is no proof
    assert np.isnan([equal.p_value, *equal.interval()]).all()
