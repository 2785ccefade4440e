"""CSV and Parquet files: what is read, and what used to be misread without an error."""

import datetime
import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lambdaplus.data import Fold, read_columns, read_data, read_folds, read_table
from lambdaplus.data.table_columns import Columns, read_table_data
from lambdaplus.data.table_files import TableFile
from lambdaplus.saved_model.features import features_of

pd = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

CSV = "qid,label,bm25,clicks\n1,0,0.5,3\n1,1,0.25,4\n"


def written(file: Path, text: str, encoding: str = "utf-8") -> Path:
    file.write_text(text, encoding=encoding)
    if file.suffix == ".parquet":
        polars.read_csv(file, glob=False, null_values=["NULL"]).write_parquet(file)
    return file


def fold_of(folder: Path, test: str, kind: str = "csv") -> Fold:
    for part in ("train", "vali"):
        written(folder / f"{part}.{kind}", CSV)
    written(folder / f"test.{kind}", test)
    [fold] = read_folds(folder)
    return fold


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_of_a_query_may_be_apart_and_text_is_no_feature(tmp_path: Path, kind: str) -> None:
    text = "qid,docno,bm25,clicks,fresh,label\nq2,d1,0.5,3,true,0\nq1,d7,,NULL,false,2\n"
    file = written(tmp_path / f"all.{kind}", text + "q2,d3,7,1,true,1\n")
    with pytest.warns(UserWarning, match=r"left out: docno \(text\)\. Convert"):
        data = read_data(file)
    assert data.name == f"all.{kind}"
    assert data.qid.tolist() == ["q2", "q2", "q1"]
    assert data.labels.tolist() == [0, 1, 2]
    assert data.feature_names == ("bm25", "clicks", "fresh")
    np.testing.assert_array_equal(data.features, [[0.5, 3, 1], [7, 1, 1], [np.nan, np.nan, 0]])
    run = read_table(file, score="fresh", docno="docno")
    assert run.qid.tolist() == data.qid.tolist()
    assert (run.labels.tolist(), run.scores.tolist()) == ([0, 1, 2], [1, 1, 0])
    assert run.docno.tolist() == ["d1", "d3", "d7"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,label,x\n1,1,1\n", "a.csv has no column 'qid'; it has: query, label, x"),
        ("qid,label,x\n1,,1\n", "column 'label': 1 cells are not finite numbers, .* row 1"),
        ("qid,label,x\n1,1,1\n,1,1\n", "column 'qid': 1 cells are empty, the first is in row 2"),
        ("qid,label,d\n1,1,a\n", "has no feature: besides 'label', 'qid', it has d"),
        ("qid,label,x\n1,1,1\n1,0,2.5\n1,1,oops\n", "'x' mixes .* is 'oops' in row 3"),
        ("", "a.csv"),
        ("qid,label,x\n", "a.csv has no rows"),
        ("qid,label,x\n1,0,1\n1,1\n", "a.csv, line 3: 2 fields for 3 columns"),
        ("qid,label,x\n1,0,1\n1,1,1,", "a.csv, line 3: 4 fields for 3 columns"),
        ("qid,label,x,x\n1,0,1,2\n", "a.csv, line 1: the header contains 'x' twice"),
        ('qid,label,x,d\n1,0,1,"a\n1,1,2,b\n', "a.csv: "),
    ],
)
def test_invalid_csv_files_name_the_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_columns(written(tmp_path / "a.csv", text, "latin-1"))


