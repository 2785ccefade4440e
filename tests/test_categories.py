"""Categorical columns have the same meaning at prediction and in training, for any dtype."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from lambdaplus.estimators import (
    LightGBMClassifier,
    LightGBMRanker,
    XGBoostClassifier,
    XGBoostRanker,
)

every_estimator = pytest.mark.parametrize(
    "kind", [LightGBMRanker, XGBoostRanker, LightGBMClassifier, XGBoostClassifier]
)
CITIES = np.array([70, 10, 40, 20, 30])  # as numbers; "c70" and so on as text
RELEVANT = [10, 30]  # which no threshold separates from the others


def cities(n: int = 400) -> Any:
    return CITIES[np.random.default_rng(0).integers(0, 5, n)]


def frame(values: Any, library: Any = pd) -> Any:
    return library.DataFrame(
        {"x": np.random.default_rng(1).normal(size=len(values)), "city": values}
    )


def fitted(kind: Any, X: Any, city: Any, **fit: Any) -> Any:
    small: dict[str, Any] = {"n_estimators": 6, "max_depth": 2, "n_jobs": 1, "objective": "auc"}
    if "LightGBM" in kind.__name__:
        small |= {"min_data_per_group": 1, "cat_smooth": 1}
    if "Classifier" in kind.__name__:
        small["calibration"] = None
    else:
        fit["qid"] = np.arange(len(city)) // 40
    return kind(**small).fit(X, np.isin(city, RELEVANT).astype(int), **fit)


def scores(model: Any, X: Any) -> Any:
    return (model.decision_function if hasattr(model, "classes_") else model.predict)(X)


@every_estimator
def test_a_column_of_integers_or_text_is_read_as_the_categories_it_was_fitted_on(kind: Any) -> None:
    city = cities()
    model = fitted(kind, frame(pd.Categorical(city)), city)
    expected = scores(model, frame(pd.Categorical(city)))
    relevant = np.isin(city, RELEVANT)
    assert expected[relevant].min() > expected[~relevant].max()
    other_order = pd.Categorical(city, categories=[40, 30, 20, 10, 70, 99])
    for same in (city, city.astype(float), pl.Series(city), other_order):
        library = pl if isinstance(same, pl.Series) else pd
        assert_array_equal(scores(model, frame(same, library)), expected)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(scores(copy, frame(city)), expected)
    assert_array_equal(scores(model, frame(city)[:7]), expected[:7])

    words = np.char.add("c", city.astype(str))
    model = fitted(kind, frame(pd.Categorical(words)), city)
    assert_array_equal(scores(model, frame(words)), scores(model, frame(pd.Categorical(words))))


@every_estimator
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            lambda city: pd.Categorical(city).codes,
            "categorical when this model was fitted.*now holds 2, 1",
        ),
        (lambda city: city.astype(str), "now holds '"),
        (lambda city: pd.Categorical(city.astype(str)), "are text .*but were numbers when"),
        (lambda city: np.where(city == 10, 11, city), r"now holds 11: .*astype\('category'\)"),
    ],
    ids=["codes", "text for numbers", "categories of text for numbers", "an unknown number"],
)
def test_what_can_not_be_the_same_categories_is_refused(
    kind: Any, given: Any, message: str
) -> None:
    city = cities()
    model = fitted(kind, frame(pd.Categorical(city)), city)
    with pytest.raises(ValueError, match=f"'city'.*{message}"):
        scores(model, frame(given(city)))


@every_estimator
def test_an_array_after_a_frame_with_categories_is_refused(kind: Any) -> None:
    city = cities()
    model = fitted(kind, frame(pd.Categorical(city)), city)
    with pytest.raises(ValueError, match=r"categorical columns \(city\): pass a data frame"):
        scores(model, frame(city).to_numpy())
    model = fitted(kind, frame(city), city)
    with pytest.raises(ValueError, match="'city' is categorical, but was not when"):
        scores(model, frame(pd.Categorical(city)))


@every_estimator
def test_new_categories_count_as_missing(kind: Any) -> None:
    city = cities()
    known = pd.Categorical(city).set_categories([10, 20, 30, 40])  # 70 is missing
    model = fitted(kind, frame(known), city)
    new = pd.Categorical(np.where(city == 70, 99, city))
    assert_array_equal(scores(model, frame(new)), scores(model, frame(known)))


@every_estimator
def test_validation_data_have_the_training_datas_categories(kind: Any) -> None:
    city = cities()
    rows = slice(0, 200)
    held_out: list[Any] = [frame(city[rows]), np.isin(city[rows], RELEVANT).astype(int)]
    if "Ranker" in kind.__name__:
        held_out.append(np.arange(200) // 40)
    model = fitted(kind, frame(pd.Categorical(city)), city, eval_set=tuple(held_out))
    assert max(model.evals_result_["valid_0"]["auc"]) == pytest.approx(1.0)


@every_estimator
def test_columns_can_be_declared_categorical(kind: Any) -> None:
    city = cities()
    codes = np.searchsorted(np.sort(CITIES), city).astype(float)
    relevant = np.isin(city, RELEVANT)
    for X, declared in (
        (frame(city), ["city"]),
        (frame(city).assign(kind=pd.Categorical(city % 3)), [1]),
        (frame(codes).to_numpy(), [1]),
    ):
        model = fitted(kind, X, city, categorical_feature=declared)
        found = scores(model, X)
        assert found[relevant].min() > found[~relevant].max()
    plain = fitted(kind, frame(codes).to_numpy(), city)
    assert plain.get_booster() is not None
    with pytest.raises(ValueError, match="column 1 is in categorical_feature and holds -1"):
        fitted(kind, frame(codes - 1).to_numpy(), city, categorical_feature=[1])
    with pytest.raises(ValueError, match="categorical_feature names 'town'"):
        fitted(kind, frame(city), city, categorical_feature=["town"])


@every_estimator
def test_infinite_numbers_beside_categories_are_refused(kind: Any) -> None:
    city = cities()
    X = frame(pd.Categorical(city))
    X.loc[3, "x"] = np.inf
    with pytest.raises(ValueError, match="infinity in column 'x'"):
        fitted(kind, X, city)
