"""The statistics of the benchmarks on made-up results, and their studies on small data."""

import argparse
import importlib
import itertools
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score

from lambdaplus.data import digits_queries, relative_features, web_search_like
from lambdaplus.evaluation import Table
from lambdaplus.study import Study

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
METRICS = ("ndcg@10", "map", "mrr", "auc")


@pytest.fixture
def benchmark_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Imports a script by its name; what it keeps goes to the temporary folder."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setattr(importlib.import_module("tables"), "RESULTS", tmp_path)
    return importlib.import_module


@pytest.fixture
def differences(benchmark_named: Any) -> Any:
    return benchmark_named("differences")


def values(rows: dict[tuple[str, str, int], list[float]]) -> pl.DataFrame:
    """Results of one set by method, fold and seed: the same for every metric."""
    return pl.DataFrame(
        [
            (method, fold, seed, metric, f"{fold} {query}", value)
            for (method, fold, seed), mine in rows.items()
            for metric in METRICS
            for query, value in enumerate(mine)
        ],
        ["method", "fold", "seed", "metric", "query", "value"],
        orient="row",
    ).with_columns(pl.col("value").fill_nan(None))


def test_seeds_are_averaged_and_queries_without_a_value_left_out(differences: Any) -> None:
    rows = {
        ("a", "1", 0): [0.1, np.nan], ("a", "2", 0): [0.7, 0.8],
        ("a", "1", 1): [0.5, np.nan], ("a", "2", 1): [0.9, 0.8],
        ("lacks a fold", "2", 0): [0.7, 0.8],
    }  # fmt: skip
    studies = {"s": values(rows)}
    by_query = differences.values_of(studies, "map", "query")
    assert list(by_query) == ["a"]
    assert by_query["a"]["s"] == pytest.approx([0.3, 0.8, 0.8])
    by_fold = differences.values_of(studies, "map", "fold")
    assert by_fold["a"]["s"] == pytest.approx([0.3, 0.8])


def test_one_set_is_the_paired_t_test_and_two_are_welchs(differences: Any) -> None:
    rng = np.random.default_rng(1)
    gains = {"s": rng.normal(size=30), "t": rng.normal(2.0, 3.0, size=12)}
    by_method = {"a": gains, "b": {name: np.zeros(gain.size) for name, gain in gains.items()}}
    one = differences.difference(by_method, "a", "b", ["s"])
    assert one.p == pytest.approx(stats.ttest_1samp(gains["s"], 0.0).pvalue)
    # a + b over two sets: Welch's test of a against -b has the same statistic and freedom.
    both = differences.difference(by_method, "a", "b", ["s", "t"])
    welch = stats.ttest_ind(gains["s"], -gains["t"], equal_var=False)
    assert both.p == pytest.approx(welch.pvalue)
    assert both.mean == pytest.approx((gains["s"].mean() + gains["t"].mean()) / 2)


def test_gains_are_to_the_best_of_the_frameworks_own(differences: Any) -> None:
    rng = np.random.default_rng(2)
    hard = rng.uniform(0.3, 0.6, size=50)
    lifts = {f"lightgbm:{name}": 0.02 for name in differences.SPECIALISTS.values()}
    lifts |= {"lightgbm:lambdarank": 0.01, "lightgbm:rank_xendcg": 0.0, "catboost:QueryRMSE": 0.05}
    rows = {(name, "1", 0): (hard + lift).tolist() for name, lift in lifts.items()}
    alone = {key: mine for key, mine in rows.items() if not key[0].startswith("catboost")}
    gains = differences.gains_of({"s": values(rows), "t": values(rows)}, "query")
    assert {gain.own for gain in gains} == {"lightgbm:lambdarank", "catboost:QueryRMSE"}
    assert all(gain.own.startswith(gain.framework) for gain in gains)
    by_place = {(g.framework, g.metric, g.on): g.mean for g in gains}
    assert by_place["lightgbm", "map", "mean"] == pytest.approx(0.01)
    assert by_place["catboost", "mrr", "t"] == pytest.approx(-0.03)
    # A method that was not trained on every set is no best.
    fewer = differences.gains_of({"s": values(rows), "t": values(alone)}, "query")
    assert {gain.framework for gain in fewer} == {"lightgbm"}


