"""LightGBM with `fobj=` in every version, and cross-validation that keeps queries together.

``import lambdaplus.lightgbm as lgb`` provides all names of LightGBM, with its own `train` and `cv`.

Examples
--------
>>> import numpy as np, lambdaplus as lp, lambdaplus.lightgbm as lgb
>>> X = np.random.default_rng(0).normal(size=(300, 3))
>>> data = lgb.Dataset(X, label=(X[:, 0] > 1).astype(int), group=[10] * 30)
>>> booster = lgb.train({"verbose": -1}, data, num_boost_round=5, fobj=lp.lambda_map)
>>> booster.num_trees()
5
"""

import inspect
import os
import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from lambdaplus.compute.arguments import refuse_infinite
from lambdaplus.compute.extras import installation
from lambdaplus.evaluation import EvalMetric
from lambdaplus.frameworks.calls import refuse_bagging_by_query
from lambdaplus.frameworks.data_sets import readable
from lambdaplus.frameworks.internals import (
    is_constructed,
    lightgbm_aliases,
    lightgbm_early_stopping,
    lightgbm_parameter,
)
from lambdaplus.frameworks.query_splitter import query_splitter
from lambdaplus.frameworks.unused_parameters import warn_of_unused
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import find_objective, unknown_objective_explained

try:
    import lightgbm
except ImportError as error:  # pragma: no cover
    raise ImportError(f"LightGBM is not installed: {installation('lightgbm')}") from error

_TAKES_FOBJ = int(lightgbm.__version__.partition(".")[0]) < 4


def __getattr__(name: str) -> Any:
    return getattr(lightgbm, name)


def train(
    params: dict[str, Any], train_set: Any, *args: Any, fobj: Any = None, **kwargs: Any
) -> Any:
    """Like ``lightgbm.train``, with custom objectives in any version of LightGBM.

    Parameters
    ----------
    params : dict
        ``objective`` may be a metric, such as ``"ndcg@10"`` or ``"map + 0.5*mrr"``, or a custom
        objective.
    train_set : lightgbm.Dataset
    *args, **kwargs
        Other arguments of ``lightgbm.train``.
    fobj : str, metric or callable, optional
        Objective, instead of the one in ``params``.

    Returns
    -------
    lightgbm.Booster

    Raises
    ------
    ValueError
        For an objective that cannot be one of LightGBM, either; for a custom one with
        ``bagging_by_query=True``, with which LightGBM learns nothing,
        with ``boosting="rf"``, or with early stopping and no metric; for a data set that is not
        constructed yet and has no labels, columns of text, categories or dates in a polars or
        pyarrow frame, on which LightGBM 4.7 ends Python, NaN or infinite labels or weights, which
        LightGBM would silently replace, or whole numbers from 2**31 on, which it would wrap; and
        for a ``feval`` that is not a function, or is an objective.

    Warns
    -----
    UserWarning
        For parameters that have no effect on a custom objective, such as ``label_gain``; and if
        early stopping watches ``feval`` and also the default metric of LightGBM's own objective,
        which a custom objective does not have, so that the two would stop by different rules.

    Examples
    --------
    >>> import numpy as np, lambdaplus.lightgbm as lgb
    >>> from lambdaplus import lambda_map
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> data = lgb.Dataset(X, X[:, 0] > 1, group=[10] * 20)
    >>> lgb.train({"verbose": -1}, data, num_boost_round=3, fobj=lambda_map).num_trees()
    3
    """
    call, explained = _checked(lightgbm.train, fobj, params, train_set, *args, **kwargs)
    with explained:
        return lightgbm.train(**call)


def cv(params: dict[str, Any], train_set: Any, *args: Any, fobj: Any = None, **kwargs: Any) -> Any:
    """Like ``lightgbm.cv``, keeping queries together, with custom objectives as in `train`.

    ``lightgbm.cv`` itself would stratify by row and split queries.

    Parameters
    ----------
    params, train_set, fobj
        As in `train`.  If the data is in a file, its groups are only known after
        ``train_set.construct()``.
    *args, **kwargs
        Other arguments of ``lightgbm.cv``.  If the data has groups and ``folds=`` is not given,
        queries are split into ``nfold`` folds (5 by default), shuffled with ``seed`` (0 by default)
        unless ``shuffle=False``.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        As in `train`; and by our objectives, if ``folds=`` splits queries.

    Examples
    --------
    >>> import numpy as np, lambdaplus.lightgbm as lgb
    >>> from lambdaplus import eval_map, lambda_map
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> data = lgb.Dataset(X, X[:, 0] > 1, group=[10] * 20)
    >>> found = lgb.cv({"verbose": -1, "metric": "None"}, data, 3, fobj=lambda_map, feval=eval_map)
    >>> sorted(found)
    ['valid map-mean', 'valid map-stdv']
    """
    call, explained = _checked(lightgbm.cv, fobj, params, train_set, *args, **kwargs)
    if call.get("folds") is None and _has_groups(train_set):
        call["folds"] = query_splitter(call, n_folds=5)
    with explained:
        return lightgbm.cv(**call)


