"""LightGBM with `fobj=` on every version, and cross-validation that keeps queries whole.

``import lambdaplus.lightgbm as lgb`` is LightGBM itself, but for `train` and `cv`:

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
from typing import Any

from lambdaplus.frameworks import refuse_bagging_by_query

try:
    import lightgbm
except ImportError as error:  # pragma: no cover
    raise ImportError("LightGBM is not installed: pip install 'lambdaplus[lightgbm]'") from error

_OBJECTIVE_NAMES = ("objective", "objective_type", "app", "application", "loss")
_TAKES_FOBJ = int(lightgbm.__version__.partition(".")[0]) < 4


def __getattr__(name: str) -> Any:
    """Everything else is LightGBM's."""
    return getattr(lightgbm, name)


def train(
    params: dict[str, Any], train_set: Any, *args: Any, fobj: Any = None, **kwargs: Any
) -> Any:
    """As ``lightgbm.train``, with the custom objective as ``fobj=`` or in params on any version.

    Parameters
    ----------
    params : dict
    train_set : lightgbm.Dataset
    *args, **kwargs
        Passed on to ``lightgbm.train``.
    fobj : callable, optional

    Returns
    -------
    lightgbm.Booster

    Raises
    ------
    ValueError
        For a custom objective with ``bagging_by_query=True``, which would learn nothing.
    """
    params, more = _with_objective(params, fobj)
    return lightgbm.train(params, train_set, *args, **{**more, **kwargs})


def cv(params: dict[str, Any], train_set: Any, *args: Any, fobj: Any = None, **kwargs: Any) -> Any:
    """As ``lightgbm.cv``, with ``fobj=`` on any version and queries kept whole.

    If the data has groups and no ``folds=`` are given, queries are dealt to ``nfold`` folds (5),
    shuffled by ``seed`` (0) unless ``shuffle=False``.  ``lightgbm.cv`` itself would stratify by
    row and cut every query apart.  Groups of data that is still in a file are not known yet:
    ``train_set.construct()`` it first (our objectives raise if queries are cut all the same).

    Parameters
    ----------
    params : dict
    train_set : lightgbm.Dataset
    *args, **kwargs
        Passed on to ``lightgbm.cv``.
    fobj : callable, optional

    Returns
    -------
    dict
    """
    params, more = _with_objective(params, fobj)
    call = inspect.signature(lightgbm.cv).bind(params, train_set, *args, **kwargs)
    given = {name: call.arguments[name] for name in list(call.arguments)[2:]}
    if given.get("folds") is None and _has_groups(train_set):
        from sklearn.model_selection import GroupKFold

        shuffle = given.get("shuffle", True)
        seed = given.get("seed", 0) if shuffle else None
        given["folds"] = GroupKFold(given.get("nfold", 5), shuffle=shuffle, random_state=seed)
    return lightgbm.cv(params, train_set, **{**more, **given})


def _has_groups(data: Any) -> bool:
    while data is not None:
        constructed = getattr(data, "_handle", None) or getattr(data, "handle", None)  # 4.x, 3.x
        if (data.get_field("group") if constructed else data.group) is not None:
            return True
        # A subset that is not constructed yet has its queries from where it was taken.
        data = data.reference if getattr(data, "used_indices", None) is not None else None
    return False


def _with_objective(params: dict[str, Any], fobj: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Put a custom objective where this version of LightGBM looks for it."""
    params = dict(params)
    for name in _OBJECTIVE_NAMES:
        if callable(params.get(name)):
            fobj = fobj if fobj is not None else params[name]
            del params[name]
    if fobj is None:
        return params, {}
    refuse_bagging_by_query(params)
    for name in _OBJECTIVE_NAMES:
        params.pop(name, None)
    if _TAKES_FOBJ:
        return params, {"fobj": fobj}
    return {**params, "objective": fobj}, {}
