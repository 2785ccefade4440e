"""Estimators of eight trees on graded queries, and arguments of `fit` and `score`."""

from typing import Any

import pytest
from small_data import GRADED, Small

import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus.estimators import (
    LightGBMClassifier,
    LightGBMRanker,
    XGBoostClassifier,
    XGBoostRanker,
)

PARENTS = {
    LightGBMRanker: lgb.LGBMRanker,
    XGBoostRanker: xgb.XGBRanker,
    LightGBMClassifier: lgb.LGBMClassifier,
    XGBoostClassifier: xgb.XGBClassifier,
}
RANKERS = (LightGBMRanker, XGBoostRanker)
rankers = pytest.mark.parametrize("kind", RANKERS)
every_estimator = pytest.mark.parametrize("kind", PARENTS)


def of_lightgbm(kind: Any) -> bool:
    return issubclass(kind, lgb.LGBMModel)


def made(kind: Any, **options: Any) -> Any:
    quiet = {"verbose": -1} if of_lightgbm(kind) else {}
    return kind(**{"n_estimators": 8, "n_jobs": 1, "random_state": 0, **quiet, **options})


def data_of(kind: Any, part: Small | None = None, name: str = "") -> dict[str, Any]:
    """Arguments of fit: X, y, and the queries of a ranker."""
    part = GRADED if part is None else part
    if issubclass(kind, RANKERS):
        return {"X": part.features, "y": part.labels, "qid": part.qid}
    return {"X": part.features, "y": part.binary}


def halves(kind: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of fit with an evaluation set, and those of score."""
    train, valid = (data_of(kind, GRADED.queries(*ends)) for ends in ((0, 40), (40, 60)))
    held_out: dict[str, Any] = {"eval_set": [(valid["X"], valid["y"])]}
    if "qid" in valid:
        held_out["eval_qid"] = [valid["qid"]]
    if not of_lightgbm(kind):
        held_out["verbose"] = False
    return {**train, **held_out}, valid


def raw(model: Any, X: Any) -> Any:
    """The score of the trees."""
    if isinstance(model, lgb.LGBMModel):
        return model.predict(X, raw_score=True)
    return model.predict(X, output_margin=True)


def curves(model: Any) -> dict[str, Any]:
    found = model.evals_result_ if isinstance(model, lgb.LGBMModel) else model.evals_result()
    return {name: dict(curve) for name, curve in found.items()}


def curve_of(model: Any) -> dict[str, list[float]]:
    """By metric, on the only evaluation set."""
    [found] = curves(model).values()
    return {name: list(values) for name, values in found.items()}


def best_round(model: Any) -> int:
    """From 0."""
    return model.best_iteration_ - 1 if isinstance(model, lgb.LGBMModel) else model.best_iteration
