"""Estimators are their parents: parameters, bits of trainings, copies, and arguments."""

import difflib
import inspect
import pickle
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
from graded_estimators import (
    PARENTS,
    curve_of,
    curves,
    data_of,
    every_estimator,
    halves,
    made,
    of_lightgbm,
    raw,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from small_data import GRADED

import lambdaplus.xgboost as xgb
from lambdaplus import eval_metric, lambda_map, lambda_objective
from lambdaplus.estimators import (
    LightGBMClassifier,
    LightGBMRanker,
    XGBoostClassifier,
    XGBoostRanker,
)

pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


@every_estimator
def test_they_are_their_parents(kind: Any) -> None:
    parent = PARENTS[kind]
    model = made(kind).fit(**data_of(kind))
    assert isinstance(model, parent)
    assert set(parent().get_params()) <= set(kind().get_params())
    same = {"objective"} | {"eval_metric"} & set(parent().get_params())
    for name, value in parent().get_params().items():
        if name not in same:
            assert kind().get_params()[name] == value or value != value, name


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize("kind", [LightGBMRanker, LightGBMClassifier])
def test_lightgbm_gives_the_parents_bits(kind: Any, stopped: bool) -> None:
    fit, valid = halves(kind)
    fit |= {"eval_metric": eval_metric("map"), "sample_weight": GRADED.row_weights[: len(fit["y"])]}
    options = {"early_stopping_rounds": 3, "n_estimators": 60} if stopped else {}
    ours = made(kind, objective="map", **options).fit(**fit)
    if "qid" in fit:
        del fit["qid"], fit["eval_qid"]
        fit |= {"group": GRADED.sizes[:40], "eval_group": [GRADED.sizes[40:]]}
    theirs = made(PARENTS[kind], objective=lambda_map, metric="None", **options).fit(**fit)
    assert_array_equal(raw(ours, valid["X"]), raw(theirs, valid["X"]))
    assert ours.best_iteration_ == theirs.best_iteration_
    assert curves(ours) == curves(theirs)
    assert (ours.best_iteration_ > 0) == stopped


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize("kind", [XGBoostRanker, XGBoostClassifier])
def test_xgboost_gives_the_bits_of_plain_training(kind: Any, stopped: bool) -> None:
    fit, valid = halves(kind)
    options = {"early_stopping_rounds": 3, "n_estimators": 60} if stopped else {}
    ours = made(kind, objective="mrr" if "qid" in fit else "auc", **options).fit(**fit)

    def matrix(X: Any, y: Any, qid: Any = None, ref: Any = None) -> Any:
        return xgb.QuantileDMatrix(X, y, qid=qid, ref=ref)

    train = matrix(fit["X"], fit["y"], fit.get("qid"))
    found: dict[str, Any] = {}
    metric = eval_metric("mrr" if "qid" in fit else "auc")
    booster = xgb.train(
        {"nthread": 1, "seed": 0}, train, 60 if stopped else 8,
        obj=lambda_objective(str(metric.metrics[0])), custom_metric=metric,
        evals=[(matrix(**valid, ref=train), "validation_0")], evals_result=found,
        early_stopping_rounds=3 if stopped else None, verbose_eval=False,
    )  # fmt: skip
    rounds = (0, booster.best_iteration + 1) if stopped else (0, 0)
    expected = booster.predict(xgb.DMatrix(valid["X"]), iteration_range=rounds)
    assert_array_equal(raw(ours, valid["X"]), expected)
    assert curves(ours) == {name: dict(curve) for name, curve in found.items()}
    if stopped:
        assert ours.best_iteration == booster.best_iteration < 59


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (LightGBMRanker, {"eta": 0.3, "num_leaf": 5, "lambda_l1": 1.0, "num_iterations": 4}),
        (LightGBMClassifier, {"class_weight": "balanced", "max_bin": 15}),
        (LightGBMClassifier, {"class_weight": {0: 1.0, 1: 3.0}}),
        (XGBoostRanker, {"eta": 0.3, "seed": 1, "enable_categorical": True, "max_bin": 15}),
        (XGBoostClassifier, {"alpha": 1.0, "enable_categorical": True}),
    ],
)
def test_every_name_of_a_parameter_works(kind: Any, options: dict[str, Any]) -> None:
    model = made(kind, **options).fit(**data_of(kind))
    X, plain = GRADED.features, made(kind).fit(**data_of(kind))
    assert not np.array_equal(raw(model, X), raw(plain, X))
    for name, value in options.items():
        assert model.get_params()[name] == clone(model).get_params()[name] == value


