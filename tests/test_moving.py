"""Rows of the page "Move a pipeline" that no other file tests."""

import pickle
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosting_frameworks import Trained, pytest_generate_tests  # noqa: F401
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_map, lambda_objective

lgb = pytest.importorskip("lightgbm", minversion="4.1")
xgb = pytest.importorskip("xgboost", minversion="3.0")
pytestmark = pytest.mark.filterwarnings(
    "ignore:The argument 'eval_set' is deprecated", "ignore:.*are not used", "ignore:.*manually"
)

PART, REST = graded().queries(0, 40), graded().queries(40, 60)
X, Y, SIZES = PART.features, PART.labels, PART.sizes
EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL = {"n_estimators": 5, "n_jobs": 1, "random_state": 0}


def rows(features: Any = X, **options: Any) -> Any:
    """LightGBM's data, which is constructed with the parameters of its training."""
    return lgb.Dataset(features, Y, group=SIZES, free_raw_data=False, **options)


def trained(
    framework: Any, params: Any = None, given: Any = None, rounds: int = 5,
    objective: Any = lambda_map, **options: Any,
) -> Trained:  # fmt: skip
    given = framework.data(PART) if given is None else given
    found: Trained = framework.train(objective, given, rounds, params=params, **options)
    return found


# -- LightGBM ------------------------------------------------------------------------------------


def test_lightgbm_goes_on_from_other_objectives_and_other_rows(lightgbm_alone: Any) -> None:
    native = trained(lightgbm_alone, objective="lambdarank")
    with pytest.raises(lgb.basic.LightGBMError, match="null objective function"):
        trained(lightgbm_alone).booster.refit(REST.features, REST.labels, group=REST.sizes)
    rest = lgb.Dataset(REST.features, REST.labels, group=REST.sizes)
    for given, first in ((rows(), native), (rest, trained(lightgbm_alone))):
        both = trained(lightgbm_alone, given=given, rounds=3, model=first)
        assert lightgbm_alone.n_rounds(both) == 8


def test_the_refit_of_the_example_is_that_of_lightgbm(lightgbm_alone: Any) -> None:
    def log_loss(labels: Any, scores: Any, *_: Any) -> Any:
        p = 1.0 / (1.0 + np.exp(-scores))
        return p - labels, p * (1.0 - p)

    given = lightgbm_alone.data(PART, label=PART.binary)
    params = {"boost_from_average": False, "min_data_in_leaf": 40}
    booster = trained(lightgbm_alone, params, given, objective="binary").booster
    refit = runpy.run_path(str(EXAMPLES / "refit_and_bagging.py"))["refit"]
    ours = refit(booster, log_loss, REST.features, REST.binary, None)
    theirs = booster.refit(REST.features, REST.binary)
    found, expected, before = (
        model.predict(X, raw_score=True) for model in (ours, theirs, booster)
    )
    assert_allclose(found, expected, atol=1e-6)
    assert np.abs(found - before).max() > 0.01


def test_label_gain_is_read_by_lightgbms_metric_alone(lightgbm_alone: Any) -> None:
    valid = {"rest": lightgbm_alone.data(REST)}
    gains = {"label_gain": [0, 1, 3, 3], "metric": "ndcg"}
    plain, other = (
        trained(lightgbm_alone, params, valid=valid) for params in ({"metric": "ndcg"}, gains)
    )
    assert_array_equal(other.scores(PART), plain.scores(PART))
    assert other.curves != plain.curves
    ours = (trained(lightgbm_alone, objective=lambda_objective(name)).scores(PART)
            for name in ("ndcg(gain=0/1/3/3)", "ndcg"))  # fmt: skip
    assert np.not_equal(*ours).any()


def test_a_saved_classifier_of_lightgbm_has_trees_alone() -> None:
    y = (Y > 1).astype(int)
    model = lp.LightGBMClassifier(**SMALL, verbose=-1).fit(X, y)
    scores = lgb.Booster(model_str=model.booster_.model_to_string()).predict(X)
    assert_array_equal(scores, model.predict(X, raw_score=True))
    assert_array_equal(model.predict(X), (scores > model.offset_).astype(int))
    shares = model.predict(X, pred_contrib=True)
    assert_allclose(shares.sum(axis=1), model.decision_function(X) + model.offset_, atol=1e-9)
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.predict_proba(X), model.predict_proba(X))


def test_optunas_tuner_follows_lightgbms_metric(lightgbm_alone: Any) -> None:
    optuna = pytest.importorskip("optuna")
    tuner = pytest.importorskip("optuna_integration.lightgbm").LightGBMTuner
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    train = rows()
    valid = train.create_valid(REST.features, REST.labels, group=REST.sizes)
    quiet = {**lightgbm_alone.quiet, "objective": lambda_map, "eval_at": [10]}
    for metric, direction in (("ndcg", "MAXIMIZE"), ("ndcg@10", "MINIMIZE")):
        tuned = tuner(
            {**quiet, "metric": metric}, train, num_boost_round=3, valid_sets=[valid],
            feval=eval_metric("ndcg@10"), show_progress_bar=False, time_budget=2,
        )  # fmt: skip
        assert tuned.study.direction.name == direction


# -- XGBoost -------------------------------------------------------------------------------------
