"""Queries, labels, weights and scores of data sets that cannot be used, or only with a warning.

Most rows run on both frameworks, and on LightGBM 3, too.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosting_frameworks import pytest_generate_tests  # noqa: F401
from contracts import Raises, Rows, Warns, contract, hold
from small_data import GRADED
from small_trainings import N, X, cv, dataset, forms, lost, own, train

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_objective

START = np.where(np.arange(N) == 7, np.nan, 0.0)


NO_QUERIES = Raises(r"mrr ranks.*no queries: set group=")


BOTH: Rows = {
    "no queries in the training":
        (lambda f: train(f, lambda_objective("mrr"), data={"sizes": None}), NO_QUERIES),
    "no queries in the metric":
        (lambda f: train(f, lp.lambda_auc, eval_metric("mrr"), data={"sizes": None}), NO_QUERIES),
    "all rows as one query":
        (lambda f: train(f, lambda_objective("mrr", one_group=True), data={"sizes": None}),
         lambda f: train(f, lambda_objective("mrr"), data={"sizes": [N]})),
    "queries in the training alone":
        (lambda f: train(f, metric=lp.eval_map, valid=lost(f)),
         Raises("an evaluation set has no queries, and the training data has")),
    "queries in the training alone, with our train": (
        lambda f: own(f, metric=lp.eval_map, valid=lost(f)), Raises("evaluation set has no queries")
    ),
    "queries in the training alone, and a metric of all rows":
        (lambda f: train(f, metric=eval_metric("map", one_group=True), valid=lost(f))[1], ["map"]),
    "queries in the evaluation alone":
        (lambda f: train(f, metric=lp.eval_map, valid=f.data(GRADED), data=lost(f)),
         Warns("the training data has no queries, but an evaluation set has")),
    "NaN scores":
        (lambda f: forms(f, lambda made: made(START, f.data(GRADED))),
         Raises("scores must be finite.*nan in row 7")),
    "labels that a metric cannot take":
        (lambda f: train(f, lp.lambda_ndcg, data={"label": -GRADED.labels}),
         Raises("ndcg needs labels >= 0")),
    "nothing to rank":
        (lambda f: train(f, rounds=3, data={"label": np.zeros(N)})[0],
         Warns("map has nothing to rank, so its gradient is zero")),
    "soft labels":
        (lambda f: train(f, rounds=3, data={"label": GRADED.labels / 9})[0],
         Warns("map has nothing to rank.*no document is relevant.* Pass relevant=0")),
    "labels 1 and 2":
        (lambda f: train(f, metric=lp.eval_map, data={"label": GRADED.binary + 1}),
         Warns("map has nothing to rank|all documents are relevant, as map .*Pass relevant=2", 2)),
}  # fmt: skip


@contract(BOTH)
def test_data_of_both_frameworks(act: Callable[..., Any], right: Any, framework: Any) -> None:
    hold(act, right, framework)


BY_QUERY = {"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}
BAGGED = Raises("bagging_by_query=True, .* nothing .*by rows works")


def with_nan(values: Any, value: float = np.nan) -> Any:
    return np.where(np.arange(len(values)) == 3, value, values)


def both_ways(f: Any, data: Callable[[], Any], objective: Any = lp.lambda_map) -> None:
    """Our cv raises, and then our train."""
    with pytest.raises(ValueError, match="train_set must be finite"):
        f.own.cv(f.quiet, data(), 2, fobj=objective)
    f.own.train(f.quiet, data(), 2, fobj=objective)


def plain_cv(f: Any, objective: Any) -> Any:
    """LightGBM's own."""
    given = {} if isinstance(objective, str) or f.module.__version__ >= "4" else {"fobj": objective}
    params = f.quiet if given else {**f.quiet, "objective": objective}
    return f.module.cv(params, dataset(f), 2, **given)


