"""Migration from LGBMRanker, XGBRanker, lgb.train and CatBoost: unchanged and changed usage."""

from __future__ import annotations

import sys
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded, rare

from lambdaplus import LightGBMRanker, XGBoostRanker, eval_metric, lambda_map, lambda_objective

SMALL: dict[str, Any] = {"n_estimators": 10, "n_jobs": 1, "random_state": 0}


def test_lgbmranker_takes_our_objectives() -> None:
    data, valid = graded().queries(0, 40), graded().queries(40, 60)
    ranker = lgb.LGBMRanker(objective=lambda_map, metric="None", verbose=-1, **SMALL)
    ranker.fit(
        data.features, data.labels, group=data.sizes,
        eval_set=[(valid.features, valid.labels)], eval_group=[valid.sizes],
        eval_metric=eval_metric("map"),
    )  # fmt: skip
    assert ranker.evals_result_["valid_0"]["map"][-1] > 0.7
    ours = LightGBMRanker(objective="map", **SMALL)
    ours.fit(data.features, data.labels, group=data.sizes)
    assert_array_equal(ranker.predict(valid.features), ours.predict(valid.features))


def test_lightgbm_train_takes_our_objectives() -> None:
    data = graded()
    params = {"objective": lambda_map, "verbose": -1, "num_threads": 1, "seed": 0}
    booster = lgb.train(params, lgb.Dataset(data.features, data.labels, group=data.sizes), 10)
    ours = LightGBMRanker(objective="map", **SMALL)
    ours.fit(data.features, data.labels, group=data.sizes)
    assert_array_equal(booster.predict(data.features), ours.predict(data.features))


def test_xgbranker_takes_no_callable_and_xgboostranker_takes_its_arguments() -> None:
    data, valid = graded().queries(0, 40), graded().queries(40, 60)
    given: Any = (data.features, data.labels)
    fit: dict[str, Any] = {
        "qid": data.qid, "eval_set": [(valid.features, valid.labels)], "eval_qid": [valid.qid],
    }  # fmt: skip
    with pytest.raises((ValueError, TypeError, xgb.core.XGBoostError)):
        xgb.XGBRanker(objective=lambda_map, **SMALL).fit(*given, **fit)
    theirs = xgb.XGBRanker(objective="rank:map", **SMALL)  # binary labels
    theirs.fit(data.features, data.binary, qid=data.qid)
    same = XGBoostRanker(objective="rank:map", **SMALL)
    same.fit(data.features, data.binary, qid=data.qid)
    assert_allclose(
        same.predict(valid.features), theirs.predict(valid.features), rtol=1e-6, atol=1e-7
    )
    ours = XGBoostRanker(objective="map", **SMALL).fit(*given, **fit)
    assert ours.score(valid.features, valid.labels, qid=valid.qid) > 0.7


def test_xgbclassifier_gives_scores_the_wrong_name() -> None:
    train, test = rare()
    model = xgb.XGBClassifier(objective=lambda_map, n_estimators=60, n_jobs=1)
    model.fit(train.features[:3000], train.binary[:3000])
    found = model.predict_proba(test.features)[:, 1]
    # The logistic function of a score that only ranks: its sum is not the number of positives, and
    # depends on an option that leaves the ranking nearly as it is.
    assert found.sum() > 1.5 * test.binary.sum()
    model.set_params(objective=lambda_objective("map", balance=0.0))
    model.fit(train.features[:3000], train.binary[:3000])
    assert model.predict_proba(test.features)[:, 1].sum() < 0.7 * test.binary.sum()


def test_catboost_can_not_have_them() -> None:
    """CatBoost's rankers take no callable; its regressors call one with blocks of rows."""
    catboost = pytest.importorskip("catboost")
    data = graded()
    query = data.qid
    options = {"iterations": 2, "thread_count": 1, "logging_level": "Silent",
               "allow_writing_files": False}  # fmt: skip
    with pytest.raises((catboost.CatBoostError, AttributeError, TypeError)):
        catboost.CatBoostRanker(loss_function=lambda_map, **options).fit(
            data.features, data.labels, group_id=query
        )
    sizes = []

    class Spy:
        def calc_ders_range(self, scores: Any, labels: Any, weights: Any) -> Any:
            sizes.append(len(scores))
            assert "catboost" in sys.modules
            return [(label - score, -1.0) for score, label in zip(scores, labels, strict=True)]

    X, y = np.tile(data.features, (8, 1)), np.tile(data.labels, 8)
    with pytest.warns(UserWarning, match="Failed to optimize"):
        catboost.CatBoostRegressor(loss_function=Spy(), eval_metric="RMSE", **options).fit(
            catboost.Pool(X, y, group_id=np.zeros(len(y), dtype=int))
        )
    assert max(sizes) <= 1000 < len(y)  # pieces of one query, which it never sees whole
