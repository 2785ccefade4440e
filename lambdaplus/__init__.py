"""Objectives for LightGBM and XGBoost that train for AUC, MAUC, MAP, MRR, NDCG and other metrics.

Examples
--------
>>> import lambdaplus as lp
>>> lp.lambda_objective("map", sigma=2.0)
lambda_objective('map', sigma=2)
>>> lp.evaluate([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], group=[4], metrics="auc").mean
{'auc': 0.75}
"""

import sys

# Nothing else is imported: `python -m lambdaplus` would take a typing.py of the current folder.
TYPE_CHECKING = False
if TYPE_CHECKING:  # at run time, names are imported when they are first used
    from typing import Any

    from lambdaplus.data import query_folds as query_folds
    from lambdaplus.estimators import LightGBMClassifier as LightGBMClassifier
    from lambdaplus.estimators import LightGBMRanker as LightGBMRanker
    from lambdaplus.estimators import XGBoostClassifier as XGBoostClassifier
    from lambdaplus.estimators import XGBoostRanker as XGBoostRanker
    from lambdaplus.evaluation import EvalMetric as EvalMetric
    from lambdaplus.evaluation import Evaluation as Evaluation
    from lambdaplus.evaluation import Explanation as Explanation
    from lambdaplus.evaluation import RunComparison as RunComparison
    from lambdaplus.evaluation import compare_runs as compare_runs
    from lambdaplus.evaluation import eval_auc as eval_auc
    from lambdaplus.evaluation import eval_map as eval_map
    from lambdaplus.evaluation import eval_mauc as eval_mauc
    from lambdaplus.evaluation import eval_metric as eval_metric
    from lambdaplus.evaluation import eval_mrr as eval_mrr
    from lambdaplus.evaluation import eval_ndcg as eval_ndcg
    from lambdaplus.evaluation import evaluate as evaluate
    from lambdaplus.evaluation import explain as explain
    from lambdaplus.evaluation import scorer as scorer
    from lambdaplus.frameworks.ranking_trees import ranking_trees as ranking_trees
    from lambdaplus.metrics import Declaration as Declaration
    from lambdaplus.metrics import metric_names as metric_names
    from lambdaplus.metrics import parse_metric as parse_metric
    from lambdaplus.objectives import CombinedObjective as CombinedObjective
    from lambdaplus.objectives import LambdaObjective as LambdaObjective
    from lambdaplus.objectives import LogLoss as LogLoss
    from lambdaplus.objectives import combine as combine
    from lambdaplus.objectives import gradients as gradients
    from lambdaplus.objectives import lambda_auc as lambda_auc
    from lambdaplus.objectives import lambda_map as lambda_map
    from lambdaplus.objectives import lambda_mauc as lambda_mauc
    from lambdaplus.objectives import lambda_mrr as lambda_mrr
    from lambdaplus.objectives import lambda_ndcg as lambda_ndcg
    from lambdaplus.objectives import lambda_objective as lambda_objective
    from lambdaplus.objectives.position_bias import PositionBias as PositionBias

    __version__: str
else:  # with __getattr__, type checkers would accept misspelt names
    _MODULES = {  # public name: the module that it is imported from
        name: module
        for module, names in (
            ("data", "query_folds"),
            ("estimators", "LightGBMClassifier LightGBMRanker XGBoostClassifier XGBoostRanker"),
            ("evaluation", "EvalMetric Evaluation Explanation RunComparison"),
            ("evaluation", "compare_runs eval_metric evaluate explain scorer"),
            ("evaluation", "eval_auc eval_map eval_mauc eval_mrr eval_ndcg"),
            ("frameworks.ranking_trees", "ranking_trees"),
            ("metrics", "Declaration metric_names parse_metric"),
            ("objectives", "CombinedObjective LambdaObjective LogLoss"),
            ("objectives", "combine gradients lambda_objective"),
            ("objectives", "lambda_auc lambda_map lambda_mauc lambda_mrr lambda_ndcg"),
            ("objectives.position_bias", "PositionBias"),
        )
        for name in names.split()
    }
    __all__ = sorted(_MODULES)

    def __getattr__(name: str) -> "Any":
        def imported(module: str) -> "Any":
            __import__(module)
            return sys.modules[module]

        if name == "__version__":
            return imported("importlib.metadata").version(__name__)
        if name not in _MODULES:
            similar = imported("lambdaplus.compute.messages").hint(name, _MODULES)
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{similar}")
        found = getattr(imported(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = found  # not imported again
        return found

    def __dir__() -> list[str]:
        helpers = {"TYPE_CHECKING", "sys"}  # of this file
        return sorted({*globals(), *_MODULES} - helpers)
