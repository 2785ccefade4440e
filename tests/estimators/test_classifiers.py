"""LightGBMClassifier and XGBoostClassifier: the trained class, decisions and probabilities."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import rare
from test_estimators import made as made_small
from test_estimators import raw

from lambdaplus import combine, evaluate, lambda_map, lambda_ndcg, lambda_objective
from lambdaplus.estimators import LightGBMClassifier, XGBoostClassifier
from lambdaplus.estimators.calibration import HeldOut, threshold_by_share

KINDS = [LightGBMClassifier, XGBoostClassifier]
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


@cache
def fitted(kind: Any, valid: bool = False, **options: Any) -> Any:
    return made(kind, **options).fit(X, y, **(sets(kind, (Xt, yt)) if valid else {}))


EXCEPTED = {
    "check_class_weight_classifiers": "weights say which rows count, not how many to predict",
    "check_sample_weight_equivalence_on_dense_data": "it sets cv to folds of its own",
    "check_sample_weight_equivalence_on_sparse_data": "it sets cv to folds of its own",
    **{
        f"check_classifiers_train{options}": "predict goes by the share of rows"
        for options in ("", "(readonly_memmap=True)", "(readonly_memmap=True,X_dtype=float32)")
    },
}


CHECKED: list[Any] = [XGBoostClassifier(n_estimators=10, n_jobs=1)]
# The first one with the tags of scikit-learn 1.6.
if [*map(int, lgb.__version__.split(".")[:2])] >= [4, 6]:
    CHECKED.append(LightGBMClassifier(n_estimators=10, n_jobs=1, min_child_samples=1))


@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=lambda _: EXCEPTED)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


# -- which class is trained -----------------------------------------------------------------------


@both
@pytest.mark.parametrize("labels", [[1, 0], ["ok", "fraud"], [False, True], [7.0, 9.0]], ids=str)
def test_the_rarer_class_is_trained_whatever_it_is_called(kind: Any, labels: list[Any]) -> None:
    expected = fitted(kind, valid=True)
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
    by_class.fit(X, NAMES[y])
    by_row = made(LightGBMClassifier).fit(X, NAMES[y], sample_weight=np.where(y, 5.0, 1.0))
    assert_array_equal(raw(by_class, Xt), raw(by_row, Xt))
    assert by_class.class_weight == {"fraud": 5.0, "ok": 1.0}
    assert not np.array_equal(raw(by_class, Xt), raw(fitted(LightGBMClassifier), Xt))


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
    no_folds = made(kind, cv=None).fit(X, y, **sets(kind, train))
    for given_, expected in (
        ([valid, train], fitted(kind, valid=True)),
        ([train, valid], fitted(kind, valid=True)),
        ([train], fitted(kind)),
    ):
        model = made(kind).fit(X, y, **sets(kind, *given_))
        assert_array_equal(model.predict_proba(Xt), expected.predict_proba(Xt))
        assert model.offset_ == expected.offset_
    assert not hasattr(no_folds, "predict_proba")


@both
def test_the_threshold_is_that_of_models_of_the_other_halves(kind: Any) -> None:
    weights = np.where(np.arange(len(y)) % 2, 2.0, 1.0)
    model = made(kind).fit(X, y, sample_weight=weights)

    def scale(part: Any, of: Any) -> Any:
        """Mean and standard deviation of the scores of training rows."""
        seen = raw(part, X[of]).astype(float)
        variance = np.cov(seen, ddof=0, aweights=weights[of])
        return np.average(seen, weights=weights[of]), np.sqrt(variance)

    scores = np.empty(len(y))
    for train, rest in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        part = made(kind, cv=None).fit(X[train], y[train], sample_weight=weights[train])
        mean, deviation = scale(part, train)
        scores[rest] = (raw(part, X[rest]) - mean) / deviation
    mean, deviation = scale(model, slice(None))
    scores = mean + deviation * scores
    above = weights[scores > model.offset_].sum()
    assert above == pytest.approx(weights[y == 1].sum(), abs=2 * weights.max())


@both
def test_rows_that_cannot_be_held_out_set_the_threshold(kind: Any) -> None:
    for cv in (3, "often", StratifiedKFold(2)):
        with pytest.raises(ValueError, match="is not one of auto"):
            made(kind, cv=cv).fit(X, y)
    single = np.arange(200) == 7  # a class of one row has no halves
    alone = {} if kind is LightGBMClassifier else {"min_child_weight": 0.0}  # as for log-loss
    assert made(kind, **alone).fit(X[:200], single).predict(X[:200]).sum() >= 1
    for n in (45, 60) if kind is LightGBMClassifier else ():  # whose halves cannot be split
        models = [made(kind, cv=cv).fit(X[:n], np.arange(n) % 5 == 0) for cv in ("auto", None)]
        assert not hasattr(models[0], "predict_proba")
        assert models[0].offset_ == models[1].offset_


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
    for cv, labels, more in (("auto", many, [1500]), ("auto", y, [1500, 1500]), (None, y, [])):
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
def test_callbacks_run_for_the_model_alone(kind: Any) -> None:
    looked = []

    class Look(xgb.callback.TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            looked.append(epoch)
            return False

    if kind is LightGBMClassifier:
        made(kind).fit(X, y, callbacks=[lambda state: looked.append(state.iteration)])
    else:
        made(kind, callbacks=[Look()]).fit(X, y)
    assert looked == [*range(12)]


def test_class_weights_do_not_move_the_threshold() -> None:
    X, y, Xt, yt = few_positives()
    balanced = made(LightGBMClassifier, class_weight="balanced", n_estimators=30).fit(X, y)
    assert share(balanced, Xt, yt) == pytest.approx(1.0, abs=4 / np.sqrt(y.sum()))
    assert balanced.predict_proba(Xt)[:, 1].mean() == pytest.approx(yt.mean(), rel=0.5)


# -- probabilities --------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("held_out", [False, True], ids=["halves", "eval_set"])
def test_probabilities_are_calibrated(kind: Any, held_out: bool) -> None:
    uncalibrated = fitted(kind, cv=None)
    assert not hasattr(uncalibrated, "predict_proba")
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


# -- tools ----------------------------------------------------------------------------------------
