"""The statistics of the benchmarks on made-up results, and their studies on small data."""

import argparse
import importlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.datasets import make_classification

from lambdaplus.evaluation import Table

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


def test_stars_are_corrected_by_holm_over_the_table(benchmark_named: Any) -> None:
    tables = benchmark_named("tables")
    tested = [tables.Tested("+.1", p) for p in (0.01, 0.02, 0.03, float("nan"))]
    rows = [["a", *tested[:2]], ["b", tested[2]._replace(more=" (c)"), tested[3]]]
    found = tables.starred(Table(("", "one", "two"), rows, ("two sets",)))
    assert found.rows == [["a", "+.1*", "+.1*"], ["b", "+.1* (c)", "+.1"]]  # 3, 2 and 1 times p
    assert found.foot == ["two sets", tables.STAR]
    [row] = tables.starred(Table(("", "one", "two"), [["a", *tested[2:3] * 2]])).rows
    assert row == ["a", "+.1", "+.1"]  # twice .03


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
