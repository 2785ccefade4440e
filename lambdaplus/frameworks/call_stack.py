"""What the frameworks do not pass to objectives and metrics, from the call stack.

It has the booster, with the number of threads and the workers, which tells the data of one training
from that of another; what a function is called as; XGBoost's early stopping, which does not ask a
metric for its direction; and the splits of scikit-learn.  Only this file reads the call stack, but
for the line that a warning names.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any

from lambdaplus.compute.messages import warn
from lambdaplus.frameworks.internals import private, private_attribute
from lambdaplus.frameworks.trainings import Training


def calling_booster() -> Any:
    """The Booster that calls an objective or metric; None if there is none.

    The data set that they are called with does not have the parameters of the training.
    """
    lost = "objectives and metrics do not see the threads, workers and early stopping of a training"
    kinds = [private(framework, "Booster", lost) for framework in ("lightgbm", "xgboost")]
    booster = _caller(*kinds)
    if booster is None and _nearest_call() in ("update", "boost", "eval_set", "__inner_eval"):
        warn(f"the Booster that calls cannot be found, so {lost}")
    return booster


def maximise_early_stopping(metric: Any, names: Collection[str], training: Training) -> None:
    """Let early stopping of the XGBoost training that was given this metric maximise it.

    XGBoost's early stopping minimises metrics whose names it does not know.  A metric that is
    called by a callback changes nothing, and of one that a function of the user calls, it is warned
    once that it may be minimised.
    """
    lost = "XGBoost's early stopping minimises metrics of lambdaplus such as mrr"
    container = _caller(private("xgboost", "callback.CallbackContainer", lost))
    if container is None:
        return
    stop_kind = private("xgboost", "callback.EarlyStopping", lost)
    callbacks = private_attribute("xgboost", container, ["callbacks"], lost)
    evaluated = private_attribute("xgboost", container, ["metric"], lost)
    unknown = [name for name in names if not name.startswith(("auc", "pre", "map", "ndcg"))]
    for stop in callbacks or () if stop_kind is not None else ():
        if not isinstance(stop, stop_kind) or stop.maximize is not None:
            continue
        if stop.metric_name not in (None, *names):
            continue
        if evaluated is metric or metric in _decorated_by_xgboost(evaluated):
            stop.maximize = True  # without a name, by the last metric, which is the one given
        elif unknown and _nearest_call() == "eval_set" and not training.has_warned_of_minimising:
            training.has_warned_of_minimising = True
            warn(
                f"a function that calls {metric!r} is the metric of a training whose early "
                "stopping XGBoost minimises, unless it knows its name: pass maximize=True (or, for "
                "a loss, maximize=False), or the metric itself"
            )


def _decorated_by_xgboost(function: Any) -> list[Any]:
    """What is within the function that XGBoost's estimators make of a callable metric."""
    if getattr(function, "__module__", None) != "xgboost.sklearn":
        return []
    return [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]


def _caller(*kinds: Any) -> Any:
    """The object of one of these classes on the call stack; None if there is none."""
    known = tuple(kind for kind in kinds if kind is not None)
    for frame in _frames("lightgbm", "xgboost", most=30):
        if "self" in frame.f_code.co_varnames:
            caller: Any = frame.f_locals.get("self")
            if isinstance(caller, known):
                return caller
    return None


def called_as() -> str:
    """What the framework that calls the caller of this takes it for: "metric", "objective" or "".

    Only a direct call counts: a metric of the user may call an objective.
    """
    return _CALLS.get(_calling_function(sys._getframe(1).f_back), "")


def _calling_function(frame: FrameType | None) -> str:
    """The function of `_CALLS` among those of the framework from this one outwards; "" if none."""
    while frame is not None and _package(frame) in ("lightgbm", "xgboost"):
        if frame.f_code.co_name in _CALLS:
            return frame.f_code.co_name
        frame = frame.f_back  # of a function in which an estimator wraps what it was given
    return ""


def _nearest_call() -> str:
    """The function of `_CALLS` that calls, perhaps through functions of the user."""
    return _calling_function(next(_frames("lightgbm", "xgboost"), None))


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
