"""Errors of the estimators and of our `train`, where training would silently continue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
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
@pytest.mark.parametrize("objective", ["map", "native"])
def test_unusable_labels_weights_and_queries_are_refused_by_rankers(
    kind: Any, objective: str
) -> None:
    native = "lambdarank" if kind is LightGBMRanker else "rank:ndcg"
    data, model = graded(), kind(objective=native if objective == "native" else objective, **SMALL)
    given = {"X": data.features, "y": data.labels, "qid": data.qid}
    without = data.qid.astype(object)
    without[5] = pd.NA
    for changed, message in (
        ({"y": with_nan(data.labels)}, r"labels must be finite: 1 of .* nan in row 3"),
        ({"sample_weight": with_nan(np.ones(data.n))}, r"weight must be finite: .* in row 3"),
        ({"qid": without}, "qid is missing in row 5"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(**given | changed)


@rankers
def test_data_with_nothing_to_learn_is_refused(kind: Any) -> None:
    data = graded()
    model = kind(objective="ndcg@10 + 0.5*map", **SMALL)
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
def test_a_qid_forgotten_after_a_fit_with_queries_is_asked_for(kind: Any) -> None:
    data = graded()
    model = kind(objective="auc", **SMALL).fit(data.features, data.binary, qid=data.qid)
    with pytest.raises(ValueError, match=r"score has no queries: pass qid=.*metadata_routing=True"):
        model.score(data.features, data.binary)
    with pytest.raises(ValueError, match="evaluation set 0 has no queries: pass eval_qid="):
        model.fit(data.features, data.binary, qid=data.qid, eval_set=[(data.features, data.binary)])
    search = GridSearchCV(
        kind(objective="auc", **SMALL), {"max_depth": [2, 3]}, error_score="raise",
        cv=lp.query_folds(qid=data.qid, n_splits=2),
    )  # fmt: skip
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        search.fit(data.features, data.binary, qid=data.qid)


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
    start = "init_score" if of_lightgbm else "base_margin"
    eval_weight = "eval_sample_weight" if of_lightgbm else "sample_weight_eval_set"
    X, y, ones = data.features, data.labels if ranks else data.binary, np.ones(data.n)
    scored = {"X": X, "y": y, "sample_weight": ones, **({"qid": data.qid} if ranks else {})}
    fit = {**scored, start: ones, "eval_set": [(X, y)], eval_weight: [ones]}
    fit |= {"eval_qid": [data.qid]} if ranks else {}
    masked = {name: masking(fit[name]) for name in (*scored, start)}
    masked |= {"eval_set": [(masking(X), y)], eval_weight: [masking(ones)]}
    for name, array in masked.items():
        with pytest.raises(ValueError, match=r"masked|qid is missing in row 3"):
            kind(**SMALL).fit(**{**fit, name: array})
    model = kind(**SMALL).fit(**scored)
    for name in scored if ranks else ():
        with pytest.raises(ValueError, match=r"masked|qid is missing in row 3"):
            model.score(**{**scored, name: masked[name]})


def masking(array: Any) -> Any:
    """The array with one of its rows masked."""
    mask = np.zeros(np.shape(array), dtype=bool)
    mask[3] = True
    return np.ma.masked_array(array, mask)
