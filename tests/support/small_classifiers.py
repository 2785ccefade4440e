"""Classifiers of four trees on 300 rows, for their contracts."""

import inspect
from functools import cache
from typing import Any

import numpy as np
import pytest

import lambdaplus as lp
import lambdaplus.lightgbm as lgb

random = np.random.default_rng(0)
X = random.normal(size=(300, 4))
Y = (X[:, 0] + random.normal(size=300) > 1).astype(int)
NATIVE = {lp.LightGBMClassifier: "binary", lp.XGBoostClassifier: "binary:logistic"}
both = pytest.mark.parametrize("kind", [*NATIVE])


def made(kind: Any, **options: Any) -> Any:
    quiet = {"verbose": -1, "min_child_samples": 5} if kind is lp.LightGBMClassifier else {}
    return kind(**{"n_estimators": 4, "n_jobs": 1, **quiet, **options})


@cache
def fitted(kind: Any, **options: Any) -> Any:
    return made(kind, **options).fit(X, Y)


def held_out(features: Any, labels: Any) -> dict[str, Any]:
    """An evaluation set in the form of LightGBM 4.7, if this is one."""
    if "eval_X" in inspect.signature(lgb.LGBMClassifier.fit).parameters:
        return {"eval_X": features, "eval_y": labels}
    return {"eval_set": [(features, labels)]}


def alone(labels: Any, **options: Any) -> Any:
    """LightGBM's, without a word."""
    return made(lp.LightGBMClassifier, **options).fit(X[: len(labels)], labels)
