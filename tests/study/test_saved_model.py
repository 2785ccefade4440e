"""The model of a study: trained on all queries, saved, and used with and without lambdaplus."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import invoke
from small_data import letor_folder
from studies import of_digits
from test_comparison_data import own_table

from lambdaplus import ranking_trees
from lambdaplus.data import digits_queries
from lambdaplus.saved_model.about import ABOUT
from lambdaplus.saved_model.scores import score_file
from lambdaplus.study import Config, Method, Study, find_methods, study_of
from lambdaplus.study.final_model import train_final
from lambdaplus.study.tasks import Fitted

QUICK = ("--rounds", 8, "--jobs", 1, "--folds", 3)


def about(folder: Path) -> Any:
    return json.loads((folder / ABOUT).read_text(encoding="utf-8"))


def by_script(folder: Path, file: Path) -> list[float]:
    """Scores by ``predict.pyz``, where lambdaplus cannot be imported."""
    blocked = "import runpy, sys; sys.modules['lambdaplus'] = None; sys.argv = sys.argv[1:]; "
    program = blocked + "runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-c", program, str(folder / "predict.pyz"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [*map(float, done.stdout.split())]


@pytest.mark.parametrize(("framework", "suffix"), [("lightgbm", ".csv"), ("xgboost", ".parquet")])
def test_a_saved_model_scores_like_the_studys_own(
    tmp_path: Path, framework: str, suffix: str
) -> None:
    """By the framework alone, and by the command, for tables with categories and flags."""
    flag = [bool(row % 3) for row in range(400)]
    file, model = own_table(tmp_path, flag=flag).with_suffix(suffix), tmp_path / "model"
    if suffix == ".parquet":
        frame = pl.read_csv(tmp_path / "own.csv").with_columns(pl.col("x").cast(pl.Float32))
        frame.write_parquet(file)
    config = Config(
        data=str(file), drop=("doc", "weight"), methods=(f"{framework}:map",), rounds=8, folds="3"
    )
    study = study_of(config)
    study.finish()
    final = study.save_model(model)
    assert study.all_rows is not None
    own = final.predict(study.all_rows)  # the queries of this file are in order
    assert np.unique(own).size > 20
    assert score_file(model, file).tolist() == own.tolist()
    assert by_script(model, file) == own.tolist()
    assert invoke("predict", model, file).stdout.split() == [*map(repr, own.tolist())]
    kept = about(model)
    assert kept["columns"] == [
        {"name": "x", "kind": "number"}, {"name": "y", "kind": "number"},
        {"name": "shop", "kind": "category", "levels": ["east", "north", "west"]},
        {"name": "flag", "kind": "flag"},
    ]  # fmt: skip
    assert kept["left_out"] == {
        "": "row numbers that pandas wrote", "title": "text with 400 different values",
        "doc": "--drop", "weight": "--drop",
    }  # fmt: skip
    assert kept["parameters"]["learning_rate"] == ranking_trees(framework)["learning_rate"]
    mean = study.results.mean(f"{framework}:lambda_map", "map")
    assert kept["value"] == pytest.approx(mean, abs=1e-12)
    assert kept["interval"][0] < kept["value"] < kept["interval"][1]
    of_metric = study.results.fits.filter(metric=kept["metric"])
    assert kept["rounds"] == max(1, round(float(of_metric["round"].mean() or 0)))


def test_a_model_of_numbered_features_reads_svmlight_files(tmp_path: Path) -> None:
    data = letor_folder(tmp_path / "data", folds=3, queries=8)
    model, file = tmp_path / "model", data / "Fold1" / "test.txt"
    methods = "lightgbm:map,lightgbm:lambdarank,feature:best"
    options = ("--methods", methods, "--save-model", model, "--out", tmp_path / "out", *QUICK)
    said = invoke("compare", data, *options).output
    assert f"Saved to {model}" in said
    kept = about(model)
    assert f"Model: {kept['method']}, trained again on all data" in said
    assert kept["queries"] == 3 * 8
    scores = score_file(model, file)
    assert scores.size == sum(1 for _ in file.open())
    assert np.unique(scores).size > 5
    assert by_script(model, file) == scores.tolist()
    out = tmp_path / "scores.txt"
    invoke("predict", model, file, "--out", out)
    assert [*map(float, out.read_text().split())] == scores.tolist()
    assert "exists" in invoke("predict", model, file, "--out", out, ends=2).output
    assert "evaluate" not in invoke("evaluate", out, "--data", file).output


def test_the_best_method_on_validation_data_is_saved_unless_one_is_named(tmp_path: Path) -> None:
    methods = "lightgbm:lambdarank,lightgbm:map"
    study = of_digits(methods, "ndcg@10", "map", n_folds=2, rounds=5, select="map")
    means = study.results.validation_means
    final = study.save_model(tmp_path / "best")
    names = [method.name for method in study.methods]
    assert final.metric == "map"  # which selects
    assert final.task.method.name == max(names, key=lambda name: means[name, "map"])
    for name in names:
        assert study.save_model(tmp_path / "named", name, "ndcg@10").task.method.name == name
        assert about(tmp_path / "named")["method"] == name
    trained, parts = final.task.train, study.folds[-1].parts
    assert trained.n_queries == sum(part.n_queries for part in parts)
    assert trained.labels.tolist() == [y for part in parts for y in part.labels.tolist()]


def test_the_parameters_are_those_that_are_best_over_the_folds() -> None:
    """Of trials, each with a mean over the folds; rounds are of the same trial."""
    study = of_digits("lightgbm:map", "map", n_folds=2, trials=4, rounds=20, patience=5)
    final = study.train_final()
    fits = study.results.fits
    means = {trial: fits.filter(trial=trial)["validation"].mean() for trial in range(4)}
    best = max(means, key=lambda trial: means[trial])
    assert final.task.trial == best
    assert final.rounds == round(fits.filter(trial=best)["round"].mean())
    assert dict(final.task.parameters) == dict(study.tasks[best].parameters)


@pytest.mark.parametrize(("best", "rounds"), [((2, 3, 3), 3), ((2, 2, 3), 2), ((0, 0, 1), 1)])
def test_its_rounds_are_the_mean_of_the_best_ones_rounded_to_the_nearest(
    best: tuple[int, ...], rounds: int
) -> None:
    study = of_digits("lightgbm:map", "map", n_folds=3, rounds=4)
    fits = study.results.fits.with_columns(round=pl.Series(best))
    final = train_final(
        replace(study.results, fits=fits), study.tasks, study.saveable(), "map",
        study.folds[0].train, 1, study.folds, study.chosen,
    )  # fmt: skip
    assert final.rounds == rounds
    model: Any = final.model
    assert model.booster.num_trees() == rounds


def test_choices_hold_every_parameter_that_was_used(tmp_path: Path) -> None:
    methods = "lightgbm:map(sigma=2),xgboost:rank:map,svm:map(C=10)"
    invoke("compare", "--methods", methods, "--out", tmp_path, *QUICK)
    rows = pl.read_csv(tmp_path / "choices.csv").group_by("method").first()
    used = {name: json.loads(text) for name, text in rows.select("method", "parameters").rows()}
    ours = used["lightgbm:lambda_map(sigma=2)"]
    assert ours["sigma"] == 2
    assert {"num_leaves", "learning_rate", "sigma", "balance"} <= {*ours}
    assert {"max_leaves", "learning_rate"} <= {*used["xgboost:rank:map"]}
    assert used["svm:map(C=10)"] == {"loss": "map", "C": 10}


# What is refused ---------------------------------------------------------------------------------


def test_a_model_replaces_that_of_an_earlier_run_unless_it_was_changed(tmp_path: Path) -> None:
    model = tmp_path / "model"
    options = ("--save-model", model, "--out", tmp_path / "out", *QUICK)
    invoke("compare", "--methods", "lightgbm:map", *options)
    invoke("compare", "--methods", "xgboost:map", *options)
    assert about(model)["framework"] == "xgboost"
    assert sorted(path.name for path in model.iterdir() if path.is_file()) == sorted(
        (ABOUT, "predict.pyz", "predict.py", "model.json")
    )
    (model / ABOUT).write_text("{}")
    said = invoke("compare", "--methods", "xgboost:map", *options, ends=2).output
    assert "was changed since" in said


def test_a_study_without_a_finished_method_saves_nothing(tmp_path: Path) -> None:
    def fails(_: Any) -> Fitted:
        raise ValueError("no")

    methods = [*find_methods("lightgbm:map"), Method("mine", fails)]
    study = Study(digits_queries()[:1], methods, ["map"], Config(rounds=2))
    with pytest.raises(ValueError, match="no fit of lightgbm:lambda_map"):
        study.save_model(tmp_path / "model")


# Kills -------------------------------------------------------------------------------------------

RUN = """
import os, sys
from lambdaplus.study import study_of, Config
at, count, real = int(sys.argv[2]), 0, os.replace
def replace(*arguments):
    global count
    count += 1
    if count == at:
        os.kill(os.getpid(), 9)
    return real(*arguments)
