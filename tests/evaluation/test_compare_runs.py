"""Comparisons of runs: the tests against scipy and by hand, alignment, tables, errors."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from brute_force import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score

from lambdaplus import compare_runs, evaluate
from lambdaplus.evaluation import Cell, Evaluation, Table
from lambdaplus.evaluation.effects import Effect, on_queries, over_folds, over_sets
from lambdaplus.evaluation.significance import holm, rounded, wilcoxon


def run(noise: float, seed: int = 0, **given_: Any) -> Evaluation:
    """A system on 40 queries of 15 documents, the worse the more noise."""
    random = np.random.default_rng(1)
    labels = random.integers(0, 3, 600)
    scores = labels + noise * np.random.default_rng(seed).normal(size=600)
    chosen = {"group": [15] * 40, "metrics": ["map", "ndcg@5"], **given_}
    return evaluate(labels, scores, **chosen)


@cache
def four_runs() -> dict[str, Evaluation]:
    """Not a constant, which would compile kernels in each worker that collects this file."""
    return {"good": run(0.5, 1), "fair": run(2.0, 2), "same": run(2.0, 3), "bad": run(9.0, 4)}


# The tests ---------------------------------------------------------------------------------------


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=6))
@examples(60)
def test_holm_is_its_definition(p: list[float]) -> None:
    """Rejected at alpha: those before the first, in order of size, with p > alpha / (m - rank)."""
    corrected, m = holm(np.array(p)), len(p)
    for alpha in (0.01, 0.05, 0.2, 0.7):
        rejected = set()
        for rank, i in enumerate(sorted(range(m), key=lambda i: p[i])):
            if p[i] * (m - rank) > alpha:
                break
            rejected.add(i)
        assert {i for i in range(m) if corrected[i] <= alpha} == rejected
    with_nan = holm(np.array([np.nan, *p]))
    assert np.isnan(with_nan[0])
    assert with_nan[1:].tolist() == corrected.tolist()


# Comparisons -------------------------------------------------------------------------------------


def test_weights_of_queries_count_in_means_intervals_and_tests() -> None:
    """Whole weights are copies of queries, for means; a query of weight 0 is none."""
    of_query = np.random.default_rng(0).integers(0, 4, 40)
    weighted, plain = (
        {"a": run(0.5, 1, **weight), "b": run(2.0, 2, **weight)}
        for weight in ({"weight": np.repeat(of_query, 15)}, {})
    )
    compared = compare_runs(weighted)
    for metric, means in compared.means.items():
        assert means == {name: pytest.approx(one.mean[metric]) for name, one in weighted.items()}
        [pair] = compared.of(metric)
        assert pair.difference == pytest.approx(means["a"] - means["b"])
        assert pair.interval[0] < pair.difference < pair.interval[1]
        assert pair.n_queries == (of_query > 0).sum()
        gap = weighted["a"].per_query[metric] - weighted["b"].per_query[metric]
        products = (gap * of_query)[of_query > 0]
        assert pair.p_value == pytest.approx(stats.ttest_1samp(products, 0).pvalue)
    used = (of_query > 0).sum()
    assert f"40 queries, of which {used} compared, weighted." in compared.foot[0]
    with pytest.raises(ValueError, match="'b' and 'a' were not evaluated with the same weights"):
        compare_runs({"a": weighted["a"], "b": plain["b"]})


@pytest.mark.parametrize("labels", [[1, 0], [1, 0, 0, 0], [1, 1, 1, 0]])
def test_a_class_of_a_single_row_has_no_variance(labels: list[int]) -> None:
    """A bootstrap would only leave it out or repeat it; DeLong's covariance needs two, too."""
    scores = np.arange(len(labels), dtype=float)
    runs = {
        name: evaluate(labels, sign * scores, metrics=["map", "auc"])
        for name, sign in {"up": 1.0, "down": -1.0}.items()
    }
    for pair in compare_runs(runs).pairs:
        assert np.isnan([pair.p_value, *pair.interval]).all(), pair


