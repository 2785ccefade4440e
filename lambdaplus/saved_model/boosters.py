"""Raw scores of features by the models of each framework."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MODELS = {"lightgbm": "model.txt", "xgboost": "model.json"}


def lightgbm_scorer(model: Path) -> Callable[[Any], Any]:
    """The raw scores of features by LightGBM."""
    import lightgbm

    booster = lightgbm.Booster(model_file=str(model))
    return lambda X: booster.predict(X, raw_score=True)


def xgboost_scorer(model: Path) -> Callable[[Any], Any]:
    """The raw scores of features by XGBoost."""
    import xgboost

    booster = xgboost.Booster(model_file=str(model))
    options = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}
    trained = booster.num_features()

    def score(X: NDArray[np.float64]) -> Any:
        if X.shape[1] != trained:  # XGBoost would take columns that lack for missing values
            raise ValueError(f"it has {trained} features, and {X.shape[1]} columns are described")
        data = xgboost.DMatrix(X, enable_categorical=True, **options)
        return booster.predict(data, output_margin=True)

    return score


SCORERS = {"lightgbm": lightgbm_scorer, "xgboost": xgboost_scorer}
