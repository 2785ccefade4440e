"""Training with LightGBM on one thread, for its tests: its own threads spin while they wait."""

from __future__ import annotations

from typing import Any

import pytest
from small_data import Small

lgb = pytest.importorskip("lightgbm", minversion="4.0")

QUIET: dict[str, Any] = {"verbosity": -1, "num_threads": 1}
ESTIMATOR: dict[str, Any] = {**QUIET, "n_estimators": 8, "metric": "None"}


def dataset(data: Small, **options: Any) -> Any:
    options = {"label": data.labels, "group": data.sizes, "params": {"verbosity": -1}, **options}
    return lgb.Dataset(data.features, **options)


def constructed(data: Small, **options: Any) -> Any:
    return dataset(data, **{"free_raw_data": False, **options}).construct()


def train(objective: Any, train_set: Any, rounds: int = 8, **options: Any) -> Any:
    params = {**QUIET, "objective": objective, **options.pop("params", {})}
    return lgb.train(params, train_set, rounds, **options)
