"""LightGBMClassifier and XGBoostClassifier: the trained class, decisions and probabilities."""

import copy
import json
import pickle
import threading
from collections.abc import Callable
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    log_loss,
    roc_auc_score,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import rare
from test_estimators import made as made_small
from test_estimators import raw

from lambdaplus import combine, evaluate, lambda_map, lambda_ndcg, lambda_objective
from lambdaplus.estimators import LightGBMClassifier, XGBoostClassifier
from lambdaplus.estimators.held_out import HeldOut, threshold_by_share

KINDS = [LightGBMClassifier, XGBoostClassifier]
LOG_LOSS_METRIC = {LightGBMClassifier: "binary_logloss", XGBoostClassifier: "logloss"}
LOG_LOSS = {LightGBMClassifier: "binary", XGBoostClassifier: "binary:logistic"}
START = {LightGBMClassifier: "init_model", XGBoostClassifier: "xgb_model"}
EVAL_WEIGHT = {
    LightGBMClassifier: "eval_sample_weight", XGBoostClassifier: "sample_weight_eval_set"
}  # fmt: skip
both = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


# Training and test data with 3 % positives, and names of their classes.
X, y, Xt, yt = (rows[:3000] for part in rare() for rows in (part.features, part.binary))
NAMES = np.array(["ok", "fraud"])

made = partial(made_small, n_estimators=12)


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
    CHECKED += [
        LightGBMClassifier(n_estimators=10, n_jobs=1, min_child_samples=1, calibration=method)
        for method in (None, "sigmoid")
    ]
BY_SHARE = {
    f"check_classifiers_train{options}": "predict goes by the share of rows, not by the probability"
    for options in ("", "(readonly_memmap=True)", "(readonly_memmap=True,X_dtype=float32)")
}


def excepted(estimator: Any) -> dict[str, str]:
    return EXCEPTED | (BY_SHARE if estimator.calibration is None else {})


@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=excepted)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


# -- which class is trained -----------------------------------------------------------------------


@both
@pytest.mark.parametrize("labels", [[1, 0], ["ok", "fraud"], [False, True], [7.0, 9.0]], ids=str)
def test_the_rarer_class_is_trained_whatever_it_is_called(kind: Any, labels: list[Any]) -> None:
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
    model = made(kind, pos_label=0).fit(X, y)
    assert model.pos_label_ == 0
    assert_array_equal(raw(model, Xt), raw(made(kind, pos_label=1).fit(X, 1 - y), Xt))
    with pytest.raises(ValueError, match=r"pos_label='yes' is none of \[0, 1\]"):
        made(kind, pos_label="yes").fit(X, y)
    with pytest.raises(ValueError, match=r"ranks 0 first, not 1: pass pos_label=.*0"):
        made(kind).fit(X, y, **{START[kind]: model})


@both
@pytest.mark.parametrize("objective", ["ndcg", "p@100", "top_precision", "map + 0.5*ndcg@10"])
def test_all_rows_are_one_ranking_for_every_metric(kind: Any, objective: str) -> None:
    named = made(kind, objective=objective, eval_metric=objective)
    found = named.fit(X, y, **sets(kind, (Xt, yt))).decision_function(Xt)
    same = made(kind, objective=lambda_objective(objective, one_group=True)).fit(X, y)
    assert_allclose(found + named.offset_, same.decision_function(Xt) + same.offset_)
    assert average_precision_score(yt, found) > 2 * yt.mean()
    assert clone(named).objective == objective


@both
def test_objectives_may_have_labels_of_their_own(kind: Any) -> None:
    own = (X[:, 0] > 1).astype(float)
    parts = lambda_ndcg.on(own), lambda_objective("ndcg", one_group=True).on(own)
    for pair in (parts, [combine({lambda_map: 1, part: 0.5}) for part in parts]):
        found, expected = (
            made(kind, objective=objective, cv=None).fit(X, y).decision_function(X)
            for objective in pair
        )
        assert_allclose(found, expected)
        assert roc_auc_score(own, found) > 0.6


