"""Any form of a vector and any byte order give the model of plain arrays, in all estimators."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from small_estimators import DATA, NATIVELY, QID, X, Y, curves, each_estimator, made

import lambdaplus as lp

BINARY = (Y > 1).astype(int)
WEIGHTS, STARTS = QID % 3 + 1.0, np.random.default_rng(0).normal(size=len(Y))


def narwhals(frame: Any) -> Any:
    """A frame behind narwhals, which not every version of LightGBM brings along."""
    return pytest.importorskip("narwhals").from_native(frame)


FORMS: dict[str, Callable[[Any], Any]] = {
    "another byte order": lambda v: np.asarray(v).astype(v.dtype.newbyteorder(">")),
    "a column of it": lambda v: np.asarray(v).astype(v.dtype.newbyteorder(">"))[:, None],
    "frame of pandas": lambda v: pd.DataFrame({"v": v.astype(v.dtype.newbyteorder(">"))}),
    "frame of polars": lambda v: pl.DataFrame({"v": v}),
    "table of pyarrow": lambda v: pa.table({"v": v}),
    "frame of narwhals": lambda v: narwhals(pl.DataFrame({"v": v})),
    "lists of one entry": lambda v: [[one] for one in v.tolist()],
    "tuple": lambda v: tuple(v.tolist()),
}

every_form = pytest.mark.parametrize("form", FORMS)
pytestmark = pytest.mark.filterwarnings("ignore")


def outputs(kind: Any, form: Callable[[Any], Any], **options: Any) -> list[Any]:
    """What a model gives that is fitted to vectors of this form."""
    light, ranks = kind.__name__.startswith("Light"), kind.__name__.endswith("Ranker")
    start = "init_score" if light else "base_margin"
    weights, starts = ("eval_sample_weight", "eval_init_score") if light else (
        "sample_weight_eval_set", "base_margin_eval_set"
    )  # fmt: skip
    labels = Y if ranks else BINARY
    rows: dict[str, Any] = {
        "sample_weight": form(WEIGHTS), start: form(STARTS), weights: [form(WEIGHTS)],
        starts: [form(STARTS)], "eval_set": [(X.copy(), form(labels))],
    }  # fmt: skip
    if ranks:
        rows |= {"qid": form(QID), "eval_qid": [form(QID)]}
    model = made(kind, **options).fit(X, form(labels), **rows)
    found = [model.predict(X)]
    if ranks:
        same = form(labels), {"sample_weight": form(WEIGHTS)}
        found.append(model.score(X, same[0], qid=form(QID), **same[1]))
        found.append(model.score(X, same[0], group=form(DATA.sizes), **same[1]))
    else:
        found.append(model.score(X, form(labels), sample_weight=form(WEIGHTS)))
        found.append(model.score(X, form(labels), form(WEIGHTS)))
        found.append(model.score(X, form(labels)))
    if not light and not ranks:
        found.append(model.decision_function(X, base_margin=form(STARTS)))
    return found


@every_form
@each_estimator
def test_vectors_of_estimators(kind: Any, form: str) -> None:
    for options in ({}, NATIVELY[kind]):
        plain = outputs(kind, np.asarray, **options)
        for ours, wanted in zip(outputs(kind, FORMS[form], **options), plain, strict=True):
            np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i4", ">u2"])
@each_estimator
def test_features_of_another_byte_order(kind: Any, dtype: str) -> None:
    """Also in frames, in Fortran's order, and from narwhals."""
    ranks = kind.__name__.endswith("Ranker")
    labels, rows = (Y, {"qid": QID}) if ranks else (BINARY, {})
    features = np.abs(X * 20).astype(dtype)
    read = features.astype(dtype[1:])
    plain = made(kind).fit(read, labels, **rows)
    methods = [name for name in ("predict", "decision_function", "apply") if hasattr(plain, name)]
    for other in (
        features, np.asfortranarray(features), pd.DataFrame(features),
        narwhals(pl.DataFrame(read)),
    ):  # fmt: skip
        model = (
            made(kind).fit(other, labels, eval_set=[(other, labels)], **rows)
            if not ranks
            else (made(kind).fit(other, labels, eval_set=[(other, labels)], eval_qid=[QID], **rows))
        )
        for name in methods:
            np.testing.assert_array_equal(
                getattr(model, name)(other), getattr(plain, name)(read), name
            )


@pytest.mark.parametrize(
    "group", [[[20], [10]], ([20], [10]), {0: [20], 1: [10]}, np.array([[20], [10]])]
)
@pytest.mark.parametrize("kind", [lp.LightGBMRanker, lp.XGBoostRanker])
def test_evaluation_sets_of_one_query_each(kind: Any, group: Any) -> None:
    rows = np.flatnonzero(QID < 2)[:30]
    sets = [(X[rows[:20]], Y[rows[:20]]), (X[rows[20:]], Y[rows[20:]])]
    found = made(kind).fit(X, Y, qid=QID, eval_set=sets, eval_group=group)
    other = made(kind).fit(X, Y, qid=QID, eval_set=sets, eval_qid=[np.zeros(20), np.ones(10)])
    assert curves(found) == curves(other)


def test_weights_in_a_column_take_no_memory_of_pairs() -> None:
    model = lp.XGBoostRanker(n_estimators=1, n_jobs=1)
    qid = np.repeat(np.arange(30_000), 2)  # whose pairs would take gigabytes
    weights = np.repeat(np.arange(30_000) + 1.0, 2)[:, None]
    model.fit(np.arange(60_000.0)[:, None], qid % 2, qid=qid, sample_weight=weights)


@every_form
def test_vectors_of_functions(form: str) -> None:
    of, sizes = FORMS[form], DATA.sizes
    scores = STARTS
    for act in (
        lambda v: lp.evaluate(v(Y), v(scores), qid=v(QID), weight=v(WEIGHTS), metrics="map").mean,
        lambda v: lp.evaluate(v(Y), v(scores), group=v(sizes), docno=v(QID * 0 + range(len(Y))),
                              metrics="map").mean,
        lambda v: lp.lambda_map(v(Y), v(scores), v(WEIGHTS), v(sizes)),
        lambda v: lp.eval_map(v(Y), v(scores), v(WEIGHTS), v(sizes)),
        lambda v: lp.lambda_map.on(v(Y)).weighted(v(WEIGHTS))(Y * 0, scores, None, sizes),
        lambda v: lp.gradients(v(Y), v(scores), group=v(sizes), metric="map"),
        lambda v: lp.query_folds(qid=v(QID), order=v(QID)),
        lambda v: lp.query_folds(group=v(sizes)),
    ):  # fmt: skip
        np.testing.assert_equal(act(of), act(np.asarray))
