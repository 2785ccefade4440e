"""Objectives for LightGBM and XGBoost, and lambda-gradients of arrays.

`lambda_objective` creates an objective of a metric or of a sum of metrics.  Its gradients are sums
over all pairs of documents, in near-linear time.

`lambda_auc`, `lambda_mauc`, `lambda_map`, `lambda_mrr` and `lambda_ndcg` have default options.

Examples
--------
>>> from lambdaplus.objectives import gradients
>>> gradient, hessian = gradients([1, 0, 0], [0.0, 1.0, 2.0], metric="map", group=[3])
>>> gradient.round(3).tolist()
[-0.709, 0.122, 0.587]
"""

from lambdaplus.objectives.combined_objective import CombinedObjective, combine
from lambdaplus.objectives.gradient_on import gradients
from lambdaplus.objectives.lambda_objective import (
    lambda_auc,
    lambda_map,
    lambda_mauc,
    lambda_mrr,
    lambda_ndcg,
    lambda_objective,
)
from lambdaplus.objectives.log_loss import LogLoss
from lambdaplus.objectives.metric_objective import LambdaObjective
from lambdaplus.objectives.objective import Objective

__all__ = [
    "CombinedObjective",
    "LambdaObjective",
    "LogLoss",
    "Objective",
    "combine",
    "gradients",
    "lambda_auc",
    "lambda_map",
    "lambda_mauc",
    "lambda_mrr",
    "lambda_ndcg",
    "lambda_objective",
]
