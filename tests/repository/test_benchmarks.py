"""The statistics of the benchmarks on made-up results, and their studies on small data."""

import argparse
import base64
import importlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import ROOT
from scipy import stats
from sklearn.datasets import make_classification

from lambdaplus.evaluation import Table
from lambdaplus.evaluation.effects import Effect

BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def benchmark_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Imports a script by its name; what it keeps goes to the temporary folder."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setattr(importlib.import_module("tables"), "RESULTS", tmp_path)
    return importlib.import_module


def text_of(values: Any) -> str:
    return base64.b64encode(np.rint(65534 * values).astype("<u2").tobytes()).decode()


def test_folds_are_replications_and_sets_count_equally(benchmark_named: Any) -> None:
    accuracy = benchmark_named("accuracy")
    rng = np.random.default_rng(1)
    gains = {"build/s": rng.normal(0.1, 0.2, (5, 8)), "t": rng.normal(0.2, 0.1, (3, 6))}
    fits = {
        (on, "lightgbm", "trees", name, seed): {
            "valid": {"map": []}, "queries": {"map": text_of(0.5 + (name == "a") * part / 4)}
        }
        for on, gain in gains.items()
        for name in "ab"
        for seed, part in enumerate(gain)
    }  # fmt: skip
    pair = ("trees", "a"), ("trees", "b")
    one, other = (gain.mean(axis=1) / 4 for gain in gains.values())
    found = accuracy.effect(fits, "lightgbm", pair, "map", ["build/s"])
    assert found.mean == pytest.approx(one.mean(), abs=1e-5)
    assert found.p_value == pytest.approx(stats.ttest_1samp(one, 0.0).pvalue, rel=1e-2)
    # a + b over two sets: Welch's test of a against -b has the same statistic and freedom.
    found = accuracy.effect(fits, "lightgbm", pair, "map", [*gains])
    welch = stats.ttest_ind(one, -other, equal_var=False)
    assert found.p_value == pytest.approx(welch.pvalue, rel=1e-2)
    assert found.mean == pytest.approx((one.mean() + other.mean()) / 2, abs=1e-5)
    # Seeds from 5 are other trainings of the same folds, without new queries.
    twice = {
        **fits, **{(*key[:4], key[4] + 5): fit for key, fit in fits.items() if key[0] != "t"}
    }  # fmt: skip
    both = [("lightgbm", *one) for one in pair]
    assert len(accuracy.of_folds(twice, "build/s", both, "map")) == 5


def test_stars_are_corrected_by_holm_over_the_table(benchmark_named: Any) -> None:
    tables = benchmark_named("tables")
    tested = [tables.Tested("+.1", p) for p in (0.01, 0.02, 0.03, float("nan"))]
    rows = [["a", *tested[:2]], ["b", tested[2]._replace(more=" (c)"), tested[3]]]
    found = tables.starred(Table(("", "one", "two"), rows, ("two sets",)))
    assert found.rows == [["a", "+.1*", "+.1*"], ["b", "+.1* (c)", "+.1"]]  # 3, 2 and 1 times p
    assert found.foot == ["two sets", tables.STAR]
    [row] = tables.starred(Table(("", "one", "two"), [["a", *tested[2:3] * 2]])).rows
    assert row == ["a", "+.1", "+.1"]  # twice .03


