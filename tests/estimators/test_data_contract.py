"""Features that estimators take in any form, and what they refuse."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from contracts import Raises, Rows, contract, hold
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from small_estimators import (
    NATIVELY,
    ORDER,
    QID,
    X,
    Y,
    each_estimator,
    each_ranker,
    fit,
    in_turn,
    named,
    on,
    scores,
)

import lambdaplus as lp
import lambdaplus.lightgbm as lgb

SPARSE_KINDS = ("csr", "csc", "coo")
FORMS = {
    "array": np.asarray,
    "columns": np.asfortranarray,
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(np.ascontiguousarray(X)),
    "pyarrow": lambda X: pl.DataFrame(np.ascontiguousarray(X)).to_arrow(),
    **{name: lambda X, name=name: csr_matrix(X).asformat(name) for name in SPARSE_KINDS},
    **{f"{name} array": lambda X, name=name: csr_array(X).asformat(name) for name in SPARSE_KINDS},
}
TURNS = in_turn(QID)
SPARSE = csr_matrix(np.where(X < 0, 0.0, X))
UNSORTED = csc_matrix(SPARSE[np.argsort(ORDER)])[ORDER]
IN_PARTS = csr_matrix(  # each entry is the sum of two
    (np.repeat(SPARSE.data / 2, 2), np.repeat(SPARSE.indices, 2), SPARSE.indptr * 2)
)
FRAMES: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
BACKWARDS = dict([*named(X).items()][::-1])


def in_form(form: str, features: Any) -> Any:
    if form == "pyarrow":
        pytest.importorskip("narwhals", reason="older versions of LightGBM do not read it")
    return FORMS[form](features)


def words() -> Any:
    """A column of words, on which LightGBM ends Python in versions that read polars."""
    pytest.importorskip("narwhals", reason="older versions of LightGBM do not read it")
    brand = pl.Series("brand", ["a", "b"] * len(X), dtype=pl.Categorical)[: len(X)]
    return pl.DataFrame({"x": X[:, 0], "brand": brand})


ANY: Rows = {
    **{
        form: (lambda k, form=form: on(k, in_form(form, X)), lambda k: on(k, X)) for form in FORMS
    },
    "a frame of polars that is not computed":
        (lambda k: fit(k, {"X": pl.LazyFrame(named(X))}), Raises("LazyFrame.*pass X.collect")),
    "a frame of polars that is not computed, in predict": (
        lambda k: fit(k, {"X": pl.DataFrame(named(X))}).predict(pl.LazyFrame(named(X))),
        Raises("LazyFrame.*pass X.collect"),
    ),
    "labels in pandas":
        (lambda k: scores(fit(k, {"y": pd.Series(Y)}), X), lambda k: scores(fit(k), X)),
    "sparse columns whose rows do not ascend": (lambda k: on(k, UNSORTED), lambda k: on(k, SPARSE)),
    "sparse entries in parts": (lambda k: on(k, IN_PARTS), lambda k: on(k, SPARSE)),
    "predictions of entries in parts":
        (lambda k: on(k, SPARSE, IN_PARTS), lambda k: on(k, SPARSE)),
    **{
        f"columns in another order, {form}, {where}": (act, Raises("are not those of fit"))
        for form, frame in FRAMES.items()
        for where, act in (
            ("predict", lambda k, frame=frame: on(k, frame(named(X)), frame(BACKWARDS))),
            ("after pickle", lambda k, frame=frame: pickle.loads(
                pickle.dumps(fit(k, {"X": frame(named(X))}))).predict(frame(BACKWARDS))),
            ("eval_set", lambda k, frame=frame: fit(k, {
                "X": frame(named(X)), "eval_set": [(frame(BACKWARDS), Y)], "eval_qid": [QID]})),
        )
    },
    **{
        f"an evaluation set with {columns} columns, {form}, {objective or 'map'}": (
            lambda k, form=form, columns=columns, objective=objective: fit(k, {
                "X": in_form(form, X), "eval_qid": [QID],
                "eval_set": [(in_form(form, np.resize(X, (len(X), columns))), Y)],
            }, **NATIVELY[k] if objective else {}),
            Raises(f"0 has {columns} features, and the training data {X.shape[1]}: |are not those"),
        )
        for form in ("array", "csr", "csc", "pandas", "polars")
        for columns in (X.shape[1] - 1, X.shape[1] + 1)
        for objective in ("", "the framework's objective")
    },
    "masked features":
        (lambda k: fit(k, {"X": np.ma.masked_less(X, 0.0)}), Raises("X is a masked array")),
    "masked features in predict":
        (lambda k: fit(k).predict(np.ma.masked_less(X, 0.0)), Raises("X is a masked array")),
}  # fmt: skip


@each_estimator
@contract(ANY)
def test_data_of_any_estimator(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


RANKED: Rows = {
    **{
        f"queries by turns in {form}": (
            lambda k, form=form: fit(k, {
                "X": in_form(form, X[TURNS]), "y": Y[TURNS], "qid": QID[TURNS],
            }).predict(in_form(form, X)),
            lambda k: fit(k).predict(X),
        )
        for form in FORMS
    },
    "predictions of columns of other names, as wished": (
        lambda k: fit(k, {"X": pd.DataFrame(named(X))}).predict(
            pd.DataFrame(named(X)).rename(columns={"f0": "g0"}), validate_features=False),
        lambda k: fit(k).predict(X),
    ),
}  # fmt: skip


@each_ranker
@contract(RANKED)
def test_data_of_rankers(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


LIGHTGBM: Rows = {
    **{
        f"{kind.__name__} on {what}": (
            lambda kind=kind, features=features, options=options: fit(
                kind, {"X": features}, **options),
            Raises("set min_child_samples .min_data_in_leaf., 20 by default"),
        )
        for kind in (lp.LightGBMRanker, lp.LightGBMClassifier)
        for what, features, options in (
            ("few rows", X, {"min_child_samples": len(X)}),
            ("constant features", np.ones_like(X), {}),
        )
    },
    "columns on which LightGBM ends Python":
        (lambda: fit(lp.LightGBMRanker, {"X": words()}),
         Raises("'brand' is Categorical, which LightGBM cannot")),
    "columns on which LightGBM ends Python, in our train":
        (lambda: lgb.train({}, lgb.Dataset(words().to_arrow(), Y), 1),
         Raises("'brand' is Categorical, which LightGBM cannot read from pyarrow")),
}  # fmt: skip


@contract(LIGHTGBM)
def test_data_of_lightgbm(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)
