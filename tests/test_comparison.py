"""The comparison and its command line, on a small realistic data set."""

from __future__ import annotations

import csv
import pathlib
import re
import tomllib
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from brute_force import examples
from damage import damaged
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from lambdaplus.cli import app
from lambdaplus.data import read_folds
from lambdaplus.evaluation import evaluate
from lambdaplus.metrics import CATALOGUE, Declaration, parse_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import METHODS, Config, Method, Settings, Study, Summary, find_methods
from lambdaplus.study.boosting import train_lightgbm
from lambdaplus.study.study_tables import rules_table

QUICK = ["--rounds", "5", "--jobs", "1"]


@pytest.fixture(scope="module")
def letor(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Three folds of eight queries a part, in LETOR's layout; one test query has no relevant."""
    folder = tmp_path_factory.mktemp("letor")
    rng = np.random.default_rng(0)
    for fold in (1, 2, 3):
        (folder / f"Fold{fold}").mkdir()
        for part, name in enumerate(("train", "vali", "test")):
            lines = []
            for query in range(8):
                for document in range(12):
                    x = rng.normal(size=3)
                    label = int(np.clip(round(x[0] + rng.normal()), 0, 2))
                    label = 0 if (name, query) == ("test", 0) else max(label, int(document == 0))
                    values = " ".join(f"{i + 1}:{v:.4f}" for i, v in enumerate(x))
                    lines.append(f"{label} qid:{fold}{part}{query} {values}")
            (folder / f"Fold{fold}" / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return folder


def rows(path: pathlib.Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_summary_is_the_mean_of_fold_means_of_the_per_query_values(
    letor: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    names = "lightgbm:lambdarank,xgboost:lambda_map"
    result = CliRunner().invoke(
        app, ["compare", str(letor), "--methods", names, "--out", str(tmp_path), *QUICK]
    )
    assert result.exit_code == 0, result.output
    per_query, summary = rows(tmp_path / "per_query.csv"), rows(tmp_path / "summary.csv")
    assert len(per_query) == 2 * 3 * 8 * 7  # methods, folds, test queries, metrics
    assert {row["value"] for row in per_query if row["qid"].endswith("20")} == {""}
    for row in summary:
        means = []
        for fold in ("Fold1", "Fold2", "Fold3"):
            found = [
                float(line["value"])
                for line in per_query
                if (line["method"], line["metric"]) == (row["method"], row["metric"])
                and line["fold"] == fold
                and line["value"]
            ]
            assert len(found) == 7
            means.append(np.mean(found))
            assert float(row[fold]) == pytest.approx(means[-1], abs=1e-12)
        assert float(row["mean"]) == pytest.approx(np.mean(means), abs=1e-12)
    for name in names.split(","):
        assert name in result.output


@pytest.mark.slow
def test_the_best_of_each_column_is_marked(letor: pathlib.Path, tmp_path: pathlib.Path) -> None:
    result = CliRunner().invoke(
        app,
        ["compare", str(letor), "--methods", "lightgbm:lambda_auc,lightgbm:lambda_mrr",
         "--metrics", "map", "--out", str(tmp_path), *QUICK],
    )  # fmt: skip
    means = {row["method"]: float(row["mean"]) for row in rows(tmp_path / "summary.csv")}
    best = max(means, key=lambda name: means[name])
    marked = [
        line.split()[0] for line in result.output.splitlines() if "*" in line.split("Test")[0]
    ]
    assert len({f"{mean:.4f}" for mean in means.values()}) == 2
    assert marked[0] == best


def test_a_method_that_fails_is_reported_and_the_rest_goes_on(letor: pathlib.Path) -> None:
    broken = Method("lightgbm:broken", train_lightgbm, "no_such_objective", "map")
    study = Study(
        read_folds(letor)[:1],
        [broken, *find_methods("lightgbm:lambda_map")],
        [parse_metric("map")],
        Settings(rounds=3),
    )
    assert len(list(study.run())) == 2
    assert list(study.errors) == ["lightgbm:broken"]
    assert np.isnan(study.mean(broken, study.metrics[0]))
    assert 0 < study.mean(study.methods[1], study.metrics[0]) <= 1


def test_what_was_finished_is_kept_when_the_run_is_stopped(letor: pathlib.Path) -> None:
    study = Study(
        read_folds(letor), find_methods("lightgbm:lambda_map"), [parse_metric("map")], Settings(3)
    )
    next(iter(study.run()))
    assert len(study.finished) == 1
    assert len(study.results["lightgbm:lambda_map"]) == 1
    assert np.isnan(study.mean(study.methods[0], study.metrics[0]))  # not all folds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--methods", "lightgbm:nonsense"], "known: auc"),
        (["--methods", "forest"], "lightgbm:lambdarank"),
        (["--methods", "catboost:map"], "blocks of documents without their queries"),
        (["--metrics", "ndgc@10"], "did you mean 'ndcg'"),
        (["--folds", "4"], "folds 1 to 3"),
        (["--scaling", "z"], "scaling='z' is not one of none, query"),
        (["--seeds", "a"], "is not a number of seeds such as 3"),
        (["--seeds", "0"], "nor a list of seeds such as 0,7"),
        (["--seeds", "1_0"], "nor a list of seeds such as 0,7"),
        (["--seeds", "-1,2"], "nor a list of seeds such as 0,7"),
        (["--metrics", ","], "--metrics ',' names nothing"),
        (["--methods", ","], "--methods ',' names nothing"),
        (["--methods", ""], "--methods '' names nothing"),
        (["--folds", "x"], "not a number"),
        (["--folds", "1,1"], "folds: Fold1 is given more than once"),
        (["--seeds", "1,1"], "seeds: 1 is given more than once"),
        (["--seeds", ""], "--seeds '' is not a number of seeds"),
        (["--seeds", "100000000"], "is not a number of seeds such as 3 (below a million)"),
        (["--seeds", "100000"], "fits, of all folds, methods, seeds and trials, are more than"),
        (["--trials", "100000000"], "trials = 100000000: a search may have at most 1,000"),
        (["--splits", "2", "--shares", "nan,1,1"], "nan is neither a number of queries nor a"),
        (["--splits", "2", "--shares", ""], "--shares '' is not a list"),
    ],
)
def test_wrong_options_say_what_would_be_right(
    letor: pathlib.Path, tmp_path: pathlib.Path, options: list[str], message: str
) -> None:
    result = CliRunner().invoke(app, ["compare", str(letor), "--out", str(tmp_path), *options])
    assert result.exit_code == 2
    assert message in result.output


def test_a_folder_without_data_says_what_was_expected(tmp_path: pathlib.Path) -> None:
    result = CliRunner().invoke(app, ["compare", str(tmp_path)])
    assert result.exit_code == 2
    assert "train" in result.output


def test_folds_are_counted_or_listed(letor: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for option, names in (("2", ["Fold1", "Fold2"]), ("1,3", ["Fold1", "Fold3"])):
        arguments = ["compare", str(letor), "--methods", "lightgbm:lambda_map", "--folds", option]
        result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path), *QUICK])
        assert result.exit_code == 0, result.output
        assert list(rows(tmp_path / "summary.csv")[0])[3:] == names


