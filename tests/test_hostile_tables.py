"""CSV and Parquet files that used to be misread without an error."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lambdaplus.data import Fold, RankingData, read_columns, read_data, read_folds, read_table
from lambdaplus.data.ranking_data import join

polars = pytest.importorskip("polars")

CSV = "qid,label,bm25,clicks\n1,0,0.5,3\n1,1,0.25,4\n"


def written(file: Path, text: str) -> Path:
    file.write_text(text)
    if file.suffix == ".parquet":
        polars.read_csv(file, glob=False).write_parquet(file)
    return file


def fold_of(folder: Path, test: str, kind: str = "csv") -> Fold:
    for part in ("train", "vali"):
        written(folder / f"{part}.{kind}", CSV)
    written(folder / f"test.{kind}", test)
    [fold] = read_folds(folder)
    return fold


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_of_a_fold_are_matched_by_name(tmp_path: Path, kind: str) -> None:
    fold = fold_of(tmp_path, "clicks,label,bm25,qid\n3,0,0.5,1\n4,1,0.25,1\n", kind)
    assert fold.test.features.tolist() == fold.train.features.tolist() == [[0.5, 3], [0.25, 4]]
    assert fold.test.feature_names == ("bm25", "clicks")


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("qid,label,bm25\n1,0,1\n", r"test.csv has no column of numbers 'clicks', which .*train"),
        ("qid,label,bm25,clicks,x\n1,0,1,1,1\n", r"train.csv has no column of numbers 'x'"),
        ("qid,label,bm25,clicks\n1,0,1,no\n", r"test.csv has no column of numbers 'clicks'"),
    ],
)
def test_a_column_that_only_one_part_has_is_named(tmp_path: Path, test: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fold_of(tmp_path, test)


def test_a_text_file_without_names_beside_a_table_is_refused(tmp_path: Path) -> None:
    for part in ("train", "vali"):
        written(tmp_path / f"{part}.csv", CSV)
    written(tmp_path / "test.txt", "1 qid:1 1:3 2:0.5\n")
    with pytest.raises(ValueError, match="only one names its features"):
        read_folds(tmp_path)


@pytest.mark.parametrize("queries", [[True, False], [0.5], ["0"], [[0]], [None]])
def test_queries_are_taken_by_index(queries: Any) -> None:
    """A mask was read as indices, and 0.5 as 0."""
    data = RankingData(np.ones((2, 1)), [1, 1], [7, 8])
    assert data.take_queries(np.array([1])).qid.tolist() == [8]
    with pytest.raises(ValueError, match="queries must be a list of indices from 0"):
        data.take_queries(queries)


def test_features_of_one_name_make_no_set() -> None:
    with pytest.raises(ValueError, match="two features have the same name: x, x"):
        RankingData(np.ones((1, 2)), [1], [7], "", ("x", "x"))


def test_parts_with_features_in_another_order_make_no_fold_and_join_no_set() -> None:
    one = RankingData([[1, 2]], [1], [1], feature_names=("a", "b"))
    other = RankingData([[1, 2]], [1], [2], feature_names=("b", "a"))
    with pytest.raises(ValueError, match=r"x's train and x's valid have different .*: a, b"):
        Fold("x", one, other, one)
    with pytest.raises(ValueError, match="have different features"):
        join([one, other])
    assert join([one, RankingData([[0, 0]], [1], [2], "", ("a", "b"))]).feature_names == ("a", "b")
    with pytest.raises(ValueError, match="1 feature_names for 2 features"):
        RankingData([[1, 2]], [1], [1], feature_names=("a",))


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("nan", np.nan),
        ("NaN", np.nan),
        ("+2", 2),
        (" 2", 2),
        ("2 ", 2),
        ("Infinity", np.inf),
        ("-inf", -np.inf),
        (" ", np.nan),
        (" NULL", np.nan),
    ],
)
def test_one_odd_cell_does_not_drop_its_column(tmp_path: Path, cell: str, number: float) -> None:
    data = read_columns(written(tmp_path / "a.csv", f"qid,label,x\n1,0,0.5\n1,1,{cell}\n"))
    np.testing.assert_array_equal(data.features, [[0.5], [number]])


def test_odd_numbers_of_labels_and_scores_too(tmp_path: Path) -> None:
    run = read_table(written(tmp_path / "a.csv", "qid,label,score\n1,+1,1e0\n1, 0, 0.5\n"))
    assert run.labels.tolist() == [1, 0]
    assert run.scores.tolist() == [1, 0.5]


QUERIES = "qid,label,score\n007,0,1\n7,1,2\n9007199254740993,1,3\n9007199254740992,0,4\n"


@pytest.mark.parametrize("cell", ["9007199254740993", "+9007199254740993", "-98765432109876543211"])
@pytest.mark.parametrize("name", ["label", "score"])
def test_numbers_that_would_be_rounded_are_named(tmp_path: Path, name: str, cell: str) -> None:
    cells = {"label": "1", "score": "1", name: cell}
    file = written(tmp_path / "a.csv", f"qid,label,score\n1,{cells['label']},{cells['score']}\n")
    with pytest.raises(ValueError, match=rf"a.csv, column '{name}' contains .* cannot represent"):
        read_table(file)


@pytest.mark.parametrize("cell", ['"0,5"', '"1,000.5"', "5%", "12.5 %"])
def test_numbers_as_spreadsheets_write_them_are_not_left_out(tmp_path: Path, cell: str) -> None:
    file = written(tmp_path / "a.csv", f"qid,label,x,share\n1,0,2,{cell}\n1,1,3,{cell}\n")
    with pytest.raises(ValueError, match="column 'share' has numbers with commas or percent signs"):
        read_columns(file)
    written(file, 'qid,label,x,doc\n1,0,2,"a,5"\n1,1,3,12-5\n')
    assert read_columns(file).feature_names == ("x",)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([2**53 + 1, None], "contains 9007199254740993, which a float64 cannot represent"),
        ([datetime.timedelta(1)] * 2, "is not numeric, but Duration"),
        ([datetime.date(2020, 1, 1)] * 2, "is not numeric, but Date"),
        (polars.Series(["7", "9"], dtype=polars.Categorical), "is not numeric, but Categorical"),
    ],
)
def test_what_parquet_would_turn_into_numbers(tmp_path: Path, cells: Any, words: str) -> None:
    frame = polars.DataFrame({"qid": [1, 1], "label": [0, 1], "score": cells})
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=f"a.parquet, column 'score' {words}"):
        read_table(tmp_path / "a.parquet")


def test_queries_written_alike_stay_apart(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", QUERIES)
    wanted = ["007", "7", "9007199254740993", "9007199254740992"]
    assert read_table(file).qid.tolist() == read_columns(file).qid.tolist() == wanted


def test_unsigned_and_longer_numbers_of_queries(tmp_path: Path) -> None:
    rows = "18446744073709551615,0,1\n1,1,2\n340282366920938463463374607431768211,1,3\n"
    file = written(tmp_path / "a.csv", f"qid,label,score\n{rows}")
    wanted = ["18446744073709551615", "1", "340282366920938463463374607431768211"]
    assert read_table(file).qid.tolist() == wanted
    frame = polars.DataFrame(
        {"qid": polars.Series([2**64 - 1, 1], dtype=polars.UInt64), "label": [0, 1], "x": [1, 2]}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    large = read_columns(tmp_path / "a.parquet")
    assert large.qid.tolist() == ["18446744073709551615", "1"]
    frame[1:].write_parquet(tmp_path / "b.parquet")
    small = read_columns(tmp_path / "b.parquet")
    assert small.qid.tolist() == [1]
    with pytest.raises(ValueError, match="query 1 is in two"):
        join([large, small])
    unsigned = RankingData([[1.0]], [1], np.array([2**64 - 1], dtype=np.uint64), "", ("x",))
    assert join([small, unsigned]).qid.tolist() == ["1", "18446744073709551615"]


def test_float_queries_of_a_parquet_file(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"

    def qids(values: list[float | None]) -> list[object]:
        polars.DataFrame({"qid": values, "label": 1, "x": 1.5}).write_parquet(file)
        found: list[object] = read_columns(file).qid.tolist()
        return found

    assert qids([7.0, 8.0]) == [7, 8]
    assert qids([7.5, 8.0]) == ["7.5", "8.0"]
    with pytest.raises(ValueError, match=r"a.parquet, column 'qid': .* floats of 2\*\*53"):
        qids([2.0**53, 1.0])
    with pytest.raises(ValueError, match=r"column 'qid': .* missing in row 1: it is nan"):
        qids([7.0, float("nan")])
    with pytest.raises(ValueError, match=r"column 'qid': 1 cells are empty, the first is in row 2"):
        qids([7.0, None])


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "~a.csv", "[red]📈.parquet"])
def test_a_path_is_no_pattern(tmp_path: Path, name: str) -> None:
    written(tmp_path / "a1.csv", CSV.replace("0.5", "77"))
    data = read_data(written(tmp_path / name, CSV))
    assert data.features[:, 0].tolist() == [0.5, 0.25]
    assert data.name == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qid,label,x\n1,0,1\n1,1\n", "a.csv, line 3: 2 fields for 3 columns"),
        ("qid,label,x\n1,0,1\n1,1,\n1\n", "a.csv, line 4: 1 fields for 3 columns"),
        ("qid,label,x,x\n1,0,1,2\n", "a.csv, line 1: the header names 'x' twice"),
        ('qid,label,x,d\n1,0,1,"a\n1,1,2,b\n', "a.csv: "),
        ("qid,label,x\nnan,0,1\n", "a.csv, column 'qid': 'nan' in row 1 below the header"),
        ("qid,label,x\n1,1_0,1\n1,1,2\n", "a.csv, column 'label': '1_0' in row 1 .* not a number"),
    ],
)
def test_what_else_is_wrong_with_a_csv(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_columns(written(tmp_path / "a.csv", text))


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    data = read_columns(written(tmp_path / "a.csv", CSV.replace("\n1,1", "\n\n1,1") + "\n\n"))
    assert data.features.tolist() == [[0.5, 3], [0.25, 4]]


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "a.parquet", CSV)
    content = file.read_bytes()
    for damaged in (b"", content[:40], content[:-20], content[20:], content[:-12] + b"\xff" * 12):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=re.escape(str(file))):
            read_columns(file)


@pytest.mark.parametrize(
    ("usual", "last", "number"),
    [
        ("1", "2.5", 2.5),
        ("1", "99999999999999999999", 1e20),
        ("1", "+2", 2),
        ("1", "nan", np.nan),
        ("1.5", "Infinity", np.inf),
        ("", "3", 3),
        ("true", "false", 0),
    ],
)
def test_a_kind_of_number_that_comes_late(
    tmp_path: Path, usual: str, last: str, number: float
) -> None:
    rows = [f"1,0,{usual}\n"] * 3000 + [f"1,1,{last}\n"]
    data = read_columns(written(tmp_path / "a.csv", "qid,label,x\n" + "".join(rows)))
    np.testing.assert_array_equal(data.features[-1], [number])
    with pytest.raises(ValueError, match=r"'x' mixes numbers and text.*'oops' in row 3001|no col"):
        read_columns(
            written(tmp_path / "b.csv", "qid,label,x\n" + "".join([*rows[:-1], "1,1,oops\n"]))
        )
