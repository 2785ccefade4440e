"""The parameters of `ranking_trees` are those that the frameworks read."""

import re

import lightgbm
import numpy as np
import pytest
import xgboost

import lambdaplus
from lambdaplus import LightGBMRanker, XGBoostRanker, ranking_trees
from lambdaplus.frameworks.ranking_trees import SIZES

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(600, 6))
LABELS = (X[:, 0] * X[:, 1] + X[:, 2] > 1).astype(float)
GROUP = [20] * 30


@pytest.mark.parametrize("size", SIZES)
def test_lightgbm_and_its_estimator_train_the_same_trees(size: str) -> None:
    trees = ranking_trees("lightgbm", size)
    data = lightgbm.Dataset(X, LABELS, group=GROUP)
    same = {"deterministic": True, "seed": 3, "verbose": -1, "num_threads": 1}
    trained = lightgbm.train({**trees, **same, "objective": lambdaplus.lambda_map}, data, 5)
    ranker = LightGBMRanker(
        objective="map", n_estimators=5, random_state=3, n_jobs=1, verbose=-1, deterministic=True,
        **trees,
    ).fit(X, LABELS, group=GROUP)  # fmt: skip
    assert np.array_equal(trained.predict(X), ranker.predict(X))
    model = trained.dump_model()
    assert max(tree["num_leaves"] for tree in model["tree_info"]) <= SIZES[size].leaves
    text = trained.model_to_string()
    for name, value in (
        ("bagging_fraction", SIZES[size].rows), ("feature_fraction", SIZES[size].columns),
        ("bagging_freq", 1), ("learning_rate", SIZES[size].learning_rate),
    ):  # fmt: skip
        [found] = re.findall(rf"\[{name}: (.*)\]", text)
        assert float(found) == value


@pytest.mark.parametrize("size", SIZES)
def test_xgboost_and_its_estimator_train_the_same_trees(size: str) -> None:
    trees = ranking_trees("xgboost", size)
    data = xgboost.DMatrix(X, LABELS, group=GROUP)
    same = {"seed": 3, "nthread": 1, "base_score": 0.0, "objective": "rank:map"}
    trained = xgboost.train({**trees, **same}, data, 5)
    ranker = XGBoostRanker(
        objective="rank:map", n_estimators=5, random_state=3, n_jobs=1, base_score=0.0, **trees
    ).fit(X, LABELS, group=GROUP)
    assert np.array_equal(trained.predict(data, output_margin=True), ranker.predict(X))
    leaves = trained.trees_to_dataframe().query("Feature == 'Leaf'").groupby("Tree").size()
    assert leaves.max() <= SIZES[size].leaves
    assert trees["learning_rate"] == 2 * SIZES[size].learning_rate
    half = xgboost.train({**trees, **same, "subsample": 1.0, "colsample_bytree": 1.0}, data, 5)
    assert not np.array_equal(trained.predict(data), half.predict(data))


def test_an_unknown_framework_or_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="framework='sklearn' is not one of lightgbm, xgboost"):
        ranking_trees("sklearn")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="size='huge' is not one of small, middle, large"):
        ranking_trees("xgboost", "huge")  # type: ignore[arg-type]
