"""What files of models hold beside the trees: JSON, which is never run as code."""

import json
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.special import expit

from lambdaplus.compute.messages import warn
from lambdaplus.estimators.calibration import Sigmoid
from lambdaplus.evaluation import eval_metric
from lambdaplus.evaluation.feval import EvalMetric
from lambdaplus.metrics.names import default_surrogate
from lambdaplus.objectives import LogLoss, combine, lambda_objective
from lambdaplus.objectives.by_name import Named
from lambdaplus.objectives.combined_objective import CombinedObjective
from lambdaplus.objectives.metric_objective import LambdaObjective
from lambdaplus.objectives.pair_options import PairOptions

_NUMBERS = ("b", "i", "u", "f")  # kinds of labels that are no text
_TOO_OLD = "this file is of an older lambdaplus, or damaged: fit and save the model again"


def as_data(value: Any) -> Any:
    """An objective, or metrics, as data: a name, the arguments that make it, or a list of these.

    ``{"not saved": ...}`` describes a function or metric of the user, which no data holds.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [as_data(one) for one in value]
    try:
        data = _as_data(value)
        if isinstance(value, Named):  # metrics of one name may have other declarations
            same = lambda_objective(data) == lambda_objective(value)
        else:
            same = from_data(data) == value
    except ValueError:
        same = False
    return data if same else {"not saved": _described(value)}


def _as_data(value: Any) -> Any:
    if isinstance(value, Named):  # str() of a metric is its name
        return getattr(value, "name", str(value))
    if isinstance(value, LambdaObjective):
        options = {one.name: getattr(value, one.name) for one in fields(PairOptions)}
        if not value.metric == value.surrogate == default_surrogate(value.metric):
            options["surrogate"] = str(value.surrogate)
        return {"lambda_objective": str(value.metric), "one_group": value.one_group, **options}
    if isinstance(value, CombinedObjective):
        return {"combine": [[_as_data(part), weight] for part, weight in value.parts]}
    if isinstance(value, LogLoss):
        return {"log_loss": value.relevant}
    if isinstance(value, EvalMetric):
        names = [str(metric) for metric in value.metrics]
        return {"eval_metric": names, "one_group": value.one_group}
    raise ValueError(f"{value!r} is of the user")


def from_data(data: Any, name: str = "objective", own: Any = None) -> Any:
    """The objective or metrics of `as_data`; ``own``, with a warning, if they were not saved.

    A ValueError is raised for data that `as_data` does not give.
    """
    if data is None or isinstance(data, str):
        return data
    if isinstance(data, list):
        return [from_data(one, name, own) for one in data]
    if not isinstance(data, dict):
        raise ValueError(_TOO_OLD)
    if "not saved" in data:
        if data["not saved"] != _described(own):
            warn(
                f"this model was saved with {name}={data['not saved']}, which a file cannot hold, "
                f"and has {name}={_described(own)} now: construct the estimator with its {name} "
                "before load_model"
            )
        return own
    try:
        return _made(**data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{name}={json.dumps(data)} cannot be read: {error}") from None


def _made(**data: Any) -> Any:
    """What these arguments make, by the name of the first."""
    if "lambda_objective" in data:
        return lambda_objective(data.pop("lambda_objective"), **data)
    if "combine" in data:
        return combine({_made(**part): weight for part, weight in data["combine"]})
    if "log_loss" in data:
        return LogLoss(data["log_loss"])
    return eval_metric(*data.pop("eval_metric"), **data)


def _described(value: Any) -> str:
    text = str(value) if isinstance(value, Named) else repr(value)
    return str(getattr(value, "__qualname__", text))


def read_attribute(text: str) -> dict[str, Any]:
    """The data of a file; a ValueError for other text."""
    try:
        data = json.loads(text)
    except (RecursionError, ValueError):
        data = None
    if not isinstance(data, dict):
        raise ValueError(_TOO_OLD)
    return data


def classifier_as_data(
    classes: Any, pos_label: Any, offset: float, calibrator: Sigmoid | None, why_not: str = ""
) -> dict[str, Any]:
    """Classes, threshold and probabilities of a classifier; a ValueError for labels of odd types.

    The probability of ``pos_label`` is 1 / (1 + exp(-(a s + b))) of a raw score s, which is above
    ``offset``, and whose probability is above ``threshold``, where this class is predicted.  Labels
    may be numbers, True and False, and text.
    """
    kind = classes.dtype.kind
    if kind not in _NUMBERS and not all(isinstance(one, str) for one in classes):
        raise ValueError(
            f"a file cannot hold the labels {classes.tolist()} of type {classes.dtype}: pickle the "
            "estimator, or use labels that are numbers or text"
        )
    a, b = (None, None) if calibrator is None else (-calibrator.a, -calibrator.b)
    return {
        "classes": classes.tolist(),
        "dtype": classes.dtype.str if kind in _NUMBERS else kind,
        "pos_label": classes.tolist()[int(classes[1] == pos_label)],
        "offset": offset,
        "a": a,
        "b": b,
        "threshold": None if a is None or b is None else float(expit(a * offset + b)),
        "no_probabilities": why_not,
    }


def classifier_from_data(data: dict[str, Any], rounds: int) -> dict[str, Any]:
    """The attributes of a classifier from `classifier_as_data`, if it has as many rounds."""
    if data.get("rounds", rounds) != rounds:
        raise ValueError(
            f"this model had {data['rounds']} rounds when it was saved with its threshold, and has "
            f"{rounds}: save the longer one by XGBoostClassifier.save_model"
        )
    try:
        dtype = np.dtype(str(data["dtype"]))
        if dtype.kind not in (*_NUMBERS, "U", "O") or dtype.itemsize > 16:
            raise ValueError  # "<U100000000" would fill the memory
        labels = np.array(data["classes"], dtype=dtype)
        if labels.tolist() != data["classes"] or labels.size != 2 or not labels[0] < labels[1]:
            raise ValueError
        found: dict[str, Any] = {
            "_labels": labels,
            "pos_label_": labels[data["classes"].index(data["pos_label"])],
            "offset_": float(data["offset"]),
            "_no_probabilities": str(data["no_probabilities"]),
        }
        numbers = [found["offset_"]]
        if data["a"] is not None:
            numbers += [-float(data["a"]), -float(data["b"])]
            found["calibrator_"] = Sigmoid(*numbers[1:])
        if not np.isfinite(numbers).all() or not (len(numbers) > 1 or found["_no_probabilities"]):
            raise ValueError
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        raise ValueError(_TOO_OLD) from None
    return found
