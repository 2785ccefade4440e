"""From a file to a decision: selection, verdicts, and what is printed of them."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import invoke
from rich.console import Console
from scipy import stats
from small_data import letor_folder
from studies import of_digits
from test_report import values_of

from lambdaplus.evaluation import Table
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import (
    METHODS,
    Config,
    Method,
    Summary,
    find_methods,
    study_of,
    write_report,
)
from lambdaplus.study.summary_tables import results_table
from lambdaplus.study.verdict import ALPHA


@pytest.fixture(scope="module")
def letor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return letor_folder(tmp_path_factory.mktemp("letor"), folds=3, queries=8)


# Selection ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lightgbm:lambdarank", "xgboost:ndcg@10"])
@pytest.mark.parametrize("select", ["auc", "mrr"])
def test_select_governs_early_stopping(method: str, select: str) -> None:
    """The last round is ``patience`` after the best one by the selecting metric."""
    study = of_digits(method, "map", rounds=40, patience=5, select=select)
    curves = study.results.curves
    assert curves["metric"].unique().to_list() == [select]
    [rounds] = study.results.chosen_fits()["rounds"]
    assert rounds == int(curves["value"].arg_max() or 0) + 1
    assert len(curves) == min(40, rounds + 5)


# Verdicts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.025, 0.03, 0.035, 0.04, 0.1])
def test_the_main_metric_is_not_corrected_for_others(gap: float) -> None:
    """It was multiplied by the number of metrics; the others have Holm's correction."""
    one = values_of({"ours": 0.5 + gap, "theirs": 0.5})
    metrics = ["map", "map@5", "map@10"]

    def of_each(frame: pl.DataFrame) -> pl.DataFrame:
        return pl.concat(frame.with_columns(metric=pl.lit(metric)) for metric in metrics)

    both = replace(
        one, metrics=metrics, values=of_each(one.values), validation=of_each(one.validation),
        rules=dict.fromkeys(metrics, ""),
    )  # fmt: skip
    [alone] = Summary(one).verdicts
    main, *others = Summary(both).verdicts
    assert main == alone
    assert Summary(both).conclusion() == Summary(one).conclusion()
    assert [pair.metric for pair in others] == metrics[1:]
    for pair in others:
        assert pair.p_corrected == pytest.approx(min(1.0, 2 * alone.p_value))
        assert pair.interval == alone.interval
    low, high = main.interval
    assert (main.p_corrected < ALPHA) == (low > 0 or high < 0) == bool(main.outcome)


def test_the_spread_over_seeds_is_in_reports() -> None:
    methods = "lightgbm:map,lightgbm:lambdarank(bagging_fraction=0.5,bagging_freq=1)"
    results = of_digits(methods, "map", n_folds=2, rounds=4, seeds=(0, 1, 2)).results
    [name] = [method for method in results.methods if "bagging" in method]
    values = results.values.filter(method=name)
    means = [
        np.mean([values.filter(seed=seed, fold=fold)["value"].mean() for fold in results.folds])
        for seed in (0, 1, 2)
    ]
    assert results.spreads[name, "map"] == pytest.approx(np.std(means, ddof=1))
    assert np.std(means) > 0
    table = results_table(Summary(results))
    assert [*table.columns][:3] == ["method", "MAP", "MAP\nsd"]
    assert {row[0]: row[2] for row in table.rows}[name] == results.spreads[name, "map"]
    assert "sd: standard deviation of the means of seeds." in table.foot


# The terminal ------------------------------------------------------------------------------------


def test_names_are_whole_at_80_columns_and_each_metric_has_a_verdict(
    letor: Path, tmp_path: Path
) -> None:
    names = ("xgboost:binary:logistic", "xgboost:rank:pairwise", "lightgbm:lambda_ndcg")
    options = ("--methods", ",".join(names), "--metrics", "map@10,ndcg@10,auc", "--rounds", 2)
    options += ("--baseline", names[0], "--out", tmp_path / "out", "--jobs", 1)
    said = invoke("compare", letor, *options, width=80).output
    for name in names:
        assert re.search(rf"(?m)^ *{name} +[.0-9]", said), said
    rows = said.split("Wrote")[0].splitlines()[1:]
    assert max(map(len, rows)) <= 80
    table = said.partition("then the baseline")[2].partition("Validation data chooses")[0]
    first = [line.split()[0] for line in table.splitlines() if line.strip()]
    assert [word for word in first if word.isupper()] == ["MAP@10", "NDCG@10", "AUC"]


# Contenders --------------------------------------------------------------------------------------


def table_of(folder: Path, labels: Any, *, queries: int = 40, name: str = "table.csv") -> Path:
    """A table of rows of 20 for each query, whose labels follow the first feature."""
    random = np.random.default_rng(0)
    n = 20 * queries
    x = random.normal(size=(n, 3))
    columns = {"qid": np.repeat(np.arange(queries), 20), "label": labels(x[:, 0], random)}
    frame = pl.DataFrame({**columns, **{f"x{j}": x[:, j] for j in range(3)}})
    frame.write_csv(folder / name)
    return folder / name


