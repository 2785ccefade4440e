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
from lambdaplus.study import Config, Method
from lambdaplus.study.methods import Task
from lambdaplus.study.trainers import parameters_of

BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def benchmark_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Imports a script by its name; what it keeps goes to the temporary folder."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setattr(importlib.import_module("tables"), "RESULTS", tmp_path)
    return importlib.import_module


def test_one_set_is_the_paired_t_test_and_two_are_welchs(benchmark_named: Any) -> None:
    box = benchmark_named("out_of_the_box")
    rng = np.random.default_rng(1)
    gains = {"s": rng.normal(0.1, 0.2, 30), "t": rng.normal(0.2, 0.1, 12)}
    fits = {}
    for on, gain in gains.items():
        for name, values in (("a", 0.5 + gain / 4), ("b", np.full(gain.size, 0.5))):
            for seed, part in enumerate(np.split(values, [5])):
                whole = np.rint(65534 * part).astype("<u2")
                text = base64.b64encode(whole.tobytes()).decode()
                fits[on, "lightgbm", "box", name, seed] = {"test": {"map": text}}
    pair = ("box", "a"), ("box", "b")
    mean, _, p = box.difference(fits, "lightgbm", *pair, "map", ["s"])
    assert mean == pytest.approx(gains["s"].mean() / 4, abs=1e-5)
    assert p == pytest.approx(
        stats.ttest_1samp(gains["s"], 0.0).pvalue, rel=1e-2
    )  # 16 bits a value
    # a + b over two sets: Welch's test of a against -b has the same statistic and freedom.
    mean, _, p = box.difference(fits, "lightgbm", *pair, "map", ["s", "t"])
    welch = stats.ttest_ind(gains["s"], -gains["t"], equal_var=False)
    assert p == pytest.approx(welch.pvalue, rel=1e-2)  # 16 bits a value
    assert mean == pytest.approx((gains["s"].mean() + gains["t"].mean()) / 8, abs=1e-5)


def test_stars_are_corrected_by_holm_over_the_table(benchmark_named: Any) -> None:
    tables = benchmark_named("tables")
    tested = [tables.Tested("+.1", p) for p in (0.01, 0.02, 0.03, float("nan"))]
    rows = [["a", *tested[:2]], ["b", tested[2]._replace(more=" (c)"), tested[3]]]
    found = tables.starred(Table(("", "one", "two"), rows, ("two sets",)))
    assert found.rows == [["a", "+.1*", "+.1*"], ["b", "+.1* (c)", "+.1"]]  # 3, 2 and 1 times p
    assert found.foot == ["two sets", tables.STAR]
    [row] = tables.starred(Table(("", "one", "two"), [["a", *tested[2:3] * 2]])).rows
    assert row == ["a", "+.1", "+.1"]  # twice .03


@pytest.mark.parametrize("name", ["out_of_the_box", "equal_search", "what_helps"])
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


