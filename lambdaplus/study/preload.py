"""Loads what every fit needs, in the server from which the processes of fits are forked."""

import contextlib

from lambdaplus.evaluation import eval_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import training

with contextlib.suppress(ImportError):
    import lightgbm  # noqa: F401
with contextlib.suppress(ImportError):
    import xgboost  # noqa: F401

lambda_objective("ndcg")([0, 1], [0.0, 1.0], None, [2])  # small enough to start no threads
eval_metric("ndcg")([0, 1], [0.0, 1.0], None, [2])

__all__ = ["training"]
