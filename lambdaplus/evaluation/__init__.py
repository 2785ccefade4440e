"""Evaluation: values of metrics by query and their means, comparisons, metrics for frameworks.

Labels and scores enter by `evaluate`, `explain` and the metrics that `eval_metric` makes; an
`Evaluation` leaves, and several of them enter `compare_runs`.  All print as a `Table`.
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
