"""scikit-learn estimators that train LightGBM and XGBoost with any objective of the library.

Examples
--------
>>> from lambdaplus.datasets import digits_queries
>>> from lambdaplus.estimators import LightGBMRanker
>>> fold = digits_queries()[0]
>>> model = LightGBMRanker(objective="map@10", n_estimators=20, num_leaves=15, random_state=0)
>>> model = model.fit(fold.train.features, fold.train.labels, qid=fold.train.qid)
>>> model.score(fold.test.features, fold.test.labels, qid=fold.test.qid) > 0.6
True
"""

from lambdaplus.estimators.classifier import BoostedClassifier
from lambdaplus.estimators.lightgbm import LightGBMClassifier, LightGBMRanker
from lambdaplus.estimators.ranker import BoostedRanker
from lambdaplus.estimators.xgboost import XGBoostClassifier, XGBoostRanker

__all__ = [
    "BoostedClassifier",
    "BoostedRanker",
    "LightGBMClassifier",
    "LightGBMRanker",
    "XGBoostClassifier",
    "XGBoostRanker",
]
