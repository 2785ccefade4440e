"""Lambda objectives that optimise AUC, MAUC, MAP, MRR and NDCG in LightGBM and XGBoost.

Examples
--------
>>> import lambdaplus as lp
>>> lp.lambda_objective("map@10")
lambda_objective('map@10', sigma=1, normalize=True, damping=None)
"""

from lambdaplus.evaluation import (
    EvalMetric,
    Evaluation,
    compare_runs,
    eval_metric,
    evaluate,
    explain,
)
from lambdaplus.metrics import metric_names, parse_metric
from lambdaplus.objectives import (
    CombinedObjective,
    LambdaObjective,
    combine,
    gradients,
    lambda_objective,
)

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
]
