"""Arguments of fit, predict and score: queries, labels, weights, evaluation sets, positions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from contracts import Raises, Rows, Warns, contract, hold
from sklearn.exceptions import DataConversionWarning
from small_estimators import (
    CLASSIFIERS,
    DATA,
    FIRST_SCORES,
    HALF,
    NATIVE,
    NATIVELY,
    ORDER,
    QID,
    SOURCE,
    X,
    Y,
    curves,
    each_estimator,
    each_ranker,
    fit,
    made,
    on,
    own_kind,
    watched,
    with_one,
)

import lambdaplus as lp

NO_EFFECT = dict.fromkeys(CLASSIFIERS, "scale_pos_weight") | {
    lp.LightGBMRanker: "lambdarank_truncation_level",
    lp.XGBoostRanker: "lambdarank_num_pair_per_sample",
}


WEIGHTS = np.arange(12.0) + 1.0  # of the queries


PAIRS = np.arange(len(X)) // 2  # other queries than QID


TRAINING = {"X": X[ORDER], "y": Y[ORDER], "qid": QID[ORDER]}
TRAINING |= {"eval_set": [(TRAINING["X"], TRAINING["y"])]}


def two_sets(kind: Any, form: Callable[[Any], Any]) -> Any:
    """Curves of the second set, whose arguments have this form."""
    names = own_kind(
        kind, {"eval_sample_weight": WEIGHTS[QID], "eval_init_score": FIRST_SCORES},
        {"sample_weight_eval_set": WEIGHTS, "base_margin_eval_set": FIRST_SCORES},
    )  # fmt: skip
    sets = {"eval_set": [(X[HALF], Y[HALF]), (X.copy(), Y)]}
    first = {"eval_group": np.unique(QID[HALF], return_counts=True)[1]}
    given = {name: form([first.get(name), values])
             for name, values in {**names, "eval_group": DATA.sizes}.items()}  # fmt: skip
    quiet = own_kind(kind, {}, {"verbose": False})
    return [*curves(fit(kind, {**sets, **given, **quiet})).values()][1]


def newer_form() -> Any:
    """An evaluation set of rows in another order, as LightGBM takes it from 4.7 on."""
    rest = {"eval_X": X[ORDER], "eval_y": Y[ORDER], "eval_qid": QID[ORDER]}
    return {"training": curves(fit(lp.LightGBMRanker, rest))["valid_0"]}


def of(kind: Any, *names: str) -> dict[str, Any]:
    """Queries, which rankers alone take."""
    given = {"qid": QID, "eval_qid": [QID]}
    return {name: given[name] for name in names if kind not in CLASSIFIERS}


ANY: Rows = {
    **{
        f"{n} entries of {name} for two sets": (
            lambda k, names=names, n=n: fit(k, {
                "eval_set": [(X[HALF], Y[HALF]), (X[~HALF], Y[~HALF])],
                "eval_qid": [QID[HALF], QID[~HALF]], own_kind(k, *names): [np.ones(HALF.sum())] * n,
            }),
            Raises(f"^{name} has {n} entries for 2 .* None for a set without"),
        )
        for n in (1, 3)
        for name, names in (
            ("(eval_sample_weight|sample_weight_eval_set)",
             ("eval_sample_weight", "sample_weight_eval_set")),
            ("(eval_init_score|base_margin_eval_set)", ("eval_init_score", "base_margin_eval_set")),
        )
    },
    "an argument that the parent lacks":
        (lambda k: fit(k, {"bogus": 1}), Raises("bogus", TypeError)),
    "no labels": (lambda k: made(k).fit(X, None, **of(k, "qid")), Raises("requires y to be pass")),
    "an evaluation set without labels": (
        lambda k: made(k).fit(X, Y > 1, eval_set=[(X, None)], **of(k, "qid", "eval_qid")),
        Raises("evaluation set 0 .*requires y to be passed"),
    ),
    "a parameter of other objectives":
        (lambda k: fit(k, **{NO_EFFECT[k]: 2}), Warns("has no effect with lambda_objective")),
    "a parameter of other objectives that is None":
        (lambda k: fit(k, **{NO_EFFECT[k]: None}).n_estimators, 3),
    "a parameter of other objectives, with the framework's objective":
        (lambda k: fit(k, **{NO_EFFECT[k]: 2}, **NATIVELY[k]).objective, lambda k: NATIVE[k]),
}  # fmt: skip


@each_estimator
@contract(ANY)
def test_arguments_of_any_estimator(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


RANKED: Rows = {
    **{
        f"arguments of evaluation sets as {name}": (
            lambda k, form=form: two_sets(k, form), lambda k: two_sets(k, list)
        )
        for name, form in (
            ("tuples", tuple), ("dictionaries", lambda values: dict(enumerate(values))),
            ("dictionaries of polars",
             lambda values: {i: one if one is None else pl.Series(one)
                             for i, one in enumerate(values)}),
            ("lists of pandas",
             lambda values: [one if one is None else pd.Series(one) for one in values]),
        )
    },
    **{
        f"{n} entries of eval_qid for two sets": (
            lambda k, n=n: fit(k, {"eval_set": [(X, Y), (X, Y)], "eval_qid": [QID] * n}),
            Raises(f"^eval_qid has {n} entries for 2 .* None for a set without"),
        )
        for n in (1, 3)
    },
    "a dictionary with a number that no set has":
        (lambda k: two_sets(k, lambda values: {2: values[1]}), Raises("has entries for .2., and")),
    "evaluation sets in a tuple": (
        lambda k: curves(fit(k, {"eval_set": ((X, Y),), "eval_qid": (QID,),
                                 **own_kind(k, {}, {"verbose": False})})),
        lambda k: on(k, X)[1],
    ),
    "NaN label": (lambda k: fit(k, {"y": with_one(Y, np.nan)}), Raises("labels must .*nan in row")),
    "NaN label, the framework's objective":
        (lambda k: fit(k, {"y": with_one(Y, np.nan)}, **NATIVELY[k]),
         Raises("training data: labels must be finite")),
    "NaN weight":
        (lambda k: fit(k, {"sample_weight": with_one(Y, np.nan)}), Raises("weight .*row 3")),
    "missing query": (lambda k: fit(k, {"qid": with_one(QID, pd.NA)}), Raises("qid is missing in")),
    "no queries": (lambda k: fit(k, {"qid": None}), Raises("training data has no queries: pass q")),
    "no queries in score":
        (lambda k: fit(k, objective="auc").score(X, Y > 1),
         Raises("(?s)score has no queries: pass qid=.*permutation_importance, take scoring=lambdap"
                ".*metadata_routing=True.*query_folds.*fit.X, y, qid=qid.")),
    "no queries in an evaluation set":
        (lambda k: watched(k, {"eval_qid": []}), Raises("evaluation set 0 .*: pass eval_qid=")),
    "the training rows as a set with other queries":
        (lambda k: curves(fit(k, {"eval_set": [(X, Y)], "eval_qid": [PAIRS]})),
         lambda k: curves(fit(k, {"eval_set": [(X.copy(), Y.copy())], "eval_qid": [PAIRS]}))),
}  # fmt: skip


@each_ranker
@contract(RANKED)
def test_arguments_of_rankers(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


ONE: Rows = {
    "arguments of fit by position": (
        lambda: made(lp.LightGBMRanker).fit(X, Y, 1.0 + QID, FIRST_SCORES, DATA.sizes).predict(X),
        lambda: made(lp.LightGBMRanker).fit(
            X, Y, sample_weight=1.0 + QID, init_score=FIRST_SCORES, group=DATA.sizes).predict(X),
    ),
    "arguments of predict by position":
        (lambda: fit(lp.LightGBMRanker).predict(X, True, 0, 1),
         lambda: fit(lp.LightGBMRanker).predict(X, num_iteration=1)),
    "the third argument of XGBoost's ranker, which was the group once":
        (lambda: made(lp.XGBoostRanker).fit(X, Y, DATA.sizes),
         Raises("too many positional", TypeError)),
    "arguments of XGBoost's fit by position, which has none":
        (lambda: made(lp.XGBoostRanker).fit(X, Y, None, DATA.sizes),
         Raises("too many positional", TypeError)),
    "score of weights of queries, rows in any order": (
        lambda: fit(lp.XGBoostRanker).score(
            X[ORDER], Y[ORDER], qid=QID[ORDER],
            sample_weight=(1.0 + QID[ORDER])[np.sort(np.unique(QID[ORDER], return_index=True)[1])]),
        lambda: fit(lp.XGBoostRanker).score(X, Y, qid=QID, sample_weight=1.0 + QID),
    ),
    "training data among evaluation sets":
        (lambda: list(curves(fit(lp.LightGBMRanker, {**TRAINING, "eval_qid": [QID[ORDER]]}))),
         ["training"]),
    "eval_X and eval_y": (lambda: newer_form(), lambda: on(lp.LightGBMRanker, X.copy())[1]),
    "weights of rows that differ in a query":
        (lambda: fit(lp.XGBoostRanker, {"sample_weight": DATA.row_weights}),
         Raises("one weight for each query.*the objective carry")),
    "weights of rows that are equal in a query":
        (lambda: fit(lp.XGBoostRanker, {"sample_weight": DATA.query_weights[QID]}).predict(X),
         lambda: fit(lp.XGBoostRanker, {"sample_weight": DATA.query_weights}).predict(X)),
}  # fmt: skip


@contract(ONE)
def test_arguments_of_one_ranker(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)


@each_ranker
def test_labels_in_a_column_are_warned_of(kind: Any) -> None:
    expected = fit(kind).predict(X)
    for labels in (Y[:, None], pd.DataFrame(Y), pl.DataFrame(Y)):
        with pytest.warns(DataConversionWarning, match="column-vector y was passed") as told:
            found = fit(kind, {"y": labels})
        np.testing.assert_array_equal(found.predict(X), expected)
        assert told[0].filename == SOURCE  # which calls fit
