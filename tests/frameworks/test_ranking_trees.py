"""The parameters of `ranking_trees` are those that the frameworks read."""

import re
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone

import lambdaplus
from lambdaplus import LightGBMRanker, XGBoostRanker, ranking_trees
from lambdaplus.frameworks.ranking_trees import SIZES, trees_of
from lambdaplus.study import Config, study_of
from lambdaplus.study.boosted_trainer import parameters_of

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
        ("bagging_fraction", SIZES[size].rows), ("feature_fraction_bynode", SIZES[size].columns),
        ("bagging_freq", 1), ("learning_rate", SIZES[size].learning_rate),
        ("extra_trees", SIZES[size].random_thresholds), ("lambda_l2", SIZES[size].l2 or 0),
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
    used = trees_of("xgboost", size)
    assert leaves.max() <= used.leaves
    assert leaves.size == 5 * used.trees_a_round
    assert trees["learning_rate"] == 2 * used.learning_rate
    half = xgboost.train({**trees, **same, "subsample": 1.0, "colsample_bynode": 1.0}, data, 5)
    assert not np.array_equal(trained.predict(data), half.predict(data))


def test_an_unknown_framework_or_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="framework='sklearn' is not one of lightgbm, xgboost"):
        ranking_trees("sklearn")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"size='huge' is not one of small, middle, .*, few"):
        ranking_trees("xgboost", "huge")  # type: ignore[arg-type]


NAMES = (
    "lightgbm:lambda_map", "lightgbm:lambdarank", "xgboost:rank:map", "xgboost:binary:logistic",
    "pairs:ranksvm",
)  # fmt: skip


def parameters(methods: Any = NAMES, **options: Any) -> dict[str, list[dict[str, Any]]]:
    """The parameters of all fits of a study on one fold, by method."""
    study = study_of(Config(methods=methods, folds="1", **options))
    found: dict[str, list[dict[str, Any]]] = {}
    for task in study.tasks:
        found.setdefault(task.method.name, []).append(parameters_of(task))
    return found


def test_a_study_trains_every_boosted_method_with_these_trees() -> None:
    found = parameters()
    trees = SIZES["middle"]
    for name in NAMES[:2]:
        [used] = found[name]
        assert used["num_leaves"] == trees.leaves
        assert (used["bagging_fraction"], used["bagging_freq"]) == (trees.rows, 1)
        assert used["feature_fraction_bynode"] == trees.columns
        assert used["learning_rate"] == trees.learning_rate
    [used] = found["xgboost:rank:map"]
    assert ranking_trees("xgboost").items() <= used.items()
    [used] = found["xgboost:binary:logistic"]  # its Hessians are not doubled
    assert used["learning_rate"] == trees.learning_rate
    assert "learning_rate" not in found["pairs:ranksvm"][0]


OF_TABLES = ("lightgbm:lambda_auc", "xgboost:lambda_auc", "xgboost:binary:logistic")


def test_a_table_has_trees_of_its_own_and_no_hessians_that_are_doubled(tmp_path: Path) -> None:
    rows = [f"{row % 7},{row * row % 11},{int(row % 4 == 0)}" for row in range(200)]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(["x,y,label", *rows]))
    table = {"data": str(file), "qid": "none"}
    found = parameters(OF_TABLES, **table)
    trees = SIZES["table"]
    for name in OF_TABLES:
        [used] = found[name]
        assert used.get("num_leaves", used.get("max_leaves")) == trees.leaves
        assert used["learning_rate"] == trees.learning_rate
    [used] = parameters(OF_TABLES[:1], **table, trees=("small",))[OF_TABLES[0]]
    assert used["num_leaves"] == SIZES["small"].leaves


def test_a_rate_is_that_of_every_step() -> None:
    rates = {name: used[0].get("learning_rate") for name, used in parameters(rate=0.3).items()}
    assert rates == dict(zip(NAMES, (0.3, 0.3, 0.6, 0.3, None), strict=True))


def test_of_several_sizes_validation_chooses_one_for_each_method() -> None:
    found = parameters(trees=("small", "large"))
    for name in NAMES[:2]:
        leaves = [used["num_leaves"] for used in found[name]]
        assert leaves == [SIZES["small"].leaves, SIZES["large"].leaves]
    asked = {"trees": ("small", "large"), "metrics": ("map",), "rounds": 20}
    study = study_of(Config(methods=NAMES[:1], folds="1", **asked))
    study.finish()
    fits = study.results.fits
    assert fits["validation"].n_unique() == 2
    assert fits.filter("chosen")["validation"].to_list() == [fits["validation"].max()]
    for wrong in (("small", "small"), ("huge",)):
        with pytest.raises(ValueError, match="trees"):
            Config(trees=wrong)


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_an_estimator_shows_these_trees_and_stops_early(framework: Any) -> None:
    """They are parameters like others: for copies, changes and searches."""
    trees = ranking_trees(framework)
    estimator: Any = LightGBMRanker if framework == "lightgbm" else XGBoostRanker
    stop = {"early_stopping_round" + "s" * (framework == "xgboost"): 5}
    ranker = clone(estimator(objective="map", n_estimators=300, n_jobs=1, **stop, **trees))
    assert {**trees, **stop}.items() <= ranker.get_params().items()
    ranker.set_params(learning_rate=0.3)
    train, valid = slice(0, 400), slice(400, 600)
    ranker.fit(
        X[train], LABELS[train], group=GROUP[:20], eval_set=[(X[valid], LABELS[valid])],
        eval_group=[GROUP[20:]],
    )  # fmt: skip
    best = ranker.best_iteration_ if framework == "lightgbm" else ranker.best_iteration
    assert 0 < best < 295
