"""Transformers with query identifiers, accuracy SVMs, and the best single feature."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from baseline_data import halves
from sklearn.svm import SVC, LinearSVC
from small_data import graded, value

from lambdaplus.baselines import BestFeature, QueryScaler, SVMAccuracy
from papers.threshold_features import ThresholdFeatures


def by_query(qid: np.ndarray) -> list[np.ndarray]:
    return [np.flatnonzero(qid == q) for q in np.unique(qid)]


def test_minmax_scales_each_query_to_the_unit_interval() -> None:
    data = graded()
    rows = np.random.default_rng(0).permutation(data.n)
    X, qid = data.features[rows], data.qid[rows]
    found = QueryScaler().fit_transform(X, qid=qid)
    for mine in by_query(qid):
        assert found[mine].min(axis=0) == pytest.approx(0)
        assert found[mine].max(axis=0) == pytest.approx(1)
        np.testing.assert_array_equal(np.argsort(found[mine], axis=0), np.argsort(X[mine], axis=0))


def test_percentile_is_the_share_of_others_below() -> None:
    random = np.random.default_rng(0)
    X, qid = random.integers(0, 4, (40, 2)).astype(float), random.integers(0, 5, 40)
    found = QueryScaler("percentile").fit_transform(X, qid=qid)
    for mine in by_query(qid):
        for i in mine:
            others = X[np.setdiff1d(mine, [i])]
            share = ((others < X[i]) + 0.5 * (others == X[i])).mean(axis=0)
            np.testing.assert_allclose(found[i], share)


def test_constant_features_and_single_documents() -> None:
    X = np.array([[1.0], [1.0], [7.0]])
    assert QueryScaler().fit_transform(X, qid=[0, 0, 1]).tolist() == [[0], [0], [0]]
    assert QueryScaler("percentile").fit_transform(X, qid=[0, 0, 1]).tolist() == [[0.5]] * 3


def test_steps_are_indicators_of_thresholds() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:, 2] = 5.0  # constant: nothing to distinguish
    steps = ThresholdFeatures(7).fit(X)
    assert [len(k) for k in steps.thresholds_] == [7, 7, 0]
    indicators = steps.transform(X)
    assert indicators.shape == (200, 14)
    for column, k in enumerate(np.concatenate(steps.thresholds_[:2])):
        np.testing.assert_array_equal(indicators[:, column], X[:, column // 7] > k)
    # Each separates some training documents from others, except the first, which most pass.
    assert (indicators[:, 1:7].std(axis=0) > 0).all()
    with pytest.raises(ValueError, match="n_thresholds must be a whole number, at least 1"):
        ThresholdFeatures(0).fit(X)


def test_plain_is_the_linear_svm_with_hardly_a_penalty_for_the_bias() -> None:
    data = graded()
    X, good = data.features, data.labels >= 1
    free = SVC(kernel="linear", C=0.1, tol=1e-6).fit(X, good).decision_function(X)
    penalised = LinearSVC(C=0.1, loss="hinge", random_state=0, tol=1e-6, max_iter=100_000)
    distance = np.abs(penalised.fit(X, good).decision_function(X) - free).max()
    model = SVMAccuracy(C=0.1, tol=1e-6, max_iter=100_000).fit(X, data.labels, data.qid)
    assert np.abs(model.predict(X) - free).max() < distance / 5
    model.set_params(penalize_bias=False).fit(X, data.labels, data.qid)
    np.testing.assert_allclose(model.predict(X), free, rtol=1e-9)
    with pytest.raises(ValueError, match="penalize_bias=False needs loss='hinge'"):
        model.set_params(loss="squared_hinge").fit(X, data.labels, data.qid)


def test_balanced_weighs_missed_documents_by_the_ratio_of_classes() -> None:
    data = graded()
    good = data.labels >= 1
    ratio = (~good).sum() / good.sum()
    model = SVMAccuracy("balanced", C=0.1).fit(data.features, data.labels)
    assert model.classifier_.class_weight == {True: ratio}
    # The costs of the two kinds of errors then balance: about as many of each class are predicted.
    predicted = model.predict(data.features) > 0
    plain = SVMAccuracy(C=0.1).fit(data.features, data.labels).predict(data.features) > 0
    assert predicted[good].mean() > plain[good].mean()


@pytest.mark.parametrize("variant", ["percentile", "minmax"])
def test_scaled_variants_ignore_monotone_changes_per_query(variant: Any) -> None:
    data = graded()
    query = data.qid
    changed = data.features * (1.0 + query)[:, None] + query[:, None]
    model = SVMAccuracy(variant, C=0.1).fit(data.features, data.labels, query)
    assert model.classifier_.coef_.shape == (1, 5 * 50)
    here, there = model.predict(data.features, qid=query), model.predict(changed, qid=query)
    np.testing.assert_allclose(here, there, atol=1e-9)


@pytest.mark.parametrize("metric", ["map", "ndcg@5", "auc"])
def test_chosen_by_the_metric_on_validation_data(metric: str) -> None:
    train, valid = halves(graded(40))
    features = valid.features * [1, -1, 1, 1, 1]
    held_out = replace(valid, features=features)
    model = BestFeature(metric).fit(*train.ranking, eval_set=held_out.ranking)
    rankings = {(f, sign): sign * features[:, f] for f in range(5) for sign in (1.0, -1.0)}
    values = {key: value(metric, valid, scores) for key, scores in rankings.items()}
    assert model.values_.ravel().tolist() == [*values.values()]
    best = max(values, key=lambda key: values[key])
    assert model.feature_ == best[0]
    np.testing.assert_array_equal(model.predict(features), rankings[best])
