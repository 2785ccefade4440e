"""The best single feature is the best of all features, ascending and descending."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from baseline_data import halves
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import graded

from lambdaplus.baselines import BestFeature
from lambdaplus.evaluation import evaluate


@pytest.mark.parametrize("metric", ["map", "ndcg@5", "auc"])
def test_chosen_by_the_metric_on_validation_data(metric: str) -> None:
    train, valid = halves(graded(40))
    features = valid.features * [1, -1, 1, 1, 1]
    model = BestFeature(metric).fit(
        train.features, train.labels, qid=train.qid, eval_set=(features, valid.labels, valid.qid)
    )
    for f in range(5):
        for column, sign in enumerate((1.0, -1.0)):
            found = evaluate(valid.labels, sign * features[:, f], qid=valid.qid, metrics=metric)
            assert model.values_[f, column] == found[metric]
    best = np.unravel_index(model.values_.argmax(), (5, 2))
    assert model.feature_ == best[0]
    sign = (1.0, -1.0)[best[1]]
    np.testing.assert_array_equal(model.predict(features), sign * features[:, best[0]])


def test_without_validation_data_the_training_data_serves() -> None:
    data = graded(40)
    model = BestFeature("map").fit(data.features, data.labels, qid=data.qid)
    again = BestFeature("map").fit(
        data.features[:1], data.labels[:1], eval_set=(data.features, data.labels, data.qid)
    )
    np.testing.assert_array_equal(model.values_, again.values_)


def test_a_low_value_may_be_the_good_one() -> None:
    data = graded(40)
    up = BestFeature("auc").fit(data.features, data.labels, qid=data.qid)
    down = BestFeature("auc").fit(-data.features, data.labels, qid=data.qid)
    np.testing.assert_array_equal(up.coef_, -down.coef_)


def test_unusable_input() -> None:
    data = graded(4)
    with pytest.raises(ValueError, match="auc has no value on any query"):
        BestFeature("auc").fit(data.features, np.zeros(data.n), qid=data.qid)
    with pytest.raises(ValueError, match="did you mean"):
        BestFeature("ndgc").fit(data.features, data.labels, qid=data.qid)


@parametrize_with_checks([BestFeature()])
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
