"""Comparisons over seeds and folds, whose errors hold what a training changes."""

from typing import Any

import numpy as np
import pytest
from compared_runs import four_runs, run
from scipy import stats

from lambdaplus import compare_runs, evaluate
from lambdaplus.evaluation import Evaluation
from lambdaplus.evaluation.compare import effect_of
from lambdaplus.evaluation.effects import Effect, on_queries, over_folds, over_sets


def by_sums(*folds: tuple[Any, Any]) -> Effect:
    """The mean over folds of first less second, (seeds, queries) each, by two-way tables.

    A single run has no seeds, also if there are others on other folds.
    """
    gaps, of_queries, of_residuals, of_seeds = [], [], 0.0, []
    for first, second in folds:
        gap = first.mean(0) - second.mean(0)
        gaps.append(gap.mean())
        of_queries.append((gap.var(ddof=1) / gap.size, gap.size - 1))
        for runs in (first, second):
            seeds, n = runs.shape
            if seeds > 1:
                # The mean square of what is left without the effects of seeds and queries.
                rest = runs - runs.mean(1)[:, None] - runs.mean(0) + runs.mean()
                of_residuals += (rest**2).sum() / (seeds - 1) / (n - 1) / n / seeds
                of_seeds.append((runs.mean(1).var(ddof=1) / seeds, seeds - 1))
    spread = sum(square for square, _ in of_seeds)
    beyond = max(0.0, spread - of_residuals)
    total = sum(square for square, _ in of_queries) + beyond
    squares = sum(square**2 / df for square, df in of_queries)
    squares += beyond / spread * sum(square**2 / df for square, df in of_seeds)
    lasting = max(0.0, sum(square for square, _ in of_queries) - of_residuals)
    n = len(folds)
    return Effect(np.mean(gaps), total**0.5 / n, total**2 / squares, lasting / n**2)


def test_runs_of_seeds_are_tested_over_queries_and_seeds() -> None:
    seeds = {"a": [run(0.5, seed) for seed in (1, 2, 3)], "b": [run(2.0, seed) for seed in (4, 5)]}
    found = compare_runs(seeds)
    for pair in found.pairs:
        each = {
            name: np.array([one.per_query[pair.metric] for one in runs])
            for name, runs in seeds.items()
        }
        expected = by_sums((each["a"], each["b"]))
        assert pair.difference == pytest.approx(expected.mean)
        z = expected.mean / expected.error
        assert pair.p_value == pytest.approx(2 * stats.t.sf(abs(z), expected.freedom))
        half = stats.t.ppf(0.975, expected.freedom) * expected.error
        assert pair.interval == pytest.approx((expected.mean - half, expected.mean + half))
        for name, values in each.items():
            means = [value.mean() for value in values]
            assert found.means[pair.metric][name] == pytest.approx(np.mean(means))
            assert found.deviations[pair.metric][name] == pytest.approx(np.std(means, ddof=1))
    assert [*found.table.columns] == ["run", "map", "sd", "ndcg@5", "sd"]
    assert "two-tailed t test over queries and seeds" in found.foot[0]
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


def by_fold(*systems: list[Evaluation], folds: int = 3) -> list[Any]:
    """The values of each system on each fold, (seeds, queries), from `of_folds`."""
    arrays = []
    for fold in range(folds):
        runs = [one[len(one) // folds * fold : len(one) // folds * (fold + 1)] for one in systems]
        arrays.append(tuple(np.array([run.per_query["map"] for run in each]) for each in runs))
    return arrays


@pytest.mark.parametrize("seeds", [(3, 2), (2, 1)])  # the second: a method without a seed
def test_the_part_of_the_seeds_is_pooled_over_unequal_folds(seeds: tuple[int, int]) -> None:
    a, b = of_folds(1.0, seeds[0], 0), of_folds(1.2, seeds[1], 7)
    expected = by_sums(*by_fold(a, b))
    found = compare_runs({"a": a, "b": b})
    [pair] = found.pairs
    assert pair.difference == pytest.approx(expected.mean)
    assert pair.p_value == pytest.approx(expected.p_value)
    assert pair.interval == pytest.approx(expected.interval())
    assert effect_of("map", a, b) == pytest.approx(expected)
    single = "One run of b: tested as one that no seed changes." in found.foot[0]
    assert single == (seeds[1] == 1)


def test_the_seeds_of_some_folds_stand_for_those_of_folds_with_one_run() -> None:
    """Of method "a", there are four seeds on the first fold, and one on the two others."""
    random = np.random.default_rng(3)
    a, b = (0.2 * random.normal(size=(3, 4, 1)) + random.normal(size=(3, 4, 40)) for _ in range(2))
    a_runs = [a[0], a[1][:1], a[2][:1]]
    spread = a[0].mean(1).var(ddof=1)
    rest = a[0] - a[0].mean(1)[:, None] - a[0].mean(0) + a[0].mean()
    of_a = (spread - (rest**2).sum() / 3 / 39 / 40) * (1 / 4 + 1 + 1)
    of_b = 0.0
    for runs in b:
        rest = runs - runs.mean(1)[:, None] - runs.mean(0) + runs.mean()
        of_b += (runs.mean(1).var(ddof=1) - (rest**2).sum() / 3 / 39 / 40) / 4
    gaps = [one.mean(0) - other.mean(0) for one, other in zip(a_runs, b, strict=True)]
    variance = sum(gap.var(ddof=1) / 40 for gap in gaps) + of_a + of_b
    assert of_a + of_b > 0
    found = over_folds([on_queries(one, other) for one, other in zip(a_runs, b, strict=True)])
    assert found.error == pytest.approx(variance**0.5 / 3)


def test_copies_of_runs_count_as_one_run() -> None:
    """Seeds that change nothing: the means of folds are compared, as of single runs."""
    a, b = of_folds(1.0, 1, 0), of_folds(1.2, 1, 7)
    [once], [thrice] = (compare_runs({"a": n * a, "b": n * b}).pairs for n in (1, 3))
    assert thrice.p_value == pytest.approx(once.p_value)
    assert thrice.interval == pytest.approx(once.interval)


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


def test_runs_less_the_same_runs_are_0_with_an_error() -> None:
    """The variance of their difference would be some -1e-20."""
    random = np.random.default_rng(0)
    for _ in range(50):
        runs = [random.random((5, 40)) for _ in range(3)]
        found = over_folds([on_queries(one, one) for one in runs])
        assert found.mean == 0.0
        assert 0.0 <= found.error < 0.1  # of seeds that happen to differ as a whole
        assert found.p_value == 1.0


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
