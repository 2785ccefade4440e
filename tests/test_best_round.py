"""Prediction, saving, pickling and export use the same model, that of the best round."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import GRADED, forest_scores
from test_estimators import RANKERS, best_round, curve_of, every_estimator, made, of_lightgbm, raw

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus.estimators import XGBoostClassifier
from lambdaplus.export import export_model, read_model
from lambdaplus.export.forest import read_forest

# XGBoost predicts in float32, and its leaves are float32: a sum of a dozen leaves of about 1 is
# off by as many roundings of 6e-8.  LightGBM's own model file has all digits of float64.
FLOAT32 = {"rtol": 1e-5, "atol": 2e-6}


def features(missing: bool) -> Any:
    """Numbers that are exact in float32, which engines and XGBoost use."""
    X = GRADED.features.astype(np.float32).astype(np.float64)
    if missing:
        X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    return X


def noisy_labels() -> Any:
    """Mostly chance: as validation labels they have their best round early."""
    chance = np.random.default_rng(0).random(GRADED.n) < 0.6
    return np.where(chance, np.random.default_rng(1).permutation(GRADED.labels), GRADED.labels)


def stopped(kind: Any, X: Any) -> Any:
    """Fitted with validation data that have their best round far from the last."""
    train = GRADED.qid < 40
    if kind in RANKERS:
        # Fixed options, as it is to be this training that stops early.
        objective = lp.lambda_objective("ndcg", damping=0.01)
        y = np.where(train, GRADED.labels, noisy_labels())
        fit: dict[str, Any] = {"qid": GRADED.qid[train], "eval_qid": [GRADED.qid[~train]]}
    else:
        objective = lp.lambda_objective("map", balance=0.0)
        y, fit = np.where(train, GRADED.binary, noisy_labels() > 1), {}
    fit |= {} if of_lightgbm(kind) else {"verbose": False}
    options = {"n_estimators": 25, "learning_rate": 0.5, "early_stopping_rounds": 20}
    model = made(kind, objective=objective, **options)
    return model.fit(X[train], y[train], eval_set=[(X[~train], y[~train])], **fit)


@every_estimator
@pytest.mark.parametrize("missing", [False, True])
def test_predict_save_pickle_and_export_agree(kind: Any, missing: bool, tmp_path: Path) -> None:
    X = features(missing)
    model = stopped(kind, X)
    best, [curve] = best_round(model), curve_of(model).values()
    assert best == np.argmax(curve) < len(curve) - 1  # there were rounds to leave out
    expected = raw(model, X)
    assert np.ptp(expected) > 0.1
    assert_array_equal(raw(pickle.loads(pickle.dumps(model)), X), expected)
    file = tmp_path / ("model.txt" if of_lightgbm(kind) else "model.ubj")
    saved = model.booster_ if of_lightgbm(kind) else model
    if kind is XGBoostClassifier:  # its trees
        saved = model.get_booster()[: best + 1]
    saved.save_model(file)
    for exported in (model, read_model(file)):
        assert_allclose(forest_scores(read_forest(exported), X), expected, **FLOAT32)
        trees = json.loads(export_model(exported, "opensearch"))["model"]["model"]["definition"]
        assert len(json.loads(trees)["splits"]) == best + 1


def test_what_xgboosts_own_estimator_saves_is_exported_as_it_predicts(tmp_path: Path) -> None:
    X = features(False)
    held_out = GRADED.qid >= 40
    ranker = xgb.XGBRanker(n_estimators=40, early_stopping_rounds=20, learning_rate=0.8, n_jobs=1)
    ranker.fit(
        X[~held_out], GRADED.labels[~held_out], qid=GRADED.qid[~held_out], verbose=False,
        eval_set=[(X[held_out], GRADED.labels[held_out])], eval_qid=[GRADED.qid[held_out]],
    )  # fmt: skip
    assert ranker.best_iteration + 1 < ranker.get_booster().num_boosted_rounds()
    ranker.save_model(tmp_path / "model.json")
    for model in (ranker, read_model(tmp_path / "model.json")):
        assert_allclose(forest_scores(read_forest(model), X), ranker.predict(X), **FLOAT32)


def test_a_model_of_square_roots_is_not_exported_as_if_it_were_a_sum() -> None:
    params = {"objective": "regression", "reg_sqrt": True, "verbose": -1, "num_threads": 1}
    booster = lgb.train(params, lgb.Dataset(GRADED.features, GRADED.labels), 5)
    with pytest.raises(ValueError, match="reg_sqrt squares the sum"):
        export_model(booster, "solr")


@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logitraw", "rank:map"])
@pytest.mark.parametrize("base_score", [None, 0.3])
def test_the_base_score_is_exported_as_it_is_added(objective: str, base_score: Any) -> None:
    given = xgb.DMatrix(GRADED.features.astype(np.float32), GRADED.binary)
    start = {} if base_score is None else {"base_score": base_score}
    params = {"objective": objective, "nthread": 1, **start}
    booster = xgb.train(params, given, 4)
    found = forest_scores(read_forest(booster), GRADED.features)
    assert_allclose(found, booster.predict(given, output_margin=True), **FLOAT32)


@pytest.mark.parametrize("suffix", ["txt", "json", "ubj"])
def test_a_truncated_model_file_is_named(suffix: str, tmp_path: Path) -> None:
    """LightGBM reads the rest of such a file, or aborts the process."""
    file = tmp_path / f"model.{suffix}"
    if suffix == "txt":
        given = lgb.Dataset(GRADED.features, GRADED.labels, group=GRADED.sizes)
        params = {"verbose": -1, "num_threads": 1}
        lgb.train(params, given, 3, fobj=lp.lambda_map).save_model(file)
    else:
        given = xgb.DMatrix(GRADED.features, GRADED.labels, group=GRADED.sizes)
        xgb.train({"nthread": 1}, given, 3, obj=lp.lambda_map).save_model(file)
    whole = file.read_bytes()
    read_forest(read_model(file))
    end = whole.index(b"end of trees") if suffix == "txt" else len(whole)
    for left in range(5, end, end // 50):
        file.write_bytes(whole[:left])
        with pytest.raises(ValueError, match=f"model.{suffix} is a broken model file"):
            read_model(file)
    if suffix == "txt":
        file.write_bytes(whole[:end] + whole[end - 200 :])  # nor is one in which a part is twice
        with pytest.raises(ValueError, match="broken model file"):
            read_model(file)
