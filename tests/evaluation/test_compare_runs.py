"""Comparisons of runs on queries: means, wins, intervals, marks, alignment, errors."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from compared_runs import four_runs, of_rows, run
from scipy import stats

from lambdaplus import compare_runs, evaluate
from lambdaplus.evaluation import Evaluation
from lambdaplus.evaluation.significance import holm


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
    for several in ([a, other], (a, other), a, [("a", a), ("b", other)]):
        with pytest.raises(TypeError, match="runs must be a dictionary of results of evaluate by "):
            compare_runs(several)  # type: ignore[arg-type]
    # Documents may be in another order, and one run may lack those that are not relevant.
    same = evaluate([0, 1, 0, -0.0, 1], [2, 1, 4, 5, 3], qid=[*qid[:2], *"yyy"])
    assert len(compare_runs({"a": a, "b": same}).of("map")) == 1


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
