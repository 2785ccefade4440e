"""Training with XGBoost on one thread, for its tests, whose data are small."""

from __future__ import annotations

from typing import Any

import pytest
from small_data import Small

xgb = pytest.importorskip("xgboost", minversion="2.1")

ONE_THREAD: dict[str, Any] = {"nthread": 1}
SILENT: dict[str, Any] = {**ONE_THREAD, "disable_default_eval_metric": 1}


def matrix(data: Small, kind: Any = xgb.DMatrix, **options: Any) -> Any:
    options = {"label": data.labels, "qid": data.qid, **options}
    return kind(data.features, **options)


def train(objective: Any, data: Any, rounds: int = 8, **options: Any) -> Any:
    params = {**ONE_THREAD, **options.pop("params", {})}
    return xgb.train(params, data, rounds, obj=objective, verbose_eval=False, **options)


def predict(booster: Any, data: Small, rounds: int = 0) -> Any:
    return booster.predict(xgb.DMatrix(data.features), iteration_range=(0, rounds))
