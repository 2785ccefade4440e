"""What every fit needs, imported and its kernels loaded by the server that fits are forked from.

CatBoost is not: it starts threads as it is imported, which a fork would lose.
"""

from __future__ import annotations

import contextlib

from lambdaplus.comparison import study
from lambdaplus.evaluation import eval_metric
from lambdaplus.objectives import lambda_objective

with contextlib.suppress(ImportError):
    import lightgbm  # noqa: F401
with contextlib.suppress(ImportError):
    import xgboost  # noqa: F401

lambda_objective("ndcg")([0, 1], [0.0, 1.0], None, [2])  # small enough to start no threads
eval_metric("ndcg")([0, 1], [0.0, 1.0], None, [2])

__all__ = ["study"]
