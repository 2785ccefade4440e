"""Other outputs and arguments of predict, predict_proba and decision_function."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contracts import Raises, Rows, Warns, contract, hold
from sklearn.exceptions import NotFittedError
from small_classifiers import NATIVE, X, Y, both, fitted, made

import lambdaplus as lp
import lambdaplus.xgboost as xgb

OUTPUTS: Rows = {  # of a model that ranks
    f"{method}({name}=True)": (
        lambda kind, method=method, name=name: getattr(fitted(kind), method)(X[:3], **{name: True}),
        {
            "predict_proba": lambda kind, name=name: fitted(kind).predict(X[:3], **{name: True}),
            "decision_function": Raises(f"pass {name} to predict", TypeError),
        }[method],
    )
    for method in ("predict_proba", "decision_function")
    for name in ("pred_leaf", "pred_contrib")
}
OUTPUTS |= {
    "predict_proba(raw_score=True)": (
        lambda kind: fitted(kind).predict_proba(X[:3], raw_score=True),
        lambda kind: fitted(kind).decision_function(X[:3]) + fitted(kind).offset_,
    ),
    "predict_proba after set_params of LightGBM's objective": (
        lambda kind: pickle.loads(pickle.dumps(fitted(kind))).set_params(
            objective="binary").predict_proba(X[:3]),
        lambda kind: fitted(kind).predict_proba(X[:3]),
    ),
    "predict after set_params of an objective that ranks": (
        lambda kind: made(kind, objective="binary").fit(X, Y).set_params(
            objective="map").predict(X),
        Raises("has no threshold, since its last fit failed, or", NotFittedError),
    ),
}  # fmt: skip


@contract(OUTPUTS)
def test_other_outputs_are_the_parents(act: Callable[..., Any], right: Any) -> None:
    hold(act, right, lp.LightGBMClassifier)


@pytest.mark.parametrize("name", ["output_margin", "pred_leaf", "raw_score", "num_iteration"])
def test_xgboosts_predict_proba_takes_what_its_parents_takes(name: str) -> None:
    for model in (fitted(lp.XGBoostClassifier), fitted(xgb.XGBClassifier)):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            model.predict_proba(X[:3], **{name: 1})
    few = fitted(lp.XGBoostClassifier).predict_proba(X[:3], iteration_range=(0, 1))
    assert not np.array_equal(few, fitted(lp.XGBoostClassifier).predict_proba(X[:3]))


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
def test_arguments_have_the_positions_of_the_parents(kind: Any) -> None:
    """Of `decision_function`, which parents lack, X alone."""
    ranks, native = fitted(kind), made(kind, objective=NATIVE[kind]).fit(X, Y)
    for model in (ranks, native):
        with pytest.raises(TypeError, match="positional arguments"):
            model.decision_function(X, True)
        if kind is lp.LightGBMClassifier:
            for method in (model.predict, model.predict_proba):
                np.testing.assert_array_equal(method(X, True), model.predict(X, raw_score=True))
        else:
            few = model.predict_proba(X, False, None, (0, 1))
            expected = model.predict_proba(X, iteration_range=(0, 1))
            np.testing.assert_array_equal(few, expected)
            with pytest.raises(TypeError, match="positional arguments"):
                model.predict(X, True)
    if kind is lp.LightGBMClassifier:
        start = np.linspace(-1, 1, 300)
        by_name = made(kind).fit(X, Y, sample_weight=1.0 + Y, init_score=start)
        found = made(kind).fit(X, Y, 1.0 + Y, start)
        np.testing.assert_array_equal(found.predict_proba(X), by_name.predict_proba(X))


SOME, ALL = Warns("uses rounds . to . of the model, and threshold and probabilities"), Warns("", 0)
ROUNDS: Rows = {  # of four
    f"{method}({given})": (
        lambda kind, method=method, given=given: getattr(fitted(kind), method)(X, **given), right
    )
    for method in ("predict", "predict_proba", "decision_function")
    for given, right in (
        ({"num_iteration": 3}, SOME), ({"start_iteration": 2}, SOME), ({"num_iteration": 99}, ALL),
        ({"num_iteration": None}, ALL), ({"iteration_range": (0, 3)}, SOME),
        ({"iteration_range": (1, 4)}, SOME), ({"iteration_range": (0, 4)}, ALL),
        ({"iteration_range": (0, 0)}, ALL), ({}, ALL),
    )
}  # fmt: skip
OF_XGBOOST = {name: row for name, row in ROUNDS.items() if "range" in name or "{}" in name}
OF_LIGHTGBM = {name: row for name, row in ROUNDS.items() if "range" not in name}


@contract(OF_LIGHTGBM)
def test_some_rounds_of_lightgbm_are_warned_of(act: Callable[..., Any], right: Any) -> None:
    hold(act, right, lp.LightGBMClassifier)


@contract(OF_XGBOOST)
def test_some_rounds_of_xgboost_are_warned_of(act: Callable[..., Any], right: Any) -> None:
    hold(act, right, lp.XGBoostClassifier)


@both
def test_another_best_iteration_is_warned_of(kind: Any, tmp_path: Path) -> None:
    model = pickle.loads(pickle.dumps(fitted(kind)))
    booster = model.booster_ if kind is lp.LightGBMClassifier else model.get_booster()
    booster.best_iteration = 2
    for act in (
        lambda: model.predict(X), lambda: model.predict_proba(X),
        lambda: model.export(tmp_path / "model"),
    ):  # fmt: skip
        hold(act, SOME)


@both
def test_other_outputs_of_some_rounds_are_the_parents(kind: Any) -> None:
    raw = "raw_score" if kind is lp.LightGBMClassifier else "output_margin"
    few = {"num_iteration": 3} if kind is lp.LightGBMClassifier else {"iteration_range": (0, 3)}
    hold(lambda: fitted(kind).predict(X, **few, **{raw: True}), ALL)