def test_stars_are_corrected_by_holm_over_the_table(benchmark_named: Any) -> None:
    tables = benchmark_named("tables")
    tested = [tables.Tested("+.1", p) for p in (0.01, 0.02, 0.03, float("nan"))]
    rows = [["a", *tested[:2]], ["b", tested[2]._replace(more=" (c)"), tested[3]]]
    found = tables.starred(Table(("", "one", "two"), rows, ("two sets",)))
    assert found.rows == [["a", "+.1*", "+.1*"], ["b", "+.1* (c)", "+.1"]]  # 3, 2 and 1 times p
    assert found.foot == ["two sets", tables.STAR]
    [row] = tables.starred(Table(("", "one", "two"), [["a", *tested[1:3]]])).rows
    assert row == ["a", "+.1*", "+.1*"]
    [row] = tables.starred(Table(("", "one", "two"), [["a", *tested[2:3] * 2]])).rows
    assert row == ["a", "+.1", "+.1"]  # twice .03


@pytest.mark.parametrize(("swing", "chosen"), [(0.01, "map"), (0.001, "map, damping")])
def test_the_cheapest_near_the_best_is_chosen(
    benchmark_named: Any, swing: float, chosen: str
) -> None:
    defaults = benchmark_named("defaults")
    options = {
        "map": {("s", draw): 0.5 + swing * (-1) ** draw for draw in range(8)},
        "map, damping": {("s", draw): 0.503 for draw in range(8)},
    }
    price = {"map": [1.0, 1.0], "map, damping": [3.0, 4.0]}
    best, rule = defaults.cheapest_of_best(options, price, {"s": 1.0})
    assert (best, rule) == ("map, damping", chosen)


def test_a_set_counts_by_its_weight_however_many_draws_it_has(benchmark_named: Any) -> None:
    by_pair = {("a", 0): 1.0, ("b", 0): 3.0, ("b", 1): 5.0}
    found = benchmark_named("defaults").mean_and_error(by_pair, {"a": 1.0, "b": 3.0})
    mean = (1 + 3 * 4) / 4
    squares = [(0.25 * (1 - mean)) ** 2, (0.375 * (3 - mean)) ** 2, (0.375 * (5 - mean)) ** 2]
    assert found == pytest.approx((mean, np.sqrt(sum(squares) * 3 / 2)))


def test_contenders_are_compared_by_query_and_by_set(benchmark_named: Any) -> None:
    script, fits = benchmark_named("list_lengths"), {}
    for on, gain in (("digits", 0.1), ("generated:30:0.1:2:even", 0.3)):
        contenders = {"log-loss": (0.5, 0.0), "lambdarank": (0.6, 0.05)}
        for name, (valid, more) in {**contenders, script.NOW.format("map"): (0.0, gain)}.items():
            values = np.array([0.2, 0.4, np.nan]) + more
            whole = np.where(np.isnan(values), 65535, np.rint(65534 * np.nan_to_num(values)))
            text = script.base64.b64encode(whole.astype("<u2").tobytes()).decode()
            fits[on, "lightgbm", name, 0] = {
                "test": dict.fromkeys(script.METRICS, text),
                "valid": dict.fromkeys(script.METRICS, valid),
            }
    fits = {key: {**fit, "per_round": 1.0} for key, fit in fits.items()}
    assert script.best_contender(fits, "digits", "lightgbm", "map") == "lambdarank"
    starred = benchmark_named("tables").starred
    [first, second] = starred(script.by_set(fits, "lightgbm")).rows
    assert first[:3] == ["images of digits", "+0.1000 ± 0.0000*", "+0.0500 ± 0.0000* (lambdarank)"]
    assert second[0] == "30 documents, 10% relevant, noise 2, even"
    [row] = [r for r in script.by_option(fits, "lightgbm").rows if r[0] == "log-loss"]
    assert row[1].text == "+0.5000 ± 0.0000"


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_each_metric_chooses_its_rounds(benchmark_named: Any, framework: str) -> None:
    """Otherwise our objectives, chosen by their own metric, would have an advantage."""
    pytest.importorskip(framework)
    one_line = benchmark_named("one_line")
    methods = [one_line.with_trees(m, 1) for m in one_line.contenders(framework)]
    config = replace(one_line.SETTINGS, seeds=(1,), trials=1)
    study = Study(digits_queries()[:1], methods, list(METRICS), config)
    assert len(study.tasks) == len(methods) > 4
    assert {tuple(map(str, task.metrics)) for task in study.tasks} == {METRICS}
    assert len({str(task.parameters) for task in study.tasks}) == 1  # the same trees


