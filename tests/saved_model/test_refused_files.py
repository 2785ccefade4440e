"""Files and models that are refused, in the same words by both programs."""

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from commands import invoke
from scored_files import HEAD, PLAN, ROWS, both, csv, parquet, trained

REFUSED: dict[str, tuple[str, Any, str]] = {  # name, content, and what is said of it
    "a missing column": ("a.csv", "x,flag\n1,1\n", "has no column 'shop'; it has: x, flag. The mo"),
    "a renamed column": ("a.csv", "X1,shops,flag\n1,a,1\n",
                         "no column 'x' and no 'shop' (did you mean 'shops'?); it has: X1, shops"),
    "a missing column of Parquet": ("a.parquet", parquet(pl.DataFrame({"x": [1], "shop": ["a"]})),
                                    "has no column 'flag'; it has: x, shop. The model was trained"),
    "a column twice": ("a.csv", "x,shop,flag,x\n1,a,1,2\n", "the header contains 'x' twice"),
    "thousands": ("a.csv", HEAD + '1,east,1\n"4,803",east,1\n',
                  "column 'x', row 2 below the header: '4,803' is not a number"),
    "text": ("a.csv", HEAD + "many,east,1\n", "row 1 below the header: 'many' is not a number"),
    "dates": ("a.parquet", parquet(pl.DataFrame(ROWS).with_columns(x=pl.date(2020, 1, 1))),
              "column 'x' is not numeric, but Date"),
    "numbers for text": ("a.parquet", parquet(pl.DataFrame(ROWS).with_columns(shop=pl.lit(1))),
                         "column 'shop' is no text, as in training, but Int32"),
    "flags for text": ("a.parquet", parquet(pl.DataFrame(ROWS).with_columns(shop=pl.lit(True))),
                       "column 'shop' is no text, as in training, but Boolean"),
    "a number that is too large": ("a.csv", HEAD + "1e400,east,1\n", "beyond the largest float64"),
    "a number that is rounded": ("a.csv", HEAD + "9007199254740993,east,1\n",
                                 "9007199254740993, which a float64 cannot represent"),
    "no rows": ("a.csv", HEAD, "a.csv has no rows below its header"),
    "no rows of Parquet": ("a.parquet", parquet(pl.DataFrame(ROWS)[:0]), "has no rows below"),
    "nothing": ("a.csv", "", "a.csv"),
    "fewer cells": ("a.csv", HEAD + "1,east,1\n1,east\n", "line 3: 2 fields for 3 columns"),
    "more cells": ("a.csv", HEAD + "1,east,1,1\n", "line 2: 4 fields for 3 columns"),
    **{
        f"a table in {name}": ("a.csv", (HEAD + "1,east,1\n" * 20).encode(name),
                               "is UTF-16 or UTF-32: save it as UTF-8")
        for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be")
    },
    "lines that end in carriage returns": ("a.csv", (HEAD + "1,east,1\n").replace("\n", "\r"),
                                           "has lines that end in a carriage return alone: save"),
    "a truncated line": ("a.csv", HEAD + "1,east,1\n1,ea", "line 3: 2 fields for 3 columns"),
    "a truncated archive": ("a.csv.gz", gzip.compress(csv(pl.DataFrame(ROWS)) * 40)[:-9],
                            "cut short or damaged"),
    "a truncated Parquet file": ("a.parquet", parquet(pl.DataFrame(ROWS))[:-9], "a.parquet: "),
    "no archive": ("a.csv.gz", HEAD + "1,east,1\n", "cut short or damaged"),
    "an archive without its name": ("a.csv", gzip.compress(b"x"), "its name must end in .gz"),
    "CSV named Parquet": ("a.parquet", HEAD + "1,east,1\n", "a.parquet: "),
    "Parquet named CSV": ("a.csv", parquet(pl.DataFrame(ROWS)), "a.csv"),
    "CSV named text": ("a.txt", HEAD + "1,east,1\n",
                       "is not .csv, .tsv or .parquet, so its columns have no names"),
    "svmlight": ("a.svm", "0 1:1\n", "the model was trained with x, shop, flag"),
    "no file": ("a.csv", None, "there is no file"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), REFUSED.values(), ids=REFUSED)
def test_other_files_are_refused_in_the_same_words(
    models: dict[str, Path], name: str, content: Any, message: str, tmp_path: Path, capsys: Any
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    scores, said = both(models["lightgbm"], file, capsys)
    assert message in said
    assert str(file) in said
    assert not scores
    out = tmp_path / "scores.txt"
    invoke("predict", models["lightgbm"], file, "--out", out, ends=2)
    assert not out.exists()


def test_a_similar_file_is_named(models: dict[str, Path], tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "august.csv").write_text(HEAD)
    said = both(models["lightgbm"], tmp_path / "agust.csv", capsys)[1]
    assert said.endswith("agust.csv (did you mean 'august.csv'?)")


REFUSED_LINES = {
    "1 qid:1 1:0.5\n1 qid:1 1:0.5 2": "line 2: not 'label qid:ID 1:value 2:value'",
    "x,shop\n1,2": "line 1: not",
    "1 qid:1 1:9007199254740993": "which a float64 cannot represent",
    "1 qid:1 0:1 1:2": "has a feature 0, and the model was trained with features from 1",
    "1 qid:1 1:0.5\r0 qid:1 1:1\r": "has lines that end in a carriage return alone: save it with",
    "# nothing": "has no rows",
}


@pytest.mark.parametrize(("text", "message"), REFUSED_LINES.items())
def test_what_training_refuses_is_refused(
    models: dict[str, Path], text: str, message: str, tmp_path: Path, capsys: Any
) -> None:
    (file := tmp_path / "a.txt").write_text(text)
    assert message in both(models["numbered"], file, capsys)[1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("about.json", None, "has no about.json: it is no saved model"),
        ("about.json", "{", "about.json is damaged"),
        ("about.json", '{"framework": "other", "columns": []}', "about.json is damaged"),
        ("model.txt", None, "model.txt cannot be read: it is no file"),
        ("model.txt", "tree\n", "model.txt cannot be read"),
    ],
)
def test_a_damaged_model_is_refused(
    name: str, content: str | None, message: str, tmp_path: Path, capsys: Any
) -> None:
    model = trained(tmp_path / "model", "lightgbm", PLAN, 3)
    (file := tmp_path / "a.csv").write_text(HEAD + "1,east,1\n")
    (model / name).unlink()
    if content is not None:
        (model / name).write_text(content)
    assert message in both(model, file, capsys)[1]
