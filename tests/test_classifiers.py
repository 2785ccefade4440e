"""LightGBMClassifier and XGBoostClassifier: the trained class, decisions and probabilities."""

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    precision_recall_curve,
)
from sklearn.model_selection import PredefinedSplit, ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import rare
from test_estimators import raw

from lambdaplus import lambda_objective
from lambdaplus.estimators import LightGBMClassifier, XGBoostClassifier

KINDS = [LightGBMClassifier, XGBoostClassifier]
both = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


@cache
def data() -> tuple[Any, Any, Any, Any]:
    train, test = rare()
    return train.features[:3000], train.binary[:3000], test.features[:3000], test.binary[:3000]


def made(kind: Any, **options: Any) -> Any:
    quiet = {"verbose": -1} if kind is LightGBMClassifier else {}
    return kind(**{"n_estimators": 12, "n_jobs": 1, "random_state": 0, **quiet, **options})


def sets(kind: Any, *pairs: Any) -> dict[str, Any]:
    quiet = {} if kind is LightGBMClassifier else {"verbose": False}
    return {"eval_set": list(pairs), **quiet}


EXCEPTED = {
    "check_class_weight_classifiers": "weights say which rows count, not how many to predict",
    "check_sample_weight_equivalence_on_dense_data": "nor do the parents pass it",
    "check_sample_weight_equivalence_on_sparse_data": "nor do the parents pass it",
}


CHECKED: list[Any] = [XGBoostClassifier(n_estimators=10, n_jobs=1)]
# The first one with the tags of scikit-learn 1.6.
if [*map(int, lgb.__version__.split(".")[:2])] >= [4, 6]:
    CHECKED.append(LightGBMClassifier(n_estimators=10, n_jobs=1, min_child_samples=1))


@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=lambda estimator: EXCEPTED)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


# -- which class is trained -----------------------------------------------------------------------


@both
@pytest.mark.parametrize("labels", [[1, 0], ["ok", "fraud"], [False, True], [7.0, 9.0]], ids=str)
def test_the_rarer_class_is_trained_whatever_it_is_called(kind: Any, labels: list[Any]) -> None:
    X, y, Xt, yt = data()
    expected = made(kind).fit(X, y, **sets(kind, (Xt, yt)))
    # As many rows of the evaluation set are predicted as there are.
    assert np.sum(expected.predict(Xt) == 1) == pytest.approx(yt.sum(), rel=0.1)
    names = np.array(labels)
    model = made(kind).fit(X, names[y], **sets(kind, (Xt, names[yt])))
    assert model.pos_label_ == names[1]
    assert_array_equal(model.classes_, np.sort(names))
    assert_array_equal(raw(model, Xt), raw(expected, Xt))
    assert_array_equal(model.predict(Xt), names[expected.predict(Xt)])
    sign = 1 if labels[1] == max(labels) else -1
    assert_array_equal(model.decision_function(Xt), sign * expected.decision_function(Xt))
    second = model.decision_function(Xt) > 0
    assert_array_equal(model.predict(Xt), model.classes_[second.astype(int)])
    assert model.evals_result_ == expected.evals_result_
    assert average_precision_score(yt, sign * model.decision_function(Xt)) > 5 * yt.mean()


@both
def test_another_class_is_trained_on_request(kind: Any) -> None:
    X, y, Xt, _ = data()
    model = made(kind, pos_label=0).fit(X, y)
    assert model.pos_label_ == 0
    assert_array_equal(raw(model, Xt), raw(made(kind, pos_label=1).fit(X, 1 - y), Xt))
    with pytest.raises(ValueError, match=r"pos_label='yes' is none of \[0, 1\]"):
        made(kind, pos_label="yes").fit(X, y)
    name = "init_model" if kind is LightGBMClassifier else "xgb_model"
    with pytest.raises(ValueError, match=r"ranks 0 first, not 1: pass pos_label=.*0"):
        made(kind).fit(X, y, **{name: model})


@both
@pytest.mark.parametrize(
    "objective", ["ndcg", "p@100", "p@1%", "auc(max_fpr=0.1)", "map + 0.5*ndcg@10"]
)
def test_all_rows_are_one_ranking_for_every_metric(kind: Any, objective: str) -> None:
    X, y, X_test, y_test = data()
    named = made(kind, objective=objective, eval_metric=objective)
    found = named.fit(X, y, **sets(kind, (X_test, y_test))).decision_function(X_test)
    same = made(kind, objective=lambda_objective(objective, one_group=True)).fit(X, y)
    assert_allclose(found + named.offset_, same.decision_function(X_test) + same.offset_)
    assert average_precision_score(y_test, found) > 2 * y_test.mean()
    assert clone(named).objective == objective