def test_known_items_have_one_relevant_document_and_all_others(benchmark_named: Any) -> None:
    fold = digits_queries()[0]
    found = benchmark_named("ranking_sets").with_known_items(fold, 3)
    for before, after in ((fold.train, found.train), (fold.test, found.test)):
        for query in np.unique(before.qid):
            old, new = before.labels[before.qid == query], after.labels[after.qid == query]
            assert sorted(new) == [0.0] * int((old < 1).sum()) + [1.0] * bool((old >= 1).any())


def relative_trainings(benchmark_named: Any) -> tuple[Any, list[Any]]:
    """Two folds, two kinds, two sizes of trees: validation and test values by hand."""
    relative = benchmark_named("relative")
    values = {  # by fold, kind and leaves
        ("1", "raw", 4): (0.5, 0.1), ("1", "raw", 16): (0.6, 0.2), ("1", "rank", 4): (0.7, 0.3),
        ("1", "rank", 16): (0.4, 0.9), ("2", "raw", 4): (0.8, 0.4), ("2", "raw", 16): (0.7, 0.9),
        ("2", "rank", 4): (0.1, 0.9), ("2", "rank", 16): (0.6, 0.7),
    }  # fmt: skip
    return relative, [
        relative.Trained("s", kind, method, metric, 0, fold, leaves, validation, 1, test)
        for method in relative.METHODS
        for metric in relative.METRICS
        for (fold, kind, leaves), (validation, test) in values.items()
    ]


def test_leaves_and_kind_of_features_are_chosen_on_validation_queries(benchmark_named: Any) -> None:
    relative, trainings = relative_trainings(benchmark_named)
    chosen = relative.best_leaves(trainings)
    assert len(chosen) == len(trainings) / 2
    values = relative.by_fold(chosen, "map", "test")
    assert values["lightgbm:lambda_map, raw"]["s"].tolist() == [0.2, 0.4]
    assert values["lightgbm:lambda_map, rank"]["s"].tolist() == [0.3, 0.7]
    assert values["lightgbm:lambda_map, chosen"]["s"].tolist() == [0.3, 0.4]
    table = relative.gain_table(chosen, "map", ["rank", "chosen"])
    gains = {tuple(row[:2]): row[2:] for row in table.rows}
    assert gains["rank", "mean"][0] == gains["rank", "mean"][1]  # on the set, over sets
    assert gains["rank", "mean"][0].text == "+0.2000 ± 0.1000"
    assert gains["chosen", "xgboost:rank:map"][0].text == "+0.0500 ± 0.0500"


def test_relative_features_of_a_fold_are_those_of_its_queries(benchmark_named: Any) -> None:
    relative, fold = benchmark_named("relative"), digits_queries()[0]
    found = relative.with_features(fold, "rank,z")
    expected = relative_features(fold.test.features, qid=fold.test.qid, kind=["rank", "z"])
    np.testing.assert_array_equal(found.test.features, expected)
    alone = relative.with_features(fold, "z alone")
    assert alone.train.features.shape == fold.train.features.shape
    assert relative.with_features(fold, "raw") is fold


def helped_unit(what_helps: Any, fold: str, values: dict[str, tuple[float, float]]) -> Any:
    """Validation and test values of each training by hand; defaults take twice as long."""
    found: dict[str, Any] = {}
    for name, (valid, test) in values.items():
        of_metric = {"round": 7, "validation": valid, "test": test}
        of_metric["test of the usual rounds"] = test - 0.1
        found[name] = dict.fromkeys(what_helps.METRICS, of_metric)
        found[name]["seconds"] = 4.0 if name == "defaults" else 2.0
    return what_helps.Unit("s", fold, "lightgbm", "lambdarank", found)


