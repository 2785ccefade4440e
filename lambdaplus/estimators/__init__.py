"""Subclasses of LightGBM's and XGBoost's estimators, with the name of a metric as objective.

They have all parameters, arguments and attributes of their parents, and add names of metrics as
``objective`` and ``eval_metric``, ``qid`` with the rows in any order, evaluation sets and ``score``
with the metric of the objective, and checks of the data.
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
