"""Files to score, by `lambdaplus predict` and by the program beside a saved model alike."""

import gzip
import importlib.util
import io
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import polars as pl
import pytest
import xgboost as xgb
from commands import invoke

from lambdaplus.data import read_columns, read_letor
from lambdaplus.data.model_folder import model_folder, write_model
from lambdaplus.data.scoring import BATCH, SCORES, Column, numbered_features, score_file

LEVELS = ["east", "north", "true"]
PLAN = (
    Column("x"), Column("shop", "category", levels=LEVELS), Column("flag", "flag"),
)  # fmt: skip
ROWS = {
    "x": [0.5, -1.25, None, 4803.0, 7.0],
    "shop": ["north", "true", "east", None, "west"],
    "flag": [True, False, None, True, False],
}
FEATURES = np.array(
    [[0.5, 1, 1], [-1.25, 2, 0], [np.nan, 0, np.nan], [4803, np.nan, 1], [7, np.nan, 0]]
)
UNSEEN = "column 'shop': 1 of 5 rows have values that the model was not trained with"


def trained(folder: Path, framework: str, columns: Any, width: int) -> Path:
    """A model whose score says what each feature is."""
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (600, width)).astype(float)
    X[:, 0] += random.normal(size=600)
    y = X @ np.arange(1.0, width + 1.0)
    types = ["c" if one.kind == "category" else "q" for one in columns]
    with model_folder(folder) as made:
        if framework == "lightgbm":
            categories = [j for j, one in enumerate(types) if one == "c"]
            data = lgb.Dataset(X, y, categorical_feature=categories)
            booster = lgb.train({"verbose": -1, "num_threads": 1}, data, 20)
        else:
            matrix = xgb.DMatrix(X, y, feature_types=types, enable_categorical=True)
            booster = xgb.train({"nthread": 1}, matrix, 20)
        write_model(made, framework, booster.save_model, columns)
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    numbered = [Column(str(j)) for j in range(1, 4)]
    return {
        "lightgbm": trained(folder / "lightgbm", "lightgbm", PLAN, 3),
        "xgboost": trained(folder / "xgboost", "xgboost", PLAN, 3),
        "numbered": trained(folder / "numbered", "lightgbm", numbered, 3),
    }


def expected(model: Path, features: Any) -> Any:
    if (model / "model.txt").exists():
        return lgb.Booster(model_file=model / "model.txt").predict(features)
    booster = xgb.Booster(model_file=model / "model.json")
    matrix = xgb.DMatrix(features, feature_types=booster.feature_types, enable_categorical=True)
    return booster.predict(matrix).astype(float)


def both(model: Path, file: Path, capsys: Any) -> tuple[list[float], str]:
    """What both programs print, which is the same: scores, and what is said of the file."""
    spec = importlib.util.spec_from_file_location("predict", model / "predict.py")
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    sys.modules["predict"] = program
    spec.loader.exec_module(program)
    capsys.readouterr()
    code = program.main([str(file)])
    by_program = capsys.readouterr()
    done = invoke("predict", model, file, ends=code)
    said = " ".join(by_program.err.replace("predict.py: ", "").split())
    assert " ".join(done.stderr.replace("lambdaplus predict: ", "").split()) == said
    assert done.stdout == by_program.out
    assert (not by_program.out) == (code == 2)
    return [*map(float, by_program.out.split())], said


def csv(frame: pl.DataFrame, **options: Any) -> bytes:
    return frame.write_csv(**options).encode()


