"""Prediction, saving and pickling use the same model, that of the best round."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small_data import GRADED
from test_estimators import RANKERS, best_round, curve_of, every_estimator, made, of_lightgbm, raw

import lambdaplus as lp
import lambdaplus.lightgbm as lgb


def features(missing: bool) -> Any:
    """Numbers that are exact in float32, which XGBoost uses."""
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
def test_predict_save_and_pickle_agree(kind: Any, missing: bool, tmp_path: Path) -> None:
    X = features(missing)
    model = stopped(kind, X)
    best, [curve] = best_round(model), curve_of(model).values()
    assert best == np.argmax(curve) < len(curve) - 1  # there were rounds to leave out
    expected = raw(model, X)
    assert np.ptp(expected) > 0.1
    assert_array_equal(raw(pickle.loads(pickle.dumps(model)), X), expected)
    file = tmp_path / "model.txt"
    if of_lightgbm(kind):
        model.booster_.save_model(file)
        loaded = lgb.Booster(model_file=file)
        assert loaded.num_trees() == best + 1
        assert_array_equal(loaded.predict(X), expected)
    else:
        model.save_model(file.with_suffix(".ubj"))
        loaded = kind()
        loaded.load_model(file.with_suffix(".ubj"))
        assert_array_equal(raw(loaded, X), expected)
