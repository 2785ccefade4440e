"""Objectives and metrics in place of each other, of other rows, and by unknown names.

Most rows run on both frameworks, and on LightGBM 3, too.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosting_frameworks import pytest_generate_tests  # noqa: F401
from contracts import Raises, Rows, contract, hold
from small_data import GRADED
from small_trainings import N, X, by_name, cv, dataset, own, train, watched

import lambdaplus as lp
from lambdaplus import eval_metric

MIRRORED = GRADED.binary[::-1].copy()


def relabelled(f: Any, labels: Any, sets: Any = ("a", "b")) -> list[str]:
    """Metrics with labels of their own on two sets with as many rows, and equal own labels."""
    data = {name: f.data(GRADED, label=GRADED.binary) for name in sets}
    metric = eval_metric("map").on(labels)
    return sorted(f.train(lp.lambda_map, f.data(GRADED), 2, metric=metric, valid=data).curves["a"])


def twice(f: Any, part: Any, other: Any) -> None:
    """Trainings with one objective on a data set, and on another one with as many rows."""
    objective = lp.combine({lp.lambda_ndcg: 1, part: 1})
    for labels in (GRADED.labels, GRADED.labels, other):
        f.train(objective, f.data(GRADED, label=labels), 2)


def repeated(f: Any) -> Any:
    """Cross-validation with a bootstrap of whole queries."""
    ends = np.cumsum(GRADED.sizes)
    rows = np.sort(np.concatenate([np.arange(a, b) for a, b in ((0, ends[2]), (0, ends[0]))]))
    given = {"fobj" if f.name == "lightgbm" else "obj": lp.lambda_map}
    return f.own.cv(f.quiet, f.data(GRADED), 2, folds=[(rows, np.arange(ends[2], N))], **given)


BOTH: Rows = {
    "labels of a metric": (lambda f: relabelled(f, MIRRORED, "a"), ["map_own"]),
    "labels of a metric, and two sets with as many rows":
        (lambda f: relabelled(f, MIRRORED), Raises("of another data set.*evaluate it on")),
    **{
        f"{what} of an objective, and another data set": (
            lambda f, part=part: twice(f, part(), GRADED.labels[::-1].copy()),
            Raises("is for the rows of another data set"),
        )
        for what, part in (
            ("labels", lambda: lp.lambda_map.on(MIRRORED)),
            ("weights", lambda: lp.lambda_map.weighted(1.0 + MIRRORED)),
        )
    },
    "labels of an objective, and the same data again":
        (lambda f: twice(f, lp.lambda_map.on(MIRRORED), GRADED.labels), None),
    "queries in a fold again":
        (lambda f: repeated(f), Raises("this .* has [0-9]+ rows of the data again, so the copies")),
    "an objective as metric":
        (lambda f: train(f, metric=lp.lambda_map),
         Raises(r"was passed as a metric .*: pass eval_metric\('map'\)", TypeError)),
    "a metric as objective":
        (lambda f: train(f, eval_metric("ndcg@3")),
         Raises(r"is no objective: pass lambda_objective\('ndcg@3'\)", TypeError)),
    "a metric of yours that calls an objective": (
        lambda f: train(
            f, metric=lambda s, d: ("size", float(np.abs(lp.lambda_map(s, d)[0]).sum()), False)[
                : 3 if f.name == "lightgbm" else 2
            ],
        )[1],
        ["size"],
    ),
    **{
        f"{what} as objective of our {way}": (
            lambda f, one=one, way=way: by_name(f, one) if way == "train" else cv(f, one),
            Raises(r"is not an objective: pass lambda_objective\('map'\)", TypeError),
        )
        for what, one in (
            ("lambda_objective", lp.lambda_objective), ("combine", lp.combine),
            ("a metric", lp.eval_map),
        )
        for way in ("train", "cv")
    },
    **{
        f"{type(several).__name__} of objectives in our {way}": (
            lambda f, one=several, way=way: by_name(f, one) if way == "train" else cv(f, one),
            Raises(r"is no single objective: pass one, or their sum, such as comb", TypeError),
        )
        for several in ([lp.lambda_map], (lp.lambda_map, "ndcg"), {lp.lambda_map: 1})
        for way in ("train", "cv")
    },
    **{
        f"{what} as a metric of our {way}": (
            lambda f, one=one, way=way: own(f, metric=one) if way == "train" else f.own.cv(
                f.quiet, f.data(GRADED), 2,
                **{"feval" if f.name == "lightgbm" else "custom_metric": one},
            ),
            Raises(r"is no function of scores and data: pass eval_metric\('map'\)", TypeError),
        )
        for what, one in (
            ("a name", "map"), ("a metric", lp.parse_metric("map")), ("eval_metric", eval_metric),
            ("lambda_objective", lp.lambda_objective),
        )
        for way in ("train", "cv")
    },
    "arrays in our cv":
        (lambda f: f.own.cv(f.quiet, X, 2), Raises("must be a D.*, not ndarray", TypeError)),
    "ndgc@10": (lambda f: by_name(f, "ndgc@10"), Raises("unknown metric 'ndgc' .did y", Exception)),
    "map of a sum": (lambda f: by_name(f, "map + bogus"), Raises("unknown metric 'bogus'")),
}  # fmt: skip


@contract(BOTH)
def test_functions_of_both_frameworks(act: Callable[..., Any], right: Any, framework: Any) -> None:
    hold(act, right, framework)


NO_EFFECT: dict[str, dict[str, tuple[Any, str]]] = {  # and what is to be set instead
    "lightgbm": {
        "label_gain": ([0, 1, 3, 3], r"ndcg\(gain=.*metric ndcg still reads it"),
        "sigmoid": (2.0, "sigma="),
        "lambdarank_norm": (False, "normalize="),
        "lambdarank_truncation_level": (1, "all pairs are compared"),
        "scale_pos_weight": (3.0, "AUC does not depend on the share of positives"),
        "is_unbalance": (True, "pass weights with the data"),
    },
    "xgboost": {
        "lambdarank_pair_method": ("mean", "remove it"),
        "lambdarank_num_pair_per_sample": (3, "all pairs are compared"),
        "ndcg_exp_gain": (False, "metric ndcg still reads it"),
        "lambdarank_unbiased": (True, "PositionBias"),
    },
}


def test_parameters_of_other_objectives_change_nothing_and_are_warned_of(framework: Any) -> None:
    expected = train(framework, rounds=3)
    for name, (given, instead) in NO_EFFECT[framework.name].items():
        with pytest.warns(UserWarning, match=f"^{name} has no effect with lambda.*{instead}"):
            found = own(framework, rounds=3, params={name: given})
        np.testing.assert_array_equal(found[0], expected[0])


FOREST = {"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1}


LIGHTGBM: Rows = {
    "our cv with an argument that LightGBM lacks":
        (lambda f, _: f.own.cv(f.quiet, dataset(f), 1, nfolds=3), Raises("'nfolds'", TypeError)),
    "random forest":
        (lambda f, _: train(f, params=FOREST), Raises("do not support custom", Exception)),
}  # fmt: skip


@contract(LIGHTGBM)
def test_functions_of_lightgbm(
    act: Callable[..., Any], right: Any, lightgbm_alone: Any, tmp_path: Path
) -> None:
    hold(act, right, lightgbm_alone, tmp_path)


QUERIES = {"qid": GRADED.qid, "eval_qid": [GRADED.qid]}


def fitted(f: Any, kind: str, given: Any = (), **options: Any) -> Any:
    """One of XGBoost's own estimators."""
    model = getattr(f.module, kind)(n_estimators=2, n_jobs=1, **options)
    half = np.where(GRADED.qid % 2, GRADED.labels, 0)
    return model.fit(X, GRADED.labels, eval_set=[(X, half)], verbose=False, **dict(given))


