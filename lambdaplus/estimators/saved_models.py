"""What files of XGBoost's estimators hold beside the trees: JSON, which is never run as code."""

import ast
import json
from typing import Any

import numpy as np

from lambdaplus.compute.messages import warn
from lambdaplus.estimators.calibration import Sigmoid
from lambdaplus.evaluation import eval_metric
from lambdaplus.objectives import LogLoss, combine, lambda_objective
from lambdaplus.objectives.by_name import Named

_MAKERS: dict[str, Any] = {
    "combine": combine, "eval_metric": eval_metric, "lambda_objective": lambda_objective,
    "LogLoss": LogLoss,
}  # fmt: skip
_NUMBERS = ("b", "i", "u", "f")  # kinds of labels that are no text
_TOO_OLD = "this file is of an older lambdaplus, or damaged: fit and save the model again"


def as_data(value: Any) -> Any:
    """An objective, or metrics, as data: a name, the text of an object, or a list of these.

    A dictionary describes a function or metric of the user, which no data holds.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [as_data(one) for one in value]
    if isinstance(value, Named):  # str() of a metric is its name
        text = getattr(value, "name", str(value))
        same = _made(text) is not None and lambda_objective(text) == lambda_objective(value)
    else:
        text = repr(value)
        same = _made(text) == value
    return text if same else {"not saved": _described(value)}


def _made(text: str) -> Any:
    """What this text makes; None for text of anything else."""
    try:
        return from_data(text) if "(" in text else lambda_objective(text)
    except ValueError:
        return None


def from_data(data: Any, name: str = "objective", own: Any = None) -> Any:
    """The objective or metrics of `as_data`; ``own``, with a warning, if they were not saved.

    A ValueError is raised for text that is no call of functions of lambdaplus with constants.
    """
    if isinstance(data, list):
        return [from_data(one, name, own) for one in data]
    if isinstance(data, dict):
        if data.get("not saved") != _described(own):
            warn(
                f"this model was saved with {name}={data.get('not saved')}, which a file cannot "
                f"hold, and has {name}={_described(own)} now: construct the estimator with its "
                f"{name} before load_model"
            )
        return own
    if not isinstance(data, str | None):
        raise ValueError(_TOO_OLD)
    if data is None or data.partition("(")[0] not in _MAKERS:
        return data  # a name
    try:
        return _value(ast.parse(data, mode="eval").body)
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{name}={data!r} cannot be read: {error}") from None


def _value(node: ast.AST) -> Any:
    """The value of an expression of constants, dictionaries and calls of `_MAKERS`."""
    if isinstance(node, ast.Dict):
        keys = [ast.Constant(None) if key is None else key for key in node.keys]
        return {_value(k): _value(v) for k, v in zip(keys, node.values, strict=True)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKERS:
        options = {str(option.arg): ast.literal_eval(option.value) for option in node.keywords}
        return _MAKERS[node.func.id](*map(_value, node.args), **options)
    return ast.literal_eval(node)


def _described(value: Any) -> str:
    text = str(value) if isinstance(value, Named) else repr(value)
    return str(getattr(value, "__qualname__", text))


def read_attribute(text: str) -> dict[str, Any]:
    """The data of a file; a ValueError for other text."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise ValueError(_TOO_OLD)
    return data


def classifier_as_data(model: Any) -> dict[str, Any]:
    """Classes, threshold and probabilities of a classifier; a ValueError for labels of odd types.

    Labels may be numbers, True and False, and text.
    """
    labels = model.classes_
    kind = labels.dtype.kind
    if kind not in _NUMBERS and not all(isinstance(one, str) for one in labels):
        raise ValueError(
            f"a file cannot hold the labels {labels.tolist()} of type {labels.dtype}: pickle the "
            "estimator, or use labels that are numbers or text"
        )
    calibrator = getattr(model, "calibrator_", None)
    return {
        "rounds": model.get_booster().num_boosted_rounds(),
        "classes": labels.tolist(),
        "dtype": labels.dtype.str if kind in _NUMBERS else kind,
        "pos_label": labels.tolist().index(model.pos_label_),
        "offset": model.offset_,
        "calibration": None if calibrator is None else list(calibrator),
        "no_probabilities": model._no_probabilities,
    }


def classifier_from_data(data: dict[str, Any], rounds: int) -> dict[str, Any]:
    """The attributes of a classifier from `classifier_as_data`, if it has as many rounds."""
    if isinstance(data, dict) and data.get("rounds", rounds) != rounds:
        raise ValueError(
            f"this model had {data['rounds']} rounds when it was saved with its threshold, and has "
            f"{rounds}: save the longer one by XGBoostClassifier.save_model"
        )
    try:
        dtype = np.dtype(str(data["dtype"]))
        if dtype.kind not in (*_NUMBERS, "U", "O") or dtype.itemsize > 16:
            raise ValueError  # "<U100000000" would fill the memory
        labels = np.array(data["classes"], dtype=dtype)
        found = {
            "_labels": labels,
            "pos_label_": labels[int(data["pos_label"])],
            "offset_": float(data["offset"]),
            "_no_probabilities": str(data["no_probabilities"]),
        }
        if data["calibration"] is not None:
            a, b = map(float, data["calibration"])
            found["calibrator_"] = Sigmoid(a, b)
    except (IndexError, KeyError, TypeError, ValueError):
        raise ValueError(_TOO_OLD) from None
    return found