@both
@pytest.mark.parametrize("metric", ["p@100", "ndcg", "spearman", "concordance"])
def test_all_rows_are_one_ranking_to_watched_metrics(kind: Any, metric: str) -> None:
    for objective in ("map", LOG_LOSS[kind]):
        model = made(kind, objective=objective, eval_metric=metric)
        model.fit(X, y, **sets(kind, (Xt, yt)))
        found = model.evals_result_ if kind is LightGBMClassifier else model.evals_result()
        scores = model.decision_function(Xt)
        expected = evaluate(yt, scores, metrics=metric, one_group=True)[metric]
        assert next(iter(found.values()))[metric][-1] == pytest.approx(expected, abs=1e-6)


def test_class_weights_are_weights_of_rows() -> None:
    by_class = made(LightGBMClassifier, class_weight={"fraud": 5.0, "ok": 1.0})
    by_class.fit(X, NAMES[y], eval_set=[(Xt, NAMES[yt])], eval_class_weight=[{"fraud": 5, "ok": 1}])
    by_row = made(LightGBMClassifier).fit(
        X, NAMES[y], sample_weight=np.where(y, 5.0, 1.0), eval_set=[(Xt, NAMES[yt])],
        eval_sample_weight=[np.where(yt, 5.0, 1.0)],
    )  # fmt: skip
    assert_array_equal(raw(by_class, Xt), raw(by_row, Xt))
    assert by_class.evals_result_ == by_row.evals_result_
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
    with pytest.raises(ValueError, match=message):
        made(LightGBMClassifier, class_weight=weights).fit(X, NAMES[y])
    sets = [(X, NAMES[y]), (Xt, NAMES[yt])]
    model = made(LightGBMClassifier)
    with pytest.raises(ValueError, match=r"^eval_class_weight"):
        model.fit(X, NAMES[y], eval_set=sets, eval_class_weight=[None, weights])
    with pytest.raises(ValueError, match="XGBoost has no class_weight: pass sample_weight="):
        made(XGBoostClassifier, class_weight=weights).fit(X, NAMES[y])


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
    labels = y if objective.startswith("binary") else np.arange(len(y)) % 3
    ours = made(kind).fit(X, y)  # what it leaves is forgotten
    ours.set_params(objective=objective).fit(X, labels)
    theirs = made(parent, objective=objective).fit(X, labels)
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
    by_rows_f1, by_folds_f1 = (f1_score(yt, model.predict(Xt)) for model in (by_rows, by_folds))
    assert by_folds_f1 > by_rows_f1


TRAINING_ROWS: dict[str, Callable[[], Any]] = {
    "the same objects": lambda: (X, y),
    "a copy": lambda: (X.copy(), list(y)),
    "another container": lambda: (csr_matrix(X), y),
}


@both
@pytest.mark.parametrize("same", TRAINING_ROWS.values(), ids=TRAINING_ROWS)
def test_training_rows_among_evaluation_sets_set_nothing(kind: Any, same: Any) -> None:
    valid, train = (Xt, yt), same()
    with pytest.warns(UserWarning, match="evaluation set 0 sets the threshold"):
        last = made(kind).fit(X, y, **sets(kind, valid, train))
    with pytest.warns(UserWarning, match="models of folds set the threshold"):
        alone = made(kind).fit(X, y, **sets(kind, train))
    with pytest.warns(UserWarning, match="without others, they set"):
        no_folds = made(kind, cv=None).fit(X, y, **sets(kind, train))
    first = made(kind).fit(X, y, **sets(kind, train, valid))
    by_valid, by_folds = made(kind).fit(X, y, **sets(kind, valid)), made(kind).fit(X, y)
    for model, expected in ((last, by_valid), (first, by_valid), (alone, by_folds)):
        assert_array_equal(model.predict_proba(Xt), expected.predict_proba(Xt))
        assert model.offset_ == expected.offset_
    assert not hasattr(no_folds, "predict_proba")


@both
@pytest.mark.parametrize("objective", ["map", "logloss + map"])
def test_a_model_without_held_out_rows_says_why_it_has_no_probabilities(
    kind: Any, objective: str
) -> None:
    model = Pipeline([("model", made(kind, objective=objective, cv=None))])
    for fitted in (model, model.fit(X, y)):
        assert not hasattr(fitted, "predict_proba")
        with pytest.raises(AttributeError) as raised:
            fitted.named_steps["model"].predict_proba(Xt)
        assert "Pass cv='auto', cv=2 or eval_set=" in str(raised.value.__cause__)


