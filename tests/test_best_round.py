"""Prediction, saving, pickling and export use the same model, that of the best round."""

from __future__ import annotations

import contextlib
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus.estimators import (
    LightGBMClassifier,
    LightGBMRanker,
    XGBoostClassifier,
    XGBoostRanker,
)
from lambdaplus.export import export_model, read_forest, read_model

KINDS = [LightGBMRanker, XGBoostRanker, LightGBMClassifier, XGBoostClassifier]
every_estimator = pytest.mark.parametrize("kind", KINDS)
RANKERS = pytest.mark.parametrize("kind", KINDS[:2])
# XGBoost predicts in float32, and its leaves are float32: a sum of a dozen leaves of about 1 is
# off by as many roundings of 6e-8.  LightGBM's own model file has all digits of float64.
FLOAT32 = {"rtol": 1e-5, "atol": 2e-6}


def features(missing: bool, categories: bool) -> Any:
    """Numbers that are exact in float32, which engines and XGBoost use."""
    X = graded().features.astype(np.float32).astype(np.float64)
    if missing:
        X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    if not categories:
        return X
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["word"] = pd.Categorical(np.array(["x", "y", "z"])[np.arange(len(X)) % 3])
    return frame


def noisy_labels() -> Any:
    """Mostly chance: as validation labels they have their best round early."""
    data = graded()
    chance = np.random.default_rng(0).random(data.n) < 0.6
    return np.where(chance, np.random.default_rng(1).permutation(data.labels), data.labels)


def stopped(kind: Any, X: Any, **options: Any) -> Any:
    """Fitted with validation data that have their best round far from the last."""
    data = graded()
    options = {
        "n_estimators": 25, "learning_rate": 0.5, "early_stopping_rounds": 20, "n_jobs": 1,
        "random_state": 0, **options,
    }  # fmt: skip
    train = data.qid < 40
    parts = [X[rows] if isinstance(X, np.ndarray) else X.loc[rows] for rows in (train, ~train)]
    if kind in KINDS[:2]:
        # Fixed options, as it is to be this training that stops early and splits by categories.
        options.setdefault("objective", lp.lambda_objective("ndcg", noise=None, damping=0.01))
        y = np.where(train, data.labels, noisy_labels())
        fit: dict[str, Any] = {"qid": data.qid[train]}
        held_out: Any = (parts[1], y[~train], data.qid[~train])
    else:
        options.setdefault("objective", lp.lambda_objective("map", balance=0.0))  # likewise
        y, fit = np.where(train, data.binary, noisy_labels() > 1), {}
        held_out = (parts[1], y[~train])
    model = kind(**options).fit(parts[0], y[train], eval_set=held_out, **fit)
    [metric] = model.evals_result_["valid_0"]
    assert model.best_iteration_ == np.argmax(model.evals_result_["valid_0"][metric]) + 1
    return model