def test_a_column_has_one_purpose(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", CSV)
    with pytest.raises(ValueError, match="qid and label are the same column, 'qid'"):
        read_columns(file, label="qid")
    with pytest.raises(ValueError, match=r"a.csv: the column 'qid' cannot be used for two"):
        read_table(file, label="qid")


# Folds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_of_a_fold_are_matched_by_name(tmp_path: Path, kind: str) -> None:
    fold = fold_of(tmp_path, "clicks,label,bm25,qid\n3,0,0.5,1\n4,1,0.25,1\n", kind)
    assert fold.test.features.tolist() == fold.train.features.tolist() == [[0.5, 3], [0.25, 4]]
    assert fold.test.feature_names == ("bm25", "clicks")


@pytest.mark.parametrize(
    ("test", "other"),
    [
        ("qid,label,bm25\n1,0,1\n", "'clicks'"),
        ("qid,label,bm25,clicks,x\n1,0,1,1,1\n", "'x'"),
        ("qid,label,bm25,clicks\n1,0,1,no\n", "'clicks'"),
    ],
)
def test_a_feature_that_only_one_part_has_is_named(tmp_path: Path, test: str, other: str) -> None:
    with pytest.raises(ValueError, match=f"test.csv has the feature {other}"):
        fold_of(tmp_path, test)
    (tmp_path / "test.csv").rename(tmp_path / "test.txt").write_text("1 qid:1 1:3 2:0.5\n")
    with pytest.raises(ValueError, match=r"only one of .* has the feature 'bm25', 'clicks'"):
        read_folds(tmp_path)


# Columns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("site", ["a", "b"], r"left out: site \(text\)\. Convert features"),
        ("day", [datetime.date(2020, 1, 1)] * 2, r"left out: day \(dates\)\. Convert"),
        ("kind", polars.Series(["7", "9"], dtype=polars.Categorical), "left out: kind"),
        ("Weight", [1.0, 2.0], "Weight is read as a feature: if it weights the rows"),
        ("__index_level_0__", [0, 1], r"__index_level_0__ \(row numbers that pandas wrote\)"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_surprising_columns_are_named(
    tmp_path: Path, kind: str, name: str, cells: Any, words: str
) -> None:
    frame = polars.DataFrame({"qid": [1, 1], "label": [0, 1], name: cells, "x": [0.5, 1.0]})
    file = tmp_path / f"a.{kind}"
    if kind == "csv" and name == "kind":
        frame = frame.with_columns(kind=polars.Series(["seven", "nine"]))
    (frame.write_csv if kind == "csv" else frame.write_parquet)(file)
    with pytest.warns(UserWarning, match=words) as caught:
        data = read_columns(file)
    assert len(caught) == 1
    assert data.feature_names[-1] == "x"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_whole_numbers_are_categories_if_that_is_asked_for(tmp_path: Path, kind: str) -> None:
    cells: dict[str, Any] = {"label": [0, 1] * 20, "x": np.arange(40) / 3}
    cells |= {"shop_id": [7, 10, None, 7] * 10, "code": ["12", "A3"] * 20}
    file = tmp_path / f"a.{kind}"
    frame = polars.DataFrame(cells)
    (frame.write_csv if kind == "csv" else frame.write_parquet)(file)
    named = Columns("none", categories=("shop_id", "code"))
    read = read_table_data(TableFile.read(file), named)
    assert read.data.categories == ("shop_id", "code")
    assert {one.name: one.levels for one in read.columns if one.kind == "category"} == {
        "shop_id": ["10", "7"], "code": ["12", "A3"]
    }  # fmt: skip
    np.testing.assert_array_equal(read.data.features[:4, 1], [1, 0, np.nan, 1])
    scored = np.concatenate([*features_of(file, read.columns, {})])
    np.testing.assert_array_equal(scored, read.data.features)
    for names, message in (
        (("x",), "--categories: .*'x', cannot be a category: (Float64|text with 40 different)"),
        (("shop",), r"--categories: there is no column 'shop' \(did you mean 'shop_id'\?\)"),
        (("label",), "--categories: 'label' is the column of the labels"),
    ):
        with pytest.raises(ValueError, match=message):
            read_table_data(TableFile.read(file), Columns("none", categories=names))
    with pytest.raises(ValueError, match="'code' is in --categories and in --drop"):
        read_table_data(TableFile.read(file), Columns("none", categories=("code",), drop=("code",)))


# Identifiers -------------------------------------------------------------------------------------


def test_queries_written_alike_stay_apart(tmp_path: Path) -> None:
    wanted = ["007", "7", "9007199254740993", "9007199254740992", "18446744073709551615"]
    rows = "".join(f"{query},{i % 2},{i}\n" for i, query in enumerate(wanted))
    file = written(tmp_path / "a.csv", f"qid,label,score\n{rows}")
    assert read_table(file).qid.tolist() == read_columns(file).qid.tolist() == wanted


def test_float_queries_of_a_parquet_file(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"

    def qids(values: list[Any]) -> list[object]:
        polars.DataFrame({"qid": values, "label": 1, "x": 1.5}).write_parquet(file)
        found: list[object] = read_columns(file).qid.tolist()
        return found

    assert qids([7.0, 8.0]) == [7, 8]
    assert qids([7.5, 8.0]) == ["7.5", "8.0"]
    with pytest.raises(ValueError, match=r"a.parquet, column 'qid': .* floats of 2\*\*53"):
        qids([2.0**53, 1.0])
    with pytest.raises(ValueError, match=r"column 'qid': .* missing in row 1: it is nan"):
        qids([7.0, float("nan")])
    for values in ([[7], [8]], [b"7", b"8"]):
        with pytest.raises(ValueError, match=r"column 'qid': .* is no type of numbers, text or"):
            qids(values)


# Files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "~a.csv", "[red]📈.parquet"])
def test_a_path_is_no_pattern(tmp_path: Path, name: str) -> None:
    written(tmp_path / "a1.csv", CSV.replace("0.5", "77"))
    data = read_data(written(tmp_path / name, CSV))
    assert data.features[:, 0].tolist() == [0.5, 0.25]
    assert data.name == name


def test_semicolons_and_decimal_commas_are_read_as_by_pandas(tmp_path: Path) -> None:
    file = written(
        tmp_path / "a.csv", "\ufeffqid;caf\u00e9;n;label\nq 1;0,5;1;0\nq 1;-2;2;1\nq,2;1,250;3;0\n"
    )
    wanted = pd.read_csv(file, sep=";", decimal=",")
    data = read_columns(file)
    assert data.feature_names == ("caf\u00e9", "n")
    assert data.features.tolist() == wanted[["caf\u00e9", "n"]].to_numpy().tolist()
    assert data.qid.tolist() == wanted["qid"].tolist()
    assert read_table(file, score="caf\u00e9").scores.tolist() == [0.5, -2, 1.25]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.csv.gz", "a.tsv.xz", "a.CSV.GZ"])
def test_tabs_and_compressed_tables(tmp_path: Path, name: str) -> None:
    text = CSV.replace(",", "\t") if "tsv" in name or name == "a.csv" else CSV
    compress = {"gz": gzip.compress, "xz": lzma.compress}.get(name.lower()[-2:], bytes)
    file = tmp_path / name
    file.write_bytes(compress(text.encode()))
    assert read_data(file).features.tolist() == [[0.5, 3], [0.25, 4]]
    if compress is not bytes:
        file.write_bytes(compress(text.encode() * 50)[:-9])
        with pytest.raises(ValueError, match=r"cut short or damaged"):
            read_data(file)


def test_many_blank_lines_are_no_rows_before_they_take_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, heights = polars.read_csv, []

    def noted(*arguments: Any, **options: Any) -> Any:
        frame = read(*arguments, **options)
        heights.append(frame.height)
        return frame

    text = 'qid,label,x,"a\n\nb"\n1,1,2,"a\n\nc"' + "\r\n" * 3 + "\n" * 1000 + "1,0,,\n"
    (tmp_path / "a.csv").write_bytes(text.encode())
    monkeypatch.setattr(polars, "read_csv", noted)
    with pytest.warns(UserWarning, match="left out: a\n\nb"):
        data = read_columns(tmp_path / "a.csv")
    np.testing.assert_array_equal(data.features, [[2.0], [np.nan]])
    assert heights == [3]
    (tmp_path / "a.csv").write_bytes(text.encode() + b"1,0\n")
    with pytest.raises(ValueError, match=r"a\.csv, line 1010: 2 fields for 4 columns"):
        read_columns(tmp_path / "a.csv")
    assert heights == [3]


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    data = read_columns(written(tmp_path / "a.csv", CSV.replace("\n1,1", "\n\n1,1") + "\n\n"))
    assert data.features.tolist() == [[0.5, 3], [0.25, 4]]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_whole_numbers_that_pandas_made_float_are_the_same_category(
    tmp_path: Path, kind: str
) -> None:
    file, new = tmp_path / f"a.{kind}", tmp_path / f"new.{kind}"
    for path, shops in ((file, [7.0, 10.0, None, 7.0]), (new, [7, 10, 10, 7])):
        cells = {"label": [0, 1] * 20, "shop_id": shops * 10}
        frame = polars.DataFrame(cells)
        (frame.write_csv if kind == "csv" else frame.write_parquet)(path)
    read = read_table_data(TableFile.read(file), Columns("none", categories=("shop_id",)))
    assert read.columns[0].levels == ["10", "7"]
    unseen: dict[str, Any] = {}
    [scored] = features_of(new, read.columns, unseen)
    assert scored[:4, 0].tolist() == [1, 0, 0, 1]
    assert not unseen
