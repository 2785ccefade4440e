"""Tables to score, by `lambdaplus predict` and by the program beside a saved model alike."""

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scored_files import FEATURES, HEAD, PLAN, ROWS, UNSEEN, both, csv, expected, parquet, trained

from lambdaplus.data import read_columns
from lambdaplus.saved_model.columns import Column
from lambdaplus.saved_model.features import BATCH
from lambdaplus.saved_model.scores import score_file


def spreadsheet(frame: pl.DataFrame) -> bytes:
    """Semicolons, decimal commas and TRUE."""
    text = frame.with_columns(
        pl.col("x").cast(pl.String).str.replace(".", ",", literal=True),
        pl.col("flag").cast(pl.String).str.to_uppercase(),
    )
    return b"\xef\xbb\xbf" + csv(text, separator=";").replace(b"\n", b"\r\n")


READ: dict[str, tuple[str, Callable[[pl.DataFrame], bytes]]] = {  # name and content of a file
    "CSV": ("a.csv", csv),
    "another order, and more columns":
        ("a.csv", lambda f: csv(f.select(pl.lit("a").alias("new"), "flag", "shop", "x"))),
    "TSV": ("a.tsv", lambda f: csv(f, separator="\t")),
    "gzip": ("a.csv.gz", lambda f: gzip.compress(csv(f))),
    "xz": ("a.CSV.XZ", lambda f: lzma.compress(csv(f))),
    "a spreadsheet": ("a.csv", spreadsheet),
    "quotes": ("a.csv", lambda f: csv(f, quote_style="always")),
    "a quoted name": ("a.csv", lambda f: csv(f.rename({"x": '"x"'})).replace(b'"""x"""', b'"x"')),
    "blank lines": ("a.csv", lambda f: csv(f).replace(b"\n", b"\n\n")),
    "NULL and nan": ("a.csv", lambda f: csv(f, null_value="NULL").replace(b"\nNULL", b"\nnan")),
    "numbers for flags":
        ("a.csv", lambda f: csv(f.with_columns(pl.col("flag").cast(pl.Int8)))),
    "Parquet": ("a.parquet", parquet),
    "gzip of Parquet": ("a.parquet.gz", lambda f: gzip.compress(parquet(f))),
    "Parquet of other types": ("a.parquet", lambda f: parquet(f.with_columns(
        pl.col("x").cast(pl.Float32), pl.col("shop").cast(pl.Categorical),
        pl.col("flag").cast(pl.Int64)))),
    "Parquet of text": ("a.parquet", lambda f: parquet(f.with_columns(pl.all().cast(pl.String)))),
}  # fmt: skip


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(("name", "content"), READ.values(), ids=READ)
def test_files_are_scored_alike(
    models: dict[str, Path], framework: str, name: str, content: Any, tmp_path: Path, capsys: Any
) -> None:
    model, file = models[framework], tmp_path / name
    file.write_bytes(content(pl.DataFrame(ROWS)))
    scores, said = both(model, file, capsys)
    np.testing.assert_array_equal(scores, expected(model, FEATURES))
    assert UNSEEN in said
    assert said.endswith("taken for missing: west")


@pytest.mark.parametrize("kind", [csv, parquet])
@pytest.mark.parametrize("row", range(5))
def test_a_file_of_one_row_has_the_score_that_it_has_among_others(
    models: dict[str, Path], kind: Any, row: int, tmp_path: Path, capsys: Any
) -> None:
    """Also where it is the only one with a category that is "true", or with an empty one."""
    file = tmp_path / f"one.{kind.__name__}"
    file.write_bytes(kind(pl.DataFrame(ROWS)[row : row + 1]))
    scores, _ = both(models["lightgbm"], file, capsys)
    np.testing.assert_array_equal(scores, expected(models["lightgbm"], FEATURES[row : row + 1]))


