"""Subclasses of LightGBM's and XGBoost's estimators, with the name of a metric as objective.

They have all parameters, arguments and attributes of their parents, and add names of metrics as
``objective`` and ``eval_metric``, ``qid`` with the rows in any order, evaluation sets and ``score``
with the metric of the objective, and checks of the data.
"""

from typing import TYPE_CHECKING

from lambdaplus.compute.lazy_names import importer, modules_of

if TYPE_CHECKING:  # at run time, names are imported when they are first used
    from lambdaplus.estimators.lightgbm_estimators import LightGBMClassifier as LightGBMClassifier
    from lambdaplus.estimators.lightgbm_estimators import LightGBMRanker as LightGBMRanker
    from lambdaplus.estimators.xgboost_estimators import XGBoostClassifier as XGBoostClassifier
    from lambdaplus.estimators.xgboost_estimators import XGBoostRanker as XGBoostRanker
else:  # with __getattr__, type checkers would accept misspelt names
    _MODULES = modules_of(
        ("lambdaplus.estimators.lightgbm_estimators", "LightGBMClassifier LightGBMRanker"),
        ("lambdaplus.estimators.xgboost_estimators", "XGBoostClassifier XGBoostRanker"),
    )
    __all__ = sorted(_MODULES)
    __getattr__ = importer(__name__, _MODULES)