@every_estimator
def test_training_goes_on_from_a_model(kind: Any, tmp_path: Path) -> None:
    fit = data_of(kind)
    name = "init_model" if of_lightgbm(kind) else "xgb_model"
    first = made(kind).fit(**fit)
    booster = first.booster_ if of_lightgbm(kind) else first.get_booster()
    booster.save_model(tmp_path / "model.json")
    whole = raw(made(kind, n_estimators=16).fit(**fit), fit["X"])
    for start in (first, booster, str(tmp_path / "model.json")):
        both = made(kind).fit(**fit, **{name: start})
        found = raw(both, fit["X"])
        assert_allclose(found, whole, rtol=1e-3, atol=1e-3)


@every_estimator
def test_copies_have_the_same_parameters_and_predictions(kind: Any) -> None:
    fit, valid = halves(kind)
    model = made(kind, objective="map", max_bin=31, eval_metric=eval_metric("auc")).fit(**fit)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        clone(model).predict(valid["X"])
    assert_array_equal(clone(model).fit(**fit).predict(valid["X"]), model.predict(valid["X"]))
    other = pickle.loads(pickle.dumps(model))
    for method in {"predict", "predict_proba", "decision_function"} & {*dir(model)}:
        assert_array_equal(*(getattr(one, method)(valid["X"]) for one in (other, model)))
    assert_array_equal(raw(other, valid["X"]), raw(model, valid["X"]))
    assert repr(other.get_params()) == repr(model.get_params())  # nan is not nan
    model.set_params(n_estimators=3, objective="auc").fit(**fit)
    assert model.get_params()["objective"] == "auc"
    assert not of_lightgbm(kind) or "objective='auc'" in repr(model)  # XGBoost's are cut
    assert len(curve_of(model)["auc"]) == 3


@pytest.mark.parametrize("kind", [LightGBMRanker, LightGBMClassifier])
def test_predictions_follow_every_change_of_an_estimator(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And change nothing of it; LightGBM is given its own parameters alone."""
    X, y, qid = GRADED.features, GRADED.binary, GRADED.qid
    more = {"qid": qid} if kind is LightGBMRanker else {}
    model = kind(n_estimators=5, verbose=-1, eval_metric="auc").fit(X, y, **more)
    before, size = dict(vars(model)), len(pickle.dumps(model))
    first = model.predict(X[:50], raw_score=True)
    assert vars(model) == before  # nor the same object in it
    assert len(pickle.dumps(model)) == size
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    given: list[dict[str, Any]] = []
    predict = lightgbm.Booster.predict

    def seen(self: Any, *args: Any, **kwargs: Any) -> Any:
        given.append(kwargs)
        return predict(self, *args, **kwargs)

    monkeypatch.setattr(lightgbm.Booster, "predict", seen)
    model.n_jobs = 2
    model.predict(X)
    model.set_params(n_jobs=3).predict(X)
    model.set_params(pred_early_stop=True).predict(X)
    assert [one["num_threads"] for one in given] == [2, 3, 3]
    assert [one.get("pred_early_stop") for one in given] == [None, None, True]
    own = {*inspect.signature(kind).parameters} - {*inspect.signature(kind._parent).parameters}
    assert own >= {"eval_metric"}
    assert all(own.isdisjoint(one) and one["objective"] == "None" for one in given)
    monkeypatch.undo()
    other = pickle.loads(pickle.dumps(model))
    model.fit(X, 1 - y, **more)
    again = kind(n_estimators=5, verbose=-1).fit(X, 1 - y, **more)
    assert_array_equal(model.predict(X[:50], raw_score=True), again.predict(X[:50], raw_score=True))
    assert_array_equal(other.predict(X[:50], raw_score=True), first)


def test_predictions_do_not_explain_again_that_an_objective_is_of_the_framework(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking for similar names took half as long as predicting a row."""
    X, y = GRADED.features, GRADED.binary
    model = made(LightGBMClassifier, objective="binary").fit(X, y)
    expected = model.predict(X[:3]), model.predict_proba(X[:3])
    monkeypatch.setattr(difflib, "get_close_matches", None)
    assert_array_equal(model.predict(X[:3]), expected[0])
    assert_array_equal(model.predict_proba(X[:3]), expected[1])
