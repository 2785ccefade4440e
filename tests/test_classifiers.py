"""LightGBMClassifier and XGBoostClassifier as scikit-learn users expect classifiers to behave."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import rare

import lambdaplus as lp
from lambdaplus.estimators import LightGBMClassifier, XGBoostClassifier

KINDS = [LightGBMClassifier, XGBoostClassifier]
both = pytest.mark.parametrize("kind", KINDS)
SMALL: dict[str, Any] = {"n_estimators": 15, "n_jobs": 1, "random_state": 0}
EXCEPTED = {
    "check_do_not_raise_errors_in_init_or_set_params": (
        "passes kwargs=..., which is no parameter of the framework: unknown names are refused at "
        "once, as Python refuses unknown arguments"
    ),
    "check_sample_weight_equivalence_on_dense_data": (
        "the gradient of average precision takes weights by a definition of its own, the "
        "frameworks bin features and count rows of a leaf without weights, and folds differ"
    ),
    "check_sample_weight_equivalence_on_sparse_data": "likewise",
}


def data() -> Any:
    train, test = rare()
    n = 3000
    return train.features[:n], train.binary[:n], test.features[:n], test.binary[:n]


@pytest.mark.slow
@parametrize_with_checks(
    [
        LightGBMClassifier(n_estimators=2, n_jobs=1, cv=2, min_child_samples=1),
        XGBoostClassifier(n_estimators=2, n_jobs=1, cv=2),
    ],
    expected_failed_checks=lambda estimator: EXCEPTED,
)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@both
def test_it_ranks_as_training_for_average_precision_does(kind: Any) -> None:
    X, y, Xt, yt = data()
    model = kind(calibration=None, **SMALL).fit(X, y)
    ranker = (lp.LightGBMRanker if kind is LightGBMClassifier else lp.XGBoostRanker)(
        objective="map", **SMALL
    ).fit(X, y)
    found = model.decision_function(Xt)
    assert_array_equal(found, ranker.predict(Xt) - model.offset_)
    assert average_precision_score(yt, found) > 5 * yt.mean()
    assert not hasattr(model, "predict_proba")
    # Without probabilities it calls as many training rows positive as are.
    assert 0.8 < np.sum(model.predict(X) == 1) / y.sum() < 1.2


@both
@pytest.mark.parametrize(
    ("held_out", "method"),
    [(False, "sigmoid"), (True, "sigmoid"), (True, "isotonic")],
    ids=["cross-validation", "eval_set", "isotonic"],
)
def test_probabilities_are_calibrated(kind: Any, held_out: bool, method: str) -> None:
    X, y, Xt, yt = data()
    fit = {"eval_set": (Xt, yt)} if held_out else {}
    model = kind(calibration=method, **SMALL).fit(X, y, **fit)
    test = rare()[1]
    Xt, yt = test.features[3000:], test.binary[3000:]
    found = model.predict_proba(Xt)
    assert found.shape == (len(yt), 2)
    assert_allclose(found.sum(axis=1), 1.0)
    positive = found[:, 1]
    # As many positives as are expected, within three standard errors of a count: of the 90 that
    # the calibration has seen.
    assert positive.sum() == pytest.approx(yt.sum(), rel=3 / np.sqrt(y.sum()))
    # Better than telling everyone the share of positives.
    assert brier_score_loss(yt, positive) < brier_score_loss(yt, np.full(len(yt), y.mean()))
    assert_array_equal(model.predict(Xt), (positive > 0.5).astype(int))
    assert_array_equal(model.predict(Xt), (model.decision_function(Xt) > 0).astype(int))
    order = np.argsort(model.decision_function(Xt))
    assert (np.diff(positive[order]) >= 0).all()


@pytest.mark.slow
@both
def test_calibration_by_cross_validation_sees_only_rows_that_are_new_to_a_model(kind: Any) -> None:
    X, y, _, _ = data()
    random = np.random.default_rng(0).permutation(y)  # nothing to learn, and much to remember
    model = kind(cv=3, **{**SMALL, "n_estimators": 40}).fit(X, random)
    found = model.predict_proba(X)[:, 1]
    assert average_precision_score(random, found) > 0.5  # remembered
    assert found[random == 1].mean() < 0.3  # and not believed


@cache
def fitted_on_numbers(kind: Any) -> Any:
    X, y, Xt, yt = data()
    return kind(cv=2, **SMALL).fit(X, y, eval_set=(Xt, yt))


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        (XGBoostClassifier, np.array(["no", "yes"])),  # both read labels by the same lines
        *((LightGBMClassifier, labels) for labels in
          (np.array([-1, 1]), np.array(["no", "yes"]), np.array([False, True]),
           np.array([7.0, 9.0]), np.array(["a", "b"], dtype=object))),
    ],
    ids=str,
)  # fmt: skip
def test_any_two_labels_do(kind: Any, labels: Any) -> None:
    X, y, Xt, yt = data()
    model = kind(cv=2, **SMALL).fit(X, labels[y], eval_set=(Xt, labels[yt]))
    assert_array_equal(model.classes_, labels)
    assert set(model.predict(Xt)) <= set(labels)
    plain = fitted_on_numbers(kind)
    assert_array_equal(model.predict_proba(Xt), plain.predict_proba(Xt))
    assert model.score(Xt, labels[yt]) == pytest.approx(plain.score(Xt, yt))


@both
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.arange(3000) % 3}, "Only binary classification is supported.*multiclass"),
        ({"y": np.zeros(3000)}, "y holds one class"),
        ({"y": None}, "target y is None"),
        ({"y": np.where(np.arange(3000) == 5, np.nan, np.arange(3000) % 2)}, "NaN"),
        ({"y": (np.arange(3000) == 5).astype(int)}, "two rows of each class .the rarer has 1."),
        ({"eval_set": "labels"}, "valid_0: label .*2.* is none of"),
        ({"eval_set": "one class"}, "valid_0: map has no value on any query"),
        ({"sample_weight": np.full(3000, -1.0)}, "weights must not be negative"),
    ],
)
def test_unusable_labels_and_weights_raise(kind: Any, change: Any, message: str) -> None:
    X, y, Xt, yt = data()
    sets = {"labels": (Xt, yt * 2), "one class": (Xt, yt * 0)}
    given = {"y": y, **change}
    if "eval_set" in given:
        given["eval_set"] = sets[given["eval_set"]]
    with pytest.raises(ValueError, match=message):
        kind(**SMALL).fit(X, given.pop("y"), **given)


@both
def test_training_that_goes_on_wants_new_rows_to_calibrate_on(kind: Any) -> None:
    X, y, Xt, yt = data()
    first = kind(calibration=None, **SMALL).fit(X, y)
    with pytest.raises(ValueError, match="has seen all rows"):
        kind(**SMALL).fit(X, y, init_model=first)
    more = kind(early_stopping_rounds=None, **SMALL).fit(X, y, init_model=first, eval_set=(Xt, yt))
    assert more.best_iteration_ == 2 * first.best_iteration_
    assert more.get_booster() is more.booster_


# -- the tools of scikit-learn -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "calibration"), [(LightGBMClassifier, "sigmoid"), (XGBoostClassifier, None)]
)
def test_thresholds_can_be_chosen_for_a_metric(kind: Any, calibration: str | None) -> None:
    X, y, Xt, yt = data()
    model = kind(calibration=calibration, cv=2, **SMALL)
    tuned = TunedThresholdClassifierCV(model, scoring="f1", cv=2, random_state=0).fit(X, y)
    half = clone(model).fit(X, y)
    assert f1_score(yt, tuned.predict(Xt)) > max(0.2, f1_score(yt, half.predict(Xt)) - 0.1)
    fixed = FixedThresholdClassifier(kind(cv=2, **SMALL), threshold=0.1).fit(X, y)
    assert_array_equal(fixed.predict(Xt), (fixed.predict_proba(Xt)[:, 1] >= 0.1).astype(int))


@pytest.mark.slow
@both
def test_searches_scorers_and_calibration_by_others_work(kind: Any) -> None:
    X, y, Xt, yt = data()
    model = kind(calibration=None, **SMALL)
    native = next(iter(kind._native))
    search = GridSearchCV(
        model, {"objective": ["map", "auc", native]}, scoring="average_precision", cv=2,
        error_score="raise",
    ).fit(X, y)  # fmt: skip
    assert search.cv_results_["mean_test_score"].min() > 3 * y.mean()
    assert len(set(search.cv_results_["mean_test_score"])) == 3
    calibrated = CalibratedClassifierCV(model, cv=2).fit(X, y)
    assert brier_score_loss(yt, calibrated.predict_proba(Xt)[:, 1]) < yt.mean() * (1 - yt.mean())
    found = cross_val_score(
        kind(cv=2, **SMALL), X, y, scoring="neg_brier_score", cv=StratifiedKFold(2)
    )
    assert -found.max() < y.mean() * (1 - y.mean())


@pytest.mark.slow
@both
def test_kinds_of_data_and_copies(kind: Any) -> None:
    X, y, Xt, _ = data()
    dense = kind(cv=2, **SMALL).fit(X, y)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    named = kind(cv=2, **SMALL).fit(frame, pd.Series(y))
    assert_array_equal(named.predict_proba(frame), dense.predict_proba(X))
    sparse = kind(cv=2, **SMALL).fit(csr_matrix(X), y)
    assert_array_equal(sparse.predict_proba(csr_matrix(X)), dense.predict_proba(X))
    with_words = frame.assign(word=pd.Categorical(np.where(y, "b", "a")))
    found = kind(cv=2, **SMALL).fit(with_words, y).predict(with_words)
    assert_array_equal(found, y)
    copy = pickle.loads(pickle.dumps(dense))
    assert_array_equal(copy.predict_proba(Xt), dense.predict_proba(Xt))
    assert not hasattr(clone(dense), "calibrator_")
    assert "calibration" in clone(dense).get_params()


@pytest.mark.slow
@both
def test_weights_count_rows_in_the_calibration_too(kind: Any) -> None:
    X, y, Xt, yt = data()
    weights = np.where(y, 10.0, 1.0)
    plain, weighted = (kind(cv=2, **SMALL).fit(X, y, sample_weight=w) for w in (None, weights))
    share = np.average(y, weights=weights)
    assert weighted.predict_proba(X)[:, 1].mean() > 3 * plain.predict_proba(X)[:, 1].mean()
    out_of_sample = np.average(weighted.predict_proba(Xt)[:, 1], weights=np.where(yt, 10.0, 1.0))
    assert out_of_sample == pytest.approx(share, rel=0.3)


@both
def test_a_model_that_ranks_new_rows_the_wrong_way_round_is_told_of(kind: Any) -> None:
    X, y, Xt, yt = data()
    rare_first = np.argsort(kind(calibration=None, **SMALL).fit(X, y).decision_function(Xt))[::-1]
    wrong = np.zeros(len(yt), dtype=int)
    wrong[rare_first[-90:]] = 1  # the lowest scores
    with pytest.warns(UserWarning, match="higher scores are positive less often"):
        kind(early_stopping_rounds=None, **SMALL).fit(X, y, eval_set=(Xt, wrong))


@both
def test_a_fit_that_fails_leaves_no_model_of_other_classes(kind: Any) -> None:
    X, y, _, _ = data()
    model = kind(calibration=None, **SMALL).fit(X, y)
    with pytest.raises(ValueError, match="none of"):
        model.fit(X, np.where(y, "yes", "no"), eval_set=(X, y))
    with pytest.raises(NotFittedError):
        model.predict(X)