def test_wins_losses_ties_and_means_of_queries_with_a_value() -> None:
    labels = [1, 0, 1, 0, 1, 0, 1, 0, 0, 0]  # the last query has no relevant document
    scores = {"first": [2, 1, 2, 1, 1, 2, 1, 1, 2, 1], "second": [2, 1, 1, 2, 2, 1, 2, 1, 1, 2]}
    found = compare_runs(
        {name: evaluate(labels, s, group=[2] * 5, metrics="map") for name, s in scores.items()}
    )
    [pair] = found.pairs
    assert (pair.wins, pair.losses, pair.ties, pair.n_queries) == (1, 2, 1, 4)
    assert pair.difference == pytest.approx((0 + 0.5 - 0.5 - 0.25) / 4)
    assert pair.interval[0] < pair.difference < pair.interval[1]
    assert found.means["map"] == {"first": 3.25 / 4, "second": 3.5 / 4}
    one, two = (
        evaluate([1, 0, 0, 0], s, group=[2, 2], metrics="map") for s in ([2, 1] * 2, [1] * 4)
    )
    for test in ("t", "wilcoxon"):  # a single query with a value
        [pair] = compare_runs({"one": one, "two": two}, test=test).pairs
        assert (pair.n_queries, pair.difference) == (1, 0.25)
        assert np.isnan([pair.p_value, *pair.interval]).all()


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_equal_differences_have_no_variance_to_test_by(test: Any) -> None:
    """Two queries are won by .5 each; Wilcoxon's smallest p of two queries is 1/2."""
    labels, best, second = [1, 0, 0] * 2, [3, 2, 1] * 2, [2, 3, 1] * 2
    runs = {
        name: evaluate(labels, scores, group=[3, 3], metrics="mrr")
        for name, scores in {"best": best, "second": second}.items()
    }
    comparison = compare_runs(runs, test=test)
    [pair] = comparison.pairs
    assert (pair.difference, pair.wins) == (0.5, 2)
    assert np.isnan(pair.interval).all()
    assert np.isnan(pair.p_value) if test == "t" else pair.p_value == 0.5
    assert {cell.mark for row in comparison.table.cells for cell in row} == {""}


def test_values_that_differ_by_rounding_errors_alone_are_tied() -> None:
    good = four_runs()["good"]
    other = {metric: values - 1e-15 for metric, values in good.per_query.items()}
    for pair in compare_runs({"good": good, "other": replace(good, per_query=other)}).pairs:
        assert (pair.wins, pair.losses, pair.ties) == (0, 0, 40)
        assert (pair.difference, pair.p_value) == (0.0, 1.0)


def test_letters_say_who_is_beaten() -> None:
    found = compare_runs(four_runs())
    rows = {row[0]: [cell.mark for cell in row[1:]] for row in found.table.rows}
    assert rows["a good"] == ["bcd", "bcd"]
    assert rows["d bad"] == ["", ""]
    assert rows["b fair"] == rows["c same"] == ["d", "d"]
    assert len(found.of("map")) == 6
    stars = compare_runs(four_runs(), baseline="bad").table.rows
    assert [[row[0], *(cell.mark for cell in row[1:])] for row in stars[::3]] == [
        ["good", "***", "***"], ["bad", "", ""]
    ]  # fmt: skip
    # Over the table: all pairs and metrics.
    corrected = holm(np.array([pair.p_value for pair in found.pairs]))
    assert [pair.p_corrected for pair in found.pairs] == corrected.tolist()
    assert found.means["map"]["good"] == pytest.approx(four_runs()["good"]["map"])