def test_what_helps_is_chosen_on_validation_queries(benchmark_named: Any) -> None:
    what_helps = benchmark_named("what_helps")
    same = dict.fromkeys(
        [*what_helps.SIZE_NAMES, "share 0.25", "share 0.5", *what_helps.SEED_NAMES,
         "seeds averaged"], (0.5, 0.4),
    )  # fmt: skip
    units = [
        helped_unit(what_helps, "1", {**same, "16 leaves, 0.1": (0.6, 0.6), "seed 1": (0.9, 0.3)}),
        helped_unit(what_helps, "2", {**same, "4 leaves, 0.03": (0.4, 0.9), "share 0.5": (0, 0.1)}),
    ]
    rows = {row.change: row for row in what_helps.own_rows(units)}
    gains = {change: row.gains["map"] for change, row in rows.items()}
    assert gains["trees and learning rate by validation"][:2] == pytest.approx((0.1, 0.1))
    assert gains["mean of the scores of five seeds"].mean == pytest.approx(0.1 / 5 / 2)
    assert gains["100% of the training queries, not 50%"].mean == pytest.approx(0.3 / 2)
    assert gains["rounds by validation, not 100"].mean == pytest.approx(0.1)
    assert rows["trees and learning rate by validation"].times == pytest.approx((4 + 4 * 2) / 4)
    assert rows["mean of the scores of five seeds"].times == pytest.approx(5)
    assert what_helps.by_size(list(rows.values()))[0].change.startswith("100%")


SMALL = ["web-search-like:15", "--rounds", "6", "--jobs", "1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("one_line", ["--draws", "2", "--frameworks", "lightgbm"]),
        ("accuracy", ["--trials", "2", "--methods", "lightgbm:lambdarank,lightgbm:lambda_map"]),
    ],
)
def test_a_study_keeps_its_tables(
    benchmark_named: Any, tmp_path: Path, monkeypatch: Any, script: str, options: list[str]
) -> None:
    folder = ["--kept", str(tmp_path / "kept"), "--results", "found"]
    monkeypatch.setattr(sys, "argv", ["script", *SMALL, *options, *folder])
    benchmark_named(script).main()
    kept = json.loads((tmp_path / "found.json").read_text())
    means = {row[0]: row[1:] for row in kept["tables"][-1]["rows"]}
    [gain] = [g for g in kept["gains"] if (g["metric"], g["on"]) == ("map", "mean")]
    assert gain["mean"] == pytest.approx(means[gain["ours"]][1] - means[gain["own"]][1])
    assert 0.5 < means["lightgbm:lambdarank"][3] < 1
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.npz")}
    benchmark_named(script).main()  # finished trainings are kept
    assert before
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())


