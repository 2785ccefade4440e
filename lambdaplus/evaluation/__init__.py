"""Evaluation: metric values per query and on average, and fevals for the frameworks.

Examples
--------
>>> from lambdaplus.evaluation import evaluate
>>> print(evaluate([1, 0, 0], [0.1, 0.5, 0.2], group=[3], metrics=["mrr", "auc"]))
mrr  0.3333
auc  0.0000
mean over 1 queries
"""

from lambdaplus.evaluation.evaluate import Evaluation, evaluate
from lambdaplus.evaluation.feval import EvalMetric, eval_metric

__all__ = ["EvalMetric", "Evaluation", "eval_metric", "evaluate"]
