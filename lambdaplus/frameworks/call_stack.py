"""What the frameworks do not pass to objectives and metrics, from the call stack.

Only this file reads the call stack, but for the line that a warning names.  It is read for

- the booster that is trained, by which its `Training` is found, and what a function is called as
  (`find_caller`).  One data set may be of several trainings at once, so only the booster tells them
  apart, in each call; it is in one of the nearest frames;
- XGBoost's early stopping, which does not ask a metric for its direction
  (`maximise_early_stopping`);
- copies of LightGBM's parameters, which must not copy what the user reads after the training
  (`is_copied_by_lightgbm`);
- the splits of scikit-learn, which do not say which rows they are, and what its searches compare
  (`splits_of_scikit_learn`, `frames_of_scikit_learn`, `scores_of`).
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any, Literal, NamedTuple

from lambdaplus.compute.messages import warn
from lambdaplus.frameworks.data_sets import framework_of
from lambdaplus.frameworks.internals import private, private_attribute
from lambdaplus.frameworks.trainings import Training

_FRAMEWORKS = ("lightgbm", "xgboost")
_CALLS: dict[str, Literal["metric", "objective"]] = {  # the last one is of XGBRanker
    "__inner_eval": "metric", "eval_set": "metric", "task": "metric",
    "update": "objective", "boost": "objective",
}  # fmt: skip
_FARTHEST = 30  # frames to the booster, with functions of the user between


class Caller(NamedTuple):
    """What calls an objective or metric."""

    booster: Any = None  # that is trained or evaluated; None in a call by hand
    function: str = ""  # the framework's, one of `_CALLS`
    is_direct: bool = False  # whether that function calls, without functions of the user between

    @property
    def takes_it_for(self) -> str:
        """What the framework was given it as: "metric", "objective" or, if unknown, ""."""
        return _CALLS.get(self.function, "") if self.is_direct else ""


def find_caller() -> Caller:
    """The Booster that calls an objective or metric of lambdaplus, and the function that does.

    The data set that they are called with does not have the parameters of the training.
    """
    lost = "objectives and metrics do not see the threads, workers and early stopping of a training"
    kinds = {framework: private(framework, "Booster", lost) for framework in _FRAMEWORKS}
    function, is_direct = "", True
    in_framework = left_framework = False
    for frame in _frames(_FARTHEST):
        package = _package(frame)
        if package in kinds:
            in_framework = True
            if not (function or left_framework) and frame.f_code.co_name in _CALLS:
                function = frame.f_code.co_name
            kind, caller = kinds[package], _self_of(frame)
            if kind is not None and isinstance(caller, kind):
                return Caller(caller, function, is_direct)
        elif in_framework:
            left_framework = True
        elif package not in ("lambdaplus", "contextlib"):
            is_direct = False
    if function not in ("", "task"):
        warn(f"the Booster that calls cannot be found, so {lost}")
    return Caller(None, function, is_direct)


def maximise_early_stopping(
    metric: Any, names: Collection[str], training: Training, caller: Caller
) -> None:
    """Let early stopping of the XGBoost training that was given this metric maximise it.

    XGBoost's early stopping minimises metrics whose names it does not know.  A metric that is
    called by a callback changes nothing, and of one that a function of the user calls, it is warned
    once that it may be minimised.
    """
    if framework_of(caller.booster) != "xgboost":
        return
    lost = "XGBoost's early stopping minimises metrics of lambdaplus such as mrr"
    kind = private("xgboost", "callback.CallbackContainer", lost)
    selves = () if kind is None else map(_self_of, _frames(_FARTHEST, "xgboost"))
    container = next((found for found in selves if isinstance(found, kind)), None)
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
        elif unknown and caller.function == "eval_set" and not training.has_warned_of_minimising:
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


def is_copied_by_lightgbm() -> bool:
    """Whether the object that calls this is copied with the parameters of a LightGBM training."""
    frame = sys._getframe(2)
    while _package(frame) == "copy" and frame.f_back is not None:
        frame = frame.f_back
    return _package(frame) == "lightgbm"


def splits_of_scikit_learn() -> Iterator[dict[str, Any]]:
    """The variables of scikit-learn's functions that call, from that of a split of X outwards."""
    found = False
    for frame in _frames(1000, "sklearn"):
        found |= {"X", "train", "test"} <= {*frame.f_code.co_varnames}
        if found:
            yield frame.f_locals


def scores_of(scorer: Any) -> list[Any]:
    """What a scorer of scikit-learn, or several, calls: functions, or the word "score".

    That is the method of the estimator.
    """
    several = getattr(scorer, "_scorers", None)
    scorers = [*several.values()] if isinstance(several, dict) else [scorer]
    is_method = (type(one).__name__ == "_PassthroughScorer" for one in scorers)
    functions = (getattr(one, "_score_func", one) for one in scorers)
    return [
        "score" if method else function
        for method, function in zip(is_method, functions, strict=True)
    ]


def frames_of_scikit_learn() -> Iterator[dict[str, Any]]:
    """The variables of scikit-learn's functions that call, outwards."""
    return (frame.f_locals for frame in _frames(1000, "sklearn"))


def _frames(most: int, *packages: str) -> Iterator[FrameType]:
    """So many frames, from the one that calls this outwards; only those of the packages, if any."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(most):
        if frame is None:
            return
        if not packages or _package(frame) in packages:
            yield frame
        frame = frame.f_back


def _self_of(frame: FrameType) -> Any:
    """The object whose method this is, if any; of frameworks only.

    Reading the locals of a frame keeps them alive, so those of users are not read.
    """
    return frame.f_locals.get("self") if "self" in frame.f_code.co_varnames else None


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]