def test_seeds_are_counted_or_listed(letor: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for option, seeds in (("2", {"0", "1"}), ("5,", {"5"}), ("0,7", {"0", "7"})):
        arguments = ["compare", str(letor), "--methods", "lightgbm:lambda_map", "--folds", "1"]
        command = [*arguments, "--seeds", option, "--out", str(tmp_path), *QUICK]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
        assert {row["seed"] for row in rows(tmp_path / "per_query.csv")} == seeds


def test_methods_are_unique_and_can_be_named() -> None:
    names = [method.name for method in METHODS]
    assert len(set(names)) == len(names)
    for name in names:
        assert [method.name for method in find_methods(name)] == [name]
    assert find_methods("xgboost:ndcg@5")[0].criterion == "ndcg@5"


def test_a_sum_is_trained_on_stopped_on_and_selected_by(
    letor: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    methods = find_methods("lightgbm:NDCG@3 + 0.5*mrr,xgboost:ndcg@3+0.5*mrr")
    assert [method.name for method in methods] == [
        "lightgbm:lambda_ndcg@3+0.5*mrr",
        "xgboost:lambda_ndcg@3+0.5*mrr",
    ]
    for method in methods:
        assert method.criterion == "ndcg@3+0.5*mrr"
        assert method.target == lambda_objective("ndcg@3+0.5*mrr")
        assert find_methods(method.name) == [method]
    grid = {method.name: {"learning_rate": [0.001, 0.3]} for method in methods[:1]}
    config = Config(
        data=str(letor), methods=tuple(m.name for m in methods), metrics=("ndcg@3", "mrr"),
        select="0.5*mrr + ndcg@3", rounds=4, grid=grid,
    )  # fmt: skip
    study = Config.from_toml(config.to_toml()).study(tmp_path)
    list(study.run())
    assert study.errors == {}
    assert study.select == "0.5*mrr+ndcg@3"
    for choice in study.results[methods[0].name]:
        tried = [
            task
            for task in study.tasks
            if (task.method.name, task.fold) == (methods[0].name, choice.fold)
        ]
        values = []
        for task in tried:
            fit, valid = study.store.load(task.key), task.fold.valid
            assert fit is not None
            found = evaluate(
                valid.labels, fit.valid_scores, qid=valid.qid, metrics=["ndcg@3", "mrr"]
            )
            values.append(found["ndcg@3"] + 0.5 * found["mrr"])
        assert choice.parameters == tried[int(np.argmax(values))].parameters
        # What training has followed is the sum.
        assert choice.fit.curve[choice.fit.rounds - 1] == pytest.approx(max(values))


def test_the_foot_counts_each_query_of_repeated_splits_once(letor: pathlib.Path) -> None:
    folds = Config(data=str(letor), methods=("feature:best",), metrics=("map",)).study()
    list(folds.run())
    assert (
        "over the queries of each fold, then over 3 folds (24 test queries)."
        in Summary(folds.results).notes()[0]
    )
    splits = Config(
        data=str(letor), methods=("feature:best",), metrics=("map",), splits=5,
        shares=(8, 4, 12),
    ).study()  # fmt: skip
    list(splits.run())
    tested = {qid for fold in splits.folds for qid in fold.test.qid.tolist()}
    assert 12 < len(tested) <= 24
    assert (
        f"over the queries of each split, then over 5 splits ({len(tested)} test queries, each "
        f"tested {60 / len(tested):.3g} times on average)." in Summary(splits.results).notes()[0]
    )
    found = splits.evaluation(splits.methods[0])
    assert found is not None
    assert found.n_queries == len(tested)


def test_metrics_are_listed_within_80_columns() -> None:
    output = CliRunner().invoke(app, ["metrics"]).output
    for declaration in CATALOGUE:
        assert str(declaration) in output.replace(",", " ").split()
        assert declaration.title in " ".join(output.split())
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.parametrize("declaration", CATALOGUE, ids=lambda declared: declared.name)
def test_a_metric_is_described_in_detail(declaration: Declaration) -> None:
    for name in (declaration.name, *declaration.aliases):
        output = CliRunner().invoke(app, ["metrics", name]).output
        assert max(map(len, output.splitlines())) <= 80
        words = " ".join(output.split())
        for text in (declaration.title, declaration.source, declaration.how_optimised):
            assert " ".join(text.split()) in words
        for option in declaration.parameters:
            assert f"{option.name}={option.default} {option.help}" in words


@pytest.mark.parametrize(
    ("name", "error"), [("nddcg", "did you mean 'ndcg'?"), ("map+mrr", "is a sum")]
)
def test_a_metric_that_cannot_be_described_is_an_error(name: str, error: str) -> None:
    result = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["metrics", name])
    assert result.exit_code == 2
    assert error in result.output


def test_versions() -> None:
    output = CliRunner().invoke(app, ["--version"]).output
    assert "lambdaplus 0.1.0" in output
    assert "xgboost" in output


def test_a_study_from_a_file_is_that_of_the_options(
    letor: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    options = ["--methods", "lightgbm:lambda_map,svm:auc", "--metrics", "map(relevant=2),ndcg@3"]
    options += ["--folds", "1,3", "--scaling", "query", "--select", "ndcg@3", "--seeds", "2,"]
    said = tmp_path / "said"
    result = CliRunner().invoke(app, ["compare", str(letor), *options, "--out", str(said), *QUICK])
    assert result.exit_code == 0, result.output
    config = Config.from_toml((said / "study.toml").read_text())
    assert config == Config(
        data=str(letor), methods=("lightgbm:lambda_map", "svm:auc"),
        metrics=("map(relevant=2)", "ndcg@3"), folds="1,3", scaling="query", select="ndcg@3",
        seeds=(2,), rounds=5,
    )  # fmt: skip
    again = tmp_path / "again"
    result = CliRunner().invoke(
        app, ["compare", str(said / "study.toml"), "--out", str(again), "--jobs", "1"]
    )
    assert result.exit_code == 0, result.output
    for name in ("summary.csv", "per_query.csv", "study.toml"):
        assert (again / name).read_text() == (said / name).read_text()


def test_a_file_may_set_what_is_tried(letor: pathlib.Path) -> None:
    text = 'methods = ["svm:map"]\nleaves = 7\nlearning_rate = 1\n[grid."svm:map"]\nC = [1, 2.5]\n'
    config = Config.from_toml(text)
    study = replace(config, data=str(letor)).study()
    assert study.methods[0].points == [{"C": 1}, {"C": 2.5}]
    assert (study.settings.leaves, study.settings.learning_rate) == (7, 1)
    assert Config.from_toml(config.to_toml()) == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metric = 'map'", "unknown key 'metric'; known: data, methods, metrics"),
        ("rounds = 'many'", "rounds = 'many' should be a whole number"),
        ("methods = 'svm'", "methods = 'svm' should be a list"),
        ("rounds = ", "Invalid value"),
        ("methods = ['svm:map']\n[grid.'svm:auc']\nC = [1]", "grid of 'svm:auc', which is not one"),
        ("methods = ['svm:map']\ntrials = -1", "trials = -1: a search needs at least 1"),
        ("methods = ['svm:map']\nbaseline = 'x'", "baseline 'x' is not one of the methods"),
    ],
)
def test_a_file_that_is_wrong_says_where(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Config.from_toml(text).study()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds = []", r"seeds = \[\] is empty: leave it out for the default"),
        ("metrics = []", r"metrics = \[\] is empty: leave it out for the default"),
        ("seeds = [1.5]", r"seeds = \(1.5,\) should be a list of whole numbers"),
        ("seeds = [true]", "seeds = .* should be a list of whole numbers"),
        ("seeds = 0", "seeds = 0 should be a list of whole numbers"),
        ("rounds = true", "rounds = True should be a whole number"),
        ("rounds = -1", "rounds = -1 should be a whole number, at least 1"),
        ("patience = -1", "patience = -1 should be a whole number, at least 1"),
        ("learning_rate = nan", "learning_rate = nan should be a positive number"),
        ("learning_rate = '0.1'", "learning_rate = '0.1' should be a number"),
        ("metrics = [1]", r"metrics = \(1,\) should be a list of texts"),
        ("metrics = 1979-05-27", "metrics = .* should be a list of texts"),
        ("shares = ['a']", "shares = .* should be a list of numbers"),
        ("valid = 2", "valid = 2 should be a share from 0 to 1"),
        ("splits = -1", "splits = -1 should be at least 0"),
        ("data = 1", "data = 1 should be text"),
        ("grid = 1", "grid = 1 should be a table"),
        ("[grid]\nsvm = 1", "grid: svm = 1 should be a table of parameters"),
        ("[grid.'feature:best']\nC = '57'", "C = '57' should be a list of the values to try"),
        ("[grid.'feature:best']\nC = [1]", "BestFeature has no parameter 'C'"),
        ("[data]\nx = 1", "data = {'x': 1} should be text"),
    ],
)
def test_values_of_another_kind_are_refused(
    tmp_path: pathlib.Path, text: str, message: str
) -> None:
    file = tmp_path / "study.toml"
    methods = "" if text.startswith("[") else "methods = ['feature:best']\n"
    if "grid." in text:
        methods = "methods = ['feature:best']\n"
    file.write_text(methods + text)
    result = CliRunner().invoke(app, ["compare", str(file), "--out", str(tmp_path / "out")])
    assert result.exit_code == 2, result.output
    assert re.search(message, " ".join(result.output.split()))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [["--seeds", ""], ["--seeds", ","], ["--shares", ""]])
