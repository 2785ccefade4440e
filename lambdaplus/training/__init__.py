"""The one way to train boosted trees: the estimators and the comparison harness both use it.

An objective of ours or a native one by its name, the framework's parameters, documents to train on
and documents held out go in; a model comes out that scores by its first so many rounds.

Examples
--------
>>> from lambdaplus import eval_metric
>>> from lambdaplus.datasets import digits_queries
>>> from lambdaplus.queries import Queries
>>> from lambdaplus.training import LIGHTGBM, Documents, Training
>>> train, valid = (
...     Documents(part.features, Queries(part.labels, group=part.group))
...     for part in (digits_queries()[0].train, digits_queries()[0].valid)
... )
>>> training = Training("lambdarank", {"verbose": -1}, rounds=5, metric=eval_metric("map"))
>>> model = LIGHTGBM.train(training, train, {"valid": valid})
>>> len(model.curves["valid"]["map"])
5
>>> LIGHTGBM.scores(model.booster, valid.X, (0, model.lengths[2])).shape == valid.queries.labels.shape
True
"""  # noqa: E501

from lambdaplus.training.catboost import CATBOOST
from lambdaplus.training.framework import (
    Curves,
    Documents,
    Framework,
    Model,
    Span,
    Training,
    training_labels,
)
from lambdaplus.training.lightgbm import LIGHTGBM, LightGBM
from lambdaplus.training.xgboost import XGBOOST, XGBoost

__all__ = [
    "CATBOOST",
    "LIGHTGBM",
    "XGBOOST",
    "Curves",
    "Documents",
    "Framework",
    "LightGBM",
    "Model",
    "Span",
    "Training",
    "XGBoost",
    "training_labels",
]
