"""Evaluation of rankings: metrics, significance tests, and metrics for LightGBM and XGBoost.

`evaluate` computes metrics, `compare_runs` tests differences between systems, `explain` shows why
tools print different values, `eval_metric` creates metrics for training, such as `eval_auc`, and
`scorer` creates scorers for scikit-learn.
"""

from lambdaplus.evaluation.compare import compare_runs
from lambdaplus.evaluation.conventions import CONVENTIONS, Convention, Rule
from lambdaplus.evaluation.evaluate_run import evaluate
from lambdaplus.evaluation.evaluation import Evaluation
from lambdaplus.evaluation.explanation import Explanation, explain
from lambdaplus.evaluation.feval import (
    EvalMetric,
    eval_auc,
    eval_map,
    eval_mauc,
    eval_metric,
    eval_mrr,
    eval_ndcg,
)
from lambdaplus.evaluation.result_tables import Cell, Table
from lambdaplus.evaluation.run_comparison import RunComparison, RunPair
from lambdaplus.evaluation.scorers import scorer

__all__ = [
    "CONVENTIONS",
    "Cell",
    "Convention",
    "EvalMetric",
    "Evaluation",
    "Explanation",
    "Rule",
    "RunComparison",
    "RunPair",
    "Table",
    "compare_runs",
    "eval_auc",
    "eval_map",
    "eval_mauc",
    "eval_metric",
    "eval_mrr",
    "eval_ndcg",
    "evaluate",
    "explain",
    "scorer",
]
