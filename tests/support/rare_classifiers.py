"""Classifiers on a table with 3 % positives."""

from functools import cache
from typing import Any

import graded_estimators
import numpy as np
import pytest
from small_data import rare

from lambdaplus.estimators import LightGBMClassifier, XGBoostClassifier

KINDS = [LightGBMClassifier, XGBoostClassifier]
LOG_LOSS = {LightGBMClassifier: "binary", XGBoostClassifier: "binary:logistic"}
START = {LightGBMClassifier: "init_model", XGBoostClassifier: "xgb_model"}
EVAL_WEIGHT = {
    LightGBMClassifier: "eval_sample_weight", XGBoostClassifier: "sample_weight_eval_set"
}  # fmt: skip
both = pytest.mark.parametrize("kind", KINDS)

# Training and test data, and names of their classes.
X, y, Xt, yt = (rows[:3000] for part in rare() for rows in (part.features, part.binary))
NAMES = np.array(["ok", "fraud"])


def made(kind: Any, **options: Any) -> Any:
    return graded_estimators.made(kind, **{"n_estimators": 12, **options})


def sets(kind: Any, *pairs: Any) -> dict[str, Any]:
    quiet = {} if kind is LightGBMClassifier else {"verbose": False}
    return {"eval_set": list(pairs), **quiet}


@cache
def fitted(kind: Any, valid: bool = False, **options: Any) -> Any:
    return made(kind, **options).fit(X, y, **(sets(kind, (Xt, yt)) if valid else {}))