@both
def test_the_threshold_is_that_of_models_of_the_other_folds(kind: Any) -> None:
    weights = np.where(np.arange(len(y)) % 2, 2.0, 1.0)
    folds = [np.arange(len(y)) % 2 == k for k in range(2)]
    model = made(kind, cv=PredefinedSplit(folds[1].astype(int))).fit(X, y, sample_weight=weights)

    def scale(part: Any, of: Any) -> Any:
        """Mean and standard deviation of the scores of training rows."""
        seen = raw(part, X[of]).astype(float)
        variance = np.cov(seen, ddof=0, aweights=weights[of])
        return np.average(seen, weights=weights[of]), np.sqrt(variance)

    scores = np.empty(len(y))
    for rest in folds:
        part = made(kind, cv=None).fit(X[~rest], y[~rest], sample_weight=weights[~rest])
        mean, deviation = scale(part, ~rest)
        scores[rest] = (raw(part, X[rest]) - mean) / deviation
    mean, deviation = scale(model, slice(None))
    scores = mean + deviation * scores
    above = weights[scores > model.offset_].sum()
    assert above == pytest.approx(weights[y == 1].sum(), abs=2 * weights.max())


NO_FOLDS: list[tuple[dict[str, Any], str]] = [
    ({"cv": ShuffleSplit(2)}, "hold out every row exactly once"),
    ({"cv": None, "calibration": "sigmoid"}, "cv=None leaves no rows to calibrate on"),
    ({"cv": "often"}, "cv='often' is not 'auto'"),
    ({"calibration": "platt"}, "calibration='platt' is not one of sigmoid, isotonic"),
]


@both
def test_rows_that_cannot_be_held_out_set_the_threshold_or_raise(kind: Any) -> None:
    for options, message in NO_FOLDS:
        with pytest.raises(ValueError, match=message):
            made(kind, **options).fit(X, y)
    for cv, more in product((0, 1, -1, True, False, np.int64(1)), ({}, sets(kind, (X, y)))):
        with pytest.raises(ValueError, match="at least 2: pass cv=None for no folds"):
            made(kind, cv=cv).fit(X, y, **more)
    single = np.arange(200) == 7  # a class of one row has no folds
    alone = {} if kind is LightGBMClassifier else {"min_child_weight": 0.0}  # as for log-loss
    assert made(kind, **alone).fit(X[:200], single).predict(X[:200]).sum() >= 1


@both
def test_as_few_more_models_are_trained_as_are_needed(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []
    train = kind._train

    def counting(self: Any, call: Any, *args: Any, **kwargs: Any) -> None:
        rows.append(len(call["y"]))
        train(self, call, *args, **kwargs)

    monkeypatch.setattr(kind, "_train", counting)
    many = np.argsort(np.argsort(-X[:, 0])) < 500
    for cv, labels, more in (
        ("auto", many, [1500]), ("auto", y, [1500, 1500]), (3, many, [2000] * 3), (None, y, []),
    ):  # fmt: skip
        rows.clear()
        made(kind, cv=cv).fit(X, labels)
        assert rows == [3000, *more]
    rows.clear()
    made(kind).fit(X, y, **sets(kind, (Xt, yt)))
    assert rows == [3000]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(0, 3)), min_size=2),
    st.sampled_from([1.0, 1e-300, 1e300, 5e-324]),
)
def test_the_threshold_is_the_nearest_edge_between_groups_of_ties(
    rows: list[tuple[int, bool, int]], unit: float
) -> None:
    scores, codes, weights = (np.array(column) for column in zip(*rows, strict=True))
    scores = scores * unit
    found = threshold_by_share(HeldOut(scores, codes.astype(int), weights, True))
    if np.ptp(scores) == 0:
        assert found == scores[0]
        return
    # All ways to divide the rows by their scores, with the weight above each.
    above = [weights[scores >= edge].sum() for edge in np.unique(scores)[1:]]
    distance = abs(weights[scores > found].sum() - weights[codes].sum())
    assert distance == min(abs(weight - weights[codes].sum()) for weight in above)
    assert 0 < (scores > found).sum() < len(scores)


