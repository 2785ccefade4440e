"""Subclasses of LightGBM's and XGBoost's estimators, with the name of a metric as objective.

They have all parameters, arguments and attributes of their parents, and add names of metrics as
``objective`` and ``eval_metric``, ``qid`` with the rows in any order, evaluation sets and ``score``
with the metric of the objective, and checks of the data.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lambdaplus.estimators.lightgbm_estimators import LightGBMClassifier as LightGBMClassifier
    from lambdaplus.estimators.lightgbm_estimators import LightGBMRanker as LightGBMRanker
    from lambdaplus.estimators.xgboost_estimators import XGBoostClassifier as XGBoostClassifier
    from lambdaplus.estimators.xgboost_estimators import XGBoostRanker as XGBoostRanker

_MODULES = {  # a framework may be missing
    "LightGBMClassifier": "lightgbm_estimators",
    "LightGBMRanker": "lightgbm_estimators",
    "XGBoostClassifier": "xgboost_estimators",
    "XGBoostRanker": "xgboost_estimators",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
