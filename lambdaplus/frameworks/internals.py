"""All uses of private interfaces of LightGBM and XGBoost, and of the call stack.

Neither framework is imported before it is needed.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from types import FrameType
from typing import Any, Literal
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.parallel import ON_EACH_THREAD


def lightgbm_parameter(params: dict[str, Any], name: str, default: Any = None) -> Any:
    """The value of one of LightGBM's parameters under any of its names."""
    return next((params[alias] for alias in lightgbm_aliases(name) if alias in params), default)


@lru_cache(maxsize=64)
def lightgbm_aliases(name: str) -> tuple[str, ...]:
    """All names of one of LightGBM's parameters."""
    from lightgbm import basic

    return name, *sorted(basic._ConfigAliases.get(name) - {name})


def lightgbm_parameters() -> dict[str, list[str]]:
    """The aliases of each of LightGBM 4's parameters, by its name."""
    from lightgbm import basic

    try:
        aliases: dict[str, list[str]] = basic._ConfigAliases._get_all_param_aliases()
    except AttributeError:
        raise ImportError("this needs LightGBM 4: pip install 'lightgbm>=4'") from None
    return aliases


def lightgbm_early_stopping(params: dict[str, Any], callbacks: Any) -> Literal["", "first", "all"]:
    """Which metrics early stopping watches: none if it is not used, the first one, or all."""
    first_only = [lightgbm_parameter(params, "first_metric_only", False)] * bool(
        int(lightgbm_parameter(params, "early_stopping_round") or 0) > 0
    )
    for callback in callbacks or ():
        if type(callback).__name__ == "_EarlyStoppingCallback":  # LightGBM 4
            first_only.append(callback.first_metric_only)
    return "" if not first_only else "first" if all(first_only) else "all"


def with_own_parameters(estimator: Any) -> Any:
    """Decorate a subclass of LightGBM's estimators: `_for_framework` drops its own parameters."""
    of_parent = estimator._process_params

    def _process_params(self: Any, stage: str) -> dict[str, Any]:  # for training and prediction
        params: dict[str, Any] = self._for_framework(of_parent(self, stage))
        return params

    estimator._process_params = _process_params
    return estimator


def lightgbm_attributes(model: Any, metric: str | None, **changed: Any) -> dict[str, Any]:
    """Attributes for one call of fit of a LightGBM estimator, which reads private ones, too.

    ``metric`` is LightGBM's parameter; None leaves it as it is.
    """
    if metric is not None:
        changed["_other_params"] = {**model._other_params, "metric": metric}
    if "class_weight" in changed:
        changed["_class_weight"] = None  # that of an earlier fit
    return changed


def set_lightgbm_objective(model: Any, objective: Any) -> None:
    """Set the objective of the next fit, and of `predict` after it."""
    model._objective = objective


def is_constructed(data: Any) -> bool:
    """Whether a lightgbm.Dataset is constructed, after which it may drop labels."""
    return bool(getattr(data, "_handle", None) or getattr(data, "handle", None))  # 4.x, 3.x


_own_metrics: WeakKeyDictionary[Any, frozenset[str]] = WeakKeyDictionary()  # of XGBoost's boosters


def own_metrics(booster: Any) -> frozenset[str]:
    """Names of the framework's metrics that a booster, which is evaluating, reports."""
    if type(booster).__module__.startswith("lightgbm"):
        return frozenset(getattr(booster, "_Booster__name_inner_eval", None) or ())
    if booster not in _own_metrics:
        metrics = json.loads(booster.save_config())["learner"]["metrics"]
        _own_metrics[booster] = frozenset(metric["name"] for metric in metrics)
    return _own_metrics[booster]


def _in_memory(address: Any, number: Any, size: int) -> NDArray[Any]:
    """The numbers of this type at an address, (size,), read-only and without a copy."""
    array = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(number)), (size,))
    array.flags.writeable = False
    return array


def lightgbm_field(data: Any, name: str) -> NDArray[Any] | None:
    """A field of a constructed lightgbm.Dataset; do not keep or change the array.

    It is LightGBM's own memory, which ``get_field`` would copy.  That of "group" has the first row
    of each query.
    """
    from lightgbm import basic

    handle = getattr(data, "_handle" if hasattr(data, "_handle") else "handle")  # LightGBM 4, 3
    if handle is None:  # not constructed: LightGBM's own error
        return data.get_field(name)  # type: ignore[no-any-return]
    size, kind, address = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    basic._safe_call(
        basic._LIB.LGBM_DatasetGetField(
            handle, name.encode(), *map(ctypes.byref, (size, address, kind))
        )
    )
    if not size.value:
        return None
    number = {0: ctypes.c_float, 1: ctypes.c_double, 2: ctypes.c_int32}[kind.value]
    return _in_memory(address, number, size.value)


def xgboost_field(data: Any, name: str) -> NDArray[Any]:
    """A field of an xgboost.DMatrix, empty if it has none; do not keep or change the array.

    Fields are "label", "weight", "base_margin" and "group_ptr".  It is XGBoost's own memory, which
    ``get_float_info`` would copy, or return as a CuPy array if it was used on a GPU.
    """
    from xgboost import core

    kind, number = ("UInt", ctypes.c_uint) if name == "group_ptr" else ("Float", ctypes.c_float)
    size, address = core.c_bst_ulong(), ctypes.c_void_p()
    read = getattr(core._LIB, f"XGDMatrixGet{kind}Info")
    core._check_call(read(data.handle, name.encode(), ctypes.byref(size), ctypes.byref(address)))
    return _in_memory(address, number, size.value) if size.value else np.empty(0)


