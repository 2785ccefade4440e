"""What a saved model of XGBoost holds besides its trees: an attribute of the booster, in JSON.

XGBoost saves no parameters of estimators but the name of its own objective.  Objectives and metrics
of lambdaplus are saved as names, or as the expression that their ``repr`` is, and a classifier's
labels, threshold and probabilities as numbers.
"""

import ast
import json
import re
import reprlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arguments import is_flag
from lambdaplus.estimators.held_out import Isotonic, Sigmoid
from lambdaplus.evaluation import eval_metric
from lambdaplus.metrics import Declaration, RankingMetric
from lambdaplus.metrics.weighted_sum import WeightedSum
from lambdaplus.objectives import LogLoss, combine, lambda_objective

ATTRIBUTE = "lambdaplus"
LONGEST_EXPRESSION, MOST_METRICS = 5000, 100  # of a file; a sum of many parts takes long to parse
_DTYPE = re.compile(r"[<>|=](b1|[iu][1248]|f(2|4|8|16)|U\d+|O)")
_PARAMETERS = ("objective", "eval_metric")
_MAKERS: Mapping[str, Any] = {
    "LogLoss": LogLoss, "combine": combine, "eval_metric": eval_metric,
    "lambda_objective": lambda_objective,
}  # fmt: skip


def _is_number(value: Any) -> bool:
    is_one = isinstance(value, int | float) and not is_flag(value)
    return is_one and abs(value) <= sys.float_info.max  # which NaN is not


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not is_flag(value) and value >= 0


def _is_parameter(saved: Any) -> bool:
    """Whether this is what `as_saved` makes."""
    if isinstance(saved, list):
        return len(saved) <= MOST_METRICS and all(map(_is_parameter, saved))
    texts = [saved] if isinstance(saved, str | None) else []
    if isinstance(saved, dict) and {*saved} in ({"expression"}, {"lost"}, {"lost", "labels"}):
        texts = list(saved.values())
    return bool(texts) and all(
        text is None or (isinstance(text, str) and len(text) <= LONGEST_EXPRESSION)
        for text in texts
    )


def _are_labels(saved: Any) -> bool:
    """Whether these are two labels, sorted, of a type that a file can hold, or none."""
    if saved is None:
        return True
    if not isinstance(saved, dict) or {*saved} != {"values", "dtype"}:
        return False
    values, dtype = saved["values"], saved["dtype"]
    if not (isinstance(dtype, str) and _DTYPE.fullmatch(dtype) and isinstance(values, list)):
        return False
    try:
        labels = restored_labels(saved)
        return labels.shape == (2,) and bool(labels[0] < labels[1])
    except (TypeError, ValueError, OverflowError):
        return False


def _is_calibrator(saved: Any) -> bool:
    if not isinstance(saved, dict):
        return saved is None
    if {*saved} == {"slope", "intercept"}:
        return all(map(_is_number, saved.values())) and saved["slope"] >= 0.0
    if {*saved} != {"scores", "probabilities"}:
        return False
    lists = [saved["scores"], saved["probabilities"]]
    if not all(isinstance(each, list) and each and all(map(_is_number, each)) for each in lists):
        return False
    scores, probabilities = lists
    rise = scores == sorted(scores) and probabilities == sorted(probabilities)
    in_range = probabilities[0] >= 0.0 and probabilities[-1] <= 1.0
    return rise and in_range and len(scores) == len(probabilities)


_VALID: Mapping[str, Callable[[Any], bool]] = {
    "objective": _is_parameter,
    "eval_metric": _is_parameter,
    "rounds": _is_whole,
    "labels": _are_labels,
    "positive": lambda saved: _is_whole(saved) and saved <= 1,
    "threshold": _is_number,
    "calibrator": _is_calibrator,
    "calibration": lambda saved: saved in (None, "sigmoid", "isotonic"),
    "chosen": is_flag,
}


def save_with(booster: Any, **values: Any) -> None:
    """Attach these values to a booster, whose files and pickles then have them."""
    booster.set_attr(**{ATTRIBUTE: json.dumps(values)})


def saved_with(booster: Any) -> dict[str, Any]:
    """The values that are attached to a booster; none if it is not of an estimator of ours.

    A ValueError is raised for values that no estimator attaches, before anything is made of them.
    """
    try:
        saved = dict(json.loads(booster.attr(ATTRIBUTE) or "{}"))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(
            f"the attribute {ATTRIBUTE!r} of the saved model cannot be read: {error}"
        ) from None
    expected: Any = _VALID if "threshold" in saved else _PARAMETERS
    for name in (*saved, *(expected if saved else ())):
        if name not in saved or (name in _VALID and not _VALID[name](saved[name])):
            value = reprlib.repr(saved[name]) if name in saved else "nothing"
            raise ValueError(
                f"the attribute {ATTRIBUTE!r} of the saved model has {value} as {name!r}, which no "
                "estimator saves: the file is damaged, or was changed"
            )
    return saved


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
        try:
            return _evaluated(ast.parse(saved["expression"], mode="eval").body)
        except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
            shown = reprlib.repr(saved["expression"])
            raise ValueError(f"the saved model has {name}={shown}: {error}") from None
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
    # The width of a text may be any number in a file.
    return np.array(saved["values"], dtype=re.sub(r"U\d+", "U", saved["dtype"]))


def calibrator_as_saved(calibrator: Any) -> Any:
    return None if calibrator is None else asdict(calibrator)


def restored_calibrator(saved: Any) -> Any:
    if saved is None:
        return None
    if "slope" in saved:
        return Sigmoid(**saved)
    return Isotonic(**{name: tuple(values) for name, values in saved.items()})
