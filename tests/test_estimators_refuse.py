"""Errors of the estimators and of our `train`, where training would silently continue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from small_data import graded

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
from lambdaplus.estimators import (
    LightGBMClassifier,
    LightGBMRanker,
    XGBoostClassifier,
    XGBoostRanker,
)

rankers = pytest.mark.parametrize("kind", [LightGBMRanker, XGBoostRanker])
SMALL: dict[str, Any] = {"n_estimators": 3, "n_jobs": 1, "random_state": 0}


def chosen(kind: Any, objective: str) -> str:
    native = "lambdarank" if kind is LightGBMRanker else "rank:ndcg"
    return native if objective == "native" else objective


# -- labels and weights --------------------------------------------------------------------------


def dataset(y: Any, weight: Any = None, features: Any = None) -> Any:
    data = graded()
    return lgb.Dataset(
        data.features if features is None else features, y, group=data.sizes, weight=weight
    )


def with_nan(values: Any, row: int = 3) -> Any:
    values = np.array(values, dtype=float)
    values[row] = np.nan
    return values


PARAMS = {"verbose": -1, "num_threads": 1}


@pytest.mark.parametrize("objective", [lp.lambda_map, None], ids=["ours", "LightGBM's"])
@pytest.mark.parametrize("act", [lgb.train, lgb.cv], ids=["train", "cv"])
def test_labels_and_weights_that_lightgbm_would_replace_are_refused(
    act: Any, objective: Any
) -> None:
    y, ones = graded().labels, np.ones(graded().n)
    cases = {
        "labels of train_set must be finite: 1 of .* nan in row 3": dataset(with_nan(y)),
        "labels of train_set must be finite": dataset(pd.Series(with_nan(y)).to_list()),
        "weights of train_set must be finite": dataset(y, with_nan(ones)),
        "weights of train_set must be finite.*inf": dataset(y, ones * np.inf),
        "train_set has no labels": dataset(None),
    }
    for message, data in cases.items():
        with pytest.raises(ValueError, match=message):
            act(PARAMS, data, 2, fobj=objective)
    train = dataset(y)
    if act is lgb.train:
        valid = train.create_valid(graded().features, with_nan(y), group=graded().sizes)
        with pytest.raises(ValueError, match=r"labels of valid_sets\[1\] must be finite"):
            lgb.train(PARAMS, train, 2, valid_sets=[train, valid], fobj=objective)


def test_labels_in_a_file_and_constructed_data_are_taken(tmp_path: Any) -> None:
    data = graded()
    np.savetxt(tmp_path / "rows.tsv", np.column_stack([data.labels, data.features]), "%g", "\t")
    (tmp_path / "rows.tsv.query").write_text("\n".join(map(str, data.sizes)))
    train = lgb.Dataset(str(tmp_path / "rows.tsv"), params={"verbose": -1})
    assert lgb.train(PARAMS, train, 2, fobj=lp.lambda_map).num_trees() == 2
    ready = dataset(data.labels).construct()
    part = ready.subset(np.arange(data.sizes[:30].sum())).construct()
    assert lgb.train(PARAMS, part, 2, fobj=lp.lambda_map).num_trees() == 2


@rankers
@pytest.mark.parametrize("absent", [None, np.nan, pd.NA], ids=str)
def test_rows_without_a_qid_are_refused(kind: Any, absent: Any) -> None:
    data = graded()
    qid = data.qid.astype(object)
    qid[5] = absent
    with pytest.raises(ValueError, match="qid is missing in row 5"):
        kind(**SMALL).fit(data.features, data.labels, qid=qid)
    with pytest.raises(ValueError, match="qid is missing in row 5"):
        lp.query_folds(qid=qid)


@rankers
@pytest.mark.parametrize("objective", ["map", "native"])
def test_unusable_labels_and_weights_are_refused_by_rankers(kind: Any, objective: str) -> None:
    data = graded()
    model = kind(objective=chosen(kind, objective), **SMALL)
    with pytest.raises(ValueError, match=r"labels must be finite: 1 of .* nan in row 3"):
        model.fit(data.features, with_nan(data.labels), qid=data.qid)
    weights = with_nan(np.ones(data.n))
    with pytest.raises(ValueError, match=r"weight must be finite: 1 of .* nan in row 3"):
        model.fit(data.features, data.labels, qid=data.qid, sample_weight=weights)
    with pytest.raises(ValueError, match=r"ndcg needs labels >= 0.* lowest .* is -1"):
        model.set_params(objective="ndcg").fit(data.features, data.labels - 1, qid=data.qid)


@rankers
@pytest.mark.parametrize("objective", ["auc", "ndcg@10 + 0.5*map"])
def test_data_with_nothing_to_learn_is_refused(kind: Any, objective: str) -> None:
    data = graded()
    model = kind(objective=objective, **SMALL)
    of_one = np.arange(data.n)
    of_one_label = data.qid % 2 + 1.0
    for y, qid in ((data.labels, of_one), (of_one_label, data.qid), (0 * of_one, data.qid)):
        with pytest.raises(ValueError, match=r"training data: .*(nothing to learn|has no value)"):
            model.fit(data.features, y, qid=qid)
    held_out = [(data.features[:2], [0, 1])]
    with pytest.raises(ValueError, match=r"evaluation set 0: .*(best and|has no value)"):
        model.fit(data.features, data.labels, qid=data.qid, eval_set=held_out, eval_qid=[[1, 2]])


# -- a forgotten qid -----------------------------------------------------------------------------


@rankers
@pytest.mark.parametrize("objective", ["auc", "map", "ndcg"])
def test_a_qid_forgotten_after_a_fit_with_queries_is_asked_for(kind: Any, objective: str) -> None:
    data = graded()
    model = kind(objective=objective, **SMALL).fit(data.features, data.binary, qid=data.qid)
    with pytest.raises(ValueError, match=r"score has no queries: pass qid=.*metadata_routing=True"):
        model.score(data.features, data.binary)
    with pytest.raises(ValueError, match="evaluation set 0 has no queries: pass eval_qid="):
        model.fit(data.features, data.binary, qid=data.qid, eval_set=[(data.features, data.binary)])
    search = GridSearchCV(
        kind(objective=objective, **SMALL), {"max_depth": [2, 3]}, error_score="raise",
        cv=lp.query_folds(qid=data.qid, n_splits=2),
    )  # fmt: skip
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        search.fit(data.features, data.binary, qid=data.qid)
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(data.features, data.binary, qid=data.qid)
        found = cross_val_score(
            model, data.features, data.binary, params={"qid": data.qid, "groups": data.qid},
            cv=GroupKFold(2), error_score="raise",
        )  # fmt: skip
    assert found.min() > 0.5


# -- parameters ----------------------------------------------------------------------------------


# -- objectives that are called ------------------------------------------------------------------


def test_a_callable_that_names_no_metric_needs_one() -> None:
    def by_data(scores: Any, data: Any) -> Any:
        return scores - data.get_label(), np.ones_like(scores)

    def by_arrays(labels: Any, scores: Any) -> Any:
        return scores - labels, np.ones_like(scores)

    data = graded()
    for kind, squares in ((XGBoostRanker, by_data), (LightGBMRanker, by_arrays)):
        model = kind(objective=squares, **SMALL).fit(data.features, data.labels, qid=data.qid)
        with pytest.raises(ValueError, match="does not say which metric it is for: pass eval_"):
            model.score(data.features, data.labels, qid=data.qid)
        model.set_params(eval_metric="ndcg")
        assert model.score(data.features, data.labels, qid=data.qid) > 0.7


# -- masks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [LightGBMRanker, XGBoostRanker, LightGBMClassifier, XGBoostClassifier]
)
def test_masks_are_refused_and_not_dropped(kind: Any) -> None:
    data, ranks = graded(), "Ranker" in kind.__name__
    of_lightgbm = kind in (LightGBMRanker, LightGBMClassifier)
    start, eval_weight = (
        ("init_score", "eval_sample_weight") if of_lightgbm
        else ("base_margin", "sample_weight_eval_set")
    )  # fmt: skip
    ones = np.ones(data.n)
    X, y = data.features, data.labels if ranks else data.binary
    fit: dict[str, Any] = {"X": X, "y": y, "sample_weight": ones, start: ones}
    fit |= {"eval_set": [(X[:], y[:])], eval_weight: [ones]}
    fit |= {"qid": data.qid, "eval_qid": [data.qid]} if ranks else {}
    masked = {
        "eval_set": [(masking(X), y)], eval_weight: [masking(ones)],
        **{name: masking(fit[name]) for name in ("X", "y", "sample_weight", start)},
        **({"qid": masking(data.qid)} if ranks else {}),
    }  # fmt: skip
    for name, array in masked.items():
        with pytest.raises(ValueError, match=r"masked|qid is missing in row 3"):
            kind(**SMALL).fit(**{**fit, name: array})
    if ranks:
        model = kind(**SMALL).fit(X, y, qid=data.qid)
        for name in ("X", "y", "sample_weight", "qid"):
            given = {name: fit[name] for name in ("X", "y", "sample_weight", "qid")}
            with pytest.raises(ValueError, match=r"masked|qid is missing in row 3"):
                model.score(**{**given, name: masked[name]})


def masking(array: Any) -> Any:
    """The array with one of its rows masked."""
    mask = np.zeros(np.shape(array), dtype=bool)
    mask[3] = True
    return np.ma.masked_array(array, mask)
