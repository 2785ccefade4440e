"""Comparisons of runs on tables without queries: DeLong's test, and a bootstrap over rows."""

import numpy as np
import pytest
from compared_runs import of_rows
from scipy import stats
from sklearn.metrics import average_precision_score

from lambdaplus import compare_runs, evaluate
from lambdaplus.evaluation import Evaluation


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
