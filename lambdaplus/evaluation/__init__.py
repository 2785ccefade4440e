"""Evaluation: metric values per query and their means, comparisons, metrics for the frameworks.

Examples
--------
>>> from lambdaplus.evaluation import evaluate
>>> print(evaluate([1, 0, 0], [0.1, 0.5, 0.2], group=[3], metrics=["mrr", "auc"]))
metric  mean    queries  undefined
mrr     0.3333  1        0
auc     0.0000  1        0
1 query, 0 without relevant documents.
Convention lambdaplus:
  mrr: relevant=1, ties=expected, empty=skip
  auc: relevant=1, over=query, ties=expected, empty=skip
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