def test_an_empty_option_is_no_option(tmp_path: pathlib.Path, options: list[str]) -> None:
    result = CliRunner().invoke(app, ["compare", "--out", str(tmp_path / "out"), *options])
    assert result.exit_code == 2
    assert options[0].removeprefix("--") in result.output
    assert not (tmp_path / "out").exists()


@examples(300)
@given(st.data())
def test_a_damaged_study_is_another_study_or_names_the_file(
    tmp_path: pathlib.Path, draw: st.DataObject
) -> None:
    """Bytes flipped, cut, doubled: what is read is what is written, or nothing."""
    file = tmp_path / "study.toml"
    config = Config(
        data="m\u00fcsli/\N{BUG}[red]", metrics=("map", "ndcg@3"), seeds=(0, 1), rounds=7,
        learning_rate=0.3, balanced=True, shares=(1, 0.5, 2),
        grid={"svm:map": {"C": [1.0, 10, True, "x"]}},
    )  # fmt: skip
    file.write_bytes(damaged(draw, config.to_toml().encode()))
    try:
        found = Config.read(file)
    except ValueError as error:
        assert str(error).startswith(f"{file}: ")  # noqa: PT017
        return
    assert found == Config(**tomllib.loads(file.read_text(encoding="utf-8")) | _lists(found))


