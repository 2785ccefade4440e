"""Scores in searches of scikit-learn: with queries, and of one metric."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
import sklearn
from contracts import Raises, Rows, Warns, contract, hold
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline
from small_estimators import NATIVE, QID, X, Y, each_ranker, made

import lambdaplus as lp

WHOLE = lp.query_folds(qid=QID, n_splits=3)
COLUMN = pd.DataFrame(X).add_prefix("x").assign(qid=QID)
DEPTHS, TWO = {"max_depth": [1, 2]}, {"objective": ["map", "mrr"]}
LINES = r"(?s)metadata_routing=True.*cv=lambdaplus.query_folds.qid=qid.*fit.X, y, qid=qid."
BY = Warns("compares values of different metrics, .*: pass the estimator eval_metric='map', or the")


def scored(model: Any, **options: Any) -> Any:
    return cross_val_score(model, X, Y, cv=WHOLE, params={"qid": QID}, **options)


UNROUTED: Rows = {  # NaN is no value of a search
    "a search": (lambda m: GridSearchCV(m, DEPTHS, cv=WHOLE).fit(X, Y, qid=QID), Raises(LINES)),
    "halving": (
        lambda m: HalvingGridSearchCV(
            m, DEPTHS, cv=WHOLE, resource="n_estimators", max_resources=9
        ).fit(X, Y, qid=QID),
        Raises(LINES),
    ),
    "a cross-validation": (scored, Raises(LINES)),
    "a scorer of ours": (lambda m: scored(m, scoring=lp.scorer("map")), Raises(LINES)),
    "several scorers": (
        lambda m: cross_validate(
            m, X, Y, cv=WHOLE, params={"qid": QID},
            scoring={"ndcg": lp.scorer("ndcg@5"), "loss": "neg_mean_squared_error"},
        ),
        Raises(LINES),
    ),
    "no queries at all":
        (lambda m: cross_val_score(m, X, Y, error_score="raise"), Raises(LINES)),
    "predictions, which need none":
        (lambda m: cross_val_predict(m, X, Y, cv=WHOLE, params={"qid": QID}).size, len(Y)),
    "a loss, which needs none":
        (lambda m: scored(m, scoring="neg_mean_squared_error").size, 3),
    "a function of yours, which needs none":
        (lambda m: scored(m, scoring=lambda model, X, y: 1.0).tolist(), [1.0, 1.0, 1.0]),
    "a column of queries":
        (lambda m: bool(cross_val_score(m, COLUMN, Y, cv=WHOLE, params={}).min() > 0), True),
    "importance of features": (
        lambda m: permutation_importance(m.fit(X, Y, qid=QID), X, Y),
        Raises("permutation_importance, take scoring=lambdaplus.scorer.'ndcg@10', qid=qid."),
    ),
    "importance of features by a scorer": (
        lambda m: bool(permutation_importance(
            m.fit(X, Y, qid=QID), X, Y, scoring=lp.scorer("map", qid=QID), n_repeats=2
        )["importances_mean"].max() > 0.0),
        True,
    ),
}  # fmt: skip


@each_ranker
@contract(UNROUTED)
def test_scores_without_routing(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, made(kind))


def best(model: Any, params: Any, **options: Any) -> int:
    """The number of best parameters."""
    search = GridSearchCV(model, params, cv=WHOLE, error_score="raise", **options)
    return len(search.fit(X, Y, qid=QID).best_params_)


def of_pipeline(model: Any, params: Any) -> int:
    pytest.importorskip("sklearn", "1.8", reason="older ones do not route to score of a Pipeline")
    return best(Pipeline([("rank", model)]), params)


def natively(model: Any) -> Any:
    return best(model, {"objective": [NATIVE[type(model)], "ndcg"]})


METRICS: Rows = {
    "two objectives": (lambda m: best(m, TWO), BY),
    "two objectives in processes": (lambda m: best(m, TWO, n_jobs=2), BY),
    "two objectives without a refit": (
        lambda m: GridSearchCV(m, TWO, cv=WHOLE, refit=False).fit(X, Y, qid=QID), BY
    ),
    "cutoffs of an objective": (lambda m: best(m, {"objective": ["map", "map@5"]}), BY),
    "the framework's and ours": (natively, Warns("ndcg@10 of '.*', ndcg of 'ndcg', so")),
    "two metrics": (lambda m: best(m, {"eval_metric": ["map", "mrr"]}), BY),
    "lists of parameters":
        (lambda m: best(m, [{"objective": ["map"]}, {"objective": ["mrr"], "max_depth": [2]}]), BY),
    "a step of a pipeline":
        (lambda m: of_pipeline(m, {"rank__objective": ["map", "mrr"]}), BY),
    "two estimators":
        (lambda m: of_pipeline(m, {"rank": [m, clone(m).set_params(objective="mrr")]}), BY),
    "two objectives and a metric":
        (lambda m: best(m.set_params(eval_metric="map"), TWO), 1),
    "two objectives, of which each has the metric":
        (lambda m: best(m, {**TWO, "eval_metric": ["map"]}), 2),
    "two objectives and a scorer": (lambda m: best(m, TWO, scoring=lp.scorer("map")), 1),
    "options of an objective":
        (lambda m: best(m, {"objective": ["map", lp.lambda_objective("map", sigma=2.0)]}), 1),
    "other parameters": (lambda m: best(m, DEPTHS), 1),
}  # fmt: skip


@each_ranker
@contract(METRICS)
def test_candidates_of_one_metric(act: Callable[..., Any], right: Any, kind: Any) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        hold(act, right, made(kind))


def test_a_classifier_is_scored_by_its_accuracy_with_any_objective() -> None:
    for kind in (lp.LightGBMClassifier, lp.XGBoostClassifier):
        search = GridSearchCV(made(kind), {"objective": ["map", "auc"]}, cv=3)
        hold(lambda search=search: search.fit(X, Y > 1).n_splits_, 3)
