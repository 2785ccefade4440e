"""Parquet files, whose columns are read when they are asked for."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from lambdaplus.data import read_columns
from lambdaplus.data.column_names import Columns
from lambdaplus.data.parquet_columns import ParquetColumns
from lambdaplus.data.table_columns import read_table_data
from lambdaplus.data.table_files import TableFile
from lambdaplus.saved_model.tables import tables


@pytest.fixture
def frame() -> polars.DataFrame:
    numbers = np.random.default_rng(0).normal(size=(60, 9))
    columns = {f"f{j}": column for j, column in enumerate(numbers.T)}
    return polars.DataFrame({"qid": np.arange(60) // 6, "label": np.arange(60) % 2, **columns})


def test_a_few_columns_are_in_memory(
    frame: polars.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lambdaplus.data.parquet_columns._BYTES", 8 * 60 * 2)
    frame.write_parquet(tmp_path / "a.parquet")
    columns = ParquetColumns(tmp_path / "a.parquet")
    assert columns.columns == frame.columns
    assert columns.height == 60
    for name in ["f8", *frame.columns]:
        assert columns[name].equals(frame[name])
        assert len(columns._last) <= 2


@pytest.mark.parametrize("names", [["*", "^f.*$", "f0"], ["^.*$", "a b", ""]])
def test_names_are_no_patterns(names: list[str], tmp_path: Path) -> None:
    frame = polars.DataFrame({name: [place, 7] for place, name in enumerate(names)})
    frame.write_parquet(tmp_path / "a.parquet")
    columns = ParquetColumns(tmp_path / "a.parquet")
    assert [columns[name].to_list() for name in names] == [[0, 7], [1, 7], [2, 7]]
    [table] = tables(tmp_path / "a.parquet", columns=names[::-1])
    assert table.frame.equals(frame.select(polars.nth([2, 1, 0])))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("values", "option"),
    [
        (range(60), ""),
        ([f"{i}.5" for i in range(60)], ""),
        (["True", "False"] * 30, ""),
        (["a", "b", None] * 20, ""),
        ([*range(6)] * 10, "categories"),
        (range(60), "label"),
        (range(60), "weight"),
        ([f"q{i // 6}" for i in range(60)], "qid"),
        ([f"2020-01-{i % 28 + 1}" for i in range(60)], "order"),
    ],
)
def test_a_name_that_looks_like_a_pattern_is_one_like_any_other(
    frame: polars.DataFrame, values: Sequence[Any], option: str, kind: str, tmp_path: Path
) -> None:
    def read(name: str) -> list[Any]:
        file = tmp_path / f"a.{kind}"
        table = frame.with_columns(polars.Series(name, [*values]))
        (table.write_csv if kind == "csv" else table.write_parquet)(file)
        given: dict[str, Any] = {option: (name,) if option == "categories" else name}
        read = read_table_data(TableFile.read(file), Columns(**given if option else {}))
        assert option or read.data.feature_names[-1] == name
        order = None if read.order is None else read.order.tolist()
        told = [(column.kind, column.levels) for column in read.columns]
        return [read.data.features, read.data.labels, read.data.qid, read.data.weights, order, told]

    for one, other in zip(read("^x$"), read("x"), strict=True):
        np.testing.assert_equal(one, other)


def test_a_file_that_changes_meanwhile(frame: polars.DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    frame.write_parquet(file)
    columns = ParquetColumns(file)
    frame.reverse().write_parquet(tmp_path / "b.parquet")
    os.replace(tmp_path / "b.parquet", file)
    with pytest.raises(ValueError, match=r"a\.parquet was changed while it was read"):
        columns["f1"]


@pytest.mark.parametrize("begin", [8, 1500])  # of the queries; of a feature read with the labels
def test_a_damaged_column_is_told_when_it_is_read(
    begin: int, frame: polars.DataFrame, tmp_path: Path
) -> None:
    file = tmp_path / "a.parquet"
    frame.write_parquet(file, compression="zstd")
    content = bytearray(file.read_bytes())
    content[begin : begin + 192] = bytes(192)  # the list of columns is at the end
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.parquet: ") as raised:
        read_columns(file)
    assert "Labels are numbers" not in str(raised.value)


def test_features_are_in_their_places_beside_what_is_left_out(
    frame: polars.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lambdaplus.data.table_columns.BLOCK", 7)  # rows that move at a time
    text = polars.Series("name", [f"n{i}" for i in range(60)])
    frame = frame.insert_column(3, text).sample(fraction=1.0, shuffle=True, seed=1)
    frame.write_parquet(tmp_path / "a.parquet")
    read = read_table_data(TableFile.read(tmp_path / "a.parquet"), Columns(drop=("f5",)))
    expected = [f"f{j}" for j in range(9) if j != 5]
    assert list(read.data.feature_names) == expected
    first = {qid: place for place, qid in enumerate(dict.fromkeys(frame["qid"]))}
    rows = sorted(range(60), key=lambda row: first[frame["qid"][row]])
    np.testing.assert_array_equal(read.data.features, frame.select(expected).to_numpy()[rows])
    assert read.data.features.flags.owndata  # no part of a larger matrix


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        (polars.Int8, [3, -4], [3, -4]),
        (polars.UInt32, [2**32 - 1, 0], [2**32 - 1, 0]),
        (polars.UInt64, [2**63 - 1, 5], [2**63 - 1, 5]),
        (polars.UInt64, [2**63, 5], [str(2**63), "5"]),
    ],
)
def test_whole_numbers_as_queries(
    dtype: polars.DataType, values: list[int], expected: list[object], tmp_path: Path
) -> None:
    qid = polars.Series("qid", values, dtype=dtype)
    polars.DataFrame([qid]).write_parquet(tmp_path / "a.parquet")
    found = TableFile.read(tmp_path / "a.parquet").identifiers("qid")
    assert found.tolist() == expected
