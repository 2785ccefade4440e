"""The model of a study: trained on all queries, saved, and used without lambdaplus."""

import importlib
import json
import subprocess
import sys
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
from lambdaplus.data import digits_queries, read_letor
from lambdaplus.data.ranking_data import RankingData, joined
from lambdaplus.study import Config, Method, Study, find_methods, save_model, study_of
from lambdaplus.study.methods import Fitted
from lambdaplus.study.predict_script import MODELS
from lambdaplus.study.saved_model import ABOUT
from lambdaplus.study.trainers import parameters_of

QUICK = ("--rounds", 8, "--jobs", 1, "--folds", 3)


def about(folder: Path) -> Any:
    return json.loads((folder / ABOUT).read_text(encoding="utf-8"))


def by_script(folder: Path, file: Path) -> list[float]:
    """Scores by ``predict.py``, where lambdaplus cannot be imported."""
    blocked = "import runpy, sys; sys.modules['lambdaplus'] = None; sys.argv = sys.argv[1:]; "
    program = blocked + "runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-c", program, str(folder / "predict.py"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [*map(float, done.stdout.split())]


def by_framework(folder: Path, data: RankingData) -> list[float]:
    """Scores of rows as training had them."""
    name, framework = (
        about(folder)["framework"],
        importlib.import_module(about(folder)["framework"]),
    )
    if name == "lightgbm":
        model = framework.Booster(model_file=str(folder / MODELS[name]))
        return model.predict(data.features, raw_score=True).tolist()
    types = ["c" if one in data.categories else "q" for one in data.feature_names]
    rows = framework.DMatrix(data.features, feature_types=types, enable_categorical=True)
    model = framework.Booster(model_file=str(folder / MODELS[name]))
    return model.predict(rows, output_margin=True).tolist()


@pytest.mark.parametrize(("framework", "suffix"), [("lightgbm", ".csv"), ("xgboost", ".parquet")])
def test_the_script_reads_a_table_as_the_study_did(
    tmp_path: Path, framework: str, suffix: str
) -> None:
    """With categories and flags."""
    flag = [bool(row % 3) for row in range(400)]
    file, model = own_table(tmp_path, flag=flag).with_suffix(suffix), tmp_path / "model"
    if suffix == ".parquet":
        frame = pl.read_csv(tmp_path / "own.csv").with_columns(pl.col("x").cast(pl.Float32))
        frame.write_parquet(file)
    config = Config(
        data=str(file), drop=("doc", "weight"), methods=(f"{framework}:map",), rounds=8, folds="2"
    )
    study = study_of(config)
    study.finish()
    kept = save_model(study, model)
    assert json.loads(json.dumps(kept)) == about(model)
    assert study.whole is not None
    scores = by_script(model, file)
    assert np.unique(scores).size > 20
    assert scores == by_framework(model, study.whole)  # the queries of this file are in order
    assert kept["columns"] == ["x", "y", "shop", "flag"]
    assert kept["categories"] == {"shop": ["east", "north", "west"]}
    assert kept["parameters"]["learning_rate"] == ranking_trees(framework)["learning_rate"]
    assert kept["value"] == study.results.mean(f"{framework}:lambda_map", "map")
    assert kept["interval"][0] < kept["value"] < kept["interval"][1]
    assert kept["rounds"] == max(1, round(float(study.results.fits["round"].mean() or 0)))


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
    scores = by_script(model, file)
    assert np.unique(scores).size > 5
    assert scores == by_framework(model, read_letor(file))


def test_the_best_method_on_validation_data_is_trained_on_all_queries(tmp_path: Path) -> None:
    methods = "lightgbm:lambdarank,lightgbm:map"
    study = of_digits(methods, "ndcg@10", "map", n_folds=2, rounds=5, select="map")
    means = study.results.validation_means
    kept = save_model(study, tmp_path)
    names = [method.name for method in study.methods]
    assert kept["metric"] == "map"  # which selects
    assert kept["method"] == max(names, key=lambda name: means[name, "map"])
    whole, parts = joined(study.folds[-1]), study.folds[-1].parts
    assert (kept["queries"], kept["rows"]) == (whole.n_queries, whole.labels.size)
    assert whole.group.tolist() == [size for part in parts for size in part.group.tolist()]
    assert whole.labels.tolist() == [y for part in parts for y in part.labels.tolist()]


def test_the_parameters_are_those_that_are_best_over_the_folds(tmp_path: Path) -> None:
    """Of trials, each with a mean over the folds; rounds are of the same trial."""
    study = of_digits("lightgbm:map", "map", n_folds=2, trials=4, rounds=20, patience=5)
    kept = save_model(study, tmp_path)
    fits = study.results.fits
    means = {trial: fits.filter(trial=trial)["validation"].mean() for trial in range(4)}
    best = max(means, key=lambda trial: means[trial])
    assert kept["rounds"] == round(fits.filter(trial=best)["round"].mean())
    assert kept["parameters"] == parameters_of(study.tasks[best])


def test_choices_hold_every_parameter_that_was_used(tmp_path: Path) -> None:
    methods = "lightgbm:map(sigma=2),xgboost:rank:map,svm:map(C=10)"
    invoke("compare", "--methods", methods, "--out", tmp_path, *QUICK)
    rows = pl.read_csv(tmp_path / "choices.csv").group_by("method").first()
    used = {name: json.loads(text) for name, text in rows.select("method", "parameters").rows()}
    ours = used["lightgbm:lambda_map(sigma=2)"]
    assert ours["sigma"] == 2
    assert {"num_leaves", "learning_rate", "pointwise", "damping"} <= {*ours}
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
        (ABOUT, "predict.py", "model.json")
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
        save_model(study, tmp_path / "model")


def test_files_that_do_not_fit_the_model_are_refused(tmp_path: Path) -> None:
    file, model = own_table(tmp_path), tmp_path / "model"
    options = ("--drop", "doc,weight", "--methods", "lightgbm:map", "--save-model", model)
    invoke("compare", file, *options, "--out", tmp_path / "out", *QUICK)
    frame, other = pl.read_csv(file), tmp_path / "other.parquet"
    for changed, message in (
        (frame.drop("x"), '"x" not found'),
        (frame.with_columns(x=pl.lit("text")), "failed in column 'x'"),
        (frame.with_columns(shop=pl.lit(1)), "column 'shop' is no text"),
    ):
        changed.write_parquet(other)
        with pytest.raises(AssertionError, match=message):
            by_script(model, other)
    frame.with_columns(shop=pl.lit("elsewhere")).write_parquet(other)
    unknown = by_script(model, other)
    frame.with_columns(shop=pl.lit(None, pl.String)).write_parquet(other)
    assert by_script(model, other) == unknown  # a category that is new is missing
