"""What early stopping watches, and in which direction: what is warned of."""

from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
from contracts import Rows, Warns, contract, hold
from small_estimators import CLASSIFIERS, RANKERS, each_estimator, names, own_kind, watched

import lambdaplus as lp
import lambdaplus.xgboost as xgb

LOSS = dict(zip(RANKERS + CLASSIFIERS, ("l2", "rmse", "binary_logloss", "logloss"), strict=True))
STOP = xgb.callback.EarlyStopping


def negative(labels: Any, scores: Any) -> float:
    return -float(np.mean(labels * scores))


def mean_loss(labels: Any, scores: Any) -> float:
    return negative(labels, scores)


def minimised(**options: Any) -> Any:
    return watched(lp.XGBoostRanker, **{"eval_metric": negative, **options})


ANY: Rows = {
    "early stopping by a loss":
        (lambda k: watched(k, eval_metric=LOSS[k], early_stopping_rounds=2),
         Warns("watches '.*', which takes scores for .* of lambda_map only rank")),
    "a loss without early stopping": (lambda k: names(k, eval_metric=LOSS[k]), lambda k: [LOSS[k]]),
    "a loss beside a metric, which is watched": (
        lambda k: names(
            k, early_stopping_rounds=2,
            eval_metric=own_kind(k, ["map"], [LOSS[k], "map"]),
        ),
        lambda k: own_kind(k, ["map"], [LOSS[k], "map"]),
    ),
}  # fmt: skip


@each_estimator
@contract(ANY)
def test_losses_that_are_watched(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


@pytest.mark.parametrize(
    "metrics", [["auc", "logloss"], ["logloss", "auc"], ["auc", "logloss", "error"]]
)
def test_the_last_metric_of_a_list_is_watched_as_by_xgboosts_classifier(metrics: Any) -> None:
    options: dict[str, Any] = {
        "objective": "binary:logistic", "eval_metric": metrics, "n_estimators": 40, "n_jobs": 1,
        "early_stopping_rounds": 3,
    }  # fmt: skip
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 3)), random.integers(0, 2, 300)
    rows: dict[str, Any] = {"eval_set": [(X[:50], y[:50]), (X[200:], y[200:])], "verbose": False}
    ours, theirs = (
        kind(**options).fit(X[:200], y[:200], **rows)
        for kind in (lp.XGBoostClassifier, xgb.XGBClassifier)
    )
    assert ours.best_iteration == theirs.best_iteration
    assert ours.best_score == pytest.approx(theirs.best_score)


def test_lightgbms_metrics_before_the_first_one_are_warned_of() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 3)), random.integers(0, 2, 300)
    options: dict[str, Any] = {"objective": "binary", "n_estimators": 5, "verbose": -1}
    stop = lgb.early_stopping(3, first_metric_only=True, verbose=False)
    for metrics, right in (
        (["auc", "l2"], Warns("by the first metric watches 'l2', since LightGBM")),
        (["l2", "auc"], Warns("", 0)),
    ):
        hold(
            lambda metrics=metrics: lp.LightGBMClassifier(**options, eval_metric=metrics).fit(
                X, y, eval_set=[(X[:50], y[:50])], callbacks=[stop]
            ),
            right,
        )


XGBOOST: Rows = {
    "a function that XGBoost minimises":
        (lambda: minimised(early_stopping_rounds=2), Warns("minimises 'negative'. To maximise it")),
    "a function that XGBoost minimises, by a callback":
        (lambda: minimised(callbacks=[STOP(rounds=2)]), Warns("early stopping minim")),
    "a function that XGBoost minimises, by a callback that names it":
        (lambda: minimised(callbacks=[STOP(rounds=2, metric_name="negative")]),
         Warns("minimises 'negative'")),
    "a function beside a callback that names another metric": (
        lambda: minimised(
            eval_metric=["ndcg@3-", negative],
            callbacks=[STOP(rounds=2, metric_name="ndcg@3-")],
        ).n_estimators,
        3,
    ),
    "a function that XGBoost minimises, with XGBoost's objective": (
        lambda: minimised(early_stopping_rounds=2, objective="rank:ndcg"), Warns("minimises 'neg")
    ),
    "a function with a callback that maximises":
        (lambda: minimised(callbacks=[STOP(rounds=2, maximize=True)]).best_iteration >= 0, True),
    "a function that is called a loss": (
        lambda: minimised(eval_metric=mean_loss, early_stopping_rounds=2).best_iteration >= 0, True
    ),
    "a function without early stopping": (lambda: minimised().n_estimators, 3),
}  # fmt: skip


@contract(XGBOOST)
def test_functions_that_xgboost_minimises(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)
