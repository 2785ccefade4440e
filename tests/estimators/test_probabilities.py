"""Probabilities of a classifier are calibrated, by scikit-learn's method."""

from typing import Any

import numpy as np
import pytest
from graded_estimators import raw
from numpy.testing import assert_allclose, assert_array_equal
from rare_classifiers import EVAL_WEIGHT, LOG_LOSS, NAMES, X, Xt, both, fitted, made, sets, y, yt
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import average_precision_score, brier_score_loss
from sklearn.model_selection import (
    FixedThresholdClassifier,
    TunedThresholdClassifierCV,
)
from small_data import rare


@both
@pytest.mark.parametrize("held_out", [False, True], ids=["halves", "eval_set"])
def test_probabilities_are_calibrated(kind: Any, held_out: bool) -> None:
    uncalibrated = fitted(kind, cv=None)
    model = made(kind)
    model.fit(X, NAMES[y], **(sets(kind, (Xt, NAMES[yt])) if held_out else {}))
    assert_array_equal(raw(model, Xt), raw(uncalibrated, Xt))  # the same trees
    test = rare()[1].rows(np.arange(3000, 10_000))
    found = model.predict_proba(test.features)
    assert_allclose(found.sum(axis=1), 1.0)
    positive = found[:, model.classes_.tolist().index("fraud")]
    # As many positives as are expected, within three standard errors of a count: of the 90 that
    # the calibration has seen.
    assert positive.sum() == pytest.approx(test.binary.sum(), rel=3 / np.sqrt(y.sum()))


@both
def test_probabilities_by_default_are_as_good_as_those_of_log_loss(kind: Any) -> None:
    X, y = make_classification(
        24_000, 20, n_informative=6, weights=[0.97], class_sep=1.0, flip_y=0.01, random_state=3
    )
    X, y, Xt, yt = X[:4000], y[:4000], X[4000:], y[4000:]
    model = made(kind, n_estimators=60).fit(X, y)
    log_loss = made(kind, objective=LOG_LOSS[kind], n_estimators=60).fit(X, y)
    found, native = (one.predict_proba(Xt)[:, 1] for one in (model, log_loss))
    brier = brier_score_loss(yt, found)
    assert brier < min(brier_score_loss(yt, native), brier_score_loss(yt, np.full(len(yt), 0.03)))
    # Ten groups of rows by probability; the mean of each is that of its labels.
    groups = np.array_split(np.argsort(found), 10)
    off = [abs(found[rows].mean() - yt[rows].mean()) for rows in groups]
    assert np.mean(off) < 0.1 * yt.mean() + 1 / np.sqrt(len(y))
    order = np.argsort(raw(model, Xt), kind="stable")
    assert (np.diff(found[order]) >= 0).all()


@both
def test_probabilities_are_those_of_scikit_learns_calibration(kind: Any) -> None:
    weights = np.where(np.arange(len(y)) % 3, 1.0, 2.0)
    held_out = {**sets(kind, (Xt, yt)), EVAL_WEIGHT[kind]: [weights]}
    model = made(kind).fit(X, y, **held_out)
    plain = CalibratedClassifierCV(FrozenEstimator(model)).fit(Xt, yt, weights)
    # Its scores are decision_function's, less the threshold.
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-3)
    for method in ("sigmoid", "isotonic"):  # the way to other probabilities
        wrapped = CalibratedClassifierCV(made(kind, cv=None), method=method, cv=3)
        found = wrapped.fit(X, NAMES[y]).predict_proba(Xt)[:, 0]
        assert brier_score_loss(yt, found) < brier_score_loss(yt, np.full(len(yt), y.mean()))


@both
def test_tools_of_scikit_learn_that_need_probabilities(kind: Any) -> None:
    """They fell back to votes, took a threshold of the score, or ended with an error."""
    model = made(kind)
    plain = clone(model).fit(X, NAMES[y])
    assert plain.classes_[0] == "fraud"
    bagged = BaggingClassifier(model, n_estimators=3, random_state=0).fit(X, NAMES[y])
    found = bagged.predict_proba(Xt)[:, 0]
    assert len(np.unique(found)) > 1000  # votes of three would be four values
    assert average_precision_score(yt, found) > 5 * yt.mean()
    fixed = FixedThresholdClassifier(model, threshold=0.1, pos_label="fraud").fit(X, NAMES[y])
    likely = plain.predict_proba(Xt)[:, 0] >= 0.1
    assert_array_equal(fixed.predict(Xt) == "fraud", likely)
    assert 0 < likely.sum() < len(likely) / 2
    quick = clone(model).set_params(n_estimators=3)
    tuned = TunedThresholdClassifierCV(quick, scoring="f1", cv=2).fit(X, y)
    assert 0 < tuned.best_threshold_ < 1
    StackingClassifier([("one", quick)], cv=2).fit(X, y).predict_proba(Xt)
    StackingClassifier([("one", clone(quick).set_params(cv=None))], cv=2).fit(X, y).predict(Xt)
