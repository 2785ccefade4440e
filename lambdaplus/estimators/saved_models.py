"""What a saved model of XGBoost holds besides its trees: an attribute of the booster, in JSON.

XGBoost saves no parameters of estimators but the name of its own objective.  Objectives and metrics
of lambdaplus are saved as names, or as the expression that their ``repr`` is, and a classifier's
labels, threshold and probabilities as numbers.
"""

import ast
import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.estimators.held_out import Isotonic, Sigmoid
from lambdaplus.evaluation import eval_metric
from lambdaplus.metrics import Declaration, RankingMetric
from lambdaplus.metrics.weighted_sum import WeightedSum
from lambdaplus.objectives import LogLoss, combine, lambda_objective

ATTRIBUTE = "lambdaplus"
_PARAMETERS = ("objective", "eval_metric")
_MAKERS: Mapping[str, Any] = {
    "LogLoss": LogLoss, "combine": combine, "eval_metric": eval_metric,
    "lambda_objective": lambda_objective,
}  # fmt: skip


def save_with(booster: Any, **values: Any) -> None:
    """Attach these values to a booster, whose files and pickles then have them."""
    booster.set_attr(**{ATTRIBUTE: json.dumps(values)})


def saved_with(booster: Any) -> dict[str, Any]:
    """The values that are attached to a booster; none if it is not of an estimator of ours."""
    return dict(json.loads(booster.attr(ATTRIBUTE) or "{}"))


def forget_saved(booster: Any) -> None:
    booster.set_attr(**{ATTRIBUTE: None})


def as_saved(value: Any) -> Any:
    """An objective or metrics as names and expressions; only a name of what has none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        parts = [*map(as_saved, value)]
        lost = [part["lost"] for part in parts if isinstance(part, dict) and "lost" in part]
        return {"lost": ", ".join(lost)} if lost else parts
    try:
        if isinstance(value, RankingMetric | WeightedSum | Declaration):
            [metric] = eval_metric(value).metrics
            if eval_metric(str(metric)).metrics == (metric,):
                return str(metric)
        elif _evaluated(ast.parse(repr(value), mode="eval").body) == value:
            return {"expression": repr(value)}
    except (ValueError, SyntaxError, TypeError):
        pass
    named = {"lost": getattr(value, "__qualname__", None) or repr(value)}
    if own := getattr(value, "own_rows", ()):
        named["labels"] = sha256(b"".join(each.tobytes() for each in own)).hexdigest()
    return named


def restored(name: str, saved: Any, given: Any) -> Any:
    """The objective or metrics that were saved.

    Those that a file cannot hold are the ones ``given`` to the estimator; a ValueError is raised if
    it has others.
    """
    if isinstance(saved, list):
        return [restored(name, part, None) for part in saved]
    if not isinstance(saved, dict):
        return saved
    if "expression" in saved:
        return _evaluated(ast.parse(saved["expression"], mode="eval").body)
    if as_saved(given) == saved:
        return given
    raise ValueError(
        f"the saved model was trained with {name}={saved['lost']}, which a file cannot hold: load "
        f"it into an estimator that has the same {name}"
        f"{', with the same labels or weights' if 'labels' in saved else ''}, or pickle it"
    )


def parameters_as_saved(model: Any) -> dict[str, Any]:
    """The parameters that a saved model needs for `score` and the next `fit`."""
    return {name: as_saved(getattr(model, name)) for name in _PARAMETERS}


def restored_parameters(model: Any, saved: dict[str, Any]) -> dict[str, Any]:
    """The parameters that were saved; see `restored`."""
    return {
        name: restored(name, saved[name], getattr(model, name))
        for name in _PARAMETERS
        if name in saved
    }


def _evaluated(node: ast.expr) -> Any:
    """The value of an expression of literals and our functions; a ValueError for any other."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKERS:
        options = {str(option.arg): _evaluated(option.value) for option in node.keywords}
        return _MAKERS[node.func.id](*map(_evaluated, node.args), **options)
    if isinstance(node, ast.Dict):
        keys = [_evaluated(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_evaluated, node.values), strict=True))
    return ast.literal_eval(node)


def labels_as_saved(labels: NDArray[Any]) -> Any:
    """Labels with their type; None if JSON has no such values."""
    saved = {"values": labels.tolist(), "dtype": labels.dtype.str}
    try:
        same = np.array_equal(restored_labels(json.loads(json.dumps(saved))), labels)
    except (TypeError, ValueError):
        return None
    return saved if same else None


def restored_labels(saved: Any) -> NDArray[Any]:
    return np.array(saved["values"], dtype=saved["dtype"])


def calibrator_as_saved(calibrator: Any) -> Any:
    return None if calibrator is None else asdict(calibrator)


def restored_calibrator(saved: Any) -> Any:
    if saved is None:
        return None
    if "slope" in saved:
        return Sigmoid(**saved)
    return Isotonic(**{name: tuple(values) for name, values in saved.items()})