def parquet(frame: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


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


HEAD = "x,shop,flag\n"
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


# svmlight ----------------------------------------------------------------------------------------

LETOR = {
    "LETOR": "2 qid:10 1:0.5 2:-3e-2 3:7 # doc a:b\n0 qid:10 1:1 3:.25\n",
    "blank lines and comments": "# made\n\n1 qid:1 2:5\n   \n# 1 qid:1 2:9\n0 qid:1 # none\n",
    "missing values": "1 qid:1 1:NULL 2:1.79769313486e+308 3:nan\n0 qid:1 1:inf\n",
    "without queries, and more features": "1 1:4 3:1 9:8\n-1.5\t2:1\r\n",
    "no end of line, and a mark": "\ufeff0 qid:-3 1:1 2:2 3:3",
    "signs and zeros": "+1 qid:1 01:+4 2:-0 3:1E2\n0 qid:1\n",
}


@pytest.mark.parametrize("text", LETOR.values(), ids=LETOR)
def test_batches_of_lines_change_no_feature(text: str, tmp_path: Path) -> None:
    (file := tmp_path / "a.txt").write_text(text, encoding="utf-8")
    read = read_letor(file, grouped=False).features
    names = [str(j) for j in range(1, 10)]
    for size in (np.inf, 5, 72, 150):
        found = np.concatenate([*numbered_features(file, names, size)])
        np.testing.assert_array_equal(found[:, : read.shape[1]], read)
        assert not found[:, read.shape[1] :].any()


def test_svmlight_with_a_feature_0_is_read_as_in_training(tmp_path: Path) -> None:
    (file := tmp_path / "a.txt").write_text("1 qid:1 0:4 2:5\n0 qid:1 1:7\n")
    read = read_letor(file)
    [found] = numbered_features(file, read.feature_names)
    np.testing.assert_array_equal(found, read.features)


@pytest.mark.parametrize("name", ["a.svm", "a.txt.xz"])
def test_numbered_features_are_found_in_any_file(
    models: dict[str, Path], name: str, tmp_path: Path, capsys: Any
) -> None:
    """A CSV file whose columns are named by numbers was read as svmlight: all scores the same."""
    text = b"1 qid:1 1:0.5 3:2\n\n# none\n0 qid:1 2:1 # a\n"
    (file := tmp_path / name).write_bytes(lzma.compress(text) if name.endswith("xz") else text)
    right = expected(models["numbered"], np.array([[0.5, 0, 2], [0, 1, 0]]))
    assert both(models["numbered"], file, capsys)[0] == right.tolist()
    (table := tmp_path / "a.csv").write_text("3,label,1,2\n2,0,0.5,0\n0,1,0,1\n")
    assert both(models["numbered"], table, capsys)[0] == right.tolist()
    assert np.ptp(right) > 0


REFUSED_LINES = {
    "1 qid:1 1:0.5\n1 qid:1 1:0.5 2": "line 2: not 'label qid:ID 1:value 2:value'",
    "x,shop\n1,2": "line 1: not",
    "1 qid:1 1:9007199254740993": "which a float64 cannot represent",
    "1 qid:1 0:1 1:2": "has a feature 0, and the model was trained with features from 1",
    "# nothing": "has no rows",
}


@pytest.mark.parametrize(("text", "message"), REFUSED_LINES.items())
def test_what_training_refuses_is_refused(
    models: dict[str, Path], text: str, message: str, tmp_path: Path, capsys: Any
) -> None:
    (file := tmp_path / "a.txt").write_text(text)
    assert message in both(models["numbered"], file, capsys)[1]


def test_features_that_count_from_another_number_are_refused(tmp_path: Path) -> None:
    (file := tmp_path / "a.txt").write_text("1 1:1 3:3\n0 2:1\n")
    with pytest.raises(ValueError, match=r"features 1 to 3, .* 0 to 2: the two count from"):
        [*numbered_features(file, "012")]
    [features] = numbered_features(file, "0123")
    assert features.tolist() == [[0.0, 1.0, 0.0, 3.0], [0.0, 0.0, 1.0, 0.0]]


# Models ------------------------------------------------------------------------------------------


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


def test_progress_is_shown_in_a_terminal(
    models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (file := tmp_path / "a.csv").write_text(HEAD + "1,east,1\n" * 1200)
    score_file(models["lightgbm"], file, 4000)
    assert not capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    score_file(models["lightgbm"], file, 4000)
    assert "1,200 rows" in capsys.readouterr().err


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


def test_a_reader_of_scores_may_stop(models: dict[str, Path], tmp_path: Path) -> None:
    rows = 30_000  # more than a pipe holds
    pl.DataFrame({name: [cells[0]] * rows for name, cells in ROWS.items()}).write_csv(
        tmp_path / "new.csv"
    )
    program = [sys.executable, str(models["lightgbm"] / "predict.py"), str(tmp_path / "new.csv")]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        float(running.stdout.readline())
        running.stdout.close()
        assert running.stderr.read().decode() == f"predict.py: {SCORES}\n"
    assert running.returncode == 0
