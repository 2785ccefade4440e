"""Evaluation of rankings: metrics, significance tests, and metrics for LightGBM and XGBoost.

`evaluate` computes metrics, `compare_runs` tests differences between systems, `explain` shows why
tools print different values, and `eval_metric` creates metrics for training.
"""

from lambdaplus.evaluation.conventions import CONVENTIONS, Convention, Rule
from lambdaplus.evaluation.explanation import Explanation, explain
from lambdaplus.evaluation.feval import EvalMetric, eval_metric
from lambdaplus.evaluation.result import Evaluation
from lambdaplus.evaluation.result_tables import Cell, Table
from lambdaplus.evaluation.run_comparison import Pair, RunComparison, compare_runs
from lambdaplus.evaluation.scoring import evaluate

__all__ = [
    "CONVENTIONS",
    "Cell",
    "Convention",
    "EvalMetric",
    "Evaluation",
    "Explanation",
    "Pair",
    "Rule",
    "RunComparison",
    "Table",
    "compare_runs",
    "eval_metric",
    "evaluate",
    "explain",
]
