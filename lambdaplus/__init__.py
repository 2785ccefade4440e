"""Lambda objectives that optimise AUC, MAUC, MAP, MRR and NDCG in LightGBM and XGBoost.

Examples
--------
>>> import lambdaplus as lp
>>> lp.lambda_objective("map@10")
lambda_objective('map@10', sigma=1, normalize=True, damping=None)
"""

from typing import TYPE_CHECKING, Any

from lambdaplus.evaluation import (
    EvalMetric,
    Evaluation,
    compare_runs,
    eval_metric,
    evaluate,
    explain,
)
from lambdaplus.folds import query_folds
from lambdaplus.metrics import metric_names, parse_metric
from lambdaplus.objectives import (
    CombinedObjective,
    LambdaObjective,
    combine,
    gradients,
    lambda_objective,
)

if TYPE_CHECKING:
    from lambdaplus.estimators import LightGBMRanker, XGBoostRanker

__version__ = "0.1.0"

lambda_auc = lambda_objective("auc")
lambda_mauc = lambda_objective("mauc")
lambda_map = lambda_objective("map")
lambda_mrr = lambda_objective("mrr")
lambda_ndcg = lambda_objective("ndcg")

eval_auc = eval_metric("auc")
eval_mauc = eval_metric("mauc")
eval_map = eval_metric("map")
eval_mrr = eval_metric("mrr")
eval_ndcg = eval_metric("ndcg")

__all__ = [
    "CombinedObjective",
    "EvalMetric",
    "Evaluation",
    "LambdaObjective",
    "LightGBMRanker",
    "XGBoostRanker",
    "combine",
    "compare_runs",
    "eval_auc",
    "eval_map",
    "eval_mauc",
    "eval_metric",
    "eval_mrr",
    "eval_ndcg",
    "evaluate",
    "explain",
    "gradients",
    "lambda_auc",
    "lambda_map",
    "lambda_mauc",
    "lambda_mrr",
    "lambda_ndcg",
    "lambda_objective",
    "metric_names",
    "parse_metric",
    "query_folds",
]


def __getattr__(name: str) -> Any:
    """The estimators, loaded when they are asked for: scikit-learn takes a second."""
    if name in ("LightGBMRanker", "XGBoostRanker"):
        from lambdaplus import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
