"""Rows of the page "Move a pipeline" that no other file tests."""

import pickle
import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosting_frameworks import Trained, pytest_generate_tests  # noqa: F401
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded, value

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_map, lambda_objective
from lambdaplus.objectives.position_bias import PositionBias

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


def learns(scores: Any) -> None:
    """Training data are ranked better than by the first feature, the strongest one."""
    assert value("map", PART, scores) > value("map", PART, X[:, 0])


# -- LightGBM ------------------------------------------------------------------------------------


def test_lightgbm_has_its_kinds_of_features_and_of_boosting(lightgbm_alone: Any) -> None:
    categories = np.column_stack([X, np.digitize(X[:, 0], [-1, 0, 1])])
    given = rows(categories, weight=PART.row_weights, categorical_feature=[5])
    learns(trained(lightgbm_alone, given=given).booster.predict(categories))
    monotone = trained(lightgbm_alone, {"monotone_constraints": [1, 0, 0, 0, 0]}).booster
    rising = np.zeros((50, 5))
    rising[:, 0] = np.linspace(-2, 2, 50)
    assert (np.diff(monotone.predict(rising)) >= 0).all()
    for more in (
        {"bagging_fraction": 0.7, "bagging_freq": 1},
        {"boosting": "dart"},
        {"data_sample_strategy": "goss"},
        {"linear_tree": True},
    ):
        learns(trained(lightgbm_alone, more, rows()).scores(PART))


def test_a_saved_model_predicts_and_explains_itself(framework: Any) -> None:
    model = trained(framework)
    if framework.name == "lightgbm":
        text = model.booster.model_to_string()
        assert "\nobjective=" not in text
        loaded = lgb.Booster(model_str=text)
        shares = model.booster.predict(X, pred_contrib=True)
    else:
        loaded = xgb.Booster(model_file=model.booster.save_raw("json"))
        shares = model.booster.predict(xgb.DMatrix(X), pred_contribs=True)
    assert_array_equal(Trained(loaded).scores(PART), model.scores(PART))
    assert_allclose(shares.sum(axis=1), model.scores(PART), atol=1e-5)


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


def test_positions_are_used_by_position_bias(lightgbm_alone: Any) -> None:
    place = np.concatenate([np.arange(size) for size in SIZES])
    with pytest.warns(UserWarning, match="does not use the positions of this data set"):
        ignored = trained(lightgbm_alone, given=rows(position=place)).scores(PART)
    assert_array_equal(ignored, trained(lightgbm_alone).scores(PART))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        biased = PositionBias(lambda_map)
        used = trained(lightgbm_alone, given=rows(position=place), objective=biased)
    assert (used.scores(PART) != ignored).any()


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


def test_xgboost_has_its_kinds_of_boosting(xgboost_alone: Any) -> None:
    learns(trained(xgboost_alone, {"booster": "dart"}).scores(PART))
    forest = {"num_parallel_tree": 5, "subsample": 0.7, "learning_rate": 1.0}
    learns(trained(xgboost_alone, forest, rounds=1).scores(PART))


def test_leaves_of_xgboost_are_refreshed(xgboost_alone: Any) -> None:
    refresh = {"process_type": "update", "updater": "refresh", "refresh_leaf": True}
    old = trained(xgboost_alone).scores(PART)
    new, same = (
        trained(xgboost_alone, refresh, xgboost_alone.data(part), model=trained(xgboost_alone))
        for part in (REST, PART)
    )
    assert (new.scores(PART) != old).any()
    assert_allclose(same.scores(PART), old, atol=1e-5)


def test_the_default_base_score_is_added_to_all_scores(xgboost_alone: Any) -> None:
    moved = trained(xgboost_alone, {"base_score": None}).scores(PART)
    assert_allclose(moved, trained(xgboost_alone).scores(PART) + 0.5, atol=1e-5)


def test_default_metrics_of_xgboost_are_those_of_its_objective(xgboost_alone: Any) -> None:
    valid, asked = {"rest": xgboost_alone.data(REST)}, {"disable_default_eval_metric": 0}
    for params, metric, names in (
        ({**asked, "objective": "rank:ndcg"}, None, ["ndcg@32"]),
        (asked, None, ["rmse"]),
        ({}, eval_metric("map"), ["map"]),
    ):
        found = trained(xgboost_alone, params, valid=valid, metric=metric)
        assert list(found.curves["rest"]) == names


def test_xgboosts_cv_ignores_weights_of_queries_and_ours_does_not(xgboost_alone: Any) -> None:
    weights = (None, PART.query_weights)
    for module, same in ((xgboost_alone.module, True), (xgboost_alone.own, False)):
        found = [
            module.cv(
                xgboost_alone.quiet, xgboost_alone.data(PART, weight=weight), 3, nfold=2, seed=0,
                obj=lambda_map, custom_metric=eval_metric("map"),
            )
            for weight in weights
        ]  # fmt: skip
        assert found[0].equals(found[1]) == same
