"""Trainings give the same model whichever way they are asked for: by name, by hand, from a file.

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
from small_trainings import N, X, by_name, cv, dataset, first_scores, learns, own, train

import lambdaplus as lp
from lambdaplus import lambda_objective

SOFT = GRADED.scores().astype(np.float32)


def by_hand(f: Any) -> Any:
    return f.by_hand(lp.lambda_mrr, f.data(GRADED), 4).scores(GRADED)


def cv_argument(f: Any) -> Any:
    """The fourth argument of cv."""
    return lp.query_folds(group=GRADED.sizes, n_splits=2) if f.name == "lightgbm" else 2


def cv_by_position(f: Any) -> Any:
    params = {**f.quiet, "objective": "map"}
    metric = {"feval" if f.name == "lightgbm" else "custom_metric": lp.eval_map}
    return f.own.cv(params, f.data(GRADED), 2, cv_argument(f), **metric)


BOTH: Rows = {
    **{
        f"{name} among the parameters": (
            lambda f, name=name: type(f.train(lp.lambda_map, f.data(GRADED), 1))(
                by_name(f, name)
            ).scores(GRADED),
            lambda f, text=text: train(f, text if text == f.native else lambda_objective(text))[0],
        )
        for name, text in (
            ("ndcg@10", "ndcg@10"), ("map + 0.5*mrr", "map + 0.5*mrr"), ("lambda_map", "map"),
            (lp.parse_metric("err"), "err"),
        )
    },
    "the framework's objective among the parameters":
        (lambda f: type(f.train(f.native, f.data(GRADED), 1))(by_name(f, f.native)).scores(GRADED),
         lambda f: train(f, f.native)[0]),
    "our train":
        (lambda f: own(f, params={"max_depth": 3}), lambda f: train(f, params={"max_depth": 3})),
    "a booster updated by hand": (by_hand, lambda f: train(f, lp.lambda_mrr, rounds=4)[0]),
    "scores at the start": (first_scores, np.zeros(N)),
    "scores that the data has at the start": (lambda f: first_scores(f, SOFT), SOFT),
    "dart": (lambda f: learns(f, boosting="dart", booster="dart"), True),
    "evaluation sets of our train": (
        lambda f: f.own.train(
            {**f.quiet, "objective": "map"}, d := f.data(GRADED), 3,
            *([[d], ["v"]] if f.name == "lightgbm" else [[(d, "v")]]),
        ) and 3,
        3,
    ),
    "the number of folds of our cv": (
        lambda f: cv_by_position(f), lambda f: f.own.cv(
            {**f.quiet, "objective": "map"}, f.data(GRADED), 2,
            **{"folds" if f.name == "lightgbm" else "nfold": cv_argument(f)},
            **{"feval" if f.name == "lightgbm" else "custom_metric": lp.eval_map}),
    ),
}  # fmt: skip


@contract(BOTH)
def test_models_of_both_frameworks(act: Callable[..., Any], right: Any, framework: Any) -> None:
    hold(act, right, framework)


def saved(f: Any, folder: Path) -> str:
    dataset(f).construct().save_binary(file := str(folder / "data.bin"))
    return file


ROWS = np.flatnonzero(GRADED.qid % 2 == 1)
ODD = GRADED.rows(ROWS)
HALF = slice(0, int(GRADED.sizes[:30].sum()))


def some(given: Any) -> Any:
    """The gradient on every other query."""
    return lp.lambda_map(ODD.scores(), given.construct().subset(ROWS.tolist()).construct())


def goes_on(f: Any, objective: Any, rows: slice) -> Any:
    first = f.train(objective, f.data(GRADED), 3)
    sizes = GRADED.sizes if rows == slice(None) else GRADED.sizes[:30]
    rest = f.module.Dataset(X[rows], GRADED.labels[rows], group=sizes, free_raw_data=False)
    return f.train(lp.lambda_map, rest, 2, model=first)


def biased(f: Any, objective: Any) -> Any:
    pytest.importorskip("lightgbm", "4.1", reason="older ones have no positions")
    place = np.concatenate([np.arange(size) for size in GRADED.sizes])
    return f.train(objective, dataset(f, position=place), 2).scores(GRADED)


LIGHTGBM: Rows = {
    **{
        f"an objective as {[*params]}, and {'fobj' if fobj else 'no fobj'}": (
            lambda f, _, params=params, fobj=fobj: f.own.train(
                {**f.quiet, **params}, dataset(f), 2, fobj=fobj
            ).predict(X),
            lambda f, _: train(f)[0],
        )
        for params, fobj in (
            *(({name: lp.lambda_map}, None) for name in
              ("objective", "objective_type", "app", "application", "loss")),
            ({"objective": "lambdarank"}, lp.lambda_map),
            ({"application": "binary"}, lp.lambda_map),
            ({"objective_type": lp.lambda_auc, "objective": "binary"}, lp.lambda_map),
        )
    },
    **{
        f"{[*params]} train": (lambda f, _, params=params: learns(f, **params), True)
        for params in (
            {"bagging_fraction": 0.7, "bagging_freq": 1}, {"data_sample_strategy": "goss"},
            {"linear_tree": True},
        )
    },
    "positions":
        (lambda f, _: biased(f, lp.lambda_map), Warns("does not use the positions of this data")),
    "positions with PositionBias":
        (lambda f, _: (biased(f, lp.PositionBias(lp.lambda_map)) != train(f)[0]).any(), True),
    "a model of LightGBM's objective goes on":
        (lambda f, _: f.n_rounds(goes_on(f, "lambdarank", slice(None))), 5),
    "a model goes on with other rows":
        (lambda f, _: f.n_rounds(goes_on(f, lp.lambda_map, HALF)), 5),
    "refit":
        (lambda f, _: f.train(lp.lambda_map, f.data(GRADED), 2).booster.refit(X, GRADED.labels),
         Raises("null objective function", Exception)),
    "a binary file":
        (lambda f, d: own(f, data=f.module.Dataset(saved(f, d), params=f.quiet)),
         lambda f, _: train(f)),
    "a part of a binary file":
        (lambda f, d: some(f.module.Dataset(saved(f, d), params=f.quiet)),
         lambda f, _: lp.lambda_map(ODD.scores(), f.data(ODD))),
    "our cv on a binary file":
        (lambda f, folder: cv(f, data=f.module.Dataset(saved(f, folder))),
         lambda f, folder: cv(f, data=dataset(f))),
}  # fmt: skip


@contract(LIGHTGBM)
def test_models_of_lightgbm(
    act: Callable[..., Any], right: Any, lightgbm_alone: Any, tmp_path: Path
) -> None:
    hold(act, right, lightgbm_alone, tmp_path)


def matrix(f: Any, **given: Any) -> Any:
    return f.module.DMatrix(X, **given)


def cross_validated(f: Any, weight: Any) -> Any:
    given = f.data(GRADED, weight=weight)
    found = f.module.cv(f.quiet, given, 2, nfold=2, seed=0, obj=lp.lambda_map,
                      custom_metric=lp.eval_map, as_pandas=False)  # fmt: skip
    return found["test-map-mean"]


XGBOOST: Rows = {
    "a name as obj":
        (lambda f: f.own.train(f.quiet, f.data(GRADED), 2, obj="map").predict(matrix(f)),
         lambda f: own(f)[0]),
    "base_score of 2":
        (lambda f: first_scores(f, own=True, params={"base_score": 2}), np.full(N, 2.0)),
    "the default base_score":
        (lambda f: train(f, params={"base_score": None})[0].round(5),
         lambda f: (train(f)[0] + 0.5).round(5)),
    "a forest": (lambda f: learns(f, 1, num_parallel_tree=5, subsample=0.7, eta=1.0), True),
    "XGBoost's cv, which ignores weights of queries":
        (lambda f: cross_validated(f, GRADED.query_weights), lambda f: cross_validated(f, None)),
}  # fmt: skip


@contract(XGBOOST)
def test_models_of_xgboost(act: Callable[..., Any], right: Any, xgboost_alone: Any) -> None:
    hold(act, right, xgboost_alone)
