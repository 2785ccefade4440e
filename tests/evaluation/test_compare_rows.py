"""Comparisons of runs on tables without queries: DeLong's test, and a bootstrap over rows."""

import numpy as np
import pytest
from compared_runs import of_rows
from scipy import stats
from sklearn.metrics import average_precision_score

from lambdaplus import compare_runs, evaluate
from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation import Evaluation
from lambdaplus.evaluation.compare import effect_of
from lambdaplus.evaluation.significance import RankedRows, row_statistics
from lambdaplus.metrics import parse_metric


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


def test_the_variance_of_a_weighted_auc_is_without_bias() -> None:
    """Over 1,500 samples of the scores; the relative error of such a variance is .04.

    DeLong's covariance is that of two means, without what single pairs add: up to 6 % too large.
    """
    random = np.random.default_rng(0)
    labels, weights = np.repeat([1.0, 0.0], [15, 100]), np.exp(1.5 * random.normal(size=115))
    both = weights[:15, None] * weights[15:]
    values, variances = [], []
    for _ in range(1500):
        scores = labels + random.normal(size=115)
        values.append((both * (scores[:15, None] > scores[15:])).sum() / both.sum())
        found = row_statistics(parse_metric("auc"), [RankedRows(labels, scores, weights)])
        variances.append(found.covariance[0, 0])
    assert np.mean(variances) == pytest.approx(np.var(values), rel=0.12)


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


def runs_of_rows(noise: float, seeds: int, first: int) -> list[tuple[Floats, list[Floats]]]:
    """The labels of folds of 60, 90 and 150 rows, and the scores by so many seeds."""
    folds = []
    for fold, n in enumerate((60, 90, 150)):
        labels = (np.random.default_rng(fold).random(n) < 0.3).astype(float)
        random = np.random.default_rng([fold, first])
        folds.append((labels, [labels + noise * random.normal(size=n) for _ in range(seeds)]))
    return folds


def delong_by_definition(labels: Floats, scores: list[Floats]) -> tuple[Floats, Floats]:
    """The AUCs of several scores of the same rows, and their covariance."""
    good, bad = labels == 1, labels == 0
    wins = np.array([(s[good][:, None] > s[bad]).astype(float) for s in scores])
    covariance = np.cov(wins.mean(axis=2)) / good.sum() + np.cov(wins.mean(axis=1)) / bad.sum()
    return wins.mean(axis=(1, 2)), covariance


def resampled(labels: Floats, scores: list[Floats]) -> tuple[Floats, Floats]:
    """Average precisions of several scores, and their covariance over samples of the rows."""
    random, n = np.random.default_rng(11), labels.size  # not the samples of the library
    counts = np.array([np.bincount(random.integers(0, n, n), minlength=n) for _ in range(3000)])

    def precisions(counts: Floats, order: Floats) -> Floats:
        times = counts[:, order]
        hits = np.cumsum(times * labels[order], axis=1)  # copies of a row are one step
        above = np.maximum(1, np.cumsum(times, axis=1))
        return np.asarray((times * labels[order] * hits / above).sum(axis=1) / hits[:, -1])

    orders = [np.argsort(-s) for s in scores]
    values = np.array([precisions(np.ones((1, n)), order)[0] for order in orders])
    assert values[0] == pytest.approx(average_precision_score(labels, scores[0]))
    return values, np.cov([precisions(counts, order) for order in orders])


@pytest.mark.parametrize(("metric", "rel"), [("auc", 1e-9), ("map", 0.08)])
def test_seeds_and_folds_of_rows_have_errors_over_rows_and_seeds(metric: str, rel: float) -> None:
    """Errors of 999 samples have a standard error of 2 %, and each fold has samples of its own."""
    of_metric = {"auc": delong_by_definition, "map": resampled}[metric]
    a, b = runs_of_rows(1.0, 3, 0), runs_of_rows(1.1, 2, 1)
    means, over_rows, spreads, explained = [], 0.0, [], 0.0
    for (labels, of_a), (_, of_b) in zip(a, b, strict=True):
        values, covariance = of_metric(labels, of_a + of_b)
        weights = np.repeat([1 / 3, -1 / 2], [3, 2])
        means.append(weights @ values)
        over_rows += weights @ covariance @ weights
        for own in (slice(3), slice(3, 5)):
            n, block = len(values[own]), covariance[own, own]
            spreads.append(values[own].var(ddof=1) / n)
            apart = block[~np.eye(n, dtype=bool)].mean()
            explained += (np.diag(block).mean() - apart) / n
    variance = over_rows + max(0.0, sum(spreads) - explained)
    runs = {
        name: [evaluate(labels, s, metrics=metric) for labels, each in folds for s in each]
        for name, folds in (("a", a), ("b", b))
    }
    found = effect_of(metric, *runs.values())
    assert found.mean == pytest.approx(np.mean(means))
    assert found.error == pytest.approx(variance**0.5 / 3, rel=rel)


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