XGBOOST: Rows = {
    "a metric of ours as eval_metric":
        (lambda f: watched(f, eval_metric="mrr"),
         Raises(r"XGBoost has no metric .mrr.; .* pass custom_metric=.*metric\(.mrr.\)")),
    "a metric that went as metrics of cv": (
        lambda f: f.own.cv(f.quiet, f.data(GRADED), 2, metrics=["auc", "bpref"]),
        Raises("was removed .*; use ir-m", Exception),
    ),
    "XGBoost's objective as obj":
        (lambda f: f.own.train(f.quiet, f.data(GRADED), 2, obj=f.native),
         Raises(r"obj='rank.*' is no function: pass it as params\['objective'\]", TypeError)),
    "several metrics in XGBRegressor": (
        lambda f: fitted(
            f, "XGBRegressor", objective=lp.lambda_auc, eval_metric=eval_metric("auc", "map")
        ),
        Raises("support a single metric", TypeError),
    ),
    "a metric in XGBRanker":
        (lambda f: fitted(f, "XGBRanker", QUERIES, eval_metric=lp.eval_map),
         Raises("XGBRanker calls a metric query by query")),
    "an objective in XGBRanker":
        (lambda f: fitted(f, "XGBRanker", QUERIES, objective=lp.lambda_map),
         Raises("not supported by XGBRanker")),
    "an objective as metric of XGBRanker":
        (lambda f: fitted(f, "XGBRanker", QUERIES, eval_metric=lp.lambda_map),
         Raises("was passed as a metric", TypeError)),
    "rank:map of graded labels": (lambda f: train(f, "rank:map"), Raises("binary", Exception)),
}  # fmt: skip


@contract(XGBOOST)
def test_functions_of_xgboost(act: Callable[..., Any], right: Any, xgboost_alone: Any) -> None:
    hold(act, right, xgboost_alone)