@lru_cache(maxsize=2)
def openmp_functions(framework: Literal["lightgbm", "xgboost"]) -> tuple[Any, Any] | None:
    """``GOMP_parallel`` and ``omp_get_max_threads`` of the OpenMP library of an imported framework.

    None if it is built without OpenMP, or with Microsoft's.  Those of GNU, LLVM and Intel have
    these functions.  Two frameworks in one process may have two of them.
    """
    try:
        library: Any = getattr(sys.modules.get(framework), _MODULE_OF_LIBRARY[framework])._LIB
        parallel, most = library["GOMP_parallel"], library["omp_get_max_threads"]
    except AttributeError:
        return None
    parallel.restype = None
    parallel.argtypes = [ON_EACH_THREAD, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    return parallel, most


_MODULE_OF_LIBRARY = {"lightgbm": "basic", "xgboost": "core"}


def calling_booster() -> Any:
    """The Booster that calls an objective or metric; None if there is none.

    The data set that they are called with does not have the parameters of the training.
    """
    return _caller("Booster")


def xgboost_type_of_file(booster: Any) -> str | None:
    """What XGBoost's estimator that saved this booster called itself; None if none did."""
    saved = booster.attr("scikit_learn")
    return None if saved is None else json.loads(saved).get("_estimator_type")


def named_for_files(kind: str | None) -> dict[str, Any]:
    """Attributes of an estimator that saves and loads models under this name, if any.

    XGBoost's estimators refuse models of other names.
    """
    return {} if kind is None else {"_get_type": lambda: kind}


_undirected: WeakSet[Any] = WeakSet()  # XGBoost's early stoppings that choose their direction


def maximise_early_stopping(metric: Any, names: Collection[str]) -> None:
    """Let early stopping of the XGBoost training that evaluates this metric maximise it.

    XGBoost's early stopping minimises metrics whose names it does not know.  Its direction is set
    if the metric, which reports these names, is itself what the training was given to evaluate.  A
    metric that is called by something else, such as another metric or a callback, does not know
    what becomes of its values: a ValueError is raised if XGBoost minimises one of these names.
    """
    container = _caller("CallbackContainer")
    evaluated = getattr(container, "metric", None)
    given = evaluated is metric or metric in _decorated_by_xgboost(evaluated)
    for stop in getattr(container, "callbacks", ()):
        if type(stop).__name__ != "EarlyStopping":
            continue
        if given and stop.maximize is None and stop.metric_name in (None, *names):
            stop.maximize = True  # None: the last metric, which is the one that was given
        elif not given and not container.history and stop.maximize is None:
            _undirected.add(stop)
        elif not given and stop in _undirected and stop.maximize is False:
            _refuse_to_minimise(stop, container.history, names)


def _decorated_by_xgboost(function: Any) -> list[Any]:
    """What is within the function that XGBoost's estimators make of a callable metric."""
    if getattr(function, "__module__", None) != "xgboost.sklearn":
        return []
    return [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]


def _refuse_to_minimise(stop: Any, history: Mapping[str, Any], names: Collection[str]) -> None:
    data = history.get(stop.data or [*history][-1], {})
    watched = stop.metric_name or ["", *data][-1]
    if watched in names:
        raise ValueError(
            f"XGBoost's early stopping would minimise {watched!r}, since the metric of this "
            "training is a function that calls one of lambdaplus: pass maximize=True to train or "
            "EarlyStopping, or maximize=False if the function returns something else of that name"
        )


def callers(*modules: str, depth: int = 60) -> Iterator[FrameType]:
    """The functions of these modules or packages on the call stack, the innermost first.

    A hack, for what is known to the code that calls us, and is not passed on.  To do without:

    - LightGBM and XGBoost would pass the booster to objectives and metrics, which get labels and
      scores only.  It has the number of threads, the workers, the names of the framework's own
      metrics, and it tells the data of one training from that of another.
    - XGBoost's early stopping would ask a metric for its direction, and XGBRanker would call a
      metric once for all queries.
    - scikit-learn would tell `fit` which rows its model will be scored on.  Metadata routing passes
      the qid of the training rows only, and a scorer, which gets that of the others, cannot know
      whether a query of the same name is the same.
    """
    frame: FrameType | None = sys._getframe(1)
    for _ in range(depth):
        frame = frame.f_back if frame is not None else None
        if frame is None:
            return
        name = str(frame.f_globals.get("__name__"))
        if name in modules or name.partition(".")[0] in modules:
            yield frame


def _caller(class_name: str) -> Any:
    """The object of this class of LightGBM or XGBoost on the stack; None if there is none."""
    for frame in callers("lightgbm", "xgboost", depth=17):
        # Reading the locals of a frame keeps them alive, so do not read those of users.
        if "self" in frame.f_code.co_varnames:
            caller: Any = frame.f_locals.get("self")
            if type(caller).__name__ == class_name:
                return caller
    return None


def is_called_by_xgb_ranker() -> bool:
    """Whether XGBRanker calls a metric, with one query: it weights the values by query size."""
    caller = sys._getframe(2)
    module, function = caller.f_globals.get("__name__"), caller.f_code.co_name
    return (module, function) == ("xgboost.sklearn", "task")


def is_called_as_metric() -> bool:
    """Whether LightGBM or XGBoost calls an objective that was passed as a metric."""
    caller = sys._getframe(2)
    framework = str(caller.f_globals.get("__name__")).partition(".")[0]
    function = caller.f_code.co_qualname.lower()
    return framework in ("lightgbm", "xgboost") and ("eval" in function or "metric" in function)
