"""Models of little data, and the scores of a file by both programs."""

import importlib
import io
import sys
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import polars as pl
import xgboost as xgb
from commands import invoke

from lambdaplus.data.model_folder import model_folder, write_model
from lambdaplus.saved_model.columns import Column

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
HEAD = "x,shop,flag\n"
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


def expected(model: Path, features: Any) -> Any:
    if (model / "model.txt").exists():
        return lgb.Booster(model_file=model / "model.txt").predict(features)
    booster = xgb.Booster(model_file=model / "model.json")
    matrix = xgb.DMatrix(features, feature_types=booster.feature_types, enable_categorical=True)
    return booster.predict(matrix).astype(float)


def packed_command(program: Path) -> Any:
    """The module of the program that runs it, from the zip file."""
    sys.path.insert(0, str(program))
    try:
        return importlib.import_module("saved_model.command")  # the same beside each model
    finally:
        sys.path.remove(str(program))


def both(model: Path, file: Path, capsys: Any) -> tuple[list[float], str]:
    """What both programs print, which is the same: scores, and what is said of the file."""
    program = model / "predict.pyz"
    capsys.readouterr()
    code = packed_command(program).main(str(program), [str(file)])
    by_program = capsys.readouterr()
    done = invoke("predict", model, file, ends=code)
    said = " ".join(by_program.err.replace("predict.pyz: ", "").split())
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
