"""All uses of private interfaces of LightGBM and XGBoost but those of `call_stack`.

Neither framework is imported before it is needed.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.messages import hint, warn
from lambdaplus.frameworks.data_sets import framework_of
from lambdaplus.lists.columns import from_gpu, native


def private(framework: str, path: str, lost: str) -> Any:
    """What an imported framework has under this name; without it, None, and a warning of the loss.

    A framework that is not imported has nothing, of which nobody is warned.
    """
    found = sys.modules.get(framework)
    if found is None:
        return None
    for name in path.split("."):
        found = getattr(found, name, None)
    if found is None:
        _warn_of_missing(framework, path, lost)
    return found


def private_attribute(framework: str, owner: Any, names: Collection[str], lost: str) -> Any:
    """The first of these attributes that an object has; without any, None, and a warning."""
    for name in names:
        if hasattr(owner, name):
            return getattr(owner, name)
    _warn_of_missing(framework, f"{type(owner).__name__}.{next(iter(names))}", lost)
    return None


def _warn_of_missing(framework: str, path: str, lost: str) -> None:
    warn(_missing(framework, path, f", so {lost}"))


def _missing(framework: str, path: str, lost: str = "") -> str:
    version = getattr(sys.modules.get(framework), "__version__", "")
    return (
        f"{framework} {version} has no {path}, which lambdaplus uses{lost}: install a version "
        f"of {framework} that lambdaplus was tested with, as by pip install 'lambdaplus[all]'"
    )


def required(framework: str, owner: Any, name: str) -> Any:
    """A private attribute without which lambdaplus cannot do what it is asked to.

    Without it, an AttributeError is raised that says which version of the framework has none.
    """
    found = getattr(owner, name, None)
    if found is None:
        raise AttributeError(_missing(framework, name))
    return found


def attribute_of(framework: Any, name: str, ours: str) -> Any:
    """A name of a framework, which our module of this name has, too.

    An AttributeError is raised for others, with the most similar name.
    """
    try:
        return getattr(framework, name)
    except AttributeError:
        known = {*dir(framework), *vars(sys.modules[ours])}
        version = getattr(framework, "__version__", "")
        raise AttributeError(
            f"neither {ours} nor {framework.__name__} {version} has {name}{hint(name, known)}"
        ) from None


def lightgbm_parameter(params: dict[str, Any], name: str, default: Any = None) -> Any:
    """The value of one of LightGBM's parameters under any of its names."""
    return next((params[alias] for alias in lightgbm_aliases(name) if alias in params), default)


@lru_cache(maxsize=64)
def lightgbm_aliases(name: str) -> tuple[str, ...]:
    """All names of one of LightGBM's parameters."""
    from lightgbm import basic

    return name, *sorted(required("lightgbm", basic, "_ConfigAliases").get(name) - {name})


def lightgbm_parameters() -> dict[str, list[str]]:
    """The aliases of each of LightGBM 4's parameters, by its name."""
    from lightgbm import basic

    try:
        aliases: dict[str, list[str]] = basic._ConfigAliases._get_all_param_aliases()
    except AttributeError:
        raise ImportError("this needs LightGBM 4: pip install 'lightgbm>=4'") from None
    return aliases


def lightgbm_stops_early(params: dict[str, Any], callbacks: Any, by_all: bool = False) -> bool:
    """Whether a training of LightGBM uses early stopping; with ``by_all``, by any metric."""
    kind = None
    if not str(getattr(sys.modules.get("lightgbm"), "__version__", "")).startswith("3."):
        # Those of LightGBM 3 are functions, which are not looked into.
        kind = private("lightgbm", "callback._EarlyStoppingCallback", "early stopping is not seen")
    stops = [one for one in callbacks or () if kind is not None and isinstance(one, kind)]
    if int(lightgbm_parameter(params, "early_stopping_round") or 0) > 0:
        return not by_all or not lightgbm_parameter(params, "first_metric_only", False)
    return any(not by_all or not getattr(one, "first_metric_only", False) for one in stops)


def learnt_by_lightgbm(model: Any) -> dict[str, Any]:
    """The attributes of one of LightGBM's estimators that `fit` sets."""
    parameters = {*model.get_params(), "_other_params"}
    return {name: value for name, value in vars(model).items() if name not in parameters}


def hiding_own_parameters(kind: Any) -> Any:
    """A class of LightGBM's estimators, which gives LightGBM none of its ``_own_parameters``.

    It is no base class, since `get_params` of LightGBM looks for that of the first two bases.
    """

    def params_for(self: Any, stage: str) -> dict[str, Any]:
        params = required("lightgbm", super(kind, self), "_process_params")(stage)
        return {name: value for name, value in params.items() if name not in self._own_parameters}

    kind._process_params = params_for
    return kind


class LastScores:
    """A callback of LightGBM that keeps the scores of the training rows after the last round.

    A training that early stopping ends has none, since its model is that of an earlier round.
    """

    order = 100  # after early stopping, which raises an exception in the last round
    scores: NDArray[np.float64] | None = None

    def __call__(self, state: Any) -> None:
        if state.iteration + 1 == state.end_iteration:
            names, lost = ["_Booster__inner_predict"], "scores are predicted again, which is slower"
            read = private_attribute("lightgbm", state.model, names, lost)
            self.scores = None if read is None else np.array(read(data_idx=0))


def is_constructed(data: Any) -> bool:
    """Whether a lightgbm.Dataset is constructed, after which it may drop labels."""
    names = ("_handle", "handle")  # of LightGBM 4 and 3
    lost = "labels and weights that are not finite are not refused"
    return bool(private_attribute("lightgbm", data, names, lost))


