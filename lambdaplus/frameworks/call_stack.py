"""What the frameworks do not pass to objectives and metrics, from the call stack.

It has the booster, with the number of threads and the workers, which tells the data of one training
from that of another; what a function is called as; XGBoost's early stopping, which does not ask a
metric for its direction; and the splits of scikit-learn.  Only this file reads the call stack.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any


def calling_booster() -> Any:
    """The Booster that calls an objective or metric; None if there is none.

    The data set that they are called with does not have the parameters of the training.
    """
    return _caller("Booster")


def maximise_early_stopping(metric: Any, names: Collection[str]) -> None:
    """Let early stopping of the XGBoost training that was given this metric maximise it.

    XGBoost's early stopping minimises metrics whose names it does not know.  A metric that is
    called by something else, such as another metric or a callback, changes nothing.
    """
    container = _caller("CallbackContainer")
    evaluated = getattr(container, "metric", None)
    if evaluated is not metric and metric not in _decorated_by_xgboost(evaluated):
        return
    for stop in container.callbacks:
        is_one = type(stop).__name__ == "EarlyStopping" and stop.maximize is None
        if is_one and stop.metric_name in (None, *names):
            stop.maximize = True  # None: the last metric, which is the one that was given


def _decorated_by_xgboost(function: Any) -> list[Any]:
    """What is within the function that XGBoost's estimators make of a callable metric."""
    if getattr(function, "__module__", None) != "xgboost.sklearn":
        return []
    return [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]


def _caller(class_name: str) -> Any:
    """The object of this class of LightGBM or XGBoost on the call stack; None if there is none."""
    for frame in _frames("lightgbm", "xgboost", most=20):
        if "self" in frame.f_code.co_varnames:
            caller: Any = frame.f_locals.get("self")
            if type(caller).__name__ == class_name:
                return caller
    return None


def called_as() -> str:
    """What the framework that calls the caller of this takes it for: "metric", "objective" or "".

    Only a direct call counts: a metric of the user may call an objective.
    """
    frame = sys._getframe(1).f_back
    while frame is not None and _package(frame) in ("lightgbm", "xgboost"):
        if frame.f_code.co_name in _CALLS:
            return _CALLS[frame.f_code.co_name]
        frame = frame.f_back  # of a function in which an estimator wraps what it was given
    return ""


_CALLS = {  # functions of LightGBM and XGBoost; the last one is of XGBRanker
    "__inner_eval": "metric", "eval_set": "metric", "task": "metric",
    "update": "objective", "boost": "objective",
}  # fmt: skip


def is_copied_by_lightgbm() -> bool:
    """Whether the object that calls this is copied with the parameters of a LightGBM training."""
    frame = sys._getframe(2)
    while _package(frame) == "copy" and frame.f_back is not None:
        frame = frame.f_back
    return _package(frame) == "lightgbm"


def splits_of_scikit_learn() -> Iterator[dict[str, Any]]:
    """The variables of scikit-learn's functions that call, from that of a split of X outwards."""
    found = False
    for frame in _frames("sklearn"):
        found |= {"X", "train", "test"} <= {*frame.f_code.co_varnames}
        if found:
            yield frame.f_locals


def _frames(*packages: str, most: int = 1000) -> Iterator[FrameType]:
    """The functions of these packages among so many calling ones.

    Reading the locals of a frame keeps them alive, so those of users are not read.
    """
    frame: FrameType | None = sys._getframe(1)
    for _ in range(most):
        if frame is None:
            return
        if _package(frame) in packages:
            yield frame
        frame = frame.f_back


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]
