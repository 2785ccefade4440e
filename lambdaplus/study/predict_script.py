"""The program beside a saved model, which needs no lambdaplus: the source of these functions."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np

MODELS = {"lightgbm": "model.txt", "xgboost": "model.json", "catboost": "model.cbm"}


def read_table(file: str, columns: list[str], categories: dict[str, list[str]]) -> Any:
    """The features of a CSV or Parquet file, (n, f)."""
    import polars as pl

    def column(values: pl.Series) -> pl.Series:
        if values.name in categories:
            codes = {value: float(code) for code, value in enumerate(categories[values.name])}
            return values.cast(pl.String).replace_strict(codes, default=None)
        if values.dtype == pl.String:
            text = values.str.strip_chars().str.to_lowercase().str.replace(",", ".", literal=True)
            values = text.replace({"": None, "true": "1", "false": "0"})
        return values.cast(pl.Float64)

    if file.endswith(".parquet"):
        table = pl.read_parquet(file)
    else:
        with open(file, encoding="utf-8-sig") as lines:
            separator = max(",;\t", key=lines.readline().count)
        texts = {"infer_schema": False, "null_values": "NULL"}
        table = pl.read_csv(file, separator=separator, **texts)  # type: ignore[arg-type]
    return np.column_stack([column(table[name]).to_numpy() for name in columns])


def read_svmlight(file: str, columns: list[str], categories: dict[str, list[str]]) -> Any:
    """The features of a LETOR or svmlight file, (n, f)."""
    place = {name: j for j, name in enumerate(columns)}
    with open(file, encoding="utf-8") as lines:
        rows = [line.partition("#")[0].split()[1:] for line in lines if line.strip()]
    X = np.zeros((len(rows), len(columns)))
    for x, row in zip(X, rows, strict=True):
        for name, _, value in (pair.partition(":") for pair in row):
            if name in place:
                x[place[name]] = "nan" if value == "NULL" else value
    return X


def lightgbm_scores(X: Any, model: Path, columns: list[str], categories: Any) -> Any:
    import lightgbm

    return lightgbm.Booster(model_file=str(model)).predict(X, raw_score=True)


def xgboost_scores(X: Any, model: Path, columns: list[str], categories: Any) -> Any:
    import xgboost

    booster = xgboost.Booster(model_file=str(model))
    types = ["c" if name in categories else "q" for name in columns] if categories else None
    data = xgboost.DMatrix(X, feature_types=types, enable_categorical=True)
    return booster.predict(data, output_margin=True)


def catboost_scores(X: Any, model: Path, columns: list[str], categories: Any) -> Any:
    import catboost

    return catboost.CatBoost().load_model(str(model)).predict(X)


SCORES = {"lightgbm": lightgbm_scores, "xgboost": xgboost_scores, "catboost": catboost_scores}


def program(framework: str, table: bool) -> str:
    """The text of ``predict.py``."""
    read, scores = read_table if table else read_svmlight, SCORES[framework]
    packages = f"{framework}, numpy and polars" if table else f"{framework} and numpy"
    return f'''"""The scores of the rows of a file, one a line: python predict.py FILE

It needs {packages}.  Columns are found by name.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


{inspect.getsource(read)}

{inspect.getsource(scores)}

if __name__ == "__main__":
    about = json.loads((HERE / "about.json").read_text(encoding="utf-8"))
    columns, categories = about["columns"], about["categories"]
    features = {read.__name__}(sys.argv[1], columns, categories)
    scores = {scores.__name__}(features, HERE / "{MODELS[framework]}", columns, categories)
    print(*scores.tolist(), sep="\\n")
'''
