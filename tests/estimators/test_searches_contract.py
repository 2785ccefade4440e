"""Searches and cross-validation of scikit-learn with rankers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import pytest
import sklearn
from contracts import Rows, Warns, contract, hold
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from small_estimators import DATA, HALF, QID, X, Y, each_ranker, made

import lambdaplus as lp

WHOLE, CUT = lp.query_folds(qid=QID, n_splits=3), KFold(3, shuffle=True, random_state=0)
COLUMN = pd.DataFrame(X).add_prefix("x").assign(qid=QID)
PARAMS, GRID = {"params": {"qid": QID}}, {"max_depth": [1, 2, 3]}
SPLITS = partial(Warns, "this cross-validation splits queries: .*cv=lambdaplus.query_folds")
halving = partial(HalvingGridSearchCV, cv=WHOLE, random_state=0)


def in_pipeline(model: Any, **options: Any) -> Any:
    pytest.importorskip("sklearn", "1.8", reason="older ones do not route to score of a Pipeline")
    return cross_val_score(make_pipeline(model), X, Y, **PARAMS, **options)


def of_column(model: Any, cv: Any) -> Any:
    return cross_val_score(model, COLUMN, Y, cv=cv, params={})


FIRST = WHOLE[0][0]
SEARCHES: Rows = {
    "whole queries": (lambda m: cross_val_score(m, X, Y, cv=WHOLE, **PARAMS).size, 3),
    "whole queries of a column": (lambda m: of_column(m, WHOLE).size, 3),
    "groups":
        (lambda m: GridSearchCV(m, GRID, cv=GroupKFold(3)).fit(COLUMN, Y, groups=QID).n_splits_, 3),
    "cut queries": (lambda m: cross_val_score(m, X, Y, cv=CUT, **PARAMS), SPLITS(3)),
    "cut queries of a column": (lambda m: of_column(m, CUT), SPLITS(3)),
    "in a pipeline": (lambda m: in_pipeline(m, cv=CUT), SPLITS(3)),
    "whole queries in a pipeline": (lambda m: in_pipeline(m, cv=WHOLE).size, 3),
    "weights of rows of a query, routed, too": (
        lambda m: cross_val_score(
            m.set_fit_request(sample_weight=True).set_score_request(sample_weight=False), X, Y,
            cv=WHOLE, params={"qid": QID, "sample_weight": DATA.query_weights[QID]},
        )[0],
        lambda m: m.fit(
            X[FIRST], Y[FIRST], qid=QID[FIRST], sample_weight=DATA.query_weights[QID[FIRST]]
        ).score(X[WHOLE[0][1]], Y[WHOLE[0][1]], qid=QID[WHOLE[0][1]]),
    ),
    "predictions": (lambda m: cross_val_predict(m, X, Y, cv=CUT, **PARAMS), SPLITS(3)),
    "a search": (lambda m: GridSearchCV(m, GRID, cv=3).fit(X, Y, qid=QID), SPLITS(9)),
    "rows as the resource":
        (lambda m: halving(m, GRID, min_resources=60).fit(X, Y, qid=QID), SPLITS(9)),
    "trees as the resource":
        (lambda m: halving(m, GRID, resource="n_estimators", max_resources=9).fit(X, Y, qid=QID).cv,
         WHOLE),
    "a learning curve of rows":
        (lambda m: learning_curve(m, X, Y, cv=WHOLE, train_sizes=[0.5], **PARAMS), SPLITS(2)),
    "a fit, and a score of some rows": (
        lambda m: m.fit(X[HALF], Y[HALF], qid=QID[HALF]).score(X[:9], Y[:9], qid=QID[:9]) > 0, True
    ),
}  # fmt: skip


@each_ranker
@contract(SEARCHES)
def test_searches(act: Callable[..., Any], right: Any, kind: Any) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        hold(act, right, made(kind))


def test_a_search_without_routing_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        cross_val_score(made(lp.LightGBMRanker), X, Y, error_score="raise")
