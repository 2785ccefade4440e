"""The folds of a study, and the results of repeated splits."""

import importlib.metadata
import pathlib
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import invoke
from small_data import write_letor

from lambdaplus.data import Fold, read_letor
from lambdaplus.data.cache import fingerprint
from lambdaplus.data.ranking_data import join
from lambdaplus.study import Config, study_of
from lambdaplus.study.folds import folds_of


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """One file of 20 queries; the first has no relevant document."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("one") / "all.svm"
    features = rng.normal(size=(160, 3))
    labels = np.clip(np.round(features[:, 0] + rng.normal(size=160)), 0, 2)
    labels[::8] = np.maximum(labels[::8], 1)
    labels[:8] = 0
    write_letor(path, features, labels, np.repeat(np.arange(20), 8))
    return path


def sizes(fold: Fold) -> tuple[int, int, int]:
    return fold.train.n_queries, fold.valid.n_queries, fold.test.n_queries


def test_a_file_becomes_five_folds_or_splits(file: pathlib.Path) -> None:
    for options, expected in (
        ({}, [(12, 4, 4)] * 5),
        ({"splits": 3}, [(12, 4, 4)] * 3),
        ({"splits": 2, "shares": (5, 5, 10)}, [(5, 5, 10)] * 2),
    ):
        config = Config(data=str(file), **options)  # type: ignore[arg-type]
        assert [sizes(fold) for fold in folds_of(config)] == expected


def test_splits_of_a_folder_are_of_all_its_queries(tmp_path: pathlib.Path) -> None:
    for number, part in enumerate(("train", "vali", "test")):
        lines = [f"{i % 2} qid:{number}{i // 2} 1:{i}\n" for i in range(10)]
        (tmp_path / f"{part}.txt").write_text("".join(lines))
    for fold in folds_of(Config(data=str(tmp_path), splits=15, shares=(3, 2, 10))):
        assert sizes(fold) == (3, 2, 10)
        qid = np.concatenate([part.qid for part in (fold.train, fold.valid, fold.test)])
        assert len(np.unique(qid)) == 15


def test_made_up_data() -> None:
    folds = folds_of(Config(data="web-search-like:15"))
    assert [sizes(fold) for fold in folds] == [(9, 3, 3)] * 5
    assert folds[0].train.features.shape[1] == 136


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": "web-search-like:many"}, "'web-search-like:many' is not web-search-like or"),
        ({"splits": 2, "shares": (0.5, 0.5)}, "should be three"),
        ({"data": "web-search-like:4", "splits": 1}, "2 training, 0 validation and 0 test"),
    ],
)
def test_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        folds_of(Config(**options))


def test_data_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        folds_of(Config(data="no/such/file.txt"))


def test_repeated_splits_from_the_command_line(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    command = ["compare", str(file), "--methods", "lightgbm:lambdarank", "--metrics", "map,ndcg@3"]
    options = ["--splits", "4", "--shares", "6,4,10", "--jobs", "1", "--rounds", "3"]
    result = invoke(*command, *options, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    config = Config.from_toml((tmp_path / "study.toml").read_text())
    assert (config.splits, config.shares) == (4, (6, 4, 10))

    values = pl.read_csv(tmp_path / "per_query.csv", schema_overrides={"qid": pl.String})
    values = values.filter(pl.col("metric") == "ndcg@3")
    means = values.group_by("qid").agg(pl.len(), pl.col("value").mean()).sort("qid")
    assert means["len"].sum() == 4 * 10

    study = study_of(config, tmp_path)
    study.finish()
    assert study.kept == len(study)
    found = study.results.evaluation("lightgbm:lambdarank")
    assert found is not None
    missing = means["value"].null_count()
    assert (found.n_queries, found.without_relevant) == (means.height, missing)
    assert found.qid.tolist() == means["qid"].to_list()
    expected = means["value"].to_numpy()
    np.testing.assert_allclose(found.per_query["ndcg@3"], expected, rtol=1e-12)
    assert found["ndcg@3"] == pytest.approx(np.nanmean(expected))
    assert found.undefined["ndcg@3"] == np.isnan(expected).sum() == missing


def test_joined_sets_keep_their_rows(file: pathlib.Path) -> None:
    data = read_letor(file)
    halves = [data.take_queries(range(7)), data.take_queries(range(7, 20))]
    assert fingerprint(join(halves)) == fingerprint(data)
    with pytest.raises(ValueError, match="query 0 are not adjacent"):
        join([data, data])


def test_columns_of_other_names_are_named(tmp_path: pathlib.Path) -> None:
    rows = [f"{query},{(query + row) % 2},{row}" for query in range(20) for row in range(4)]
    table = tmp_path / "ours.csv"
    table.write_text("\n".join(["query_id,relevance,x", *rows]) + "\n")
    columns: dict[str, Any] = {"qid": "query_id", "label": "relevance"}
    folds = folds_of(Config(data=str(table), **columns))
    assert folds[0].train.feature_names == ("x",)
    assert [sizes(fold) for fold in folds] == [(12, 4, 4)] * 5
    for part in ("train", "vali", "test"):
        (tmp_path / f"{part}.csv").write_text(table.read_text())
    [fold] = folds_of(Config(data=str(tmp_path), **columns))
    assert sizes(fold) == (20, 20, 20)
    arguments = ["compare", str(table), "--methods", "feature:best", "--out", str(tmp_path / "out")]
    done = invoke(*arguments, "--qid", "query_id", "--label", "relevance")
    assert done.exit_code == 0, done.output
    again = Config.read(tmp_path / "out" / "study.toml")
    assert (again.qid, again.label) == ("query_id", "relevance")
    done = invoke(*arguments)
    assert "it has: query_id, relevance, x. Pass the names of its columns" in done.output
    with pytest.raises(ValueError, match="qid and label are columns of CSV and Parquet files"):
        folds_of(Config(**columns))
    (tmp_path / "a.txt").write_text("1 qid:1 1:0.5\n")
    with pytest.raises(ValueError, match="so its columns have no names"):
        folds_of(Config(data=str(tmp_path / "a.txt"), **columns))


def test_a_module_in_the_current_folder_is_found(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also by the installed command, which does not search that folder by itself."""
    (tmp_path / "beside_the_data.py").write_text(
        "from sklearn.base import BaseEstimator\n\n\n"
        "class First(BaseEstimator):\n"
        "    def fit(self, X, y):\n        return self\n\n"
        "    def predict(self, X):\n        return X[:, 0]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    options = ["--methods", "beside_the_data:First", "--folds", "1", "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", ["lambdaplus", "compare", *options])
    [command] = importlib.metadata.entry_points(group="console_scripts", name="lambdaplus")
    with pytest.raises(SystemExit, match=r"^0$"):
        command.load()()
    assert "beside_the_data:First" in capsys.readouterr().out
