"""From a file to a decision: selection, verdicts, and what is printed of them."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import invoke
from hypothesis import given
from hypothesis import strategies as st
from small_data import letor_folder
from test_report import values_of

from lambdaplus import compare_runs, evaluate
from lambdaplus.data import digits_queries
from lambdaplus.study import Config, Study, Summary, find_methods
from lambdaplus.study.summary import ALPHA, outcome


@pytest.fixture(scope="module")
def letor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return letor_folder(tmp_path_factory.mktemp("letor"), folds=3, queries=8)


# Selection ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lightgbm:lambdarank", "xgboost:ndcg@10"])
@pytest.mark.parametrize("select", ["auc", "mrr"])
def test_select_governs_early_stopping(method: str, select: str) -> None:
    """The last round is ``patience`` after the best one by the selecting metric."""
    config = Config(rounds=40, patience=5, select=select)
    study = Study(digits_queries()[:1], find_methods(method), ["map"], config)
    study.finish()
    curves = study.results.curves
    assert curves["metric"].unique().to_list() == [select]
    [rounds] = study.results.chosen_fits()["rounds"]
    assert rounds == int(curves["value"].arg_max() or 0) + 1
    assert len(curves) == min(40, rounds + 5)


# Verdicts ----------------------------------------------------------------------------------------


def test_each_metric_that_is_asked_for_has_a_verdict(letor: Path, tmp_path: Path) -> None:
    methods = "lightgbm:lambdarank,lightgbm:ndcg"
    options = ("--metrics", "map@10,ndcg@10,auc", "--methods", methods, "--rounds", 3)
    said = invoke("compare", letor, *options, "--out", tmp_path / "out", width=80).output
    table = said.partition("best lambdaplus")[2].partition("Both are chosen")[0]
    first = [line.split()[0] for line in table.splitlines() if line.strip()]
    assert [word for word in first if word.isupper()] == ["MAP@10", "NDCG@10", "AUC"]


@given(
    difference=st.lists(st.sampled_from([-0.3, -0.1, 0.0, 0.05, 0.2, 1.0]), min_size=2, max_size=30)
)
def test_a_test_and_its_interval_never_disagree(difference: list[float]) -> None:
    """The interval at 1 - a leaves out 0 if and only if p < a, of queries and of verdicts."""
    base, n = np.full(len(difference), 0.5), len(difference)
    one = evaluate([1, 0] * n, [1.0, 0.0] * n, group=[2] * n, metrics="map")
    runs = {
        name: replace(one, per_query={"map": values})
        for name, values in (("a", base + difference), ("b", base))
    }
    for confidence in (0.5, 0.95, 1 - 0.05 / 3):
        [pair] = compare_runs(runs, confidence=confidence).pairs
        low, high = pair.interval
        assert (low > 0 or high < 0) == (pair.p_value < 1 - confidence)


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.025, 0.03, 0.035, 0.04, 0.1])
def test_verdicts_correct_the_test_and_the_interval_alike(gap: float) -> None:
    one = values_of({"ours": 0.5 + gap, "theirs": 0.5})
    metrics = ["map", "map@5", "map@10"]

    def of_each(frame: pl.DataFrame) -> pl.DataFrame:
        return pl.concat(frame.with_columns(metric=pl.lit(metric)) for metric in metrics)

    both = replace(
        one, metrics=metrics, values=of_each(one.values), validation=of_each(one.validation),
        rules=dict.fromkeys(metrics, ""),
    )  # fmt: skip
    [alone] = Summary(one).verdicts
    verdicts = Summary(both).verdicts
    assert [pair.metric for pair in verdicts] == metrics
    for pair in verdicts:
        assert pair.p_corrected == pytest.approx(min(1.0, 3 * alone.p_corrected))
        assert pair.interval[0] < alone.interval[0] < alone.interval[1] < pair.interval[1]
        low, high = pair.interval
        assert (pair.p_corrected < ALPHA) == (low > 0 or high < 0) == bool(outcome(pair))


# The terminal ------------------------------------------------------------------------------------


def test_names_are_whole_at_80_columns(letor: Path, tmp_path: Path) -> None:
    names = ("xgboost:binary:logistic", "xgboost:rank:pairwise", "lightgbm:lambda_ndcg")
    options = ("--methods", ",".join(names), "--rounds", 2, "--baseline", names[0])
    said = invoke("compare", letor, *options, "--out", tmp_path / "out", width=80).output
    for name in names:
        assert re.search(rf"(?m)^ *{name} +[.0-9]", said), said
    rows = said[said.index("best lambdaplus") :].split("Wrote")[0].splitlines()
    assert max(map(len, rows)) <= 80