def test_queries_are_matched_by_name() -> None:
    random = np.random.default_rng(0)
    labels, scores = random.integers(0, 3, 200), random.normal(size=(2, 200))
    qid = np.repeat([f"q{i}" for i in range(20)], 10)
    order = np.concatenate([np.flatnonzero(qid == q) for q in random.permutation(np.unique(qid))])
    plain = {i: evaluate(labels, scores[i], qid=qid, metrics="map") for i in (0, 1)}
    moved = evaluate(labels[order], scores[1][order], qid=qid[order], metrics="map")
    [expected] = compare_runs({"a": plain[0], "b": plain[1]}).pairs
    [found] = compare_runs({"a": plain[0], "b": moved}).pairs
    assert found == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_the_interval_of_a_run_is_the_bootstrap_over_queries(weighted: bool) -> None:
    weight = np.repeat(np.random.default_rng(0).integers(0, 4, 40), 15) if weighted else None
    found = run(1.0, weight=weight)
    values, weights = found.per_query["map"], found.weights if weighted else np.ones(40)
    random = np.random.default_rng(5)
    rows = random.integers(0, 40, (20_000, 40))
    means = (values * weights)[rows].sum(1) / weights[rows].sum(1)
    expected = np.quantile(means, [0.05, 0.95])
    assert found.interval("MAP", confidence=0.9) == pytest.approx(
        tuple(expected), abs=0.05 * np.diff(expected)[0]
    )
    low, high = found.interval("map")
    assert low < found["map"] < high
    constant = evaluate([1, 0] * 5, [2, 1] * 5, group=[2] * 5, weight=range(10), metrics="map")
    assert constant.interval("map") == (1.0, 1.0)
    assert np.isnan(evaluate([1, 0], [2, 1], group=[2]).interval("map")).all()
    with pytest.raises(KeyError, match="mrr was not evaluated"):
        found.interval("mrr")
    with pytest.raises(ValueError, match="confidence"):
        found.interval("map", confidence=95)
    with pytest.raises(ValueError, match="one value for all queries"):
        run(1.0, metrics="auc(over=dataset)").interval("auc(over=dataset)")
    runs, _ = of_rows(60, 0)
    for metric in ("auc", "map"):
        assert runs["a"].interval(metric) == pytest.approx(
            compare_runs(runs).intervals[metric]["a"], abs=1e-12
        )


def test_a_metric_of_the_whole_data_set_is_not_tested() -> None:
    metric = "auc(over=dataset)"
    found = compare_runs({name: run(0.5, metrics=[metric, "map"]) for name in "ab"})
    assert found.of(metric) == []
    assert found.means[metric]["a"] > 0.9


def test_runs_on_other_queries_or_by_other_rules_are_refused() -> None:
    labels, scores, qid = [1, 0, 1, 0], [1, 2, 3, 4], ["x", "x", "y", "y"]
    a = evaluate(labels, scores, qid=qid)
    other = evaluate(labels, scores, qid=["x", "x", "z", "z"])
    fewer = evaluate(labels[:2], scores[:2], qid=qid[:2])
    rules = evaluate(labels, scores, qid=qid, ties="worst")
    labelled = evaluate([1, 0, 2, 0], scores, qid=qid)
    for one, two, message in (
        (a, other, r"'b' and 'a' do not have the same queries: .*such as 'y'"),
        (a, fewer, "they have 1 and 2, and 1 of 'a' are missing in 'b'"),
        (fewer, a, "they have 2 and 1, and 0 of 'a' are missing"),
        (a, rules, "not evaluated with the same metrics and conventions"),
        (a, labelled, "not have the same labels: those of 1 of 2 queries differ, such as 'y'"),
        (a, [a, other], "'run 2 of b' and 'run 1 of b' do not have the same queries"),
        *((a, wrong, "'b' is not a result of evaluate") for wrong in ([], [1.0], 0.5, ["a"])),
    ):
        with pytest.raises(ValueError, match=message):
            compare_runs({"a": one, "b": two})
    # Documents may be in another order, and one run may lack those that are not relevant.
    same = evaluate([0, 1, 0, -0.0, 1], [2, 1, 4, 5, 3], qid=[*qid[:2], *"yyy"])
    assert len(compare_runs({"a": a, "b": same}).of("map")) == 1


# Tables ------------------------------------------------------------------------------------------


ROWS = [("a_b", Cell(0.51234, "bc")), ("c|d", math.nan)]
TABLE = Table(("run", "map@10"), ROWS, ("A foot.", "Two:", "  x", "  y"))


def test_a_table_in_every_form() -> None:
    assert str(TABLE) == "run  map@10\na_b  0.5123bc\nc|d  -\nA foot.\nTwo:\n  x\n  y"
    assert TABLE.to_markdown() == (
        "| run | map@10 |\n|---|---|\n| a_b | 0.5123<sup>bc</sup> |\n| c\\|d | - |\n\n"
        "A foot.\n\nTwo:\n- x\n- y"
    )
    # The lines of a heading are one line of text.
    table = Table(("", "NDCG\n@10", "95 %\ninterval"), [("a", 0.5, "-")])
    assert str(table) == "   NDCG@10  95 % interval\na  0.5000   -"
    assert table.to_markdown().startswith("|  | NDCG@10 | 95 % interval |\n")


# Tables without queries --------------------------------------------------------------------------