LIGHTGBM: Rows = {
    "few rows": (
        lambda f, _: f.own.train({**f.quiet, "min_data_in_leaf": N}, dataset(f), 1,
                                 fobj=lp.lambda_map),
        Raises("set min_child_samples .min_data_in_leaf."),
    ),
    "bagging by query": (lambda f, _: train(f, params={**BY_QUERY}), BAGGED),
    "bagging by query of a function that calls an objective":
        (lambda f, _: train(f, lambda *a: lp.lambda_map(*a), params={**BY_QUERY}), BAGGED),
    "bagging by query with our train": (
        lambda f, _: f.own.train({**f.quiet, **BY_QUERY}, dataset(f), 2, fobj=lp.lambda_map), BAGGED
    ),
    "bagging by query with our cv": (lambda f, _: cv(f, **BY_QUERY), BAGGED),
    "bagging by query that is off":
        (lambda f, _: train(f, params={**BY_QUERY, "bagging_by_query": False})[1], []),
    "NaN label":
        (lambda f, _: both_ways(f, lambda: dataset(f, label=with_nan(GRADED.labels))),
         Raises("labels of train_set must be finite: 1 of .* nan in row 3")),
    "NaN label, LightGBM's objective":
        (lambda f, _: both_ways(f, lambda: dataset(f, label=with_nan(GRADED.labels)), None),
         Raises("labels of train_set must be finite")),
    "infinite weight":
        (lambda f, _: both_ways(f, lambda: dataset(f, weight=with_nan(np.ones(N), np.inf))),
         Raises("weights of train_set must be finite.*inf")),
    "NaN label of an evaluation set": (
        lambda f, _: f.own.train(
            f.quiet, d := dataset(f), 2, fobj=lp.lambda_map,
            valid_sets=[d, d.create_valid(X, with_nan(GRADED.labels), group=GRADED.sizes)],
        ),
        Raises(r"labels of valid_sets\[1\] must be finite"),
    ),
    "LightGBM's cv, which cuts queries":
        (lambda f, _: plain_cv(f, lp.lambda_map), Raises("queries, as lgb.cv does by default")),
    "LightGBM's cv, which cuts queries, with its objective":
        (lambda f, _: plain_cv(f, "lambdarank") != {}, True),
    "bagging by query of an earlier training":
        (lambda f, _: train(f, data=dataset(f, params={**f.quiet, **BY_QUERY}))[1], []),
    "folds that cut queries": (
        lambda f, _: f.own.cv(
            f.quiet, dataset(f), 1, fobj=lp.lambda_map,
            folds=[(np.arange(200, N), np.arange(200))],
        ),
        Raises(r"splits \d+ of \d+ queries"),
    ),
    "an evaluation set without queries, LightGBM's objective":
        (lambda f, _: train(f, "lambdarank", lp.eval_map, lost(f), params={"metric": "None"}),
         Raises("an evaluation set has no queries")),
}  # fmt: skip


@contract(LIGHTGBM)
def test_data_of_lightgbm(
    act: Callable[..., Any], right: Any, lightgbm_alone: Any, tmp_path: Path
) -> None:
    hold(act, right, lightgbm_alone, tmp_path)


def matrix(f: Any, **given: Any) -> Any:
    return f.module.DMatrix(X, **given)


def weighted(f: Any) -> Any:
    given = f.data(GRADED)
    given.set_weight(np.ones(N))  # XGBoost does not mind yet
    return given


XGBOOST: Rows = {
    "NaN scores at the start":  # which LightGBM replaces
        (lambda f: train(f, data={"start": START}), Raises("scores must be finite.*nan in row 7")),
    "an evaluation set without queries, XGBoost's objective":
        (lambda f: train(f, f.native, lp.eval_map, lost(f)),
         Warns("if the training data has queries: an evaluation set has no queries")),
    "no labels":
        (lambda f: lp.lambda_auc(GRADED.scores(), matrix(f)), Raises(f"has 0 labels for {N} rows")),
    "two columns of labels": (
        lambda f: lp.lambda_auc(GRADED.scores(), matrix(f, label=np.stack([GRADED.labels] * 2, 1))),
        Raises(f"{2 * N} labels for {N} rows"),
    ),
    "weights of rows":
        (lambda f: forms(f, lambda made: made(GRADED.scores(), weighted(f))),
         Raises(f"{N} weights for 60 .*one weight per query")),
}  # fmt: skip


@contract(XGBOOST)
def test_data_of_xgboost(act: Callable[..., Any], right: Any, xgboost_alone: Any) -> None:
    hold(act, right, xgboost_alone)
