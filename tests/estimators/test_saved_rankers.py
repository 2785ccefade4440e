"""Models that were saved or pickled predict, score and are fitted again as before."""

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_estimators import (
    HALF,
    QID,
    X,
    Y,
    curves,
    each_estimator,
    fit,
    made,
    own_kind,
    scores,
    watched,
)

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus.estimators.saved_models import as_data, from_data

SAVED: dict[str, dict[str, Any]] = {
    "names": {"objective": "map@5 + 0.5*ndcg(gain=linear)", "eval_metric": ["ndcg@3", "mrr"]},
    "XGBoost's objective": {"objective": "rank:pairwise", "eval_metric": "mrr"},
    "options": {"objective": lp.lambda_objective("map", sigma=2.0)},
    "the pairs of the metric itself": {"objective": lp.lambda_objective("mrr", surrogate="mrr")},
    "and of its cutoff": {"objective": lp.lambda_objective("ndcg@5", surrogate="ndcg@5")},
    "every option": {
        "objective": lp.lambda_objective(
            "ndcg@5", gain=[0, 1, 3, 7], normalize=False,
            surrogate="ndcg", balance=0.1,
        )
    },
    "a sum": {"objective": lp.combine({lp.lambda_map: 1, lp.lambda_objective("mrr", sigma=3): 2})},
    "a sum with log-loss": {"objective": lp.lambda_objective("map + 0.5*logloss(relevant=2)")},
    "metrics": {"eval_metric": [lp.eval_metric("auc"), "map"], "objective": "mrr"},
}  # fmt: skip
NOISY = np.random.default_rng(0).permutation(Y[~HALF])  # with the best round early
STOPPED = {"n_estimators": 25, "learning_rate": 0.5, "early_stopping_rounds": 20}
HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X).astype(np.float32)
boost = partial(watched, lp.XGBoostRanker)


@pytest.mark.parametrize("features", [X.round(2), HOLES], ids=["", "missing features"])
@each_estimator
def test_predict_save_and_pickle_use_the_best_round(
    kind: Any, features: Any, tmp_path: Path
) -> None:
    given = {"X": features[HALF], "eval_set": [(features[~HALF], NOISY)]}
    model = watched(kind, given, eval_metric="map", **STOPPED)
    [[curve]] = [one.values() for one in curves(model).values()]
    assert np.argmax(curve) < len(curve) - 1  # there were rounds to leave out
    expected = model.predict(features, **own_kind(kind, {"raw_score": True}, {"output_margin": 1}))
    assert np.ptp(expected) > 0.1
    file = tmp_path / "model.json"
    own_kind(kind, getattr(model, "booster_", None), model).save_model(file)
    if issubclass(kind, lgb.LGBMModel):
        loaded = lgb.Booster(model_file=file)
        assert loaded.num_trees() == model.best_iteration_ == np.argmax(curve) + 1
        np.testing.assert_array_equal(loaded.predict(features), expected)
    else:
        loaded = kind()
        loaded.load_model(file)
        assert model.best_iteration == np.argmax(curve)
        found = loaded.predict(features, output_margin=True)
        np.testing.assert_array_equal(found, expected)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(scores(copied, features), scores(model, features))


@pytest.mark.parametrize("options", SAVED.values(), ids=SAVED)
def test_a_loaded_ranker_is_the_saved_one(options: dict[str, Any], tmp_path: Path) -> None:
    """With the objective ``rank:ndcg``, as XGBoost loads it, score and the next fit were others."""
    file = tmp_path / "model.json"
    model = boost(**options)
    model.save_model(file)
    loaded, plain = lp.XGBoostRanker(n_jobs=1), xgb.XGBRanker()
    loaded.load_model(file)
    plain.load_model(file)
    for other in (loaded, plain, pickle.loads(pickle.dumps(loaded))):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert (loaded.objective, loaded.eval_metric) == (model.objective, model.eval_metric)
    assert loaded.score(X, Y, qid=QID) == model.score(X, Y, qid=QID)
    loaded.set_params(n_estimators=3).fit(X[HALF], Y[HALF], qid=QID[HALF])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    plain.save_model(file)


def test_what_is_saved_of_an_objective_is_its_text() -> None:
    for objective in (options["objective"] for options in SAVED.values()):
        assert from_data(as_data(objective)) == objective
    assert as_data(lp.parse_metric("ndcg@5")) == "ndcg@5"


def test_no_other_attribute_is_taken_from_a_file() -> None:
    booster = fit(lp.XGBoostRanker).get_booster()
    booster.set_attr(lambdaplus='{"objective": "mrr", "n_estimators": 9, "predict": 1}')
    loaded = made(lp.XGBoostRanker)
    loaded.load_model(booster.save_raw())
    assert (loaded.objective, loaded.n_estimators, callable(loaded.predict)) == ("mrr", 3, True)
