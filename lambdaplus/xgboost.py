"""XGBoost, with early stopping that maximises our metrics and margins that start at 0.

``import lambdaplus.xgboost as xgb`` is XGBoost itself, but for `train`.

Examples
--------
>>> import numpy as np, lambdaplus as lp, lambdaplus.xgboost as xgb
>>> X = np.random.default_rng(0).normal(size=(300, 3))
>>> data = xgb.DMatrix(X, label=(X[:, 0] > 1).astype(int), group=[10] * 30)
>>> booster = xgb.train({}, data, num_boost_round=5, obj=lp.lambda_mrr)
>>> booster.num_boosted_rounds()
5
"""

from __future__ import annotations

import copy
from typing import Any

from lambdaplus.evaluation import EvalMetric

try:
    import xgboost
except ImportError as error:  # pragma: no cover
    raise ImportError("XGBoost is not installed: pip install 'lambdaplus[xgboost]'") from error


def __getattr__(name: str) -> Any:
    """Everything else is XGBoost's."""
    return getattr(xgboost, name)


def train(params: dict[str, Any], dtrain: Any, *args: Any, **kwargs: Any) -> Any:
    """As ``xgboost.train``, with what our objectives and metrics need filled in.

    - ``custom_metric=eval_metric(...)`` with early stopping is maximised.  XGBoost would minimise
      all metrics whose names it does not know, mrr and mauc among them.
    - ``base_score`` is 0 with a custom objective (XGBoost's 0.5 is meant for probabilities).
    - With a custom objective and no ``eval_metric``, the default metric (rmse) is not printed.

    What is given explicitly is left as it is.

    Parameters
    ----------
    params : dict
    dtrain : xgboost.DMatrix
    *args, **kwargs
        Passed on to ``xgboost.train``.

    Returns
    -------
    xgboost.Booster
    """
    params = dict(params)
    if kwargs.get("obj") is not None:
        params.setdefault("base_score", 0.0)
        if "eval_metric" not in params:
            params.setdefault("disable_default_eval_metric", 1)
    metric = kwargs.get("custom_metric")
    if isinstance(metric, EvalMetric):
        if kwargs.get("early_stopping_rounds") and kwargs.get("maximize") is None:
            kwargs["maximize"] = True
        kwargs["callbacks"] = [
            _maximising(found, metric) for found in kwargs.get("callbacks") or ()
        ]
    return xgboost.train(params, dtrain, *args, **kwargs)


def _maximising(callback: Any, metric: EvalMetric) -> Any:
    """An early-stopping callback on our metric that leaves the direction open, with it set."""
    if (
        isinstance(callback, xgboost.callback.EarlyStopping)
        and callback.maximize is None
        and callback.metric_name in (None, *map(str, metric.metrics))
    ):
        callback = copy.copy(callback)
        callback.maximize = True
    return callback