@pytest.mark.slow
def test_losses_are_compared_on_whole_tables(
    benchmark_named: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = benchmark_named("whole_tables")
    made = make_classification(600, weights=[0.8], n_informative=5, random_state=0)
    monkeypatch.setattr(whole, "read", lambda name: made)
    monkeypatch.setattr(whole, "ROUNDS", 10)
    losses = ["log-loss", "lambda_auc", "equal weights"]
    for framework, loss, seed in itertools.product(whole.FRAMEWORKS, losses, (0, 1)):
        whole.train(tmp_path, "made", seed, framework, loss, 7)
    asked = {"leaves": [7], "losses": losses, "seeds": [0, 1], "tables": ["made", "made"]}
    found = whole.Results(argparse.Namespace(kept=tmp_path, **asked))
    of = found.gains("made", "xgboost", "lambda_auc", "AUC")
    assert 0.8 < of.base < 1
    assert 0 < abs(of.gain) < 0.1
    same = found.gains("made", "xgboost", "log-loss", "AUC")
    assert (same.gain, same.error) == (0, 0)
    assert [row[0] for row in found.summary("lightgbm").rows] == losses[1:]
    of = found.gains("made", "lightgbm", "log-loss", "AP")
    assert found.by_table("AP", losses[1:]).rows[0][2] == f"{of.base:.4f}"
    assert 0 < float(found.probabilities().rows[0][1]) < 1


def test_the_error_of_a_difference_of_areas(benchmark_named: Any) -> None:
    """Against the spread over samples of rows, with ties."""
    random, whole = np.random.default_rng(0), benchmark_named("whole_tables")

    def sample(n: int) -> Any:
        y = (random.random(n) < 0.3).astype(int)
        a = random.normal(size=n) + y
        return y, np.round(a, 1), a + random.normal(size=n)

    gaps = []
    for _ in range(400):
        y, a, b = sample(300)
        gaps.append(roc_auc_score(y, a) - roc_auc_score(y, b))
    errors = [whole.error_of_difference(*sample(300)) for _ in range(50)]
    assert np.mean(errors) == pytest.approx(np.std(gaps), rel=0.15)  # its own error is 4 %


def test_large_data_is_written_in_parts(
    benchmark_named: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_scale = benchmark_named("at_scale")
    monkeypatch.setattr(at_scale, "PART", 2)
    at_scale.write_data("queries", 5, tmp_path)
    labels, sizes = (np.load(tmp_path / f"queries-{part}.npy") for part in ("labels", "sizes"))
    assert sizes.size == 5
    assert sizes.sum() == labels.size
    features = np.fromfile(tmp_path / "queries.f32", np.float32).reshape(labels.size, 136)
    last = labels.size - sizes[-1]
    for begin, of in ((0, web_search_like(2)), (last, web_search_like(1, random_state=4))):
        rows = slice(begin, begin + of.labels.size)
        np.testing.assert_array_equal(labels[rows], of.labels)
        np.testing.assert_array_equal(features[rows], of.features.astype(np.float32))


@pytest.mark.parametrize("best", [0.00032, 0.0032, 0.1, 0.95, 3.0])
def test_a_search_widens_until_the_best_rate_is_inside(benchmark_named: Any, best: float) -> None:
    returns, tried = benchmark_named("returns"), []

    def fit(rate: float) -> Any:
        tried.append(rate)
        return returns.Fit(-abs(np.log(rate / best)), rate, 1, None)

    assert returns.search(fit).rate == pytest.approx(best, rel=0.05)
    assert min(tried) < best < max(tried)


def test_studies_of_real_valued_labels_keep_their_tables(
    benchmark_named: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    returns, claims = map(benchmark_named, ("returns", "claims"))
    monkeypatch.setattr(returns, "NAMES", 40)
    monkeypatch.setattr(returns, "DATES", {"train": 4, "valid": 2, "test": 3})
    monkeypatch.setattr(claims, "ROWS", {"train": 400, "valid": 200, "test": 300})
    monkeypatch.setattr(returns, "RATES", (0.1, 0.3))
    for module in (returns, claims):
        monkeypatch.setattr(module, "ROUNDS", 4)
        monkeypatch.setitem(module.TREES, "min_data_in_leaf", 20)
        monkeypatch.setattr(sys, "argv", [module.__name__, "--seeds", "2"])
        module.main()
        kept = json.loads((tmp_path / f"{module.__name__}.json").read_text())
        rows = kept["tables"][0]["rows"]
        last = ["the signal itself"] if module is returns else []
        assert [row[0] for row in rows] == [*kept["by_seed"], *last]
        for row, values in zip(rows, kept["by_seed"].values(), strict=False):
            assert float(row[1]) == pytest.approx(np.mean(values), abs=1e-4)


def test_a_gradient_that_became_slower_is_found(benchmark_named: Any) -> None:
    speed = benchmark_named("speed")

    def measured(size: str, ndcg: str, auc: str) -> list[tuple[str, list[list[str]]]]:
        rows = [["lambdaplus NDCG", "", "", ndcg], ["lambdaplus AUC", "", "", auc]]
        rows += [["LightGBM lambdarank", "", "", "1.00"]]
        data = f"One gradient: {size} queries of about 120 documents"
        return [(f"{data}, 1 thread", rows), (f"{data}, 2 threads", rows)]

    kept = speed.ratios(measured("3,000", ".40", ".30"))
    assert len(kept) == 2, "our gradients, on one thread"
    [found] = speed.slower(speed.ratios(measured("600", ".51", ".37")), kept)
    assert found.startswith("lambdaplus NDCG, queries of about 120 documents, 1 thread: 0.51")