def test_a_study_saved_with_a_byte_order_mark_is_read(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text("rounds = 7\n", encoding="utf-8-sig")
    assert Config.read(file) == Config(rounds=7)


def _lists(config: Config) -> dict[str, Any]:
    """Lists of TOML are tuples of a Config."""
    return {f.name: v for f in fields(Config) if isinstance(v := getattr(config, f.name), tuple)}


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.floats(allow_nan=False) | st.integers() | st.booleans() | st.text('a\x7f\n"\\')),
)
def test_a_study_is_read_back_as_it_was(data: str, values: list[Any]) -> None:
    config = Config(data=data, grid={data: {data: values}})
    again = Config.from_toml(config.to_toml())
    assert repr(again) == repr(config)  # 1 and 1.0 and True are equal


def test_what_toml_has_no_word_for_is_refused() -> None:
    with pytest.raises(ValueError, match="None cannot be written in TOML"):
        Config(grid={"svm:map": {"C": [None]}}).to_toml()
    with pytest.raises(ValueError, match="not valid Unicode"):
        Config(data="\udcff").to_toml()


def test_the_foot_states_the_rules_that_were_used(letor: pathlib.Path) -> None:
    names = ("ndcg(gain=linear,discount=letor)@3", "map(relevant=2)", "auc(over=dataset)")
    study = Config(data=str(letor), methods=("feature:best",), metrics=names, folds="1").study()
    list(study.run())
    foot = str(rules_table(study.results))
    for rules in ("gain=linear, discount=letor", "relevant=2, divisor=", "over=dataset"):
        assert rules in foot
    for others in ("2^l", "exp2", "log2", "mean over their orders"):
        assert others not in foot
