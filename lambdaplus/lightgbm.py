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
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.compute.extras import installation
from lambdaplus.compute.messages import warn
from lambdaplus.data.splits import query_splitter
from lambdaplus.evaluation import EvalMetric
from lambdaplus.evaluation.lightgbm_metrics import refuse_metrics_lightgbm_ignores
from lambdaplus.frameworks.column_parameters import (
    by_names_of_lightgbm,
    refuse_forms_lightgbm_ignores,
    refuse_unknown_columns,
)
from lambdaplus.frameworks.data_sets import readable_by_lightgbm, refuse_other_features, width_of
from lambdaplus.frameworks.internals import (
    attribute_of,
    construct_for,
    is_constructed,
    lack_of_features_explained,
    lightgbm_aliases,
    lightgbm_parameter,
    lightgbm_stops_early,
)
from lambdaplus.frameworks.unused_parameters import warn_of_unused
from lambdaplus.frameworks.workers import refuse_bagging_by_query
from lambdaplus.lists.single_precision import refuse_unusable_start, warn_of_merged_labels
from lambdaplus.lists.vectors import as_sizes, refuse_infinite
from lambdaplus.objectives.by_name import (
    find_objective,
    refuse_no_function,
    unknown_objective_explained,
)

try:
    import lightgbm
except ImportError as error:  # pragma: no cover
    raise ImportError(f"LightGBM is not installed: {installation('lightgbm')}") from error

_TAKES_FOBJ = int(lightgbm.__version__.partition(".")[0]) < 4


def __getattr__(name: str) -> Any:
    return attribute_of(lightgbm, name, __name__)


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
        ``bagging_by_query=True``, with which LightGBM learns nothing; if no feature can be split,
        as on fewer rows than two leaves need; and of data sets that are not constructed yet, for
        NaN or infinite labels or weights, which LightGBM would silently replace, and for other
        features than those of ``train_set``, which it would take for those in their places; and for
        names of metrics, and numbers of columns, that LightGBM would ignore.

    Warns
    -----
    UserWarning
        For parameters that have no effect on a custom objective, such as ``label_gain``; and if
        early stopping by a metric of lambdaplus also watches LightGBM's default metric.

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
    with explained, lack_of_features_explained():
        return lightgbm.train(**call)