@pytest.fixture
def studies(benchmark_named: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """The scripts of kept fits, with small sets and few rounds."""
    monkeypatch.setattr(benchmark_named("list_sets"), "TRAINING_ROWS", 400)
    monkeypatch.setattr(benchmark_named("list_sets"), "OTHER_ROWS", 600)
    box, search, helps = map(benchmark_named, ("out_of_the_box", "equal_search", "what_helps"))
    monkeypatch.setattr(box, "rounds_of", lambda name: (10, 10))
    monkeypatch.setattr(search, "DRAWS", 2)
    monkeypatch.setattr(search, "MOST_ROUNDS", 10)
    monkeypatch.delitem(search.CONTENDERS, "catboost")
    return box, search, helps, benchmark_named("kept_fits")


def keep_fits(folder: Path, fit: Any, keys: Any) -> None:
    folder.mkdir(exist_ok=True)
    lines = [json.dumps(fit(key), default=float) + "\n" for key in keys]
    (folder / "1.jsonl").write_text("".join(lines))


@pytest.mark.slow
def test_a_search_takes_the_draw_that_is_best_on_validation_queries(
    studies: Any, tmp_path: Path
) -> None:
    _, search, helps, fits = studies
    given = argparse.Namespace(sets=[ON], seeds=[0], frameworks=[*search.CONTENDERS])
    keep_fits(tmp_path / "kept", search.fit, search.tasks(given))
    keep_fits(tmp_path / "changes", helps.fit, helps.tasks(given))
    kept = {tuple(one["key"]): one for one in fits.read(tmp_path / "kept")}
    draws = [kept[ON, "lightgbm", "lambda_map", draw, 0] for draw in (0, 1)]
    best = max(draws, key=lambda one: one["valid"]["map"])
    values = search.searched(kept, "lightgbm", "lambda_map", "map")[ON, 0]
    assert values == pytest.approx(fits.values_in(best["test"]["map"]))
    used = {tuple(search.trees("lightgbm", draw).items()) for draw in range(30)}
    assert len(used) == 30  # every draw has other trees
    # The same trees for every contender, by another name in XGBoost.
    assert (
        search.trees("xgboost", 3)["subsample"] == search.trees("lightgbm", 3)["bagging_fraction"]
    )
    changed = {tuple(one["key"]): one for one in fits.read(tmp_path / "changes")}
    pair = ("map", "ranks"), ("map", "none")
    gain = helps.gain(changed, ON, "xgboost", pair, "map")
    one, other = (fits.values_in(changed[ON, "xgboost", *each, 0]["test"]["map"]) for each in pair)
    assert gain == pytest.approx(one - other)
    assert np.any(gain)  # ranks changed the training


@pytest.mark.slow
def test_a_study_of_trees_and_objectives_keeps_its_tables(
    studies: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = studies[0]
    for framework, trainer in box.TRAINERS.items():  # trees as they come have all rows and columns
        method = Method("", trainer, "binary" if framework == "lightgbm" else "binary:logistic")
        task = Task(method, box.trees_of("box")[framework], *[None] * 2, Config(), 0, ())
        used = parameters_of(task)
        sampled = (
            "bagging_fraction", "feature_fraction_bynode", "subsample", "colsample_bynode"
        )  # fmt: skip
        assert [used[name] for name in sampled if name in used] == [1.0, 1.0]
    keys = [
        (ON, framework, trees, name, 0)
        for framework in box.THEIRS
        for trees in ("box", box.TREES[framework])
        for name in (*box.THEIRS[framework], *box.OURS_FOR.values())
    ]
    keep_fits(tmp_path, box.fit, keys)
    monkeypatch.setattr(sys, "argv", ["script", "show", "--kept", str(tmp_path)])
    box.main()
    kept = json.loads((tmp_path / "out-of-the-box.json").read_text())
    assert kept["fits"] == len(keys)
    [table] = [t for t in kept["tables"] if t["title"] == "Generated sets and digits"]
    rows = {row[0]: row[1:] for row in table["rows"]}
    assert 0 < float(rows["lambdarank, rank:ndcg, default trees"][0]) < 1
    assert all("±" in cell for row in list(rows.values())[1:] for cell in row)


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
def test_a_method_is_seldom_better_than_itself(benchmark_named: Any) -> None:
    """Trainings of four seeds on the folds of six data sets."""
    false_alarms = benchmark_named("false_alarms")
    alarms = []
    for number in range(6):
        keys = [("queries", number, false_alarms.OURS, f, s) for f in range(5) for s in range(4)]
        scores: Any = {key: false_alarms.fit(key)["scores"] for key in keys}
        trainings = false_alarms.Trainings("queries", number, scores)
        for a, b in itertools.combinations(range(4), 2):
            one, other = (trainings.of(false_alarms.OURS, 5, [seed]) for seed in (a, b))
            alarms.append(false_alarms.compared(one, other).p < 0.05)
    assert np.mean(alarms) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(alarms))
