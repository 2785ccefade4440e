"""The column "qid" of a frame has the queries, and is no feature."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from contracts import Raises, Rows, contract, hold
from small_estimators import DATA, QID, X, Y, each_ranker, fit, named, on, own_kind

import lambdaplus as lp


def with_column(place: int = 0) -> pd.DataFrame:
    """Features and the queries, as the column of this number."""
    frame = pd.DataFrame(named(X))
    frame.insert(place, "qid", QID)
    return frame


def by_column(kind: Any, place: int = 0, given: Any = (), **options: Any) -> Any:
    model = fit(kind, {"X": with_column(place), "qid": None, **dict(given)}, **options)
    return model.predict(with_column())


def by_category(place: int, category: Any) -> Any:
    return by_column(lp.LightGBMRanker, place, {"categorical_feature": category})


def by_splits(given: Any) -> Any:
    """Predictions of trees that LightGBM splits at the second feature first, by a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "splits.json"
        file.write_text(json.dumps({"feature": 1, "threshold": float(np.median(X[:, 1]))}))
        model = fit(lp.LightGBMRanker, given, forcedsplits_filename=str(file))
        return model.predict(given.get("X", X))


FRAMES: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


RANKED: Rows = {
    **{
        f"a column of queries, {form}": (
            lambda k, frame=frame: (
                on(k, frame(named(X, qid=QID)), qid=None, eval_qid=None),
                fit(k, {"X": frame(named(X, qid=QID))}).predict(frame(named(X))),
                fit(k, {"X": frame(named(X, qid=QID)), "qid": None}).score(
                    frame(named(X, qid=QID)), Y
                ),
            ),
            lambda k: (on(k, X), fit(k).predict(X), fit(k).score(X, Y, qid=QID)),
        )
        for form, frame in FRAMES.items()
    },
    **{
        f"{what} that contradict the column of queries, {where}": (
            act, Raises(f"the queries of {what}= are not those of the column 'qid'")
        )
        for what, other in (("group", DATA.sizes[::-1]), ("qid", QID[::-1]))
        for where, act in (
            ("fit", lambda k, what=what, other=other: by_column(k, given={what: other})),
            ("eval_set", lambda k, what=what, other=other: fit(k, {
                "eval_set": [(with_column(), Y)], f"eval_{what}": [other]})),
            ("score", lambda k, what=what, other=other: fit(k).score(
                with_column(), Y, **{what: other})),
        )
    },
    **{
        f"{name} queries than those of the column": (
            lambda k, qid=qid: by_column(k, given={"qid": qid}),
            Raises("the queries of qid= are not those of the column 'qid'"),
        )
        for name, qid in (("larger", QID // 2), ("smaller", np.arange(len(QID))))
    },
    **{
        f"{name} that agree with the column of queries": (
            lambda k, given=given: by_column(k, given=given), lambda k: fit(k).predict(X)
        )
        for name, given in (
            ("group", {"group": DATA.sizes}), ("names", {"qid": [f"q{one}" for one in QID]}),
        )
    },
    "a column of queries with the name of a step": (
        lambda k: fit(k, {"X": pd.DataFrame(named(X, step__qid=QID)), "qid": None}),
        Raises("the column 'step__qid' has the name of a step .*verbose_feature_names_out=False"),
    ),
    "a number of a column after that of the queries": (
        lambda k: by_column(k, interaction_constraints=[[0], [1, 2]]),
        Raises("interaction_constraints=.*, number 0, is no feature: pass X without that column"),
    ),
    "numbers of columns as text, after that of the queries":
        (lambda k: by_column(k, 1, interaction_constraints="[0],[1,2]"),
         Raises(r"interaction_constraints=.*number 1, is no feature")),
    "numbers of columns before that of the queries": (
        lambda k: by_column(k, X.shape[1], **own_kind(
            k, {"interaction_constraints": [[0], [1, 2]]},
            {"interaction_constraints": "[[0],[1,2]]"})),
        lambda k: fit(k, **own_kind(
            k, {"interaction_constraints": [[0], [1, 2]]},
            {"interaction_constraints": "[[0],[1,2]]"})).predict(X),
    ),
    "a constraint for each column, the queries among them": (
        lambda k: by_column(k, monotone_constraints=(0, 1) + (0,) * (X.shape[1] - 1)),
        Raises(f"monotone_constraints has {X.shape[1] + 1} entries, .*since the column 'qid' is"),
    ),
    "a constraint for each feature": (
        lambda k: by_column(k, monotone_constraints=(-1,) * X.shape[1]),
        lambda k: fit(k, monotone_constraints=(-1,) * X.shape[1]).predict(X),
    ),
}  # fmt: skip


@each_ranker
@contract(RANKED)
def test_the_column_of_queries(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


ONE: Rows = {
    "a category by the number of its column":
        (lambda: by_category(0, [1]), Raises(r"categorical_feature=\[1\] .* here \['f0'\]")),
    "a category by its name": (lambda: by_category(0, ["f0"]), lambda: by_category(3, [0])),
    "a category under another name of the argument": (
        lambda: by_column(lp.LightGBMRanker, cat_feature=[1]), Raises("categorical_feature=.1. n")
    ),
    **{
        f"numbers of features in a file, {name}": (
            lambda name=name: by_column(lp.LightGBMRanker, **{name: "features.json"}),
            Raises(r"the features in forced.*_filename='features.json' are numbers.*number 0, is"),
        )
        for name in ("forcedsplits_filename", "forced_splits", "forcedbins_filename")
    },
    "numbers of features in a file, before the column": (
        lambda: by_splits({"X": with_column(X.shape[1]), "qid": None}), lambda: by_splits({})
    ),
    "weights of features, the queries among them": (
        lambda: by_column(lp.XGBoostRanker, given={"feature_weights": np.ones(X.shape[1] + 1)}),
        Raises("feature_weights has"),
    ),
}  # fmt: skip


@contract(ONE)
def test_the_column_of_queries_of_one_framework(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)