def of_rows(n: int, seed: int, weighted: bool = False) -> tuple[dict[str, Evaluation], Any]:
    """Two systems on rows with ties and, if asked for, weights; and what they were made of."""
    random = np.random.default_rng(seed)
    labels = (random.random(n) < 0.3).astype(float)
    labels[:4] = [0, 1, 0, 1]
    scores = [np.round(labels + random.normal(size=n), 1) for _ in range(2)]
    weight = random.uniform(0.2, 2.0, n) if weighted else None
    runs = {
        name: evaluate(labels, one, weight=weight, metrics=["auc", "map"])
        for name, one in zip("ab", scores, strict=True)
    }
    return runs, (labels, scores, weight)


@pytest.mark.parametrize("seed", range(5))
def test_auc_of_rows_has_the_test_of_delong_by_its_definition(seed: int) -> None:
    runs, (labels, scores, _) = of_rows(60, seed)
    good, bad = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
    pairs = ((s[good][:, None], s[bad]) for s in scores)
    wins = np.array([(above > below) + 0.5 * (above == below) for above, below in pairs])
    covariance = np.cov(wins.mean(axis=2)) / good.size + np.cov(wins.mean(axis=1)) / bad.size
    difference = wins[0].mean() - wins[1].mean()
    error = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    found = compare_runs(runs)
    [pair] = found.of("auc")
    assert (pair.n_queries, pair.wins, pair.losses, pair.ties) == (0, 0, 0, 0)
    assert pair.difference == pytest.approx(difference)
    assert pair.p_value == pytest.approx(2 * stats.norm.sf(abs(difference / error)))
    half = stats.norm.ppf(0.975) * error
    assert pair.interval == pytest.approx((difference - half, difference + half))
    for k, name in enumerate("ab"):
        half = stats.norm.ppf(0.975) * np.sqrt(covariance[k, k])
        value = runs[name]["auc"]
        assert found.intervals["auc"][name] == pytest.approx((value - half, min(1, value + half)))


def test_average_precision_of_rows_is_tested_by_a_bootstrap_over_rows() -> None:
    runs, (labels, scores, weight) = of_rows(200, 7, weighted=True)
    found = compare_runs(runs)
    [pair] = found.of("map")
    random = np.random.default_rng(11)  # not the samples of the library
    values = np.array(
        [
            [average_precision_score(labels[i], s[i], sample_weight=weight[i]) for s in scores]
            for i in (random.integers(0, 200, 200) for _ in range(2000))
        ]
    )
    differences = values[:, 0] - values[:, 1]
    # Standard deviations of 999 and of 2,000 samples have relative errors of 2 %.
    z = stats.norm.isf(pair.p_value / 2)
    assert abs(pair.difference) / z == pytest.approx(differences.std(), rel=0.1)
    expected = np.quantile(differences, [0.025, 0.975])
    assert pair.interval == pytest.approx(tuple(expected), abs=0.2 * differences.std())
    assert compare_runs(runs).of("map") == [pair]  # the same samples
    low, high = found.intervals["map"]["a"]
    assert low < runs["a"]["map"] < high


def test_runs_on_other_rows_are_refused_and_one_query_is_not_tested() -> None:
    runs, (labels, scores, _) = of_rows(60, 0)
    other = evaluate(labels[::-1], scores[1][::-1], metrics=["auc", "map"])
    with pytest.raises(ValueError, match="the same labels and weights, row by row"):
        compare_runs({"a": runs["a"], "b": other})
    same = compare_runs({"a": runs["a"], "b": runs["a"]})
    assert {(pair.difference, pair.p_value) for pair in same.pairs} == {(0.0, 1.0)}
    assert "60 rows without queries" in str(same)
    for options in ({"group": [60]}, {"one_group": True, "metrics": "ndcg"}):
        one, two = (evaluate(labels, s, **options) for s in scores)
        found = compare_runs({"a": one, "b": two})
        assert found.pairs == ()
        assert not any(cell.mark for row in found.table.rows for cell in row[1:])


# Runs of several seeds ---------------------------------------------------------------------------


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


