"""Scorers for the tools of scikit-learn."""

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from graded_estimators import made, rankers
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from small_data import GRADED

import lambdaplus as lp
from lambdaplus import evaluate, query_folds
from lambdaplus.estimators import XGBoostClassifier


def shuffled() -> list[Any]:
    """Features, labels and queries, the rows of a query apart."""
    order = np.random.default_rng(0).permutation(GRADED.n)
    return [array[order] for array in GRADED.ranking]


@rankers
def test_a_scorer_gives_the_metric_in_tools_of_scikit_learn(kind: Any) -> None:
    X, y, qid = shuffled()
    scorers = {name: lp.scorer(name) for name in ("ndcg@5", "map + 0.5*mrr")}
    scorers["linear"] = lp.scorer("ndcg", gain="linear")
    scorers = pickle.loads(pickle.dumps(scorers))  # as for other processes
    folds = query_folds(qid=qid, n_splits=3)
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(made(kind), X, y, cv=folds, scoring=scorers, params={"qid": qid})
        search = GridSearchCV(
            made(kind), {"max_depth": [1, 3]}, scoring=scorers["ndcg@5"], cv=folds
        )
        search.fit(X, y, qid=qid)
    train, test = folds[0]
    model = made(kind).fit(X[train], y[train], qid=qid[train])
    rows = test[np.argsort(qid[test], kind="stable")]
    held_out: dict[str, Any] = {"qid": qid[rows]}
    args = (y[rows], model.predict(X[rows]))
    values = evaluate(*args, **held_out, metrics=["ndcg@5", "map", "mrr"])
    assert found["test_ndcg@5"][0] == pytest.approx(values["ndcg@5"])
    assert found["test_map + 0.5*mrr"][0] == pytest.approx(values["map"] + 0.5 * values["mrr"])
    linear = evaluate(*args, **held_out, metrics="ndcg(gain=linear)")["ndcg(gain=linear)"]
    assert found["test_linear"][0] == pytest.approx(linear)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) > 0
    scoring = lp.scorer("ndcg@5", qid=qid[test])
    assert scoring(model, X[test], y[test]) == pytest.approx(values["ndcg@5"])
    with pytest.raises(ValueError, match=r"ndcg@5 ranks.*set group="):
        lp.scorer("ndcg@5")(model, X[test], y[test])
    with pytest.raises(ValueError, match="qid must have one entry per row"):
        scoring(model, X[train], y[train])
    weights = np.where(qid[rows] % 2, 1.0, 3.0)
    weighted = evaluate(*args, **held_out, weight=weights, metrics="ndcg@5")["ndcg@5"]
    found = scoring(model, X[test], y[test], sample_weight=np.where(qid[test] % 2, 1.0, 3.0))
    assert found == pytest.approx(weighted)


def test_a_scorer_of_a_classifier_takes_its_scores() -> None:
    model = made(XGBoostClassifier).fit(GRADED.features, GRADED.binary)
    found = lp.scorer("auc")(model, GRADED.features, GRADED.binary)
    expected = sklearn.metrics.roc_auc_score(
        GRADED.binary, model.decision_function(GRADED.features)
    )
    assert found == pytest.approx(expected)
    # Predicted labels would tie all rows but for two groups.
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    forest.fit(GRADED.features, GRADED.binary)
    expected = sklearn.metrics.roc_auc_score(
        GRADED.binary, forest.predict_proba(GRADED.features)[:, 1]
    )
    assert lp.scorer("auc")(forest, GRADED.features, GRADED.binary) == pytest.approx(expected)


def test_a_scorer_of_text_labels_needs_the_class_that_is_relevant() -> None:
    X, y = GRADED.features, GRADED.binary
    text = np.where(y, "fraud", "ok")  # of which the relevant one is not the last
    for kind in (XGBoostClassifier, RandomForestClassifier):
        model = kind(n_estimators=5, random_state=0, n_jobs=1).fit(X, text)
        with pytest.raises(ValueError, match=r"labels are text.*scorer\('map', pos_label="):
            lp.scorer("map")(model, X, text)
        by_probability = {
            label: model.predict_proba(X)[:, i] for i, label in enumerate(model.classes_)
        }
        for label in ("fraud", "ok"):
            found = lp.scorer("map", pos_label=label)(model, X, text.astype(object))
            wanted = evaluate(text == label, by_probability[label], metrics="map")["map"]
            assert found == pytest.approx(wanted, abs=1e-3), (kind, label)
