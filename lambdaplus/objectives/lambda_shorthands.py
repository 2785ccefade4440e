"""Objectives that need no arguments: ``lambda_map`` is ``lambda_objective("map")``.

Examples
--------
>>> from lambdaplus.objectives.lambda_shorthands import lambda_map
>>> lambda_map
lambda_objective('map', sigma=1, normalize=True, damping=None)
"""

from lambdaplus.objectives.objective import LambdaObjective, lambda_objective


def _of(metric: str) -> LambdaObjective:
    made = lambda_objective(metric)
    assert isinstance(made, LambdaObjective)  # and no sum
    return made


lambda_auc, lambda_mauc = _of("auc"), _of("mauc")
lambda_map, lambda_mrr, lambda_ndcg = _of("map"), _of("mrr"), _of("ndcg")
