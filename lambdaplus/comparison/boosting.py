"""Trainers of LightGBM and XGBoost, on equal terms: the same trees, the same early stopping."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaplus.comparison.methods import Fitted, Method, Parameters, Settings
from lambdaplus.datasets import RankingData
from lambdaplus.evaluation import eval_metric
from lambdaplus.queries import Floats


def train_lightgbm(
    method: Method,
    parameters: Parameters,
    train: RankingData,
    valid: RankingData,
    settings: Settings,
    seed: int,
) -> Fitted:
    """Train LightGBM with the method's objective and stop on its criterion."""
    import lambdaplus.lightgbm as lgb

    params: dict[str, Any] = {
        "objective": method.target,
        "metric": "None",
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": settings.documents_in_leaf,
        "seed": seed,
        "deterministic": True,
        "num_threads": settings.threads,
        "verbose": -1,
        **parameters,
    }
    data = lgb.Dataset(train.features, label=train.labels, group=train.group)
    held_out = data.create_valid(valid.features, label=valid.labels, group=valid.group)
    curves: dict[str, Any] = {}
    booster = lgb.train(
        params,
        data,
        num_boost_round=settings.rounds,
        valid_sets=[held_out],
        feval=eval_metric(method.criterion),
        callbacks=[
            lgb.early_stopping(settings.patience, verbose=False),
            lgb.record_evaluation(curves),
        ],
    )
    [curve] = next(iter(curves.values())).values()
    return Fitted(
        lambda part: np.asarray(booster.predict(part.features, raw_score=True)),
        int(booster.best_iteration or booster.current_iteration()),
        tuple(curve),
    )


def train_xgboost(
    method: Method,
    parameters: Parameters,
    train: RankingData,
    valid: RankingData,
    settings: Settings,
    seed: int,
) -> Fitted:
    """Train XGBoost with the method's objective and stop on its criterion."""
    import lambdaplus.xgboost as xgb

    params: dict[str, Any] = {
        "grow_policy": "lossguide",
        "max_leaves": settings.leaves,
        "max_depth": 0,
        "learning_rate": settings.learning_rate,
        "tree_method": "hist",
        "base_score": 0.0,
        "disable_default_eval_metric": 1,
        "seed": seed,
        "nthread": settings.threads,
        **parameters,
    }
    native = isinstance(method.target, str)
    if native:
        params["objective"] = method.target

    def matrix(data: RankingData) -> Any:
        # XGBoost's own rank:map knows relevant and not relevant alone.
        labels = (data.labels >= 1) if method.target == "rank:map" else data.labels
        return xgb.DMatrix(data.dense_features, label=labels, group=data.group)

    curves: dict[str, Any] = {}
    booster = xgb.train(
        params,
        matrix(train),
        num_boost_round=settings.rounds,
        obj=None if native else method.target,
        evals=[(matrix(valid), "valid")],
        evals_result=curves,
        custom_metric=eval_metric(method.criterion),
        early_stopping_rounds=settings.patience,
        verbose_eval=False,
    )
    best = booster.best_iteration + 1
    [curve] = curves["valid"].values()

    def predict(part: RankingData) -> Floats:
        documents = xgb.DMatrix(part.dense_features)
        found = booster.predict(documents, output_margin=True, iteration_range=(0, best))
        return np.asarray(found, dtype=np.float64)

    return Fitted(predict, best, tuple(curve))
