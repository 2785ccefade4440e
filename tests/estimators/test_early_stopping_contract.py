"""What early stopping watches, and in which direction: what is warned of."""

from collections.abc import Callable
from typing import Any

import numpy as np
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