config = Config(data=sys.argv[1] + "/data", methods=(sys.argv[3],), rounds=3)
study = study_of(config, sys.argv[1] + "/out")
study.finish()
os.replace = replace
study.save_model(sys.argv[1] + "/model")
"""


@pytest.mark.slow
def test_a_kill_at_any_write_leaves_a_whole_model_or_none(tmp_path: Path) -> None:
    """One that replaces another is in none of the files, or in all that ``about.json`` names."""
    data = letor_folder(tmp_path / "data", folds=2, queries=8)
    model, file = tmp_path / "model", data / "Fold1" / "test.txt"

    def run(at: int, method: str) -> int:
        command = [sys.executable, "-c", RUN, str(tmp_path), str(at), method]
        return subprocess.run(command, timeout=300).returncode

    assert run(0, "lightgbm:map") == 0
    first = about(model)
    whole = score_file(model, file).tolist()
    fits = sorted((tmp_path / "out" / "fits").iterdir())
    codes = []
    for at in range(1, 9):
        codes.append(run(at, "lightgbm:ndcg"))
        if (model / ABOUT).exists():
            now = about(model)
            assert (now == first) == (score_file(model, file).tolist() == whole)
        assert {*fits} <= {*(tmp_path / "out" / "fits").iterdir()}
        if codes[-1] == 0:
            break
        assert run(0, "lightgbm:map") == 0  # which completes what was killed
        assert score_file(model, file).tolist() == whole
    assert codes[-1] == 0
    assert codes.count(-signal.SIGKILL) >= 3
    assert about(model)["method"] == "lightgbm:lambda_ndcg"
