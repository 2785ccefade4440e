"""Studies from the command line and from files, on a small realistic data set."""

import csv
import importlib.metadata
import itertools
import re
import subprocess
import sys
import tomllib
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import invoke
from hypothesis import given
from hypothesis import strategies as st
from small_data import letor_folder

from lambdaplus.cli.config_options import OPTIONS
from lambdaplus.evaluation import evaluate
from lambdaplus.metrics import CATALOGUE
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import METHODS, Config, Study, find_methods, study_of
from lambdaplus.study.methods import parse_criterion
from lambdaplus.study.validation import values_of


@pytest.fixture(scope="module")
def letor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three folds of eight queries a part; a test query of the last has no relevant document."""
    return letor_folder(tmp_path_factory.mktemp("letor"), folds=3, queries=8)


def compare(data: Path, out: Path, *options: str, ends: int = 0) -> Any:
    return invoke("compare", data, "--out", out, *options, ends=ends)


def quick(data: Path, out: Path, methods: str, *options: str) -> None:
    compare(data, out, "--methods", methods, "--rounds", "5", "--jobs", "1", *options)


def test_a_missing_package_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    # The attribute as well, or later tests would see another copy of the package.
    monkeypatch.setattr("lambdaplus.cli", import_module("lambdaplus.cli"))
    for name in [name for name in sys.modules if name.startswith("lambdaplus.cli")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(SystemExit, match=r"the command line needs .*polars.*: pip install"):
        import_module("lambdaplus.cli").app(["evaluate", "a.csv"])


def test_every_option_has_the_help_of_its_field() -> None:
    app = import_module("lambdaplus.cli").app
    group = import_module("typer.main").get_command(app)
    command = group.get_command(None, "compare")
    helps = {option.name: option.help for option in command.params}
    assert {*OPTIONS} <= {*helps}
    assert all(helps.values())
    assert helps["label"] == "Column of labels in these files. Default: label."
    assert not [text for text in helps.values() if "`" in text or "see " in text]


def finished(config: Config, folder: Path | None = None) -> Study:
    study = study_of(config, folder)
    study.finish()
    return study


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_stopped_run_has_results_of_the_folds_that_are_finished(letor: Path) -> None:
    study = study_of(Config(data=str(letor), methods=("lightgbm:map",), metrics=("map",), rounds=3))
    running = study.run()
    next(running)
    assert len(study.finished) == 1
    assert list(study.results.fold_means("lightgbm:lambda_map", "map")) == ["Fold1"]
    assert np.isnan(study.results.mean("lightgbm:lambda_map", "map"))
    next(running)
    assert len(study.results.fold_means("lightgbm:lambda_map", "map")) == 2


SAVE = ("--save-model", "model")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--methods", "lightgbm:nonsense"], "known: auc"),
        (["--methods", "svmmap"], "unknown method 'svmmap' (did you mean 'svm:map'?)"),
        (["--methods", "svm:map,svm:auc,svm:map"], "method 'svm:map' is given twice"),
        (["--methods", "mypkg:Ranker"], ": 'mypkg:Ranker' cannot be imported as module:Class"),
        (
            ["--methods", "catboost:map"],
            "unknown method 'catboost:map': it was removed",
        ),
        (["--methods", "lightgbm:map(sigmaa=3)"], "map has no option 'sigmaa'"),
        (["--methods", "lightgbm:map(sigmaa=3)"], "the objective and its trees have: bagging_fr"),
        (["--methods", "lightgbm:map(sigma=-3)"], "sigma must be a number"),
        (["--methods", "lightgbm:map(sigma)"], "'sigma' is not of the form option=value"),
        (["--methods", "lightgbm:map(sigma=1,sigma=2)"], "twice"),
        (["--metrics", "ndgc@10"], "did you mean 'ndcg'"),
        (["--folds", "4"], "folds 1 to 3"),
        (["--scaling", "z"], "scaling='z' is not one of none, query"),
        (["--seeds", "0"], "nor a list of seeds such as 0,7"),
        (["--metrics", ","], "--metrics ',' is empty"),
        (["--folds", "x"], "not a number"),
        (["--folds", "1,1"], "folds: Fold1 is given more than once"),
        (["--valid", "2"], "valid = 2.0 should be a share from 0 to 1"),
        (["--method", "x"], "--method is for --save-model"),
        (["--methods", "svm:map", *SAVE], "none of the methods is a model of LightGBM"),
        (["--methods", "lightgbm:map,svm:map", "--method", "svm:map", *SAVE], "is a model of"),
        (["--methods", "lightgbm:map", "--method", "xgboost:map", *SAVE], "not one of the methods"),
        (["--methods", "lightgbm:map", "--scaling", "query", *SAVE], "leave out the scaling"),
        (["--methods", "lightgbm:map", "--save-model", "out"], "pass another folder"),
    ],
)
def test_wrong_options_are_named(
    letor: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in compare(letor, Path("out"), *options, ends=2).output
    assert [*tmp_path.iterdir()] == []  # it is said before the first fit


def test_folds_and_seeds_are_counted_or_listed(letor: Path, tmp_path: Path) -> None:
    for option, names in (("2", ["Fold1", "Fold2"]), ("1,3", ["Fold1", "Fold3"])):
        quick(letor, tmp_path, "lightgbm:map", "--folds", option)
        assert list(rows(tmp_path / "summary.csv")[0])[3:] == names
    for option, seeds in (("2", {"0", "1"}), ("5,", {"5"}), ("0,7", {"0", "7"})):
        quick(letor, tmp_path, "lightgbm:map", "--folds", "1", "--seeds", option)
        assert {row["seed"] for row in rows(tmp_path / "per_query.csv")} == seeds


def test_methods_are_unique_and_can_be_named() -> None:
    for method in METHODS:
        assert find_methods(method.name) == [method]
    origins = {method.name: method.origin for method in METHODS}
    assert origins["svm:map"] == origins["xgboost:lambda_map"] == "lambdaplus"
    assert origins["xgboost:rank:map"] == "XGBoost"
    assert find_methods("odd_estimators:FirstFeature")[0].origin == "yours"
    with_parts = "lightgbm:map,lightgbm:map+logloss"
    found = {method.name: method.space.keys() for method in find_methods(with_parts)}
    assert list(found) == [name.replace(":", ":lambda_") for name in with_parts.split(",")]
    assert ["sigma" in space for space in found.values()] == [True, False]


def test_a_sum_is_trained_on_stopped_on_and_selected_by(letor: Path, tmp_path: Path) -> None:
    for framework in ("lightgbm", "xgboost"):
        [method] = find_methods(f"{framework}:NDCG@3 + 0.5*mrr")
        assert method.name == f"{framework}:lambda_ndcg@3+0.5*mrr"
        assert method.target == lambda_objective("ndcg@3+0.5*mrr")
    config = Config(
        data=str(letor), methods=(method.name,), metrics=("ndcg@3", "mrr"), rounds=4,
        select="0.5*mrr + ndcg@3", grid={method.name: {"learning_rate": [0.001, 0.3]}},
    )  # fmt: skip
    study = finished(Config.from_toml(config.to_toml()), tmp_path)
    assert study.results.config.select == "0.5*mrr+ndcg@3"
    for chosen in study.chosen(method.name, "mrr"):
        tried = [fit for fit in study.fits if fit.fold == chosen.fold]
        by, valid = parse_criterion(chosen.metric), study.task_of(chosen).valid
        values = [values_of([by], valid, fit.validation)[by] for fit in tried]
        assert [max(fit.curve) for fit in tried] == pytest.approx(values)  # as training went
        assert chosen.trial == int(np.argmax(values))


OPTIONS_OF_NAMES = (
    "", "(sigma=2)", "(pairs=equal)", "(pairs=swap)", "(surrogate=map)", "(surrogate=auc)",
    "(balance=0)", "(normalize=false)", "(one_group=true)", "(learning_rate=0.1)", "(trees=small)",
    "(sigma=2,surrogate=ndcg(gain=linear))", "(relevant=2,sigma=0.5)",
)  # fmt: skip


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_a_name_with_options_names_the_same_method_again(framework: str) -> None:
    """For all metrics, cutoffs and options that can be combined, alone and in a sum."""
    metrics = [f"{one.name}{cutoff}" for one in CATALOGUE for cutoff in ("", "@10", "@10%")]
    metrics += ["ndcg(gain=linear)@5", "0.5*map+ndcg@10", "ndcg@10(gain=linear)+0.5*map"]
    tried = 0
    for metric, options in itertools.product(metrics, OPTIONS_OF_NAMES):
        try:
            found = find_methods(f"{framework}:{metric}{options}")
        except ValueError:  # of those that cannot be combined
            continue
        tried += 1
        assert find_methods(found[0].name) == found, found[0].name
        assert found[0].name.count("surrogate=") <= 1
    assert tried > 250


def test_other_methods_with_options_are_named_and_found_again() -> None:
    fixed = {
        "svm:map(C=10)": {"C": 10}, "lightgbm:lambdarank(num_leaves=8)": {"num_leaves": 8},
        "lightgbm:regression(labels=ranks,num_leaves=8)": {"labels": "ranks", "num_leaves": 8},
        "xgboost:reg:tweedie(tweedie_variance_power=1.2)": {"tweedie_variance_power": 1.2},
        "xgboost:rank:map(objective=x)": {"objective": "x"}, "lightgbm:binary(labels=ranks)": None,
        "odd_estimators:FirstFeature(factor=1)": {"factor": 1},
    }  # fmt: skip
    for name, options in fixed.items():
        [method] = find_methods(name)
        assert find_methods(method.name) == [method]
        assert method.name == name
        assert options is None or method.fixed.items() >= options.items()
    [own] = find_methods("lightgbm:recall@10(surrogate=map)")
    assert own == find_methods("lightgbm:recall@10")[0]
    assert own.name == "lightgbm:lambda_recall@10(surrogate=map)"
    [own] = find_methods("lightgbm:auc(surrogate=auc)")  # which sets more than the default does
    assert own != find_methods("lightgbm:auc")[0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lightgbm:lambdarank(num_leaves=-3)", "with num_leaves=-3: .*num_leaves"),
        ("xgboost:auc(max_leaves=8.5)", "with max_leaves=8.5: .*max_leaves"),
        ("xgboost:rank:map(max_leafs=8)", "with max_leafs=8: .*are not used"),
        ("svm:map(c=10)", "with c=10: .*unexpected keyword argument 'c'"),
        ("lightgbm:poisson(no_such=1)", "LightGBM has no parameter 'no_such'"),
    ],
)
def test_values_that_cannot_be_trained_are_refused_before_any_fit(
    letor: Path, tmp_path: Path, name: str, message: str
) -> None:
    methods = f"feature:best,{name}"
    said = compare(letor, tmp_path / "out", "--methods", methods, ends=2).output
    assert re.search(message, " ".join(said.split())), said
    assert not (tmp_path / "out").exists()
    grid = {"svm:map": {"C": [1.0, -1.0]}}
    with pytest.raises(ValueError, match=r"method 'svm:map' with C=-1\.0: "):
        study_of(Config(data=str(letor), methods=("svm:map",), grid=grid))


def test_a_convention_is_that_of_test_queries(letor: Path, tmp_path: Path) -> None:
    config = Config(data=str(letor), methods=("feature:best",), metrics=("map", "ndcg@3"))
    ours = finished(config, tmp_path)
    theirs = finished(replace(config, convention="letor4"), tmp_path)
    assert theirs.kept == 3  # the fits are the same
    assert "divisor=relevant" in theirs.results.rules["map"]
    test, values = theirs.folds[-1].test, theirs.results.values.filter(fold="Fold3")
    for metric in config.metrics:
        [*_, fit] = theirs.chosen("feature:best", metric)
        found = evaluate(test.labels, fit.test, qid=test.qid, metrics=metric, convention="letor4")
        [expected] = found.per_query.values()
        np.testing.assert_array_equal(values.filter(metric=metric)["value"], expected)
        assert [*found.undefined.values()] == [1]
    assert theirs.results.mean("feature:best", "map") < ours.results.mean("feature:best", "map")


def test_metrics_are_listed_within_80_columns() -> None:
    output = invoke("metrics", width=80).output
    lines = output.splitlines()
    assert max(map(len, lines)) <= 80
    [second] = [line.index("what it is") for line in lines if "what it is" in line]
    titles = " ".join(" ".join(line[second:] for line in lines).split())
    for declaration in CATALOGUE:
        assert str(declaration) in output.replace(",", " ").split()
        assert declaration.title in titles


def test_versions() -> None:
    output = invoke("--version").output
    assert f"lambdaplus {importlib.metadata.version('lambdaplus')}" in output
    assert "xgboost" in output


def test_a_study_from_a_file_is_that_of_the_options(letor: Path, tmp_path: Path) -> None:
    options = ["--metrics", "map(relevant=2),ndcg@3", "--folds", "1,3", "--scaling", "query",
               "--select", "ndcg@3", "--seeds", "2,"]  # fmt: skip
    quick(letor, tmp_path / "said", "lightgbm:lambda_map,svm:auc", *options)
    config = Config.from_toml((tmp_path / "said" / "study.toml").read_text())
    assert config == Config(
        data=str(letor), methods=("lightgbm:lambda_map", "svm:auc"),
        metrics=("map(relevant=2)", "ndcg@3"), folds="1,3", scaling="query",
        select="ndcg@3", seeds=(2,), rounds=5, patience=80, every=1, trees=("middle",),
    )  # fmt: skip
    written = tomllib.loads((tmp_path / "said" / "study.toml").read_text())
    lists = {"features", "categories", "drop", "grid"}  # which are empty
    not_set = {"margin", "see", "budget", "rate"}
    assert {*written} == {field.name for field in fields(Config)} - lists - not_set
    compare(tmp_path / "said" / "study.toml", tmp_path / "again", "--jobs", "1")
    for name in ("summary.csv", "per_query.csv", "study.toml"):
        assert (tmp_path / "again" / name).read_text() == (tmp_path / "said" / name).read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metric = 'map'", "unknown key 'metric'; known: data, qid, label, weight, features"),
        ("qid = 'label'", "qid and label are the same column, 'label'"),
        ("rounds = ", "Invalid value"),
        ("[grid.'svm:auc']\nC = [1]", "grid of 'svm:auc', which is not one"),
        ("baseline = 'x'", "baseline 'x' is not one of the methods"),
        ("seeds = []", "seeds is empty: a study needs at least one"),
        ("seeds = [-1]", "a seed must be a whole number, at least 0, got -1"),
        ("seeds = [1, 1]", "seeds: 1 is given more than once"),
        ("every = 81", "every must be at most rounds and patience, got 81"),
        ("seeds = [true]", "seeds = .* should be a list of whole numbers"),
        ("rounds = -1", "rounds must be a whole number, at least 1, got -1"),
        ("rounds = 4294967297", "rounds must be below 2147483648"),
        (
            "leaves = 8",
            "unknown key 'leaves': it was removed .* use trees, or .* in a method's name",
        ),
        ("metrics = [1]", r"metrics = \(1,\) should be a list of texts"),
        ("convention = 'letor'", "unknown convention 'letor'; known: lambdaplus"),
        ("[grid]\nsvm = 1", "grid: svm = 1 should be a table of parameters"),
        ("[grid.'feature:best']\nC = '57'", "C = '57' should be a list of the values to try"),
    ],
)
def test_a_file_that_is_wrong_says_what(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(f"methods = ['feature:best']\n{text}")
    result = compare(file, tmp_path / "out", ends=2)
    assert re.search(message, " ".join(result.output.split()))
    assert not (tmp_path / "out").exists()


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.floats(allow_nan=False) | st.integers() | st.booleans() | st.text('a\x7f\n"\\')),
)
def test_a_study_is_read_back_as_it_was(data: str, values: list[Any]) -> None:
    config = Config(data=data, valid=0.5, grid={data: {data: values}})
    again = Config.from_toml(config.to_toml())
    assert repr(again) == repr(config)  # 1 and 1.0 and True are equal


def test_without_a_terminal_lines_say_how_far_the_fits_are(
    letor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lambdaplus.cli.terminal.SECONDS", 0.01)
    said = compare(letor, tmp_path, "--methods", "svm:map,feature:best", "--jobs", "1").output
    assert re.search(r"\d+ of 15 fits after \d+\.\d minutes", said)


def test_a_reader_that_stops_reading_loses_no_results(letor: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lambdaplus", "compare", str(letor), "--out", str(tmp_path)]
    options = ["--methods", "feature:best", "--jobs", "1"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.close()
    assert running.returncode == 0
    assert (tmp_path / "summary.csv").exists()


def test_fits_of_another_study_or_version_are_said_to_be_unused(
    letor: Path, tmp_path: Path
) -> None:
    same = ("--methods", "feature:best", "--jobs", "1")
    for _ in range(2):
        assert "is used" not in compare(letor, tmp_path, *same).output
    said = compare(letor, tmp_path, *same, "--metrics", "map").output
    assert "None of the 3 fits in" in said