def cv(params: dict[str, Any], train_set: Any, *args: Any, fobj: Any = None, **kwargs: Any) -> Any:
    """Like ``lightgbm.cv``, keeping queries together, with custom objectives as in `train`.

    Folds have random queries.  ``lightgbm.cv`` itself takes queries in order for its own ranking
    objectives; for others it stratifies by row, and splits queries.

    Parameters
    ----------
    params, train_set, fobj
        As in `train`.  Data in a file is read first, for its groups.
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
        As in `train`; and by our objectives, if ``folds=`` splits queries, or repeats rows.

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
    if not isinstance(train_set, lightgbm.Dataset):
        raise TypeError(f"train_set must be a Dataset, not {type(train_set).__name__}")
    if isinstance(train_set.data, str | Path) and not is_constructed(train_set):
        construct_for(train_set, call["params"])
    if call.get("folds") is None and _has_groups(train_set):
        call["folds"] = query_splitter(
            call.get("nfold", 5), call.get("shuffle", True), call.get("seed", 0)
        )
    with explained, lack_of_features_explained():
        return lightgbm.cv(**call)


def _checked(function: Any, fobj: Any, params: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    """The arguments of LightGBM's train or cv by name, with the objective where it is read.

    And a context that explains the error for an objective that nobody knows.
    """
    names = lightgbm_aliases("objective")
    given = lightgbm_parameter(params, "objective") if fobj is None else fobj
    fobj = find_objective(given)
    if callable(fobj):
        refuse_bagging_by_query(params)
        warn_of_unused(params, fobj)
    if fobj is not None:
        params = {name: value for name, value in params.items() if name not in names}
        by_argument = _TAKES_FOBJ and callable(fobj)
        (kwargs if by_argument else params)["fobj" if by_argument else "objective"] = fobj
    call = inspect.signature(function).bind(params, *args, **kwargs).arguments
    refuse_no_function(call.get("feval"))
    _refuse_ignored_metric(call["params"], call.get("feval"))
    _warn_of_default_metric(call["params"], call.get("feval"), call.get("callbacks"))
    valid, feval = call.get("valid_sets"), call.get("feval")
    sets = {"train_set": call["train_set"]}
    for i, data in enumerate(valid if isinstance(valid, list | tuple) else [valid]):
        if data is not call["train_set"]:
            sets[f"valid_sets[{i}]"] = data
    have_own = any(
        getattr(one, "has_own_labels", False) or getattr(one, "own", ())
        for one in (fobj, *(feval if isinstance(feval, list) else [feval]))
    )
    _refuse_unusable_columns(call["params"], call["train_set"])
    for name, data in sets.items():
        _refuse_unusable(name, data, needs_labels=not have_own)
        if isinstance(data, lightgbm.Dataset) and not is_constructed(data):
            refuse_other_features(name, data.data, getattr(call["train_set"], "data", None))
    return call, unknown_objective_explained(fobj, "LightGBM")


def _refuse_ignored_metric(params: dict[str, Any], feval: Any) -> None:
    """Raise a ValueError for a name of a metric that LightGBM, and feval, would not evaluate."""
    given = [one for one in (feval if isinstance(feval, list | tuple) else [feval]) if one]
    if all(isinstance(one, EvalMetric) for one in given):  # other functions may have any name
        evaluated = [str(metric) for one in given for metric in one.metrics]
        metric = lightgbm_parameter(params, "metric")
        how = "feval=lambdaplus.eval_metric({name})"
        refuse_metrics_lightgbm_ignores(metric, how, evaluated)


def _warn_of_default_metric(params: dict[str, Any], feval: Any, callbacks: Any) -> None:
    """Warn if early stopping by a metric of ours also watches the default metric of LightGBM."""
    ours = any(
        isinstance(one, EvalMetric) for one in (feval if isinstance(feval, list) else [feval])
    )
    objective, unset = lightgbm_parameter(params, "objective"), object()
    if (
        ours
        and isinstance(objective, str | None)
        and lightgbm_parameter(params, "metric", unset) is unset
        and lightgbm_stops_early(params, callbacks, by_all=True)
    ):
        warn(
            f"early stopping watches the default metric of the objective {objective!r}, too, and "
            "ends the training when either does not improve: set metric='None' to watch feval "
            "alone, or the metric that you mean"
        )


def _refuse_unusable_columns(params: dict[str, Any], data: Any) -> None:
    """Raise a ValueError for parameters of columns that LightGBM would ignore or misread."""
    if isinstance(data, lightgbm.Dataset):
        of_columns = by_names_of_lightgbm(params)
        constructed = is_constructed(data)
        categories = "auto" if constructed else getattr(data, "categorical_feature", "auto")
        refuse_forms_lightgbm_ignores(of_columns, categories)
        if width := data.num_feature() if constructed else width_of(data.data):
            refuse_unknown_columns(of_columns, width)
            refuse_unknown_columns({"categorical_feature": categories}, width)


def _refuse_unusable(name: str, data: Any, needs_labels: bool) -> None:
    """Raise a ValueError for data that LightGBM would silently replace, or end Python on."""
    if not isinstance(data, lightgbm.Dataset) or is_constructed(data):
        return
    data.data = readable_by_lightgbm(data.data)
    in_file, is_subset = isinstance(data.data, str | Path), data.used_indices is not None
    if needs_labels and data.label is None and not in_file and not is_subset:
        raise ValueError(f"{name} has no labels, which LightGBM would take for 0: pass label=")
    for what, values in (("labels", data.label), ("weights", data.weight)):
        if values is not None:
            array, why = np.asarray(values, np.float64), ", and LightGBM would silently replace it"
            refuse_infinite(array.ravel(), f"the {what} of {name}", why)
    if data.label is not None:
        warn_of_merged_labels(data.label, name)
    refuse_unusable_start(data.init_score, f"init_score of {name}")
    if (sizes := np.asarray(data.group)).dtype.kind == "f":
        as_sizes(sizes)  # LightGBM would cut decimals off


def _has_groups(data: Any) -> bool:
    while data is not None:
        if (data.get_field("group") if is_constructed(data) else data.group) is not None:
            return True
        # A subset that is not constructed yet gets its queries from the original data set.
        data = data.reference if getattr(data, "used_indices", None) is not None else None
    return False
