"""`score` of rankers whose eval_metric is a function, or a metric of the framework."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost
from contracts import Raises, Rows, contract, hold
from small_estimators import QID, X, Y, fit

import lambdaplus as lp

FRAMEWORKS = Raises("which the framework evaluates: pass a metric of lambdaplus first")


def squares(labels: Any, scores: Any) -> float:
    return -float(np.mean((np.asarray(labels) - scores) ** 2))


def scored(kind: Any, metric: Any, **given: Any) -> Any:
    return fit(kind, eval_metric=metric).score(X, Y, qid=QID, **given)


def light(metric: Any, **given: Any) -> Any:
    return scored(lp.LightGBMRanker, metric, **given)


def boost(metric: Any, **given: Any) -> Any:
    return scored(lp.XGBoostRanker, metric, **given)


W = QID + 1.0
SCORES: Rows = {
    "of labels and scores": (
        lambda: light(lambda y, s: ("own", squares(y, s), True)),
        lambda: squares(Y, fit(lp.LightGBMRanker).predict(X)),
    ),
    "the first of a list": (lambda: light(lambda y, s: [("a", 3.0, True), ("b", 4.0, True)]), 3.0),
    "of weights": (
        lambda: light(lambda y, s, w: ("w", float(w.sum()), True), sample_weight=W),
        float(W.sum()),
    ),
    "of sizes": (lambda: light(lambda y, s, w, g: ("g", float(len(g)), True)), 12.0),
    "a loss": (lambda: light(lambda y, s: ("l", 1.0, False)), Raises("is lower for better models")),
    "weights that it does not take": (
        lambda: light(lambda y, s: ("own", 1.0, True), sample_weight=W),
        Raises("takes no weights"),
    ),
    "weights that XGBoost's do not take": (
        lambda: boost(squares, sample_weight=W),
        Raises("takes no weights"),
    ),
    "a metric of lambdaplus beside a function": (
        lambda: light([lambda y, s: ("own", 1.0, True), "mrr"]),
        lambda: light("mrr"),
    ),
    "LightGBM's": (lambda: light("l2"), FRAMEWORKS),
    "XGBoost's": (lambda: boost(["rmse", "mae"]), FRAMEWORKS),
    "XGBoost's beside one of lambdaplus": (lambda: boost(["rmse", "mrr"]), lambda: boost("mrr")),
}


@contract(SCORES)
def test_scores(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)


@pytest.mark.parametrize("objective", ["rank:ndcg", "map"])
def test_a_function_of_xgboost_is_the_parents_mean_over_queries(objective: str) -> None:
    model = fit(lp.XGBoostRanker, objective=objective, eval_metric=squares)
    parent = xgboost.XGBRanker(eval_metric=squares)
    parent._Booster = model.get_booster()
    theirs = parent.score(pd.DataFrame(X).assign(qid=QID), Y)
    assert model.score(X, Y, qid=QID) == pytest.approx(theirs, abs=1e-5)
