"""Rows that set threshold and probabilities, or why there are none."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from small_classifiers import X, Y, alone, fitted, held_out, made

import lambdaplus as lp

NEW = X + 1e-4  # rows that are not those of the training
SETS = [(NEW[150:], Y[150:]), (NEW[:150], Y[:150])]


FORMS: dict[str, Any] = {  # of the weights of the second set
    "list": lambda weights: [None, weights], "tuple": lambda weights: (None, weights),
    "dictionary": lambda weights: {1: weights}, "polars": lambda weights: {1: pl.Series(weights)},
    "pandas": lambda weights: [None, pd.Series(weights)],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
def test_weights_of_evaluation_rows_count_in_any_form(kind: Any, form: Any) -> None:
    """Those that occur twice are the same weight."""
    light, weights = kind is lp.LightGBMClassifier, np.where(Y[:150], 3.0, 1.0)
    name = "eval_sample_weight" if light else "sample_weight_eval_set"
    quiet = {} if light else {"verbose": False}
    if light or isinstance(form(weights), list | tuple):
        given = {"eval_set": SETS if light else tuple(SETS), name: form(weights)}
        model = made(kind).fit(X, Y, **given, **quiet)
        rows = np.repeat(np.arange(150), weights.astype(int))
        copies = made(kind).fit(X, Y, eval_set=[SETS[0], (NEW[rows], Y[rows])], **quiet)
        np.testing.assert_allclose(model.predict_proba(X), copies.predict_proba(X), atol=0.02)
        plain = made(kind).fit(X, Y, eval_set=SETS, **quiet)
        assert np.ptp(model.predict_proba(X) - plain.predict_proba(X)) > 0.02


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
@pytest.mark.parametrize("n", [2, 6])
def test_few_rows_of_both_classes_give_probabilities(kind: Any, n: int) -> None:
    held_out = np.argsort(-Y, kind="stable")[[0, *range(1 - n, 0)]]  # one is of the trained class
    quiet = {} if kind is lp.LightGBMClassifier else {"verbose": False}
    model = made(kind).fit(X, Y, eval_set=[(NEW[held_out], Y[held_out])], **quiet)
    assert model.predict_proba(X).shape == (300, 2)
    assert 0.0 < model.predict_proba(X)[:, 1].mean() < 1.0


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
def test_the_threshold_is_of_rows_with_weight(kind: Any) -> None:
    """A single row of the class has weight, which is in one half only."""
    weights = np.where(Y == 0, 1.0, 0.0)
    weights[np.flatnonzero(Y)[0]] = 1.0
    model = made(kind).fit(X, Y, sample_weight=weights)
    assert np.isfinite(model.offset_)
    assert not hasattr(model, "predict_proba")  # a class with a single row cannot be held out


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
def test_models_of_halves_warn_of_nothing(kind: Any) -> None:
    with pytest.warns(UserWarning, match="scale_pos_weight has no effect") as said:
        made(kind, scale_pos_weight=3.0).fit(X, Y)
    assert len(said) == 1


@pytest.mark.parametrize("given", [{}, {"eval_set": [(NEW[150:], Y[150:])]}], ids=["halves", "set"])
@pytest.mark.parametrize("margin", [np.full(300, 5.0), 2.0 * X[:, 1]], ids=["equal", "by row"])
def test_the_threshold_is_of_scores_with_the_margins_of_xgboost(margin: Any, given: Any) -> None:
    if given:
        given = {**given, "base_margin_eval_set": [margin[150:]], "verbose": False}
    model = made(lp.XGBoostClassifier).fit(X, Y, base_margin=margin, **given)
    assert model.predict(X, base_margin=margin).mean() == pytest.approx(Y.mean(), abs=0.1)
    predicted = model.predict_proba(X, base_margin=margin)[:, 1]
    assert predicted.mean() == pytest.approx(Y.mean(), abs=0.1)


SINGLE = np.arange(300) == 5


WITHOUT: dict[str, tuple[Callable[[], Any], str]] = {
    "cv=None": (lambda: alone(Y, cv=None), "Pass cv='auto' or eval_set="),
    "before fit": (lambda: made(lp.LightGBMClassifier, cv=None), "Pass cv='auto' or eval_set="),
    "one positive row": (lambda: alone(SINGLE), "A class with a single row cannot be held out"),
    "init_model": (
        lambda: made(lp.LightGBMClassifier).fit(X, Y, init_model=fitted(lp.LightGBMClassifier)),
        "A model that continues another has seen all rows",
    ),
    "few rows": (lambda: alone(Y[:60], min_child_samples=20), r"There are too few rows \(60\)"),
    "an evaluation set of one class": (
        lambda: made(lp.LightGBMClassifier, eval_metric="binary_logloss").fit(
            X, Y, **held_out(NEW[Y == 0], Y[Y == 0])
        ),
        "The evaluation set has rows of one class alone",
    ),
    "an evaluation set in which one class has no weight": (
        lambda: made(lp.LightGBMClassifier, eval_metric="binary_logloss").fit(
            X, Y, **held_out(NEW[:150], Y[:150]), eval_sample_weight=[1.0 - Y[:150]]
        ),
        "The evaluation set has rows of one class alone",
    ),
}


def test_evaluation_rows_give_a_model_that_goes_on_its_probabilities() -> None:
    for kind, name in ((lp.LightGBMClassifier, "init_model"), (lp.XGBoostClassifier, "xgb_model")):
        model = made(kind).fit(X[:150], Y[:150])
        more = made(kind).fit(X[:150], Y[:150], eval_set=[(X[150:], Y[150:])], **{name: model})
        assert more.predict_proba(X).shape == (300, 2)


@pytest.mark.parametrize(("act", "message"), WITHOUT.values(), ids=WITHOUT)
def test_a_model_without_probabilities_says_the_reason(act: Any, message: str) -> None:
    model = act()
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as raised:
        _ = model.predict_proba
    assert ("cv='auto'" in str(raised.value.__cause__)) == message.startswith("Pass cv")
    with pytest.raises(Exception, match=message):
        raise raised.value.__cause__  # type: ignore[misc]