@contextmanager
def lack_of_features_explained() -> Iterator[None]:
    """Raise a ValueError for the check on which LightGBM ends a training without any split.

    With its own objectives, trees have no split then.
    """
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "LightGBMError" and "num_features()) > (0)" in str(error):
            raise ValueError(
                "LightGBM finds no feature that it may split: each is constant, or too few rows "
                "have other values than the rest. With few rows, set min_child_samples "
                "(min_data_in_leaf), 20 by default, to less than half of them, such as 5"
            ) from error
        raise


def construct_for(data: Any, params: dict[str, Any]) -> None:
    """Read a lightgbm.Dataset with the parameters of a training, as the training would."""
    update = required("lightgbm", data, "_update_params")
    update({name: value for name, value in params.items() if not callable(value)}).construct()


def xgboost_learner(booster: Any) -> dict[str, Any]:
    """The configuration of an XGBoost booster."""
    learner: dict[str, Any] = json.loads(booster.save_config())["learner"]
    return learner


def own_metrics(booster: Any) -> frozenset[str]:
    """Names of the framework's metrics that a booster, which is evaluating, reports."""
    if framework_of(booster) == "lightgbm":
        lost = "metrics of the same name as LightGBM's are recorded in turn under that name"
        some = private_attribute("lightgbm", booster, ["_Booster__num_inner_eval"], lost)
        return frozenset(booster._Booster__name_inner_eval if some else ())
    return frozenset(metric["name"] for metric in xgboost_learner(booster)["metrics"])


def library_of(framework: Literal["lightgbm", "xgboost"]) -> Any:
    """The shared library of an imported framework; an AttributeError if there is none."""
    path = {"lightgbm": "basic._LIB", "xgboost": "core._LIB"}[framework]
    library = private(framework, path, "gradients are computed on other threads, which is slower")
    if library is None:
        raise AttributeError(path)
    return library


def xgboost_field(data: Any, name: str) -> NDArray[Any]:
    """A field of an xgboost.DMatrix, empty if it has none: "label", "weight", "group_ptr", ..."""
    read = data.get_uint_info if name == "group_ptr" else data.get_float_info
    field: NDArray[Any] = from_gpu(read(name))
    return field


def xgboost_field_in_place(data: Any, name: str) -> NDArray[Any]:
    """The same in the memory of the DMatrix, where it is valid until something is set.

    `xgboost_field` copies it, and XGBoost defines a class in each call, for which three fields take
    a third of the time of a gradient of few rows.  Fields on a GPU are copied, and all fields in
    versions without this function.
    """
    library = private("xgboost", "core._LIB", "fields of a DMatrix are read more slowly")
    where = ctypes.c_char_p()
    read = getattr(library, "XGDMatrixGetInfoRef", None)
    if read is None or read(data.handle, name.encode(), ctypes.byref(where)) or not where.value:
        return xgboost_field(data, name)
    described = json.loads(where.value)
    if "stream" in described:
        return xgboost_field(data, name)
    given = {key: tuple(v) if isinstance(v, list) else v for key, v in described.items()}
    return np.asarray(SimpleNamespace(__array_interface__=given))


def xgboost_matrices(model: Any, call: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The training data of a fit of XGBoost's estimators, its named evaluation sets, and the start.

    These are what its ``fit`` trains on.  That of XGBRanker takes no function as objective.
    """
    from xgboost import sklearn

    names = ("X", "y", "group", "sample_weight", "base_margin", "feature_weights", "eval_set",
             "sample_weight_eval_set", "base_margin_eval_set", "eval_group")  # fmt: skip
    given = {name: call.get(name) for name in names}
    if given["feature_weights"] is None:
        given["feature_weights"] = native(getattr(model, "feature_weights", None))  # XGBoost 3
    start, types = call.get("xgb_model"), model.feature_types
    if isinstance(start, sklearn.XGBModel):
        start = start.get_booster()
    if hasattr(sklearn, "get_model_categories"):  # XGBoost 3.1
        start, types = sklearn.get_model_categories(given["X"], start, types)
    wrap = required("xgboost", sklearn, "_wrap_evaluation_matrices")
    train, evals = wrap(
        **given, qid=None, eval_qid=None, missing=model.missing, feature_types=types,
        create_dmatrix=required("xgboost", model, "_create_dmatrix"),
        enable_categorical=model.enable_categorical,
    )  # fmt: skip
    return train, evals, start


def metric_for_xgboost(model: Any, function: Any) -> Any:
    """A function of labels and scores, as `xgboost.train` calls that of an estimator."""
    from xgboost import sklearn

    if isinstance(model, sklearn.XGBRanker):
        return required("xgboost", sklearn, "ltr_metric_decorator")(function, model.n_jobs)
    return required("xgboost", sklearn, "_metric_decorator")(function)


def set_booster(model: Any, booster: Any, curves: dict[str, Any]) -> None:
    """Make one of XGBoost's estimators a model that was trained."""
    model._Booster, model.evals_result_ = booster, curves or None


def xgboost_stops(model: Any, name: str) -> bool:
    """Whether early stopping of one of XGBoost's estimators, by its last metric, reads its name."""
    from xgboost.callback import EarlyStopping

    free = any(
        isinstance(one, EarlyStopping) and one.maximize is None and one.metric_name in (None, name)
        for one in model.callbacks or ()
    )
    return free or bool(model.early_stopping_rounds)