def returns(x: Any, random: Any) -> Any:
    return 0.01 * (x + 2 * random.normal(size=x.size))


def grades(x: Any, random: Any) -> Any:
    return np.clip(np.round(x + random.normal(size=x.size)), 0, 3).astype(int)


def flags(x: Any, random: Any) -> Any:
    return (x + random.normal(size=x.size) > 1).astype(int)


def test_real_values_have_contenders_and_metrics_of_their_own(tmp_path: Path) -> None:
    file = table_of(tmp_path, returns)
    study = study_of(Config(data=str(file), rounds=3))
    study.finish()
    assert study.config.metrics == ("spearman",)
    names = {method.name.removeprefix("lightgbm:") for method in study.methods}
    assert names > {"lambda_spearman", "regression", "regression(labels=ranks)"}
    assert "xgboost:reg:squarederror" in names
    assert not any("without a relevant" in note for note in study.notes)
    assert any("lambdarank" in note and "do not fit" in note for note in study.notes)
    table = study_of(Config(data=str(file), qid="none", drop=("qid",), rounds=3))
    assert table.config.metrics == ("gini",)
    assert "lightgbm:regression" in table.config.methods


def test_of_real_values_the_metric_that_is_asked_for_selects(tmp_path: Path) -> None:
    """Of losses and estimators alike."""
    file = table_of(tmp_path, returns)
    names = ("xgboost:reg:squarederror", "odd_estimators:FirstFeature")
    config = Config(data=str(file), methods=names, metrics=("concordance",), rounds=3, folds="1")
    study = study_of(config)
    study.finish()
    assert study.results.chosen_fits()["metric"].unique().to_list() == ["concordance"]


def test_squared_error_of_ranks_is_trained_on_ranks_in_the_query(tmp_path: Path) -> None:
    """It is squared error of a file whose labels are these ranks."""
    file = table_of(tmp_path, returns)
    frame = pl.read_csv(file)
    ranked = frame.with_columns(pl.col("label").rank().over("qid") / pl.len().over("qid"))
    ranked.write_csv(tmp_path / "ranked.csv")
    scores = []
    for name, method in ((file, "(labels=ranks)"), (tmp_path / "ranked.csv", "")):
        methods = (f"lightgbm:regression{method}",)
        study = study_of(Config(data=str(name), methods=methods, folds="1", rounds=5))
        study.finish()
        [fit] = study.fits
        scores.append(fit.test)
    assert np.array_equal(*scores)


@pytest.mark.parametrize(("labels", "taken"), [(flags, "auc"), (grades, "mauc")])
@pytest.mark.parametrize("qid", ["qid", "none"])
def test_a_framework_stands_for_what_fits_the_labels_and_says_so(
    tmp_path: Path, labels: Any, taken: str, qid: str
) -> None:
    config = Config(data=str(table_of(tmp_path, labels)), qid=qid, methods=("lightgbm",))
    study = study_of(config)
    names = {method.name for method in study.methods}
    assert f"lightgbm:lambda_{taken}" in names
    assert ("lightgbm:lambda_0.25*map+0.75*logloss" in names) == (qid == "qid")
    [said] = [note for note in study.notes if "do not fit" in note]
    for method in METHODS:
        if method.family == "lightgbm" and method.name not in names:
            assert method.name.removeprefix("lightgbm:") in said
    assert ("lambda_mauc (AUC, with two labels)" in said) == (labels is flags)


# Options within a name ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "target", "fixed"),
    [
        ("xgboost:auc(pairs=equal)", lambda_objective("auc", pairs="equal"), {}),
        ("lightgbm:ndcg@10(sigma=3)", lambda_objective("ndcg@10", sigma=3), {}),
        ("lightgbm:auc(surrogate=auc)", lambda_objective("auc", surrogate="auc"), {}),
        ("lightgbm:ndcg(gain=linear,sigma=2)@5",
         lambda_objective("ndcg(gain=linear)@5", sigma=2), {}),
        ("lightgbm:map(relevant=0.5,normalize=false)",
         lambda_objective("map(relevant=0.5)", normalize=False), {}),
        ("xgboost:auc(max_leaves=3,sigma=2)", lambda_objective("auc", sigma=2), {"max_leaves": 3}),
        ("xgboost:rank:map(lambdarank_pair_method=mean)", "rank:map",
         {"lambdarank_pair_method": "mean"}),
        ("lightgbm:lambdarank(lambdarank_truncation_level=5)", "lambdarank",
         {"lambdarank_truncation_level": 5}),
        ("xgboost:reg:squarederror", "reg:squarederror", {}),
        ("lightgbm:poisson", "poisson", {}),
    ],
)  # fmt: skip
def test_options_within_a_name_are_those_of_the_objective_and_its_trees(
    name: str, target: Any, fixed: dict[str, Any]
) -> None:
    """Scores and parameters are those of the objective in Python, with the trees of all methods."""
    [named] = find_methods(name)
    assert find_methods(named.name)[0].name == named.name
    plain = Method("plain", named.trainer, target, fixed=fixed)
    study = of_digits([named, plain], "map", rounds=4)
    one, other = (fit.test for fit in study.fits)
    assert np.array_equal(one, other)
    assert np.ptp(one) > 0
    used, of_objective = map(json.loads, study.results.fits["parameters"])
    assert used == of_objective
    assert used.items() >= fixed.items()
    assert "learning_rate" in used


