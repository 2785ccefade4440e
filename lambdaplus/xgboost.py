"""XGBoost with the defaults that custom objectives need, and cross-validation of whole queries.

``import lambdaplus.xgboost as xgb`` provides all names of XGBoost, with its own `train` and `cv`.

Examples
--------
>>> import numpy as np, lambdaplus as lp, lambdaplus.xgboost as xgb
>>> X = np.random.default_rng(0).normal(size=(300, 3))
>>> data = xgb.DMatrix(X, label=(X[:, 0] > 1).astype(int), group=[10] * 30)
>>> booster = xgb.train({}, data, num_boost_round=5, obj=lp.lambda_mrr)
>>> booster.num_boosted_rounds()
5
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Ints
from lambdaplus.compute.extras import installation
from lambdaplus.compute.messages import warn
from lambdaplus.data.splits import query_splitter
from lambdaplus.frameworks.column_parameters import (
    PADDED_BY_XGBOOST,
    as_xgboost_reads,
    refuse_unknown_columns,
)
from lambdaplus.frameworks.data_sets import (
    refuse_cut_queries,
    rows_of_each_query,
)
from lambdaplus.frameworks.internals import attribute_of, xgboost_field
from lambdaplus.frameworks.unused_parameters import warn_of_unused
from lambdaplus.lists.single_precision import refuse_unusable_start
from lambdaplus.objectives.by_name import (
    find_objective,
    refuse_no_function,
    unknown_metric_explained,
    unknown_objective_explained,
)

try:
    import xgboost
except ImportError as error:  # pragma: no cover
    raise ImportError(f"XGBoost is not installed: {installation('xgboost')}") from error


def __getattr__(name: str) -> Any:
    return attribute_of(xgboost, name, __name__)


def train(
    params: dict[str, Any], dtrain: Any, num_boost_round: int = 10, *args: Any, **kwargs: Any
) -> Any:
    """Like ``xgboost.train``, with the defaults that our objectives and metrics need.

    - ``base_score`` is 0 with a custom objective; XGBoost's 0.5 is meant for probabilities.
    - With a custom objective and no ``eval_metric``, the default metric (rmse) is not printed.

    Parameters
    ----------
    params : dict
        ``objective`` may be a metric, such as ``"ndcg@10"`` or ``"map + 0.5*mrr"``, or a custom
        objective, instead of ``obj=``.
    dtrain : xgboost.DMatrix
    num_boost_round : int, default=10
    *args, **kwargs
        Other arguments of ``xgboost.train``, which override these defaults.

    Returns
    -------
    xgboost.Booster

    Raises
    ------
    ValueError
        For an objective that neither lambdaplus nor XGBoost knows.

    Warns
    -----
    UserWarning
        For parameters that have no effect on a custom objective, such as ``scale_pos_weight``; and
        for evaluation data with fewer features than the training data.

    Examples
    --------
    >>> import numpy as np, lambdaplus.xgboost as xgb
    >>> from lambdaplus import lambda_map
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> data = xgb.DMatrix(X, X[:, 0] > 1, group=[10] * 20)
    >>> xgb.train({"max_depth": 3}, data, 3, obj=lambda_map).num_boosted_rounds()
    3
    """
    params, kwargs = _with_our_defaults(params, _by_name(xgboost.train, args, kwargs))
    _refuse_unknown_columns(params, dtrain)
    sets = {"dtrain": dtrain, **{str(name): data for data, name in kwargs.get("evals") or ()}}
    for name, data in sets.items():
        rows = data.num_row() if isinstance(data, xgboost.DMatrix) else 0
        if rows and not xgboost_field(data, "label").size:
            raise ValueError(f"{name} has {rows} rows and no labels: pass label= to its DMatrix")
        if rows:
            margin = xgboost_field(data, "base_margin")
            refuse_unusable_start(margin, f"base_margin of {name}")
        width = dtrain.num_col() if rows and isinstance(dtrain, xgboost.DMatrix) else 0
        if rows and data.num_col() < width:
            warn(
                f"{name} has {data.num_col()} features and the training data {width}: XGBoost "
                "takes the last ones for missing in all of its rows"
            )
    with _explained(params, kwargs):
        return xgboost.train(params, dtrain, num_boost_round, **kwargs)


def cv(
    params: dict[str, Any], dtrain: Any, num_boost_round: int = 10, *args: Any, **kwargs: Any
) -> Any:
    """Like ``xgboost.cv``, keeping queries and their weights together, with defaults as in `train`.

    ``xgboost.cv`` itself ignores query weights, and does not support ``folds=`` of queries.

    Parameters
    ----------
    params, dtrain, num_boost_round
        As in `train`.
    *args, **kwargs
        Other arguments of ``xgboost.cv``.  For data with queries, ``folds=`` can be the result of
        `lambdaplus.data.query_folds` or a scikit-learn splitter by group.  By default, queries are
        split into ``nfold`` folds (3), shuffled with ``seed`` (0) unless ``shuffle=False``.

    Returns
    -------
    pandas.DataFrame or dict

    Raises
    ------
    ValueError
        If ``folds=`` splits queries, or repeats rows.

    Examples
    --------
    >>> import numpy as np, lambdaplus.xgboost as xgb
    >>> from lambdaplus import eval_map, lambda_map
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> data = xgb.DMatrix(X, X[:, 0] > 1, group=[10] * 20)
    >>> found = xgb.cv({}, data, 3, obj=lambda_map, custom_metric=eval_map, as_pandas=False)
    >>> sorted(found)
    ['test-map-mean', 'test-map-std', 'train-map-mean', 'train-map-std']
    """
    params, kwargs = _with_our_defaults(params, _by_name(xgboost.cv, args, kwargs))
    if not isinstance(dtrain, xgboost.DMatrix):
        raise TypeError(f"dtrain must be a DMatrix, not {type(dtrain).__name__}")
    _refuse_unknown_columns(params, dtrain)
    bounds = xgboost_field(dtrain, "group_ptr").astype(np.int64)
    if bounds.size > 1:
        sizes = np.diff(bounds)
        folds = kwargs.get("folds")
        if folds is None:
            folds = query_splitter(
                kwargs.get("nfold", 3), kwargs.get("shuffle", True), kwargs.get("seed", 0)
            )
        if hasattr(folds, "split"):
            query = np.repeat(np.arange(sizes.size), sizes)
            labels = xgboost_field(dtrain, "label")
            folds = list(folds.split(query, labels, groups=query))
        kwargs["folds"], dtrain = folds, _WholeQueries(dtrain, sizes)
    with _explained(params, kwargs):
        return xgboost.cv(params, dtrain, num_boost_round, **kwargs)


class _WholeQueries:
    """A DMatrix whose slices keep queries and their weights, for ``xgboost.cv``."""

    def __init__(self, data: Any, sizes: Ints) -> None:
        self.data, self.sizes = data, sizes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)

    def slice(self, rows: Any) -> Any:
        rows, n = np.sort(np.asarray(rows)), int(self.sizes.sum())
        if rows.size and not (rows.dtype.kind in "iu" and rows[0] >= 0 and rows[-1] < n):
            # XGBoost would read memory outside of the data.
            raise ValueError(f"a fold has other numbers of rows than whole ones from 0 to {n - 1}")
        advice = ": pass folds=lambdaplus.query_folds(group=...)"
        refuse_cut_queries("this fold", self.sizes, rows, advice)
        chosen = rows_of_each_query(self.sizes, rows) > 0
        part = self.data.slice(rows, allow_groups=True)
        part.set_group(self.sizes[chosen])
        weight = xgboost_field(self.data, "weight")
        if weight.size:
            part.set_weight(weight[chosen])
        return part


@contextmanager
def _explained(params: dict[str, Any], options: dict[str, Any]) -> Iterator[None]:
    """Add to errors of XGBoost for unknown names why they are none of lambdaplus."""
    metrics = options.get("metrics") or params.get("eval_metric")
    objective = unknown_objective_explained(params.get("objective"), "XGBoost")
    with objective, unknown_metric_explained(metrics):
        yield


def _by_name(function: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments after the first three by name; XGBoost takes them by position, too."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    given = inspect.signature(function).parameters.values()
    signature = inspect.Signature([parameter.replace(kind=kind) for parameter in [*given][3:]])
    return signature.bind(*args, **kwargs).arguments


def _refuse_unknown_columns(params: dict[str, Any], data: Any) -> None:
    """Raise a ValueError for columns that the data lacks."""
    if isinstance(data, xgboost.DMatrix) and data.num_col():
        weights = xgboost_field(data, "feature_weights")
        given = {name: params.get(name) for name in ("interaction_constraints", *PADDED_BY_XGBOOST)}
        if weights.size:
            given["feature_weights"] = weights
        refuse_unknown_columns(given, data.num_col(), PADDED_BY_XGBOOST)


def _with_our_defaults(
    params: dict[str, Any], kwargs: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    params, kwargs = as_xgboost_reads(params), dict(kwargs)
    for name in ("custom_metric", "feval"):
        refuse_no_function(kwargs.get(name))
    if kwargs.get("obj") is None and callable(found := find_objective(params.get("objective"))):
        kwargs["obj"] = found
        del params["objective"]
    if kwargs.get("obj") is not None:
        kwargs["obj"] = find_objective(given := kwargs["obj"])
        if not callable(kwargs["obj"]):
            raise TypeError(f"obj={given!r} is no function: pass it as params['objective']")
        warn_of_unused(params, kwargs["obj"])
        params.setdefault("base_score", 0.0)
        if "eval_metric" not in params:
            params.setdefault("disable_default_eval_metric", 1)
    return params, kwargs