def test_folds_of_rows_are_compared_by_their_means() -> None:
    random = np.random.default_rng(0)
    runs: dict[str, list[Evaluation]] = {"a": [], "b": []}
    for _ in range(4):
        labels = (random.random(80) < 0.3).astype(float)
        for name, noise in (("a", 1.0), ("b", 1.5)):
            scores = labels + noise * random.normal(size=80)
            runs[name].append(evaluate(labels, scores, metrics=["auc", "map"]))
    found = compare_runs(runs)
    for metric in ("auc", "map"):
        gaps = [a[metric] - b[metric] for a, b in zip(*runs.values(), strict=True)]
        [pair] = found.of(metric)
        assert pair.p_value == pytest.approx(stats.ttest_1samp(gaps, 0.0).pvalue)
        values = [one[metric] for one in runs["a"]]
        interval = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
        assert found.intervals[metric]["a"] == pytest.approx(tuple(interval))


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


def test_runs_of_seeds_on_rows_are_tested_with_the_scores_of_all() -> None:
    """AUC has a mean over seeds of each row, MAP a bootstrap: equal seeds change nothing."""
    random = np.random.default_rng(0)
    labels = random.random(300) < 0.3
    runs = {
        name: evaluate(labels, labels + noise * random.normal(size=300), metrics=["auc", "map"])
        for name, noise in (("a", 1.0), ("b", 2.0), ("c", 2.5))
    }
    once = compare_runs({"a": runs["a"], "b": runs["b"]})
    twice = compare_runs({"a": [runs["a"]] * 2, "b": [runs["b"]] * 2})
    for one, other in zip(once.pairs, twice.pairs, strict=True):
        assert one.difference == pytest.approx(other.difference)
        assert one.p_value == pytest.approx(other.p_value)
        assert one.interval == pytest.approx(other.interval)
    both = compare_runs({"a": runs["a"], "b": [runs["b"], runs["c"]]})
    [pair] = both.of("auc")
    expected = runs["a"]["auc"] - (runs["b"]["auc"] + runs["c"]["auc"]) / 2
    assert pair.difference == pytest.approx(expected)


def test_wilcoxon_is_exact_without_the_queries_that_do_not_differ() -> None:
    few = np.array([0.0] * 19 + [-0.1, -0.2, -0.3])
    assert wilcoxon(few) == (pytest.approx(2 / 2**3), -6.0)


def against_the_mean(weights: Any = None) -> dict[str, Evaluation]:
    """Run "b" is a little better on 52 queries, and "a" much better on the other 8."""
    weight = None if weights is None else np.repeat(weights, 2)
    whole = evaluate([1, 0] * 60, [1, 2] * 60, group=[2] * 60, weight=weight, metrics="mrr")
    gain = np.r_[np.full(8, 0.45), np.full(52, -0.02)] + np.arange(60) * 1e-5
    values = {"a": 0.5 + gain, "b": np.full(60, 0.5)}
    return {name: replace(whole, per_query={"mrr": each}) for name, each in values.items()}


@pytest.mark.parametrize("weights", [None, np.r_[np.full(8, 3.0), np.ones(52)]])
def test_no_mark_where_the_test_favours_the_run_of_the_lower_mean(weights: Any) -> None:
    runs = against_the_mean(weights)
    gain = runs["a"].per_query["mrr"] - runs["b"].per_query["mrr"]
    gain = gain if weights is None else gain * weights
    assert gain.mean() > 0
    assert stats.wilcoxon(gain, alternative="less").pvalue < 0.001
    for baseline in (None, "b"):
        found = compare_runs(runs, baseline=baseline, test="wilcoxon")
        assert [row[1].mark for row in found.table.rows] == ["", ""]
        assert [pair.better for pair in found.pairs] == [""]
    [pair] = compare_runs(runs, alpha=0.1).pairs  # which is a test of the mean
    assert pair.better == "a"


@given(st.lists(st.sampled_from([-0.9, -0.2, -0.1, 0.0, 0.1, 0.3]), min_size=2, max_size=12))
@examples(60)
def test_the_direction_is_that_of_the_smaller_one_sided_p(difference: list[float]) -> None:
    found = np.array(difference)
    nonzero = found[found != 0.0]
    less, greater = (
        [stats.wilcoxon(nonzero, alternative=side).pvalue for side in ("less", "greater")]
        if nonzero.size
        else (1.0, 1.0)
    )
    assert np.sign(wilcoxon(rounded(found))[1]) == np.sign(round(less - greater, 9))
