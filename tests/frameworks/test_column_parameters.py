"""Parameters that number columns, or have an entry for each: those of no column are refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb

random = np.random.default_rng(0)
X = random.normal(size=(80, 4))
X[:, 3] = random.integers(0, 6, 80)
FRAME, Y, SIZES = pd.DataFrame(X, columns=list("abcd")), (X[:, 3] == 2).astype(int), [10] * 8
QUIET = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 2, "max_cat_to_onehot": 8}


def light(features: Any, **given: Any) -> Any:
    options = {"min_child_samples": 2, "max_cat_to_onehot": 8, "verbose": -1}
    model = lp.LightGBMRanker(n_estimators=2, n_jobs=1, **options)
    return model.fit(features, Y, group=SIZES, **given)


def with_params(kind: Any, **given: Any) -> Any:
    more = {"qid": np.repeat(np.arange(8), 10)} if kind is not lp.LightGBMClassifier else {}
    return kind(n_estimators=2, n_jobs=1, **given).fit(X, Y, **more)


def by_dataset(features: Any, params: Any = (), construct: bool = False, **given: Any) -> Any:
    data = lgb.Dataset(features, Y, group=SIZES, params=QUIET, **given)
    data = data.construct() if construct else data
    return lgb.train({**QUIET, **dict(params)}, data, 2, fobj=lp.lambda_map)


CATEGORIES: dict[str, Any] = {
    "fit of an array": lambda one: light(X, categorical_feature=one),
    "fit of a frame": lambda one: light(FRAME, categorical_feature=one),
    "a Dataset": lambda one: by_dataset(X, categorical_feature=one),
    "a parameter": lambda one: by_dataset(FRAME, {"cat_column": one}),
    "a classifier": lambda one: with_params(lp.LightGBMClassifier, categorical_feature=one),
}


@pytest.mark.parametrize("unknown", [-1, 4, 99])
@pytest.mark.parametrize("way", CATEGORIES)
def test_categories_of_no_column(way: str, unknown: int) -> None:
    with pytest.raises(ValueError, match=rf"categorical_feature=.*is no column {unknown}, "):
        CATEGORIES[way]([3, unknown])


@pytest.mark.parametrize("form", [(3,), {3}, np.array([3]), "3", "name:d", 3])
@pytest.mark.parametrize("way", [*CATEGORIES][:3])
def test_categories_in_a_form_that_lightgbm_ignores(way: str, form: Any) -> None:
    with pytest.raises(ValueError, match="pass a list, as in"):
        CATEGORIES[way](form)


@pytest.mark.parametrize("way", [*CATEGORIES][:4])
def test_categories_in_a_list_are_used(way: str) -> None:
    trees = CATEGORIES[way]([3])
    table = getattr(trees, "booster_", trees).trees_to_dataframe()
    assert "==" in set(table["decision_type"])


CONSTRAINTS: dict[str, Any] = {
    "LightGBMRanker": lambda one: with_params(lp.LightGBMRanker, interaction_constraints=one),
    "train": lambda one: by_dataset(FRAME, {"interaction_constraints": one}),
    "a constructed Dataset":
        lambda one: by_dataset(X, {"interaction_constraints": one}, construct=True),
    "cv": lambda one: lgb.cv({**QUIET, "interaction_constraints": one, "objective": "map"},
                             lgb.Dataset(X, Y, group=SIZES), 1),
}  # fmt: skip


@pytest.mark.parametrize("given", [[[0, 99]], [[-1, 0]], "[0,1],[2,4]", "[[0,1],[2,4]]"])
@pytest.mark.parametrize("way", CONSTRAINTS)
def test_constraints_of_no_column_on_which_lightgbm_may_end_python(way: str, given: Any) -> None:
    with pytest.raises(ValueError, match=r"there is no column|lists of numbers"):
        CONSTRAINTS[way](given)


@pytest.mark.parametrize("given", [[["a", "b"]], ((0, 1), (2,)), [0, 1], "0,1", [[0.0]], "[[[0]]]"])
@pytest.mark.parametrize("way", CONSTRAINTS)
def test_constraints_in_a_form_that_lightgbm_misreads(way: str, given: Any) -> None:
    with pytest.raises(ValueError, match="LightGBM reads lists of numbers of columns alone"):
        CONSTRAINTS[way](given)


def test_empty_ones_are_none() -> None:
    right = with_params(lp.LightGBMRanker).predict(X)
    given = {"monotone_constraints": [], "interaction_constraints": [], "feature_contri": ""}
    np.testing.assert_array_equal(with_params(lp.LightGBMRanker, **given).predict(X), right)


def test_constraints_hold() -> None:
    for given in ([[0, 1], [2, 3]], "[0,1],[2,3]", "[[0,1],[2,3]]"):
        table = with_params(lp.LightGBMRanker, interaction_constraints=given)
        splits = table.booster_.trees_to_dataframe().dropna(subset=["split_feature"])
        for _, tree in splits.groupby("tree_index"):
            used = set(tree["split_feature"])
            assert used <= {"Column_0", "Column_1"} or used <= {"Column_2", "Column_3"}


def test_xgboost_reads_no_column_that_there_is_not() -> None:
    for wrong in ("[[0,99]]", "[[-1,0]]"):
        with pytest.raises(ValueError, match="there is no column"):
            with_params(lp.XGBoostRanker, interaction_constraints=wrong)
        with pytest.raises(ValueError, match="there is no column"):
            xgb.train({"interaction_constraints": wrong}, xgb.DMatrix(X, Y, group=SIZES), 1)
    for name, given in (("feature_weights", (1, 0, 1)), ("monotone_constraints", (1, 0, 1, 0, 0))):
        said = f"{name} has {len(given)} entries, and there are 4 features"
        with pytest.raises(ValueError, match=said):
            with_params(lp.XGBoostRanker, **{name: given})
    with pytest.raises(ValueError, match=said):
        xgb.train({"monotone_constraints": given}, xgb.DMatrix(X, Y, group=SIZES), 1)
    few = xgb.DMatrix(X, Y, group=SIZES, feature_weights=[1.0, 0.5])
    for function in (xgb.train, xgb.cv):
        with pytest.raises(ValueError, match="feature_weights has 2 entries, and there are 4"):
            function({"objective": "map"}, few, 1)


SIGNS, GROUPS = (-1, 0, 0, 1), "[[0,1],[2,3]]"


@pytest.mark.parametrize(
    ("name", "given", "in_its_form"),
    [
        ("monotone_constraints", [*SIGNS], SIGNS),
        ("monotone_constraints", np.array(SIGNS), SIGNS),
        ("monotone_constraints", [-1.0, 0.0, 0.0, 1.0], SIGNS),
        ("monotone_constraints", (-1, 0), (-1, 0, 0, 0)),
        ("monotone_constraints", "(-1,0)", (-1, 0, 0, 0)),
        ("monotone_constraints", [-1], (-1, 0, 0, 0)),
        ("interaction_constraints", [[0, 1], [2, 3]], GROUPS),
        ("interaction_constraints", ((0, 1), (2, 3)), GROUPS),
    ],
)
def test_xgboost_takes_constraints_as_lightgbm_has_them(
    name: str, given: Any, in_its_form: Any
) -> None:
    for objective in ("map", "rank:ndcg"):
        found, right = (
            with_params(lp.XGBoostRanker, objective=objective, **{name: one}).predict(X)
            for one in (given, in_its_form)
        )
        np.testing.assert_array_equal(found, right)
    matrix = xgb.DMatrix(X, X[:, 0] - X[:, 3] + X[:, 0] * X[:, 2], group=SIZES)
    none, found, right = (
        xgb.train({"objective": "concordance", name: one}, matrix, 3).get_dump()
        for one in (None, given, in_its_form)
    )
    assert found == right != none


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("monotone_constraints", [0.5, 0, 0, -0.9]),
        ("monotone_constraints", np.array([0.5, 0, 0, -0.9])),
        ("interaction_constraints", [[0.5, 1], [2, 3]]),
    ],
)
def test_decimals_in_constraints_are_not_cut_off(name: str, given: Any) -> None:
    with pytest.raises(ValueError, match=r"Invalid Parameter format|not a subset"):
        with_params(lp.XGBoostRanker, **{name: given})
    with pytest.raises(ValueError, match=r"Invalid Parameter format|not a subset"):
        xgb.train({name: given}, xgb.DMatrix(X, Y, group=SIZES), 1)


def test_features_may_be_a_list_of_arrays() -> None:
    for parts in ([X[:30], X[30:]], [X[:2], X[2:]]):
        given = {"monotone_constraints": [1, 0, 0, 0], "verbose": -1, "objective": "map"}
        found, right = (
            lgb.train({**QUIET, **given}, lgb.Dataset(features, Y, group=SIZES), 2).predict(X)
            for features in (parts, X)
        )
        np.testing.assert_array_equal(found, right)