@both
@pytest.mark.parametrize("held_out", [False, True])
def test_positives_that_share_the_highest_score_are_predicted(kind: Any, held_out: bool) -> None:
    """A flag that nearly all positives have: the threshold was on their score, and excluded it."""
    random = np.random.default_rng(0)
    y = (np.arange(3000) % 50 == 0).astype(int)
    flag = np.where(y == 1, random.random(3000) < 0.9, random.random(3000) < 0.003)
    X = np.column_stack([flag, random.integers(0, 2, 3000)])
    options = {"num_leaves": 2} if kind is LightGBMClassifier else {"max_depth": 1}
    given = sets(kind, (X[1:], y[1:])) if held_out else {}
    model = made(kind, n_estimators=3, **options).fit(X, y, **given)
    assert_array_equal(model.predict(X), flag.astype(int))


@both
def test_models_of_the_folds_may_have_scores_of_another_size(kind: Any) -> None:
    """With strong regularisation, they are smaller; thresholds on them were far too low."""
    X, y, Xt, yt = few_positives()

    class Smaller(kind):  # type: ignore[misc]
        def _raw(self, X: Any, **options: Any) -> Any:
            scores = super()._raw(X, **options)
            return 0.25 * scores - 1.0 if self.cv is None else scores  # those of the folds

    options = {"reg_lambda": 30.0, "n_estimators": 30, "cv": 2}
    model, other = (made(one, **options).fit(X, y) for one in (kind, Smaller))
    assert_array_equal(raw(model, Xt), raw(other, Xt))
    assert other.offset_ == pytest.approx(model.offset_, rel=1e-5)
    assert_allclose(other.predict_proba(Xt), model.predict_proba(Xt), atol=1e-5)
    assert share(model, Xt, yt) == pytest.approx(1.0, abs=4 / np.sqrt(y.sum()))


def test_callbacks_that_change_the_training_reach_the_models_of_the_folds() -> None:
    falling = [0.3 * 0.8**round_ for round_ in range(12)]
    looked = []

    def look(state: Any) -> None:
        looked.append(state.iteration)

    reset = lgb.reset_parameter(learning_rate=falling)
    model = made(LightGBMClassifier, cv=2).fit(X, y, callbacks=[reset, look])
    assert len(looked) == 12  # and not those of the folds
    folds = StratifiedKFold(2, shuffle=True, random_state=0).split(X, y)
    parts = [
        made(LightGBMClassifier, cv=None).fit(X[train], y[train], callbacks=[reset])
        for train, _ in folds
    ]
    plain = made(LightGBMClassifier, cv=2).fit(X, y)
    assert model.offset_ != plain.offset_
    spread = np.mean([np.ptp(raw(part, Xt)) for part in parts])
    assert np.ptp(raw(model, Xt)) == pytest.approx(spread, rel=0.5)
    assert 0 < model.predict(Xt).sum() < 3 * y.sum()

    def stop(state: Any) -> None:
        if state.iteration == 4:
            raise lgb.callback.EarlyStopException(4, [("none", "none", 0.0, True)])

    short = made(LightGBMClassifier, cv=2, n_estimators=1000).fit(X, y, callbacks=[stop])
    assert short.booster_.current_iteration() == 5
    assert short.offset_ == made(LightGBMClassifier, cv=2, n_estimators=5).fit(X, y).offset_


