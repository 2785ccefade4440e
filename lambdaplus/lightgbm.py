"""LightGBM with `fobj=` in every version, and cross-validation that keeps queries together.

``import lambdaplus.lightgbm as lgb`` provides all names of LightGBM, with other `train` and `cv`:

    lgb.train(params, train_set, fobj=lambda_auc, feval=eval_metric("auc"))
    lgb.cv(params, train_set, fobj=lambda_map, feval=eval_metric("map"))

Examples
--------
>>> import numpy as np, lambdaplus as lp, lambdaplus.lightgbm as lgb
>>> X = np.random.default_rng(0).normal(size=(300, 3))
>>> data = lgb.Dataset(X, label=(X[:, 0] > 1).astype(int), group=[10] * 30)
>>> booster = lgb.train({"verbose": -1}, data, num_boost_round=5, fobj=lp.lambda_map)
>>> booster.num_trees()
5
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lambdaplus.frameworks.calls import refuse_bagging_by_query, warn_of_unused
from lambdaplus.frameworks.internals import is_constructed, lightgbm_aliases

try:
    import lightgbm
except ImportError as error:  # pragma: no cover
    raise ImportError("LightGBM is not installed: pip install 'lambdaplus[lightgbm]'") from error

_TAKES_FOBJ = int(lightgbm.__version__.partition(".")[0]) < 4


def __getattr__(name: str) -> Any:
    """All other names are LightGBM's."""
    return getattr(lightgbm, name)


def train(
    params: dict[str, Any], train_set: Any, *args: Any, fobj: Any = None, **kwargs: Any
) -> Any:
    """Like ``lightgbm.train``, with a custom objective as ``fobj=`` or in params in any version.

    All other arguments and the result are those of ``lightgbm.train``.

    Raises
    ------
    ValueError
        For a custom objective with ``bagging_by_query=True``, which would learn nothing; and for
        data sets without labels, or with NaN or infinite labels or weights, which LightGBM
        silently replaces by 0.  These can only be detected before a data set is constructed.
        Also for data with too few rows or constant features only, which cannot be split.

    Warns
    -----
    UserWarning
        For parameters that have no effect on a custom objective.
    """
    params, more = _with_objective(params, fobj)
    call = inspect.signature(lightgbm.train).bind(params, train_set, *args, **kwargs).arguments
    _refuse_unusable("train_set", train_set)
    valid_sets = call.get("valid_sets")
    for i, data in enumerate(valid_sets if isinstance(valid_sets, list | tuple) else [valid_sets]):
        if data is not train_set:
            _refuse_unusable(f"valid_sets[{i}]", data)
    with constant_features_explained():
        return lightgbm.train(**call, **more)


def cv(params: dict[str, Any], train_set: Any, *args: Any, fobj: Any = None, **kwargs: Any) -> Any:
    """Like ``lightgbm.cv``, with ``fobj=`` in any version, and keeping queries together.

    If the data has groups and ``folds=`` is not given, queries are split into ``nfold`` folds (5
    by default), shuffled with ``seed`` (0 by default) unless ``shuffle=False``.  ``lightgbm.cv``
    itself would stratify by row and split every query.  The groups of data in a file are only known
    after ``train_set.construct()`` (our objectives raise an error if queries are split anyway).
    All other arguments and the result are those of ``lightgbm.cv``; errors and warnings are those
    of `train`.
    """
    params, more = _with_objective(params, fobj)
    _refuse_unusable("train_set", train_set)
    call = inspect.signature(lightgbm.cv).bind(params, train_set, *args, **kwargs).arguments
    if call.get("folds") is None and _has_groups(train_set):
        from sklearn.model_selection import GroupKFold

        shuffle = call.get("shuffle", True)
        seed = call.get("seed", 0) if shuffle else None
        call["folds"] = GroupKFold(call.get("nfold", 5), shuffle=shuffle, random_state=seed)
    with constant_features_explained():
        return lightgbm.cv(**call, **more)


@contextmanager
def constant_features_explained() -> Iterator[None]:
    """Say in words what LightGBM says by a failed check in its source code."""
    try:
        yield
    except lightgbm.basic.LightGBMError as error:
        if "num_features()) > (0)" not in str(error):
            raise
        raise ValueError(
            "LightGBM can split no feature of this training data: every one is constant, or has "
            "fewer than min_data_in_leaf rows (min_child_samples, 20 by default) on one side of "
            "each split. Lower it, or add rows"
        ) from error


def _refuse_unusable(name: str, data: Any) -> None:
    """Raise a ValueError for labels and weights that LightGBM would replace, if they are known."""
    if not isinstance(data, lightgbm.Dataset) or is_constructed(data):
        return
    in_file = isinstance(data.data, str | os.PathLike)
    if data.label is None and not in_file and getattr(data, "used_indices", None) is None:
        raise ValueError(f"{name} has no labels: pass lightgbm.Dataset(X, label=y)")
    for what, values in (("labels", data.label), ("weights", data.weight)):
        array = np.ravel([] if values is None else np.asarray(values, dtype=np.float64))
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise ValueError(
                f"the {what} of {name} must be finite: {bad.size} of {array.size} are not, the "
                f"first is {array[bad[0]]} in row {bad[0]}, and LightGBM would silently replace it"
            )


def _has_groups(data: Any) -> bool:
    while data is not None:
        if (data.get_field("group") if is_constructed(data) else data.group) is not None:
            return True
        # A subset that is not constructed yet gets its queries from its original data set.
        data = data.reference if getattr(data, "used_indices", None) is not None else None
    return False


def _with_objective(params: dict[str, Any], fobj: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters and arguments with a custom objective where this version of LightGBM has it."""
    names = lightgbm_aliases("objective")
    if fobj is None:
        fobj = next((params[name] for name in names if callable(params.get(name))), None)
    if fobj is None:
        return params, {}
    refuse_bagging_by_query(params)
    warn_of_unused(params, fobj, stacklevel=4)
    params = {name: value for name, value in params.items() if name not in names}
    return (params, {"fobj": fobj}) if _TAKES_FOBJ else ({**params, "objective": fobj}, {})