# First use ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "said", "command"),
    [
        (["session", "clicked"], "clicked has the labels, and session has the queries", "session"),
        (["Query_ID", "label"], "Query_ID has the queries", "Query_ID"),
        (["number", "label"], "no column has the queries, so that all rows are one", "none"),
    ],
)
def test_a_table_without_options_says_what_was_taken_for_what_and_how_to_change_it(
    tmp_path: Path, names: list[str], said: str, command: str
) -> None:
    file = table_of(tmp_path, flags)
    frame = pl.read_csv(file).rename(dict(zip(("qid", "label"), names, strict=True)))
    frame.with_columns(weight=pl.lit(1.5)).write_csv(file)
    out = tmp_path / "out"
    options = ("--methods", "lightgbm:map", "--metrics", "auc", "--rounds", 2, "--out", out)
    shown = invoke("compare", file, *options).output
    assert said in shown
    assert "pass --weight weight if it weights the rows" in shown
    command = f"compare {file} --qid {command} --label {names[1]}"
    assert f"To change it: lambdaplus {command}" in shown
    # The command says what was done, as does study.toml: neither guesses, and nothing is new.
    before = {path.name for path in (out / "fits").iterdir()}
    again = invoke(*command.split(), *options).output
    assert "Guessed" not in again
    invoke("compare", out / "study.toml", "--out", out, "--jobs", 1)
    assert {path.name for path in (out / "fits").iterdir()} == before


def test_a_table_without_labels_is_refused(tmp_path: Path) -> None:
    file = table_of(tmp_path, flags)
    frame = pl.read_csv(file).rename({"label": "no idea"}).with_row_index()
    frame.with_columns(clicked=pl.col("index") % 2, rating=pl.col("index") % 5).write_csv(file)
    said = invoke("compare", file, ends=2).output
    assert "may be in rating or clicked: name the column with --label" in said


def test_tables_that_are_too_wide_are_split_and_repeat_the_names() -> None:
    names = [f"xgboost:binary:logistic{number}" for number in range(3)]
    heads = [f"{kind} {n}" for n in range(6) for kind in ("metric", "95 % interval")]
    rows = [[name, *(f"{name[-1]}.{j}" for j in range(len(heads)))] for name in names]
    console = Console(width=80, file=io.StringIO(), record=True)
    console.print(Table(["method", *heads], rows, ["a note"], narrow=True))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    blocks = sum(line.split()[:1] == ["method"] for line in lines)
    assert blocks > 1
    for name, row in zip(names, rows, strict=True):
        found = [line.split() for line in lines if line.split()[:1] == [name]]
        assert len(found) == blocks
        assert [cell for line in found for cell in line[1:]] == row[1:]
    assert lines[-1] == "a note"


# The report --------------------------------------------------------------------------------------


def test_a_report_says_what_was_chosen_and_why_and_what_it_cost(tmp_path: Path) -> None:
    methods = "lightgbm:map,lightgbm:lambdarank,xgboost:rank:map"
    results = of_digits(methods, "ndcg@10", "map", n_folds=3, rounds=4, select="map").results
    summary = Summary(results)
    best, second, _ = sorted(results.methods, key=lambda m: -results.validation_means[m, "map"])
    values = [results.validation_means[name, "map"] for name in (best, second)]
    folds = [*results.fold_means(best, "map").values()]
    interval = stats.ttest_1samp(folds, 0.0).confidence_interval(0.95)  # over the folds
    bounds = [decimal(bound, 3) for bound in interval]
    first, cost = summary.decision()
    assert first == (
        f"Best by MAP on validation data: {best} ({decimal(values[0])}; next: {second}, "
        f"{decimal(values[1])}). On test data: {decimal(results.mean(best, 'map'))} (95 % interval "
        f"{bounds[0]} to {bounds[1]})."
    )
    seconds = sum(results.seconds.values())
    assert cost == f"3 methods on 3 folds: 9 fits, {seconds:,.0f} seconds of training."
    page = write_report(summary, tmp_path, data="digits").read_text(encoding="utf-8")
    assert first in page
    assert cost in page
