"""What a saved model of XGBoost holds besides its trees: an attribute of the booster, in JSON.

XGBoost saves no parameters of estimators but the name of its own objective.  Objectives and metrics
of lambdaplus are saved as a name and a dictionary of options, and a classifier's labels, threshold
and probabilities as numbers.
"""

import json
from dataclasses import asdict, fields
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arguments import is_flag, number
from lambdaplus.estimators.held_out import Isotonic, Sigmoid
from lambdaplus.evaluation import EvalMetric, eval_metric
from lambdaplus.objectives import LambdaObjective, Objective, lambda_objective

ATTRIBUTE = "lambdaplus"
_PARAMETERS = ("objective", "eval_metric")


def save_with(booster: Any, **values: Any) -> None:
    """Attach these values to a booster, whose files and pickles then have them."""
    booster.set_attr(**{ATTRIBUTE: json.dumps(values)})


def saved_with(booster: Any) -> dict[str, Any]:
    """The values that are attached to a booster; none if it is not of an estimator of ours."""
    try:
        return dict(json.loads(booster.attr(ATTRIBUTE) or "{}"))
    except (ValueError, TypeError, RecursionError) as error:
        raise _changed(error) from None


def forget_saved(booster: Any) -> None:
    booster.set_attr(**{ATTRIBUTE: None})


def _changed(error: object) -> ValueError:
    return ValueError(
        f"the attribute {ATTRIBUTE!r} of the saved model cannot be read, so the file is damaged, "
        f"or was changed: {error}"
    )


def as_saved(value: Any) -> Any:
    """An objective or metrics as a name and options; only a name of what has none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [*map(as_saved, value)]
    try:
        if not isinstance(value, Objective | EvalMetric):
            [metric] = eval_metric(value).metrics
            if eval_metric(str(metric)).metrics == (metric,):
                return str(metric)
        elif _made(saved := _named(value)) == value:
            json.dumps(saved)
            return saved
    except (TypeError, ValueError):
        pass
    lost = {"lost": getattr(value, "__qualname__", None) or repr(value)}
    if own := getattr(value, "own_rows", ()):
        lost["labels"] = sha256(b"".join(each.tobytes() for each in own)).hexdigest()
    return lost


def _named(value: Objective | EvalMetric) -> dict[str, Any]:
    if isinstance(value, Objective):
        options: dict[str, Any] = {"one_group": value.one_group}
        if isinstance(value, LambdaObjective):
            left_out = ("metric", "surrogate")
            names = [each.name for each in fields(value) if each.name not in left_out]
            options = {name: getattr(value, name) for name in names}
            options["surrogate"] = str(value.surrogate)
        return {"objective": value.__name__.removeprefix("lambda_"), "options": options}
    return {"metrics": [*map(str, value.metrics)], "options": {"one_group": value.one_group}}


def _made(saved: dict[str, Any]) -> Any:
    if "objective" in saved:
        return lambda_objective(saved["objective"], **saved["options"])
    return eval_metric(*saved["metrics"], **saved["options"])


def restored(name: str, saved: Any, given: Any) -> Any:
    """The objective or metrics that were saved.

    Those that a file cannot hold are the ones ``given`` to the estimator; a ValueError is raised if
    it has others.
    """
    if saved is None or isinstance(saved, str):
        return saved
    parts = saved if isinstance(saved, list) else [saved]
    if lost := [each for each in parts if isinstance(each, dict) and "lost" in each]:
        if as_saved(given) == saved:
            return given
        raise ValueError(
            f"the saved model was trained with {name}={lost[0]['lost']}, which a file cannot hold: "
            f"load it into an estimator that has the same {name}"
            f"{', with the same labels or weights' if 'labels' in lost[0] else ''}, or pickle it"
        )
    if isinstance(saved, list):
        return [restored(name, part, None) for part in saved]
    return _made(saved)


def parameters_as_saved(model: Any) -> dict[str, Any]:
    """The parameters that a saved model needs for `score` and the next `fit`."""
    return {name: as_saved(getattr(model, name)) for name in _PARAMETERS}


def restored_parameters(model: Any, saved: dict[str, Any]) -> dict[str, Any]:
    """The parameters that were saved; see `restored`."""
    found = {}
    for name in _PARAMETERS if saved else ():
        try:
            found[name] = restored(name, saved[name], getattr(model, name))
        except (KeyError, TypeError) as error:
            raise _changed(f"{name}: {error!r}") from None
    return found


def classifier_as_saved(model: Any) -> dict[str, Any]:
    """Labels, threshold and probabilities of a classifier."""
    calibrator = getattr(model, "calibrator_", None)
    return {
        "rounds": model.get_booster().num_boosted_rounds(),
        "labels": _labels_as_saved(model.classes_),
        "positive": int(model.classes_[1] == model.pos_label_),
        "threshold": float(model.offset_),
        "calibrator": None if calibrator is None else asdict(calibrator),
        "calibration": model.calibration,
        "chosen": model.pos_label is not None,
    }


def restored_classifier(saved: dict[str, Any], rounds: int) -> dict[str, Any]:
    """The attributes of a classifier whose model has so many rounds."""
    if saved.get("labels", ...) is None:
        raise ValueError("the saved model has labels that a file cannot hold: pickle the estimator")
    try:
        labels, calibrator = np.array(saved["labels"]), saved["calibrator"]
        if labels.shape != (2,) or not labels[0] < labels[1] or not is_flag(saved["chosen"]):
            raise ValueError(f"labels {labels}")
        found = {
            "_labels": labels,
            "pos_label_": labels[[0, 1].index(saved["positive"])],
            "offset_": number("threshold", saved["threshold"], least=-np.inf),
            "calibration": saved["calibration"],
        }
        if saved["calibration"] not in (None, "sigmoid", "isotonic"):
            raise ValueError(f"calibration {saved['calibration']}")
        found["pos_label"] = found["pos_label_"] if saved["chosen"] else None
        if calibrator is not None:
            found["calibrator_"] = (Sigmoid if "slope" in calibrator else Isotonic)(**calibrator)
        of_threshold = int(saved["rounds"])
    except (KeyError, TypeError, ValueError) as error:
        raise _changed(error) from None
    if of_threshold != rounds:
        raise ValueError(
            f"the saved model has {rounds} rounds, and its threshold is that of {of_threshold}: "
            "load it into xgboost.Booster, whose scores have no threshold, or fit it again"
        )
    return found


def _labels_as_saved(labels: NDArray[Any]) -> Any:
    """The labels; None if JSON has no such values."""
    values = labels.tolist()
    try:
        same = json.loads(json.dumps(values)) == values
    except TypeError:
        return None
    return values if same else None
