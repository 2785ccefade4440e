"""LightGBM's and XGBoost's own estimators, with a metric's name as objective.

Each class is a subclass of the framework's, and has all of its parameters, arguments, attributes
and tools.  Ours add names of metrics as ``objective`` and ``eval_metric``, ``qid`` with the rows in
any order, evaluation by the objective's own metric, ``score`` by it, and checks of the data.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lambdaplus.estimators.lightgbm_estimators import LightGBMClassifier, LightGBMRanker
    from lambdaplus.estimators.xgboost_estimators import XGBoostClassifier, XGBoostRanker

__all__ = ["LightGBMClassifier", "LightGBMRanker", "XGBoostClassifier", "XGBoostRanker"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    framework = "lightgbm" if name.startswith("LightGBM") else "xgboost"  # the other may be missing
    return getattr(import_module(f"{__name__}.{framework}_estimators"), name)
