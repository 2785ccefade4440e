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
from scipy import stats
from small_data import GRADED, Small
from small_trainings import (
    N,
    X,
    by_name,
    cv,
    dataset,
    first_scores,
    learns,
    own,
    train,
)

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_objective
from lambdaplus.frameworks.trainings import training_of

SOFT = GRADED.scores().astype(np.float32)


def by_hand(f: Any) -> Any:
    return f.by_hand(lp.lambda_mrr, f.data(GRADED), 4).scores(GRADED)


def going_on(f: Any) -> Any:
    """Four rounds by twice two; LightGBM adds the scores of a model when it constructs data."""
    first = f.train(lp.lambda_map, f.data(GRADED), 2)
    rest = dataset(f, free_raw_data=False) if f.name == "lightgbm" else f.data(GRADED)
    both = f.train(lp.lambda_map, rest, 2, model=first)
    return f.n_rounds(both), both.scores(GRADED).round(5)


def shares(f: Any) -> Any:
    """The model as saved, and its SHAP values, less its scores."""
    model = f.train(lp.lambda_map, f.data(GRADED), 3)
    if f.name == "lightgbm":
        loaded = f.module.Booster(model_str=model.booster.model_to_string())
        parts = model.booster.predict(X, pred_contrib=True)
    else:
        loaded = f.module.Booster(model_file=model.booster.save_raw("json"))
        parts = model.booster.predict(f.module.DMatrix(X), pred_contribs=True)
    difference = type(model)(loaded).scores(GRADED) - model.scores(GRADED)
    return np.abs(difference).max(), np.abs(parts.sum(axis=1) - model.scores(GRADED)).max().round(4)


def watched_correlation(f: Any, objective: Any, constant: Any) -> Any:
    """The rank correlation after one round whose trees know only the dates that are not constant.

    Of each other date, all rows have equal features, so their scores are equal.
    """
    dates, names = 20, 15
    known = np.repeat(np.arange(dates) >= constant, names)
    labels = np.tile(np.arange(names, dtype=float), dates)
    features = np.column_stack([np.where(known, labels, 7.0), np.arange(dates).repeat(names)])
    data = Small(features, labels, np.full(dates, names))
    given = f.data(data)
    params = {"min_data_in_leaf": 1, "min_data_in_bin": 1} if f.name == "lightgbm" else {}
    trained = f.train(
        objective, given, 2, params=params, metric=eval_metric("spearman"), valid={"v": given}
    )
    of_known = [stats.spearmanr(labels[:names], trained.scores(data)[-names:]).statistic]
    return trained.curves["v"]["spearman"][-1], np.nan_to_num(of_known[0]) * (
        dates - constant
    ) / dates


def cv_argument(f: Any) -> Any:
    """The fourth argument of cv."""
    return lp.query_folds(group=GRADED.sizes, n_splits=2) if f.name == "lightgbm" else 2


def cv_by_position(f: Any) -> Any:
    params = {**f.quiet, "objective": "map"}
    metric = {"feval" if f.name == "lightgbm" else "custom_metric": lp.eval_map}
    return f.own.cv(params, f.data(GRADED), 2, cv_argument(f), **metric)


def subclassed(f: Any) -> Any:
    """Updates by hand of a booster of a subclass, and the threads that our objective sees."""
    kind = type("Own", (f.module.Booster,), {})
    data = f.data(GRADED)
    params = {"num_threads": 1, "verbose": -1, "objective": "none"}
    booster = kind(params, data) if f.name == "lightgbm" else kind(f.quiet, [data])
    for turn in range(4):
        booster.update(*([data, turn] if f.name == "xgboost" else []), fobj=lp.lambda_mrr)
    found = training_of(booster, booster)
    if f.name == "lightgbm":
        return found.threads, found.rounds, booster.predict(X)
    return found.threads, found.rounds, booster.predict(f.module.DMatrix(X), output_margin=True)


def line_of_warning(f: Any) -> str:
    """The file that a warning of a training names."""
    with pytest.warns(UserWarning, match="nothing to rank") as told:
        f.train(lp.lambda_map, f.data(GRADED, label=np.zeros(N)), 1)
    return Path(told[0].filename).name


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
    "a training that goes on":
        (going_on, lambda f: (4, train(f, rounds=4)[0].round(5))),
    "scores at the start": (first_scores, np.zeros(N)),
    "scores that the data has at the start": (lambda f: first_scores(f, SOFT), SOFT),
    "a saved model, and SHAP values": (shares, (0.0, 0.0)),
    "dart": (lambda f: learns(f, boosting="dart", booster="dart"), True),
    **{
        f"{constant} of 20 dates with equal scores, {objective}": (
            lambda f, c=constant, o=objective: np.abs(np.diff(watched_correlation(f, o, c))), [0.0]
        )
        for constant in (17, 20)
        for objective in (lambda_objective("spearman"), lambda_objective("concordance"))
    },
    "a subclass of Booster":
        (subclassed, lambda f: (1, 4, train(f, lp.lambda_mrr, rounds=4)[0])),
    "the line that a warning names": (line_of_warning, "boosting_frameworks.py"),
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


def from_file(f: Any, folder: Path) -> Any:
    """A training on a text file, with the sizes of the queries beside it."""
    np.savetxt(folder / "rows.tsv", np.column_stack([GRADED.labels, X]), "%.17g", "\t")
    (folder / "rows.tsv.query").write_text("\n".join(map(str, GRADED.sizes)))
    return own(f, data=f.module.Dataset(str(folder / "rows.tsv"), params=f.quiet))


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
    "labels in a file": (lambda f, folder: from_file(f, folder), lambda f, _: train(f)),
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


def refreshed(f: Any) -> Any:
    """How far leaves move when they are refreshed by the same rows."""
    params = {"process_type": "update", "updater": "refresh", "refresh_leaf": True}
    old = f.train(lp.lambda_map, f.data(GRADED), 3)
    new = f.train(lp.lambda_map, f.data(GRADED), 3, params=params, model=old)
    return np.abs(new.scores(GRADED) - train(f, rounds=3)[0]).max().round(4)


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
    "refreshed leaves": (refreshed, 0.0),
    "XGBoost's cv, which ignores weights of queries":
        (lambda f: cross_validated(f, GRADED.query_weights), lambda f: cross_validated(f, None)),
}  # fmt: skip


@contract(XGBOOST)
def test_models_of_xgboost(act: Callable[..., Any], right: Any, xgboost_alone: Any) -> None:
    hold(act, right, xgboost_alone)