def test_class_weights_are_weights_of_rows() -> None:
    X, y, Xt, yt = data()
    names = np.array(["ok", "fraud"])
    by_class = made(LightGBMClassifier, class_weight={"fraud": 5.0, "ok": 1.0})
    by_class.fit(X, names[y], eval_set=[(Xt, names[yt])], eval_class_weight=[{"fraud": 5, "ok": 1}])
    by_row = made(LightGBMClassifier).fit(
        X, names[y], sample_weight=np.where(y, 5.0, 1.0), eval_set=[(Xt, names[yt])],
        eval_sample_weight=[np.where(yt, 5.0, 1.0)],
    )  # fmt: skip
    assert_array_equal(raw(by_class, Xt), raw(by_row, Xt))
    assert by_class.evals_result_ == by_row.evals_result_
    assert by_class.offset_ == by_row.offset_
    assert by_class.class_weight == {"fraud": 5.0, "ok": 1.0}
    assert not np.array_equal(raw(by_class, Xt), raw(made(LightGBMClassifier).fit(X, y), Xt))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({0: 1.0, 1: 5.0}, r"0 is none of the classes \['fraud', 'ok'\] in y"),
        ({"fraud": 5.0, "OK": 1.0}, "'OK' is none of the classes"),
        ({"fraud": -1.0}, r"class_weight\['fraud'\] must be a number at least 0, got -1.0"),
        ({"fraud": float("nan")}, "must be a number at least 0, got nan"),
    ],
)
def test_class_weights_that_would_have_no_effect_raise(weights: Any, message: str) -> None:
    X, y, Xt, yt = data()
    names = np.array(["ok", "fraud"])
    with pytest.raises(ValueError, match=message):
        made(LightGBMClassifier, class_weight=weights).fit(X, names[y])
    sets = [(X, names[y]), (Xt, names[yt])]
    model = made(LightGBMClassifier)
    with pytest.raises(ValueError, match=r"^eval_class_weight"):
        model.fit(X, names[y], eval_set=sets, eval_class_weight=[None, weights])
    with pytest.raises(ValueError, match="XGBoost has no class_weight: pass sample_weight="):
        made(XGBoostClassifier, class_weight=weights).fit(X, names[y])


@pytest.mark.parametrize(
    ("kind", "parent", "objective"),
    [
        (LightGBMClassifier, lgb.LGBMClassifier, "binary"),
        (LightGBMClassifier, lgb.LGBMClassifier, "multiclass"),
        (XGBoostClassifier, xgb.XGBClassifier, "binary:logistic"),
        (XGBoostClassifier, xgb.XGBClassifier, "multi:softprob"),
    ],
)
def test_with_the_frameworks_own_objectives_they_are_the_parents(
    kind: Any, parent: Any, objective: str
) -> None:
    X, y, Xt, _ = data()
    y = y if objective.startswith("binary") else np.arange(len(y)) % 3
    ours = made(kind).fit(X, data()[1])  # what it leaves is forgotten
    ours.set_params(objective=objective).fit(X, y)
    quiet = {"verbose": -1} if parent is lgb.LGBMClassifier else {}
    theirs = made(parent, objective=objective, **quiet).fit(X, y)
    assert_array_equal(ours.predict_proba(Xt), theirs.predict_proba(Xt))
    assert_array_equal(ours.predict(Xt), theirs.predict(Xt))
    assert not hasattr(ours, "offset_")


# -- the threshold --------------------------------------------------------------------------------


@cache
def few_positives() -> tuple[Any, Any, Any, Any]:
    """6,000 rows of which 55 are positive, and 18,000 others."""
    X, y = make_classification(
        24_000, 20, n_informative=6, n_redundant=4, weights=[0.994], class_sep=0.7, random_state=1
    )
    return X[:6000], y[:6000], X[6000:], y[6000:]


def share(model: Any, X: Any, y: Any) -> float:
    """Number of rows that are predicted to be positive, divided by that of positive rows."""
    return float(np.mean(model.predict(X) == 1) / np.mean(y))


@both
def test_about_as_many_new_rows_are_predicted_as_are_positive(kind: Any) -> None:
    """Training rows, whose scores are too far apart, set a threshold that leaves most out."""
    X, y, Xt, yt = few_positives()
    by_folds = made(kind, n_estimators=60).fit(X, y)
    by_rows = made(kind, n_estimators=60, cv=None).fit(X, y)
    held_out = made(kind, n_estimators=60).fit(X, y, **sets(kind, (Xt[:6000], yt[:6000])))
    for model in (by_rows, held_out):
        assert_array_equal(raw(model, Xt), raw(by_folds, Xt))  # only the threshold differs
    assert share(by_rows, X, y) == pytest.approx(1.0, rel=0.02)
    assert share(by_rows, Xt, yt) < 0.5
    assert share(held_out, Xt[:6000], yt[:6000]) == pytest.approx(1.0, rel=0.02)
    # Three standard errors of the number of positives.
    for model in (by_folds, held_out):
        assert share(model, Xt, yt) == pytest.approx(1.0, abs=3 / np.sqrt(y.sum()))
    # Training rows lose F1 against the best threshold; the folds must regain more than half of it.
    precision, recall, _ = precision_recall_curve(yt, raw(by_rows, Xt))
    best = np.max(2 * precision * recall / (precision + recall))
    lost = [best - f1_score(yt, model.predict(Xt)) for model in (by_rows, by_folds)]
    assert lost[1] < lost[0] / 2


