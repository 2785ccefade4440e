"""Evaluation metrics that need no arguments: ``eval_map`` is ``eval_metric("map")``.

Examples
--------
>>> from lambdaplus.evaluation.eval_shorthands import eval_map
>>> eval_map([1, 0], [0.2, 0.5], None, [2])
('map', 0.5, True)
"""

from lambdaplus.evaluation.feval import eval_metric

eval_auc, eval_mauc = eval_metric("auc"), eval_metric("mauc")
eval_map, eval_mrr, eval_ndcg = eval_metric("map"), eval_metric("mrr"), eval_metric("ndcg")