def test_callbacks_of_xgboost_run_for_the_model_alone(tmp_path: Path) -> None:

    class Locked(xgb.callback.TrainingCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.lock, self.seen = threading.Lock(), 0

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            self.seen += 1
            return self.seen == 5

    checkpoint = xgb.callback.TrainingCheckPoint(tmp_path, name="at", interval=1)
    rate = xgb.callback.LearningRateScheduler(lambda epoch: 0.3 * 0.8**epoch)
    callbacks = [rate, checkpoint, Locked()]
    model = made(XGBoostClassifier, cv=2, callbacks=callbacks).fit(X, y)
    assert callbacks[2].seen == 5
    saved = sorted(tmp_path.glob("at_*"), key=lambda file: file.stat().st_mtime)[-1]
    matrix = xgb.DMatrix(X)
    booster = xgb.Booster(model_file=saved)
    rounds = (0, booster.num_boosted_rounds())
    of_model = model.get_booster().predict(matrix, iteration_range=rounds, output_margin=True)
    assert_array_equal(booster.predict(matrix, output_margin=True), of_model)
    alike = made(XGBoostClassifier, cv=2, n_estimators=5, callbacks=[rate]).fit(X, y)
    assert model.offset_ == alike.offset_


def test_class_weights_do_not_move_the_threshold() -> None:
    X, y, Xt, yt = few_positives()
    balanced = made(LightGBMClassifier, class_weight="balanced", n_estimators=30).fit(X, y)
    assert share(balanced, Xt, yt) == pytest.approx(1.0, abs=4 / np.sqrt(y.sum()))
    assert balanced.predict_proba(Xt)[:, 1].mean() == pytest.approx(yt.mean(), rel=0.5)


# -- probabilities --------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("held_out", [False, True], ids=["cross-validation", "eval_set"])
def test_probabilities_are_calibrated(kind: Any, held_out: bool, method: str) -> None:
    labels = ["ok", "fraud"] if method == "sigmoid" else ["no", "yes"]
    names = np.array(labels)
    uncalibrated = made(kind, cv=None).fit(X, y)
    assert not hasattr(uncalibrated, "predict_proba")
    model = made(kind, calibration=method, cv=3)
    model.fit(X, names[y], **(sets(kind, (Xt, names[yt])) if held_out else {}))
    assert_array_equal(raw(model, Xt), raw(uncalibrated, Xt))  # the same trees
    test = rare()[1].rows(np.arange(3000, 10_000))
    found = model.predict_proba(test.features)
    assert_allclose(found.sum(axis=1), 1.0)
    positive = found[:, model.classes_.tolist().index(labels[1])]
    # As many positives as are expected, within three standard errors of a count: of the 90 that
    # the calibration has seen.
    expected = test.binary.sum()
    assert positive.sum() == pytest.approx(expected, rel=3 / np.sqrt(y.sum()))
    # Better than telling everyone the share of positives.
    brier = partial(brier_score_loss, test.binary)
    assert brier(positive) < brier(np.full(test.n, y.mean()))
    clear = np.abs(positive - 0.5) > 1e-9
    assert clear.mean() > 0.99
    likelier = names[(positive > 0.5).astype(int)]
    assert_array_equal(model.predict(test.features)[clear], likelier[clear])
    order = np.argsort(raw(model, test.features))
    assert (np.diff(positive[order]) >= 0).all()


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
    for method in (None, "sigmoid", "isotonic"):
        held_out = {**sets(kind, (Xt, yt)), EVAL_WEIGHT[kind]: [weights]}
        model = made(kind, calibration=method).fit(X, y, **held_out)
        plain = CalibratedClassifierCV(FrozenEstimator(model), method=method or "sigmoid")
        expected = plain.fit(Xt, yt, weights).predict_proba(X)
        # Its scores are decision_function's, less the threshold.
        assert_allclose(model.predict_proba(X), expected, atol=1e-3)


@both
def test_scores_that_say_nothing_have_the_share_as_probability(kind: Any) -> None:
    model = made(kind).fit(X, y, **sets(kind, (Xt, 1 - yt)))  # the rows that it ranks last
    assert_allclose(model.predict_proba(X)[:, 1], np.mean(1 - yt))
    weights = np.where(yt, 0.0, 1.0)  # without a weight there are no positives
    one_class = made(kind, eval_metric=LOG_LOSS_METRIC[kind]).fit(
        X, y, **sets(kind, (Xt, yt)), **{EVAL_WEIGHT[kind]: [weights]}
    )
    assert not hasattr(one_class, "predict_proba")
    assert one_class.predict(Xt).sum() > 0


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
    scores = cross_validate(
        model, X, y, cv=2, scoring=["neg_log_loss", "neg_brier_score", "average_precision"]
    )
    constant = -log_loss(y, np.full(len(y), y.mean()))
    assert (scores["test_neg_log_loss"] > constant).all()
    tuned = TunedThresholdClassifierCV(model, scoring="f1", cv=2).fit(X, y)
    assert 0 < tuned.best_threshold_ < 1
    voting = VotingClassifier([("one", model), ("two", GaussianNB())], voting="soft").fit(X, y)
    mean = (voting.estimators_[0].predict_proba(Xt) + voting.estimators_[1].predict_proba(Xt)) / 2
    assert_allclose(voting.predict_proba(Xt), mean)
    StackingClassifier([("one", model)], cv=2).fit(X, y).predict_proba(Xt)
    StackingClassifier([("one", made(kind, cv=None))], cv=2).fit(X, y).predict(Xt)


@pytest.mark.slow
@both
def test_calibration_by_cross_validation_sees_only_rows_that_are_new_to_a_model(kind: Any) -> None:
    random = np.random.default_rng(0).permutation(y)  # nothing to learn, and much to remember
    model = made(kind, calibration="sigmoid", cv=3, n_estimators=40).fit(X, random)
    found = model.predict_proba(X)[:, 1]
    assert average_precision_score(random, raw(model, X)) > 0.5  # remembered
    assert found[random == 1].mean() < 0.3  # and not believed


@both
def test_weights_count_rows_in_the_calibration_too(kind: Any) -> None:
    weights = np.where(y, 10.0, 1.0)
    model = made(kind, calibration="sigmoid", cv=2).fit(X, y, sample_weight=weights)
    found = np.average(model.predict_proba(Xt)[:, 1], weights=np.where(yt, 10.0, 1.0))
    assert found == pytest.approx(np.average(y, weights=weights), rel=0.3)


@both
def test_training_that_goes_on_wants_new_rows_to_calibrate_on(kind: Any) -> None:
    first = {START[kind]: made(kind).fit(X, y)}
    with pytest.raises(ValueError, match="has seen all rows"):
        made(kind, calibration="sigmoid").fit(X, y, **first)
    made(kind, calibration="sigmoid").fit(X, y, **first, **sets(kind, (Xt, yt))).predict_proba(X)


# -- tools ----------------------------------------------------------------------------------------


@both
def test_kinds_of_data_and_copies(kind: Any) -> None:
    dense = made(kind).fit(X, NAMES[y])
    for X_again in (pd.DataFrame(X).add_prefix("c"), csr_matrix(X), csr_matrix(X).tocoo()):
        again = clone(dense).fit(X_again, pd.Series(NAMES[y]))
        assert_array_equal(again.decision_function(X_again), dense.decision_function(X))
    calibrated = clone(dense).set_params(calibration="sigmoid", cv=2).fit(X, NAMES[y])
    copied = pickle.loads(pickle.dumps(calibrated))
    assert_array_equal(copied.predict_proba(Xt), calibrated.predict_proba(Xt))
    assert not hasattr(clone(calibrated), "calibrator_")


@pytest.mark.parametrize(
    "labels", [NAMES, [1, 0], [False, True], [7.0, -9.0], NAMES.astype(object)], ids=repr
)
@pytest.mark.parametrize("calibration", [None, "sigmoid", "isotonic"])
def test_a_loaded_model_of_xgboost_is_the_same(
    labels: Any, calibration: Any, tmp_path: Path
) -> None:
    names = np.array(labels)
    options: dict[str, Any] = {"objective": "auc", "eval_metric": ["map", "auc"]}
    options |= {"early_stopping_rounds": 3}
    fit = {"X": X, "y": names[y], "eval_set": [(Xt, names[yt])], "verbose": False}
    model = made(XGBoostClassifier, calibration=calibration, **options).fit(**fit)
    model.save_model(tmp_path / "model.json")
    model.get_booster().save_model(tmp_path / "booster.ubj")
    given = [tmp_path / "model.json", tmp_path / "booster.ubj", model.get_booster().save_raw()]
    used = made(XGBoostClassifier, pos_label=1).fit(X, y)
    for source, loaded in zip(given, [XGBoostClassifier(), XGBoostClassifier(), used], strict=True):
        loaded.load_model(source)
        again = XGBoostClassifier()
        loaded.save_model(tmp_path / "again.json")
        again.load_model(tmp_path / "again.json")
        pickled = pickle.loads(pickle.dumps(loaded))
        for one in (loaded, again, copy.copy(loaded), copy.deepcopy(loaded), pickled):
            assert_array_equal(one.decision_function(Xt), model.decision_function(Xt))
            assert_array_equal(one.predict(Xt), model.predict(Xt))
            assert_array_equal(one.predict_proba(Xt), model.predict_proba(Xt))
            assert_array_equal(one.classes_, model.classes_)
            assert (one.pos_label_, one.offset_) == (model.pos_label_, model.offset_)
            assert one.calibration == calibration
            assert one.score(Xt, names[yt]) == model.score(Xt, names[yt])
            assert {name: one.get_params()[name] for name in ("objective", "eval_metric")} == {
                "objective": "auc", "eval_metric": ["map", "auc"],
            }  # fmt: skip
    more = {"n_estimators": 12, "n_jobs": 1, "random_state": 0, "early_stopping_rounds": 3}
    for one in (loaded, clone(loaded)):
        one.set_params(**more).fit(**fit)
        assert_array_equal(raw(one, Xt), raw(model, Xt))
        assert one.evals_result_ == model.evals_result_


def test_a_model_without_probabilities_is_loaded_without(tmp_path: Path) -> None:
    made(XGBoostClassifier, cv=None).fit(X, y).save_model(tmp_path / "model.json")
    loaded = made(XGBoostClassifier).fit(X, y)
    loaded.load_model(tmp_path / "model.json")
    assert not hasattr(loaded, "predict_proba")


def test_other_classes_refuse_a_classifier_that_ranks(tmp_path: Path) -> None:
    """XGBClassifier would take scores for probabilities, and 734 rows for positive instead of 6."""
    model = made(XGBoostClassifier).fit(X, y)
    model.save_model(tmp_path / "model.json")
    for other in (xgb.XGBClassifier(), xgb.XGBRegressor(), xgb.XGBRanker()):
        with pytest.raises(TypeError, match=r"different type.*got: lambdaplus\.XGBoostClassifier"):
            other.load_model(tmp_path / "model.json")
    booster = xgb.Booster(model_file=tmp_path / "model.json")
    assert_array_equal(booster.predict(xgb.DMatrix(Xt), output_margin=True), raw(model, Xt))


# With binary:logistic, XGBoost 2 does not continue a model whose base_score is 0.
CONTINUING = "binary:logitraw" if xgb.__version__.startswith("2.") else "binary:logistic"


def test_a_booster_is_put_back_with_its_threshold(tmp_path: Path) -> None:
    model = made(XGBoostClassifier).fit(X, y)
    other = made(XGBoostClassifier)
    other._Booster = model.get_booster()
    for act in (other.predict, other.decision_function):
        with pytest.raises(ValueError, match=r"call load_model\(booster.save_raw\(\)\)"):
            act(Xt)
    with pytest.raises(NotFittedError):
        other.predict_proba(Xt)
    other = made(XGBoostClassifier)
    other.load_model(model.get_booster().save_raw())
    assert_array_equal(other.predict_proba(Xt), model.predict_proba(Xt))
    further = made(XGBoostClassifier, n_estimators=3).fit(X, y, xgb_model=model.get_booster())
    assert further.get_booster().num_boosted_rounds() == 15
    assert further.offset_ != model.offset_
    native = made(XGBoostClassifier, objective=CONTINUING)
    native.fit(X, y, xgb_model=model.get_booster()).predict(Xt)
    model.offset_ += 1.0
    model.save_model(tmp_path / "model.json")
    other.load_model(tmp_path / "model.json")
    assert other.offset_ == model.offset_
    assert_array_equal(other.predict(Xt), model.predict(Xt))


@pytest.mark.parametrize("n", [45, 60])
def test_rows_whose_halves_cannot_be_split_set_the_threshold(n: int) -> None:
    few = X[:n], np.arange(n) % 5 == 0
    model = made(LightGBMClassifier).fit(*few)
    assert not hasattr(model, "predict_proba")
    assert model.offset_ == made(LightGBMClassifier, cv=None).fit(*few).offset_


def test_models_whose_threshold_is_not_theirs_are_not_loaded(tmp_path: Path) -> None:
    model = made(XGBoostClassifier).fit(X, y)
    further = xgb.train({}, xgb.DMatrix(X, y), 2, xgb_model=model.get_booster())
    loaded = made(XGBoostClassifier, objective="auc").fit(X, y)
    expected = loaded.predict_proba(Xt)
    for booster, rounds in ((further, 14), (model.get_booster()[:5], 5)):
        booster.save_model(tmp_path / "model.json")
        with pytest.raises(ValueError, match=f"has {rounds} rounds, and its threshold is that of"):
            loaded.load_model(tmp_path / "model.json")
        assert_array_equal(loaded.predict_proba(Xt), expected)  # it is as it was
    days = np.array(["2026-01-01", "2026-01-02"], "datetime64[D]")
    model = made(XGBoostClassifier).fit(X, days[y])
    model.save_model(tmp_path / "model.json")
    with pytest.raises(ValueError, match="labels that a file cannot hold: pickle the estimator"):
        loaded.load_model(tmp_path / "model.json")


CHANGES: dict[str, Any] = {  # of what a saved model has
    "labels": [
        [0, 1, 2],
        [1, 1],
        [1, 0],
        [0.5, float("nan")],
        ["no", 1],
        [[0], [1]],
        {"values": 0},
    ],
    "positive": [2, "1", None],
    "threshold": [float("nan"), float("inf"), None, "0", True],
    "calibrator": [
        {"slope": float("nan"), "intercept": 0.0},
        {"slope": 1.0},
        {"slope": -1.0, "intercept": 0.0},
        {"scores": [0.0, 1.0], "probabilities": [0.5]},
        {"scores": [1.0, 0.0], "probabilities": [0.1, 0.5]},
        {"scores": [0.0, 1.0], "probabilities": [0.1, 1.5]},
        {"scores": [], "probabilities": []},
        7,
    ],
    "calibration": ["platt"],
    "rounds": ["many"],
    "chosen": [None],
    "objective": [5, {"objective": "map", "options": 5}, {"expression": "open('x')"}],
    "eval_metric": [[5], {"metrics": "map"}],
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_model_is_refused_and_leaves_the_estimator_as_it_was(
    name: str, tmp_path: Path
) -> None:
    booster = made(XGBoostClassifier, objective="auc").fit(X, y).get_booster()
    loaded = made(XGBoostClassifier).fit(X, NAMES[y])
    expected, params = loaded.predict_proba(Xt), loaded.get_params()
    saved = json.loads(booster.attr("lambdaplus"))
    missing = {key: value for key, value in saved.items() if key != name}
    for changed in (missing, *({**saved, name: value} for value in CHANGES[name])):
        if "threshold" not in changed:
            continue  # a model without threshold
        booster.set_attr(lambdaplus=json.dumps(changed))
        booster.save_model(tmp_path / "model.json")
        with pytest.raises(ValueError, match=r"attribute 'lambdaplus' .* was changed"):
            loaded.load_model(tmp_path / "model.json")
    for text in ("{", "[1]", "7"):
        booster.set_attr(lambdaplus=text)
        with pytest.raises(ValueError, match=r"attribute 'lambdaplus' .* cannot be read"):
            loaded.load_model(booster.save_raw())
    booster.set_attr(lambdaplus=json.dumps({**saved, "objective": "binary:logistic"}))
    with pytest.raises(ValueError, match="objective='binary:logistic' has none"):
        loaded.load_model(booster.save_raw())
    for named in ({"objective": "mapp", "options": {}}, {"objective": "map", "options": {"a": 1}}):
        booster.set_attr(lambdaplus=json.dumps({**saved, "objective": named}))
        with pytest.raises(ValueError, match=r"metric|option"):
            loaded.load_model(booster.save_raw())
    booster.set_attr(lambdaplus=json.dumps(saved), scikit_learn='{"_estimator_type": "regressor"}')
    with pytest.raises(TypeError, match="different type"):
        loaded.load_model(booster.save_raw())
    assert_array_equal(loaded.predict_proba(Xt), expected)
    assert loaded.get_params() == params


@pytest.mark.parametrize("objective", sorted({CONTINUING, "binary:logitraw"}))
def test_models_of_xgboosts_own_classifier_are_loaded_as_by_it(
    objective: str, tmp_path: Path
) -> None:
    model = made(xgb.XGBClassifier, objective=objective).fit(X, y)
    further = made(xgb.XGBClassifier, objective=objective)
    further.fit(X, y, xgb_model=made(XGBoostClassifier).fit(X, y).get_booster())
    for one in (model, further):
        one.save_model(tmp_path / "model.json")
        loaded = made(XGBoostClassifier).fit(X, y)
        loaded.load_model(tmp_path / "model.json")
        assert loaded.objective == objective
        assert not hasattr(loaded, "offset_")
        assert_array_equal(loaded.predict(Xt), one.predict(Xt))
        ours = made(XGBoostClassifier, objective=objective).fit(X, y)
        ours.save_model(tmp_path / "model.json")
        one.load_model(tmp_path / "model.json")


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
    given = {"y": y, **change}
    if "eval_set" in given:
        given |= sets(kind, (Xt, yt * 2))
    model = made(kind).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.fit(X, given.pop("y"), **given)
    assert not hasattr(model, "offset_")  # a fit that fails leaves no half-changed model