@both
def test_the_threshold_is_that_of_models_of_the_other_folds(kind: Any) -> None:
    X, y, _, _ = data()
    weights = np.where(np.arange(len(y)) % 2, 2.0, 1.0)
    folds = [np.arange(len(y)) % 2 == k for k in range(2)]
    scores = np.empty(len(y))
    for rest in folds:
        part = made(kind, cv=None).fit(X[~rest], y[~rest], sample_weight=weights[~rest])
        scores[rest] = raw(part, X[rest])
    model = made(kind, cv=PredefinedSplit(folds[1].astype(int))).fit(X, y, sample_weight=weights)
    above = weights[scores > model.offset_].sum()
    assert above == pytest.approx(weights[y == 1].sum(), abs=2 * weights.max())
    with pytest.raises(ValueError, match="hold out every row exactly once"):
        made(kind, cv=ShuffleSplit(2)).fit(X, y)
    with pytest.raises(ValueError, match="cv=None leaves no rows to calibrate on"):
        made(kind, cv=None, calibration="sigmoid").fit(X, y)
    with pytest.raises(ValueError, match="cv='often' is not 'auto'"):
        made(kind, cv="often").fit(X, y)
    single = np.arange(200) == 7  # a class of one row has no folds
    alone = {} if kind is LightGBMClassifier else {"min_child_weight": 0.0}  # as for log-loss
    assert made(kind, **alone).fit(X[:200], single).predict(X[:200]).sum() >= 1


@both
def test_folds_are_trained_only_where_they_are_needed(kind: Any) -> None:
    X, y, _, _ = data()
    many = np.argsort(np.argsort(-X[:, 0])) < 500
    by_rows = made(kind, cv=None)
    for cv, labels, alike in (("auto", many, True), ("auto", y, False), (3, many, False)):
        offset = made(kind, cv=cv).fit(X, labels).offset_
        assert (offset == by_rows.fit(X, labels).offset_) == alike


# -- probabilities --------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("held_out", [False, True], ids=["cross-validation", "eval_set"])
def test_probabilities_are_calibrated(kind: Any, held_out: bool, method: str) -> None:
    X, y, Xt, yt = data()
    labels = ["ok", "fraud"] if method == "sigmoid" else ["no", "yes"]
    names = np.array(labels)
    uncalibrated = made(kind).fit(X, y)
    assert not hasattr(uncalibrated, "predict_proba")
    with pytest.raises(AttributeError, match="set calibration='sigmoid'"):
        uncalibrated.predict_proba(X)
    model = made(kind, calibration=method, cv=3)
    model.fit(X, names[y], **(sets(kind, (Xt, names[yt])) if held_out else {}))
    assert_array_equal(raw(model, Xt), raw(uncalibrated, Xt))  # the same trees
    test = rare()[1]
    Xt, yt = test.features[3000:], test.binary[3000:]
    found = model.predict_proba(Xt)
    assert_allclose(found.sum(axis=1), 1.0)
    positive = found[:, model.classes_.tolist().index(labels[1])]
    # As many positives as are expected, within three standard errors of a count: of the 90 that
    # the calibration has seen.
    assert positive.sum() == pytest.approx(yt.sum(), rel=3 / np.sqrt(y.sum()))
    # Better than telling everyone the share of positives.
    assert brier_score_loss(yt, positive) < brier_score_loss(yt, np.full(len(yt), y.mean()))
    clear = np.abs(positive - 0.5) > 1e-9
    assert clear.mean() > 0.99
    assert_array_equal(model.predict(Xt)[clear], names[(positive > 0.5).astype(int)][clear])
    order = np.argsort(raw(model, Xt))
    assert (np.diff(positive[order]) >= 0).all()


@pytest.mark.slow
@both
def test_calibration_by_cross_validation_sees_only_rows_that_are_new_to_a_model(kind: Any) -> None:
    X, y, _, _ = data()
    random = np.random.default_rng(0).permutation(y)  # nothing to learn, and much to remember
    model = made(kind, calibration="sigmoid", cv=3, n_estimators=40).fit(X, random)
    found = model.predict_proba(X)[:, 1]
    assert average_precision_score(random, raw(model, X)) > 0.5  # remembered
    assert found[random == 1].mean() < 0.3  # and not believed


