"""Lambda objectives for AUC, MAUC, MAP, MRR, NDCG and other metrics in LightGBM and XGBoost.

Importing the package does not load any submodule: each name is imported when it is first used.

Examples
--------
>>> import lambdaplus as lp
>>> lp.lambda_objective("map@10")
lambda_objective('map@10', sigma=1, normalize=True, damping=None)
>>> lp.lambda_map is lp.lambda_map
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lambdaplus.estimators import (
        LightGBMClassifier,
        LightGBMRanker,
        XGBoostClassifier,
        XGBoostRanker,
    )
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

    __version__: str
    lambda_auc: LambdaObjective
    lambda_mauc: LambdaObjective
    lambda_map: LambdaObjective
    lambda_mrr: LambdaObjective
    lambda_ndcg: LambdaObjective
    eval_auc: EvalMetric
    eval_mauc: EvalMetric
    eval_map: EvalMetric
    eval_mrr: EvalMetric
    eval_ndcg: EvalMetric

__all__ = [
    "CombinedObjective",
    "EvalMetric",
    "Evaluation",
    "LambdaObjective",
    "LightGBMClassifier",
    "LightGBMRanker",
    "XGBoostClassifier",
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

_MODULES = ("objectives", "metrics", "evaluation", "folds", "estimators")  # lightest first


if not TYPE_CHECKING:  # type checkers would accept every misspelt name

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            return import_module("importlib.metadata").version(__name__)
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        kind, _, metric = name.partition("_")
        if kind == "lambda" and metric != "objective":
            found = __getattr__("lambda_objective")(metric)
        elif kind == "eval" and metric != "metric":
            found = __getattr__("eval_metric")(metric)
        else:
            modules = (import_module(f"{__name__}.{module}") for module in _MODULES)
            found = next(getattr(module, name) for module in modules if hasattr(module, name))
        globals()[name] = found  # the same object from now on
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