def _checked(function: Any, fobj: Any, params: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    """The arguments of LightGBM's train or cv by name, with the objective where it is read.

    And a context that explains the error for an objective that nobody knows.
    """
    names = lightgbm_aliases("objective")
    refuse_wrapped(params)
    given = lightgbm_parameter(params, "objective") if fobj is None else fobj
    fobj = find_objective(given)
    if callable(fobj):
        refuse_bagging_by_query(params)
        refuse_random_forest(lightgbm_parameter(params, "boosting"))
        warn_of_unused(params, fobj, stacklevel=4)
    if fobj is not None:
        params = {name: value for name, value in params.items() if name not in names}
        by_argument = _TAKES_FOBJ and callable(fobj)
        (kwargs if by_argument else params)["fobj" if by_argument else "objective"] = fobj
    call = inspect.signature(function).bind(params, *args, **kwargs).arguments
    _refuse_unusable("train_set", call["train_set"])
    for i, data in enumerate(_listed(call.get("valid_sets"))):
        if data is not call["train_set"]:
            _refuse_unusable(f"valid_sets[{i}]", data)
    _refuse_name(call.get("feval"))
    _check_early_stopping(params, call, custom=callable(fobj))
    return call, unknown_objective_explained(fobj, "LightGBM")


def _listed(values: Any) -> Any:
    return values if isinstance(values, list | tuple) else [values]


def refuse_random_forest(boosting: Any) -> None:
    """Raise a ValueError for LightGBM's random forests, which take no custom objective."""
    if boosting in ("rf", "random_forest"):
        raise ValueError(
            f"LightGBM has no custom objectives with boosting={boosting!r}: use 'gbdt' with "
            "bagging_fraction and bagging_freq, or XGBoost's num_parallel_tree"
        )


def refuse_wrapped(params: Mapping[str, Any]) -> None:
    """Raise a ValueError for whole numbers of which LightGBM would take the last 32 bits."""
    for name, value in params.items():
        beyond = isinstance(value, Integral) and not -(2**31) <= int(value) < 2**31
        if beyond and not name.endswith(("seed", "random_state")):
            raise ValueError(f"{name}={value} is beyond 2**31 - 1, the largest that LightGBM has")


def _refuse_unusable(name: str, data: Any) -> None:
    """Raise a ValueError for data that LightGBM would silently replace, or end Python on."""
    if not isinstance(data, lightgbm.Dataset) or is_constructed(data):
        return
    data.data = readable(name, data.data, "LightGBM")
    in_file = isinstance(data.data, str | os.PathLike)
    if data.label is None and not in_file and getattr(data, "used_indices", None) is None:
        raise ValueError(f"{name} has no labels: pass lightgbm.Dataset(X, label=y)")
    for what, values in (("labels", data.label), ("weights", data.weight)):
        if values is not None:
            array, why = np.asarray(values, np.float64), ", and LightGBM would silently replace it"
            refuse_infinite(array.ravel(), f"the {what} of {name}", why)


def _refuse_name(feval: Any) -> None:
    """Raise a ValueError for a feval that is no metric, such as the name of one."""
    for metric in _listed(feval):
        if metric is not None and (not callable(metric) or isinstance(metric, Objective)):
            raise ValueError(
                f"feval={metric!r} is not a function that evaluates: pass "
                "lambdaplus.eval_metric(...), or the name of a metric of LightGBM as "
                "params['metric']"
            )


def _check_early_stopping(params: dict[str, Any], call: dict[str, Any], custom: bool) -> None:
    """Raise a ValueError if there is nothing to watch; warn if there is more than ``feval``."""
    if lightgbm_parameter(params, "metric") is not None:
        return
    stopping = lightgbm_early_stopping(params, call.get("callbacks"))
    feval = call.get("feval")
    if stopping and custom and feval is None:
        raise ValueError(
            "early stopping needs a metric, and a custom objective has none by default: pass "
            "feval=lambdaplus.eval_metric('map'), for example"
        )
    ours = any(isinstance(metric, EvalMetric) for metric in _listed(feval))
    if stopping == "all" and not custom and ours:
        objective = lightgbm_parameter(params, "objective", "regression")
        warnings.warn(
            f"early stopping watches the default metric of {objective!r} besides feval, and stops "
            "as soon as one of them does not improve. A custom objective has no default metric: "
            "for a fair comparison pass metric='None', with which feval alone decides",
            stacklevel=4,
        )


def _has_groups(data: Any) -> bool:
    while data is not None:
        if (data.get_field("group") if is_constructed(data) else data.group) is not None:
            return True
        # A subset that is not constructed yet gets its queries from the original data set.
        data = data.reference if getattr(data, "used_indices", None) is not None else None
    return False