@both
def test_weights_count_rows_in_the_calibration_too(kind: Any) -> None:
    X, y, Xt, yt = data()
    weights = np.where(y, 10.0, 1.0)
    model = made(kind, calibration="sigmoid", cv=2).fit(X, y, sample_weight=weights)
    found = np.average(model.predict_proba(Xt)[:, 1], weights=np.where(yt, 10.0, 1.0))
    assert found == pytest.approx(np.average(y, weights=weights), rel=0.3)


@both
def test_training_that_goes_on_wants_new_rows_to_calibrate_on(kind: Any) -> None:
    X, y, Xt, yt = data()
    name = "init_model" if kind is LightGBMClassifier else "xgb_model"
    first = {name: made(kind).fit(X, y)}
    with pytest.raises(ValueError, match="has seen all rows"):
        made(kind, calibration="sigmoid").fit(X, y, **first)
    made(kind, calibration="sigmoid").fit(X, y, **first, **sets(kind, (Xt, yt))).predict_proba(X)


# -- tools ----------------------------------------------------------------------------------------


@both
def test_kinds_of_data_and_copies(kind: Any) -> None:
    X, y, Xt, _ = data()
    names = np.array(["ok", "fraud"])
    dense = made(kind).fit(X, names[y])
    for X_again in (pd.DataFrame(X).add_prefix("c"), csr_matrix(X), csr_matrix(X).tocoo()):
        again = clone(dense).fit(X_again, pd.Series(names[y]))
        assert_array_equal(again.decision_function(X_again), dense.decision_function(X))
    calibrated = clone(dense).set_params(calibration="sigmoid", cv=2).fit(X, names[y])
    copied = pickle.loads(pickle.dumps(calibrated))
    assert_array_equal(copied.predict_proba(Xt), calibrated.predict_proba(Xt))
    assert not hasattr(clone(calibrated), "calibrator_")


def test_a_loaded_model_of_xgboost_predicts_the_same_codes(tmp_path: Path) -> None:
    X, y, Xt, _ = data()
    model = made(XGBoostClassifier, early_stopping_rounds=3).fit(
        X, np.array(["ok", "fraud"])[y], eval_set=[(X, np.array(["ok", "fraud"])[y])], verbose=False
    )
    model.save_model(tmp_path / "model.json")
    loaded = XGBoostClassifier()
    loaded.load_model(tmp_path / "model.json")
    assert_array_equal(loaded.decision_function(Xt), -model.decision_function(Xt))
    assert_array_equal(loaded.predict(Xt), (model.predict(Xt) == "fraud").astype(int))
    assert not hasattr(loaded, "predict_proba")


@both
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.arange(3000) % 3}, "Only binary classification is supported.*multiclass"),
        ({"y": np.zeros(3000)}, "y holds one class"),
        ({"y": np.where(np.arange(3000) == 5, np.nan, np.arange(3000) % 2)}, "NaN"),
        ({"eval_set": "labels"}, "evaluation set 0: .2. are none of"),
        ({"sample_weight": np.full(3000, -1.0)}, "weights must not be negative"),
    ],
)
def test_unusable_labels_and_weights_raise(kind: Any, change: Any, message: str) -> None:
    X, y, Xt, yt = data()
    given = {"y": y, **change}
    if "eval_set" in given:
        given |= sets(kind, (Xt, yt * 2))
    model = made(kind).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.fit(X, given.pop("y"), **given)
    assert not hasattr(model, "offset_")  # a fit that fails leaves no half-changed model


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"subsample": 0.5, "subsample_freq": 1, "class_weight": "balanced"},
        {"data_sample_strategy": "goss"},
        {"linear_tree": True},
        {"boosting_type": "dart"},
        {"n_estimators": 200, "min_child_samples": 900},  # no split is left in the end
        {"early_stopping_rounds": 2, "n_estimators": 60},
    ],
)
def test_the_scores_of_the_last_round_are_those_of_a_prediction(options: dict[str, Any]) -> None:
    """The threshold is taken from them, but with an init_score from a prediction."""
    X, y, X_valid, y_valid = data()
    X = X.copy()
    X[::7, 0] = np.nan
    X[:, 1] = np.round(X[:, 1])
    valid = [(X_valid, y_valid)] if "early_stopping_rounds" in options else None
    of_round, of_prediction = (
        made(LightGBMClassifier, cv=None, **options).fit(
            X, y, eval_set=valid, init_score=start,
            categorical_feature=[] if "linear_tree" in options else [1],
        )
        for start in (None, np.zeros(len(y)))
    )  # fmt: skip
    assert_array_equal(raw(of_round, X), raw(of_prediction, X))
    assert of_round.offset_ == of_prediction.offset_
    assert vars(of_round).keys() == vars(of_prediction).keys()