@pytest.mark.parametrize("name", ["accuracy", "both", "trees"])
def test_a_study_without_trainings_keeps_the_results_that_are_there(
    benchmark_named: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = benchmark_named(name)
    for step, message in (("show", "no trainings in .*: fit them first"), ("fit", "needs sets")):
        monkeypatch.setattr(sys, "argv", [name, step, "--kept", str(tmp_path / "kept")])
        with pytest.raises(SystemExit, match=message):
            script.main()
    assert not list(tmp_path.glob("*.json"))


ON = "generated:20:.2:1:even"


def keep_fits(folder: Path, fit: Any, keys: Any) -> None:
    folder.mkdir(exist_ok=True)
    lines = [json.dumps(fit(key), default=float) + "\n" for key in keys]
    (folder / "1.jsonl").write_text("".join(lines))


@pytest.mark.slow
def test_a_study_of_trees_and_objectives_keeps_its_tables(
    benchmark_named: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accuracy, trees = map(benchmark_named, ("accuracy", "trees"))
    monkeypatch.setattr(benchmark_named("list_sets"), "TRAINING_ROWS", 400)
    monkeypatch.setattr(benchmark_named("list_sets"), "OTHER_ROWS", 600)
    monkeypatch.setattr(accuracy, "is_real", lambda on: on == ON)
    names = ("default", accuracy.CHOSEN)
    keys = [
        (ON, framework, of, name, seed, ",".join(accuracy.METRICS), 0.5)
        for framework in accuracy.THEIRS
        for of in names
        for name in (*accuracy.THEIRS[framework], *accuracy.OURS, *accuracy.WITH_LOG_LOSS)
        for seed in (0, 1)
    ]
    keep_fits(tmp_path, trees.fit, keys)
    monkeypatch.setattr(sys, "argv", ["script", "show", "--kept", str(tmp_path)])
    accuracy.main()
    kept = json.loads((tmp_path / "accuracy.json").read_text())
    assert kept["fits"] == len(keys)
    found = {table["title"]: table["rows"] for table in kept["tables"]}
    rows = {row[0]: row[1:] for row in found["Real sets"]}
    assert 0 < float(rows["lambdarank, rank:ndcg, default trees"][0]) < 1
    assert all("±" in cell for row in list(rows.values())[1:] for cell in row)
    # The best built-in objective on validation queries, by hand.
    valid = {}
    for line in (tmp_path / "1.jsonl").read_text().splitlines():
        fit = json.loads(line)
        _, framework, of, name, *_ = fit["key"]
        if (framework, of) == ("xgboost", accuracy.CHOSEN) and name in accuracy.THEIRS["xgboost"]:
            valid.setdefault(name, []).append(max(fit["valid"]["map"]))
    best = max(valid, key=lambda name: np.mean(valid[name]))
    less_best = rows["lambdaplus less the best built-in objective, both with ranking_trees"]
    assert f"({best})" in less_best[1]
    for metric, tests, *parts, smallest in found["What was decided"]:
        assert tests == sum(parts) == 2, metric
        assert float(smallest) >= 0, metric
    own = [row for row in found["Time to the best model"] if row[1:3] == ["ranking_trees", "map"]]
    assert len(own) == 2


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


def test_kept_tables_are_shown(
    benchmark_named: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = benchmark_named("tables")
    of = {title: Table(("", "value"), [[title, "1"]]) for title in ("By set, AUC", "Trees")}
    tables.keep("made", "python made.py", of)
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["tables.py", "made", "By set"])
    tables.main()
    shown = capsys.readouterr().out
    assert "python made.py" in shown
    assert "By set, AUC" in shown
    assert "Trees" not in shown


@pytest.mark.slow
def test_false_alarms_are_those_of_a_difference_less_the_true_one(
    benchmark_named: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two small sets; the true difference is a mean over tested and other seeds."""
    false_alarms = benchmark_named("false_alarms")
    for name, value in {"SETS": 2, "LISTS": 20, "NEW_LISTS": 20}.items():
        monkeypatch.setattr(false_alarms, name, value)
    false_alarms.folds_of.cache_clear()
    false_alarms.new_rows.cache_clear()
    keys = [*false_alarms.tasks(argparse.Namespace(sets=["queries"]))]
    assert len(keys) == 2 * 5 * 6 * 2
    keep_fits(tmp_path, false_alarms.fit, keys)
    monkeypatch.setattr(sys, "argv", ["false_alarms.py", "show", "--kept", str(tmp_path)])
    false_alarms.main()
    kept = json.loads((tmp_path / "false-alarms.json").read_text())
    assert kept["fits"] == len(keys)
    assert [table["title"] for table in kept["tables"]] == [
        "Queries: MAP", "Queries: MAP, weighted queries"
    ]  # fmt: skip
    assert "2 generated data sets of 20 queries" in kept["tables"][0]["foot"][0]
    fits = {tuple(one["key"]): one for one in false_alarms.read(tmp_path)}
    column = false_alarms.KINDS["queries"].columns[0]
    found = false_alarms.compared("queries", column, 1, fits)
    assert [row[:2] for row in kept["tables"][0]["rows"]] == [[*cell] for cell in column.cells]
    new = {
        (method, seed): np.mean(
            [fits["queries", 1, method, f, seed]["new"]["MAP"] for f in range(5)]
        )
        for method in (false_alarms.OURS, false_alarms.OTHER)
        for seed in range(6)
    }
    gap = [new[false_alarms.OURS, s] - new[false_alarms.OTHER, s] for s in range(6)]
    of_others = (4 / 6) ** 0.5  # of four seeds, beside two that are tested
    truth = (1 - of_others) * np.mean(gap[:2]) + of_others * np.mean(gap[2:])
    assert found[column.cells.index((5, 2))].truth == pytest.approx(truth)


def test_shares_of_false_alarms_have_intervals_over_sets(benchmark_named: Any) -> None:
    false_alarms = benchmark_named("false_alarms")
    effects = [Effect(0.3 + z, 1.0, np.inf) for z in (0.0, 1.9, -2.0, 1.0)]
    assert false_alarms.alarms(effects, np.full(4, 0.3)) == "25.0 (4.6 to 69.9)"  # Wilson 1927
    assert false_alarms.alarms(effects, np.zeros(4)).startswith("25.0")  # 2.2 instead of -2


def test_the_variance_by_seeds_of_the_true_difference_is_that_of_the_tested(
    benchmark_named: Any,
) -> None:
    """Six effects of seeds, of variance 1: what is left has 1 / s, as the mean of s seeds has."""
    false_alarms = benchmark_named("false_alarms")
    for tested in (1, 2, 3):
        rest, share = false_alarms.SEEDS - tested, false_alarms.share_of_others(tested)
        left = np.r_[np.full(tested, share / tested), np.full(rest, -share / rest)]
        assert (left**2).sum() == pytest.approx(1 / tested)
