"""Ranking data from CSV and Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lambdaplus.data import RankingData, read_columns, read_data, read_folds, web_search_like

polars = pytest.importorskip("polars")

CSV = """\
qid,docno,bm25,clicks,fresh,label
q2,d1,0.5,3,true,0
q1,d7,,NULL,false,2
q2,d3,7,1,true,1
"""


def csv_file(tmp_path: Path, text: str = CSV) -> Path:
    (tmp_path / "all.csv").write_text(text)
    return tmp_path / "all.csv"


def assert_same(found: RankingData, wanted: RankingData) -> None:
    np.testing.assert_array_equal(found.features, wanted.features)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    np.testing.assert_array_equal(found.qid, wanted.qid)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_of_a_query_anywhere_and_numbers_as_features(tmp_path: Path, kind: str) -> None:
    file = csv_file(tmp_path)
    if kind == "parquet":
        frame = polars.read_csv(file, null_values=["NULL"])
        file = tmp_path / "all.parquet"
        frame.write_parquet(file)
    data = read_data(file)
    assert data.name == file.name
    assert data.qid.tolist() == ["q2", "q2", "q1"]
    assert data.labels.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(data.features, [[0.5, 3, 1], [7, 1, 1], [np.nan, np.nan, 0]])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_round_trip(tmp_path: Path, kind: str) -> None:
    made = web_search_like(5, 7)
    columns = {"qid": made.qid, "label": made.labels}
    frame = polars.DataFrame({**columns, **{f"f{j}": made.features[:, j] for j in range(7)}})
    file = tmp_path / f"all.{kind}"
    frame.write_csv(file) if kind == "csv" else frame.write_parquet(file)
    assert_same(read_columns(file), made)
    assert read_columns(file).qid.dtype == np.int64


def test_columns_by_other_names_and_whole_numbers_before_others(tmp_path: Path) -> None:
    rows = [f"{i // 50},{i % 2},{i if i < 150 else i + 0.5}" for i in range(200)]
    file = csv_file(tmp_path, "query,grade,x\n" + "\n".join(rows))
    data = read_columns(file, qid="query", label="grade")
    assert data.n_queries == 4
    assert data.features[[0, 149, 199], 0].tolist() == [0, 149, 199.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,label,x\n1,1,1\n", "has no column 'qid'; it has: query, label, x"),
        ("qid,label,x\n1,,1\n", "column 'label': 1 cells are not finite numbers, .* row 1"),
        ("qid,label,x\n1,1,1\n1,good,1\n", "column 'label': "),
        ("qid,label,x\n1,1,1\n,1,1\n", "column 'qid': 1 cells are empty"),
        ("qid,label,d\n1,1,a\n", "no column of numbers besides 'qid' and 'label'"),
        ("qid,label,x\n1,1,1\n1,0,2.5\n1,1,oops\n", "'x' mixes .* is 'oops' in row 3"),
        ("qid,label,x\n1,1,1,4\n", "all.csv: "),
        ("qid,label,x\n", "all.csv"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_columns(csv_file(tmp_path, text))


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.txt is neither \.csv nor \.parquet"):
        read_columns(tmp_path / "a.txt")
    with pytest.raises(ValueError, match="sparse=True is for LETOR files"):
        read_data(csv_file(tmp_path), sparse=True)
    (tmp_path / "bad.parquet").write_text("no parquet")
    with pytest.raises(ValueError, match=r"bad\.parquet: "):
        read_columns(tmp_path / "bad.parquet")
    with pytest.raises(FileNotFoundError):
        read_columns(tmp_path / "none.csv")


def test_folds_of_csv(tmp_path: Path) -> None:
    for part in ("train", "valid", "test"):
        (tmp_path / f"{part}.csv").write_text(CSV)
    [fold] = read_folds(tmp_path)
    assert fold.valid.n_queries == 2
