"""Data sets without labels, which LightGBM takes for 0, are named in an error."""

import re

import numpy as np
import pytest

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb

X = np.random.default_rng(0).normal(size=(60, 2))
Y, SIZES = (X[:, 0] > 0).astype(int), [10] * 6


@pytest.mark.parametrize("place", ["train_set", "valid_sets[0]"])
def test_of_lightgbm(place: str) -> None:
    with_labels, without = lgb.Dataset(X, Y, group=SIZES), lgb.Dataset(X, group=SIZES)
    train, valid = (without, with_labels) if place == "train_set" else (with_labels, without)
    with pytest.raises(ValueError, match=f"^{re.escape(place)} has no labels, which LightGBM wou"):
        lgb.train({"verbose": -1}, train, 2, fobj=lp.lambda_map, valid_sets=[valid])


@pytest.mark.parametrize("place", ["dtrain", "held out"])
def test_of_xgboost(place: str) -> None:
    with_labels, without = xgb.DMatrix(X, Y, group=SIZES), xgb.DMatrix(X, group=SIZES)
    train, valid = (without, with_labels) if place == "dtrain" else (with_labels, without)
    with pytest.raises(ValueError, match=f"{place} has 60 rows and no labels"):
        xgb.train({}, train, 2, obj=lp.lambda_map, evals=[(valid, "held out")])


def test_labels_of_an_objective_are_enough() -> None:
    own = lp.lambda_map.on(Y)
    found = lgb.train({"verbose": -1}, lgb.Dataset(X, group=SIZES), 2, fobj=own)
    other = lgb.train({"verbose": -1}, lgb.Dataset(X, Y, group=SIZES), 2, fobj=lp.lambda_map)
    np.testing.assert_array_equal(found.predict(X), other.predict(X))
