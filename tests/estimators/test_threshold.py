"""The threshold of a classifier: as many unseen rows are above it as are of the trained class."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from graded_estimators import raw
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from rare_classifiers import X, Xt, both, fitted, made, sets, y, yt
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

import lambdaplus.xgboost as xgb
from lambdaplus.estimators import LightGBMClassifier, held_out
from lambdaplus.estimators.calibration import HeldOut, threshold_by_share


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
def test_a_sample_of_rows_gives_the_scale_of_scores(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 1,000 rows, the mean is off by .03 deviations, and the threshold, in the tail, by more."""
    expected, scored = made(kind).fit(X, y), []
    monkeypatch.setattr(held_out, "SCALE_ROWS", 1000)
    scores = kind._scores

    def counting(self: Any, rows: Any) -> Any:
        scored.append(len(rows))
        return scores(self, rows)

    monkeypatch.setattr(kind, "_scores", counting)
    found = made(kind).fit(X, y)
    # The model, and each half on both; of the scores that LightGBM's training leaves, a few.
    own = held_out.CHECKED_ROWS if kind is LightGBMClassifier else 1000
    assert scored == [own, own, 1500, own, 1500]
    assert_array_equal(raw(found, Xt), raw(expected, Xt))
    off = abs(found.offset_ - expected.offset_) / np.std(raw(expected, X))
    assert 0.0 < off < 0.3


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
