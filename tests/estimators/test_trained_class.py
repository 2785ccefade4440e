"""Which class a classifier ranks first, of all rows as one ranking."""

from typing import Any

import numpy as np
import pytest
from graded_estimators import raw
from numpy.testing import assert_allclose, assert_array_equal
from rare_classifiers import LOG_LOSS, NAMES, START, X, Xt, both, fitted, made, sets, y, yt
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score

import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus import combine, evaluate, lambda_map, lambda_ndcg, lambda_objective
from lambdaplus.estimators import LightGBMClassifier, XGBoostClassifier


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


@pytest.mark.parametrize("weights", ["balanced", {0: 1.0, 1: 100.0}, {1: 100.0}], ids=str)
def test_weights_of_rows_choose_the_trained_class_and_those_of_classes_do_not(weights: Any) -> None:
    assert fitted(LightGBMClassifier).pos_label_ == 1
    assert made(LightGBMClassifier, class_weight=weights, cv=None).fit(X, y).pos_label_ == 1
    heavy = {"sample_weight": np.where(y, 100.0, 1.0)}
    assert made(LightGBMClassifier, cv=None).fit(X, y, **heavy).pos_label_ == 0


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