def scores(model: Any, X: Any) -> Any:
    """What the trees give, before a classifier's shift."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X) + model.offset_
    return model.predict(X)


def framework_scores(booster: Any, X: Any) -> Any:
    if isinstance(booster, xgb.Booster):
        return booster.predict(xgb.DMatrix(X, enable_categorical=True), output_margin=True)
    return booster.predict(X, raw_score=True)


@every_estimator
@pytest.mark.parametrize(
    ("missing", "categories"), [(False, False), (True, True)], ids=["whole", "missing, categories"]
)
def test_predict_save_pickle_and_export_agree(
    kind: Any, categories: bool, missing: bool, tmp_path: Path
) -> None:
    X = features(missing, categories)
    model = stopped(kind, X)
    [curve] = model.evals_result_["valid_0"].values()
    assert model.best_iteration_ < len(curve)  # there were rounds to leave out
    expected = scores(model, X)
    assert np.ptp(expected) > 0.1
    tolerance = FLOAT32 if kind in (XGBoostRanker, XGBoostClassifier) else {"rtol": 1e-12}
    assert_array_equal(scores(pickle.loads(pickle.dumps(model)), X), expected)
    assert_allclose(framework_scores(model.get_booster(), X), expected, **tolerance)
    file = tmp_path / ("model.ubj" if "XGBoost" in kind.__name__ else "model.txt")
    model.save_model(file)
    saved = xgb.Booster(model_file=file) if file.suffix == ".ubj" else lgb.Booster(model_file=file)
    assert_allclose(framework_scores(saved, X), expected, **tolerance)
    if categories:
        with pytest.raises(ValueError, match="categories"):
            export_model(model, "vespa")
        return
    for exported in (model, saved):
        assert_allclose(read_forest(exported).score(X), expected, **FLOAT32)
        trees = json.loads(export_model(exported, "opensearch"))["model"]["model"]["definition"]
        assert len(json.loads(trees)["splits"]) == model.best_iteration_


@RANKERS
def test_a_long_patience_makes_no_difference_to_the_model(kind: Any) -> None:
    X = features(False, False)
    short, long = (stopped(kind, X, early_stopping_rounds=n) for n in (20, 1000))
    assert len(long.evals_result_["valid_0"]["ndcg"]) == 25
    assert_array_equal(short.predict(X), long.predict(X))
    assert_allclose(read_forest(long).score(X), short.predict(X), **FLOAT32)


def test_rounds_in_which_lightgbm_finds_no_split_are_not_counted_as_trees() -> None:
    """It keeps no tree of them, so that the best round is not the best number of trees."""
    data = graded().queries(0, 15)
    X, y, qid = data.features[:, :2], data.labels, data.qid
    model = LightGBMRanker(
        objective="lambdarank", eval_metric="map", n_estimators=40, early_stopping_rounds=40,
        min_child_samples=len(y) // 4, subsample=0.52, feature_pre_filter=False, n_jobs=1,
        random_state=0,
    )  # fmt: skip
    chance = np.random.default_rng(0).permutation(y)
    model.fit(X, y, qid=qid, eval_set=(X, chance, qid))
    curve = model.evals_result_["valid_0"]["map"]
    assert model.best_iteration_ == model.booster_.num_trees() < np.argmax(curve) + 1
    assert model.score(X, chance, qid=qid) == max(curve)


def test_gblinear_predicts_by_the_best_round() -> None:
    X = features(False, False)
    options = {
        "booster": "gblinear", "updater": "coord_descent", "learning_rate": 1.0,
        "objective": "map", "n_estimators": 30,
    }  # fmt: skip
    model = stopped(XGBoostRanker, X, **options)
    curve = model.evals_result_["valid_0"]["map"]
    assert len(curve) > model.best_iteration_
    data = graded()
    held_out = data.qid >= 40
    found = model.score(X[held_out], noisy_labels()[held_out], qid=data.qid[held_out])
    assert found == pytest.approx(max(curve), abs=1e-6)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize("early_stopping", [True, False])
@RANKERS
def test_a_users_own_early_stopping_decides_the_rounds(kind: Any, early_stopping: bool) -> None:
    X, data = features(False, False), graded()
    if kind is LightGBMRanker:
        callback = lgb.early_stopping(5, verbose=False)
    else:
        callback = xgb.callback.EarlyStopping(rounds=5, maximize=True)
    model = kind(
        n_estimators=60, learning_rate=0.5, n_jobs=1,
        early_stopping_rounds=30 if early_stopping else None,
    ).fit(
        X, data.labels, qid=data.qid, callbacks=[callback],
        eval_set=(X[data.qid > 40], data.labels[data.qid > 40] % 2, data.qid[data.qid > 40]),
    )  # fmt: skip
    curve = model.evals_result_["valid_0"]["ndcg"]
    assert model.best_iteration_ == int(np.argmax(curve)) + 1 == len(curve) - 5
    assert_allclose(read_forest(model).score(X), model.predict(X), **FLOAT32)


def test_what_xgboosts_own_estimator_saves_is_exported_as_it_predicts(tmp_path: Path) -> None:
    data, X = graded(), features(False, False)
    held_out = data.qid >= 40
    ranker = xgb.XGBRanker(n_estimators=40, early_stopping_rounds=20, learning_rate=0.8, n_jobs=1)
    ranker.fit(
        X[~held_out], data.labels[~held_out], qid=data.qid[~held_out], verbose=False,
        eval_set=[(X[held_out], data.labels[held_out])], eval_qid=[data.qid[held_out]],
    )  # fmt: skip
    assert ranker.best_iteration + 1 < ranker.get_booster().num_boosted_rounds()
    ranker.save_model(tmp_path / "model.json")
    for model in (ranker, read_model(tmp_path / "model.json")):
        assert_allclose(read_forest(model).score(X), ranker.predict(X), **FLOAT32)


def test_a_model_of_square_roots_is_not_exported_as_if_it_were_a_sum() -> None:
    data = graded()
    params = {"objective": "regression", "reg_sqrt": True, "verbose": -1, "num_threads": 1}
    booster = lgb.train(params, lgb.Dataset(data.features, data.labels), 5)
    with pytest.raises(ValueError, match="reg_sqrt squares the sum"):
        export_model(booster, "vespa")


@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logitraw", "rank:map"])
@pytest.mark.parametrize("base_score", [None, 0.3])
def test_the_base_score_is_exported_as_it_is_added(objective: str, base_score: Any) -> None:
    data = graded()
    given = xgb.DMatrix(data.features.astype(np.float32), data.binary)
    params = {"objective": objective, "base_score": base_score, "nthread": 1}
    params = {name: value for name, value in params.items() if value is not None}
    booster = xgb.train(params, given, 4)
    assert_allclose(
        read_forest(booster).score(data.features), booster.predict(given, output_margin=True),
        **FLOAT32,
    )  # fmt: skip


# -- broken files --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["txt", "json", "ubj"])
def test_a_broken_model_file_is_named_and_nothing_crashes(suffix: str, tmp_path: Path) -> None:
    data = graded()
    file = tmp_path / f"model.{suffix}"
    if suffix == "txt":
        given = lgb.Dataset(data.features, data.labels, group=data.sizes)
        params = {"verbose": -1, "num_threads": 1}
        lgb.train(params, given, 3, fobj=lp.lambda_map).save_model(file)
    else:
        given = xgb.DMatrix(data.features, data.labels, group=data.sizes)
        xgb.train({"nthread": 1}, given, 3, obj=lp.lambda_map).save_model(file)
    whole = file.read_bytes()
    read_forest(read_model(file))
    third = len(whole) // 3
    for broken in (whole[:third], whole[: 2 * third], whole[:third] + whole[third // 2 :]):
        file.write_bytes(broken)
        with pytest.raises(ValueError, match=f"model.{suffix} is a broken model file"):
            read_model(file)
    random = np.random.default_rng(0)
    for _ in range(3):  # one bit: broken, or another valid model, but never the end of the process
        changed = bytearray(whole)
        changed[random.integers(10, len(whole))] ^= 1 << int(random.integers(8))
        file.write_bytes(bytes(changed))
        with contextlib.suppress(ValueError):
            assert export_model(read_model(file), "vespa")