@pytest.mark.parametrize("size", [1, 40, 200, BATCH])
@pytest.mark.parametrize("kind", [csv, parquet])
def test_batches_change_no_score(
    models: dict[str, Path], kind: Any, size: int, tmp_path: Path
) -> None:
    """Also where a cell has quotes, a comma and an end of line."""
    frame = pl.DataFrame(ROWS).sample(60, with_replacement=True, seed=0)
    frame = frame.with_columns(note=pl.lit('a,"b"\nc\n')).select("note", "x", "shop", "flag")
    (file := tmp_path / f"a.{kind.__name__}").write_bytes(kind(frame))
    rows = [ROWS["x"].index(x) for x in frame["x"]]
    with pytest.warns(UserWarning, match=r"of 60 rows have values"):
        scores = score_file(models["lightgbm"], file, size)
    np.testing.assert_array_equal(scores, expected(models["lightgbm"], FEATURES[rows]))


def test_rows_without_any_value_are_rows(
    models: dict[str, Path], tmp_path: Path, capsys: Any
) -> None:
    (file := tmp_path / "a.csv").write_text("x,shop,flag\n,,\n\n1,east,true\nNULL,NULL,NULL\n")
    scores, _ = both(models["lightgbm"], file, capsys)
    features = np.array([[np.nan] * 3, [1, 0, 1], [np.nan] * 3])
    np.testing.assert_array_equal(scores, expected(models["lightgbm"], features))


def test_a_file_that_is_not_utf_8_is_read_as_latin_1(
    models: dict[str, Path], tmp_path: Path, capsys: Any
) -> None:
    text = "x,shop,flag\n0.5,north,1\n7,caf\u00e9,0\n"
    (file := tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    scores, said = both(models["lightgbm"], file, capsys)
    assert "a.csv, line 3: not UTF-8, so the file is read as Latin-1" in said
    assert said.endswith("taken for missing: caf\u00e9")
    np.testing.assert_array_equal(scores, expected(models["lightgbm"], FEATURES[[0, 4]]))


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_infinity_is_what_the_framework_makes_of_it(
    models: dict[str, Path], framework: str, tmp_path: Path, capsys: Any
) -> None:
    (file := tmp_path / "a.csv").write_text(HEAD + "1,east,1\n-inf,east,1\n")
    scores, said = both(models[framework], file, capsys)
    if framework == "lightgbm":
        features = [[1, 0, 1], [-np.inf, 0, 1]]
        np.testing.assert_array_equal(scores, expected(models[framework], features))
    else:
        assert "a.csv, column 'x', row 2 is -inf, and XGBoost takes finite numbers" in said


def test_a_blank_line_of_a_single_column_may_be_a_row(tmp_path: Path, capsys: Any) -> None:
    model = trained(tmp_path / "model", "lightgbm", PLAN[:1], 1)
    (file := tmp_path / "a.csv").write_text("x\n1\n\n2\n")
    assert "line 3 is blank, which may be an empty cell or no row" in both(model, file, capsys)[1]
    file.write_text("x\n1\nNULL\n2\n")
    np.testing.assert_array_equal(
        both(model, file, capsys)[0], expected(model, np.array([[1], [np.nan], [2]]))
    )


def test_a_table_is_read_by_training_as_it_is_scored(
    models: dict[str, Path], tmp_path: Path, capsys: Any
) -> None:
    text = 'qid,label,x,flag,n\n1,0, 1.5 ,TRUE,1\n1,1,"2",false,NULL\n1,1,,True,-3e2\n'
    (file := tmp_path / "a.csv").write_text(text)
    read = read_columns(file)
    model = trained(tmp_path / "model", "lightgbm", [*map(Column, read.feature_names)], 3)
    scores, _ = both(model, file, capsys)
    np.testing.assert_array_equal(scores, expected(model, read.features))
    assert read.features[:, 1].tolist() == [1, 0, 1]


def test_a_place_is_that_in_the_file_whatever_batch_it_is_in(
    models: dict[str, Path], tmp_path: Path
) -> None:
    text = HEAD + "".join(f"{x},east,1\n" for x in range(20))
    file, size = tmp_path / "a.csv", 40
    file.write_text(text + "-inf,east,1\n")
    with pytest.raises(ValueError, match="row 21 is -inf"):
        score_file(models["xgboost"], file, size)
    file.write_text(text + "1,east\n")
    with pytest.raises(ValueError, match="line 22: 2 fields for 3 columns"):
        score_file(models["lightgbm"], file, size)
    file.write_bytes((text + "7,caf\u00e9,0\n").encode("latin-1"))
    with pytest.warns(UserWarning, match="line 22: not UTF-8"):
        score_file(models["lightgbm"], file, size)
