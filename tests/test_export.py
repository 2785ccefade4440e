"""Exported models, scored by small interpreters of each engine's rules and by the framework.

The interpreters are written from the engines' parsers (named in `lambdaplus.export.engines`), in
the float32 arithmetic that these use, and share no code with the exporter.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import invoke
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from small_data import forest_scores, graded

import lambdaplus as lp
from lambdaplus.export import FORMATS, engines, export_model
from lambdaplus.export.forest import Forest, Split, read_forest

lgb = pytest.importorskip("lightgbm", minversion="4")
xgb = pytest.importorskip("xgboost", minversion="2.1")

NAMES = ["title_bm25", "body_bm25", "clicks", "age", "price"]
F = np.float32

# -- the engines ---------------------------------------------------------------------------------


def elastic(text: str, features: list[str], rows: Any, missing: bool = False) -> Any:
    """Learning to Rank plugin: strict fields, float32, ``threshold > value`` goes left."""
    body = json.loads(text)["model"]
    assert set(body) == {"name", "model"}
    assert body["model"]["type"] == "model/xgboost+json"
    definition = json.loads(body["model"]["definition"])
    assert set(definition) == {"objective", "splits"}
    assert definition["objective"] in {"rank:ndcg", "rank:map", "rank:pairwise", "reg:linear"}
    assert definition["splits"]

    def check(node: dict[str, Any]) -> None:
        if "leaf" in node:
            assert set(node) == {"nodeid", "leaf"}
            return
        numbers = {"nodeid", "depth", "split_condition", "yes", "no", "missing"}
        assert set(node) == {*numbers, "split", "children"}
        assert node["split"] in features
        left, right = node["children"]
        assert (node["yes"], node["no"]) == (left["nodeid"], right["nodeid"])
        assert node["missing"] in (node["yes"], node["no"])
        check(left)
        check(right)

    def evaluate(node: dict[str, Any], row: Any) -> Any:
        while "leaf" not in node:
            value = F(row[features.index(node["split"])])
            if missing and np.isnan(value):
                left = node["missing"] == node["yes"]
            else:
                left = F(node["split_condition"]) > value
            node = node["children"][0 if left else 1]
        return F(node["leaf"])

    for tree in definition["splits"]:
        check(tree)
    return [np.sum([evaluate(t, row) for t in definition["splits"]], dtype=F) for row in rows]


def opensearch(text: str, features: list[str], rows: Any) -> Any:
    return elastic(text, features, rows, missing=True)


def solr(text: str, features: list[str], rows: Any) -> Any:
    """MultipleAdditiveTreesModel: text numbers, float32, ``value <= threshold + 1e-6``."""
    model = json.loads(text)
    assert model["class"] == "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    declared = [feature["name"] for feature in model["features"]]
    assert set(declared) <= set(features)

    def evaluate(node: dict[str, Any], row: Any) -> Any:
        while "feature" in node:
            value = F(row[features.index(node["feature"])])
            cut = F(F(node["threshold"]) + F(1e-6))
            node = node["left" if value <= cut else "right"]
        assert set(node) == {"value"}
        return F(node["value"])

    trees = [(F(tree["weight"]), tree["root"]) for tree in model["params"]["trees"]]
    return [np.sum([w * evaluate(root, row) for w, root in trees], dtype=F) for row in rows]


ENGINES = {"elasticsearch": elastic, "opensearch": opensearch, "solr": solr}

# -- models --------------------------------------------------------------------------------------


@cache
def columns(missing: bool) -> Any:
    """Whole, rounded, zero-heavy and continuous columns in float32, and values on thresholds."""
    features = graded().features.copy()
    features[:, 0] = features[:, 0].round(1)
    features[:, 1] = features[:, 1].round()
    features[:, 2] = np.maximum(features[:, 2], 0.0)
    features[:, 3] *= 1e-5
    features = features.astype(np.float32).astype(np.float64)
    if missing:
        features[np.random.default_rng(0).random(features.shape) < 0.2] = np.nan
    return features


@cache
def model(framework: str, missing: bool = False) -> Any:
    data = graded()
    if framework == "lightgbm":
        given = lgb.Dataset(columns(missing), data.labels, group=data.sizes, feature_name=NAMES)
        params = {"objective": lp.lambda_ndcg, "verbose": -1, "num_threads": 1}
        return lgb.train({**params, "min_data_in_leaf": 3}, given, 20)
    given = xgb.DMatrix(columns(missing), data.labels, qid=data.qid, feature_names=NAMES)
    params = {"base_score": 0.5, "nthread": 1, "objective": "rank:ndcg"}
    return xgb.train(params, given, 20, obj=lp.lambda_ndcg)


def scores_of(booster: Any, rows: Any) -> Any:
    if isinstance(booster, lgb.Booster):
        return booster.predict(rows)
    return booster.predict(xgb.DMatrix(rows, feature_names=booster.feature_names))


EACH_FORMAT = pytest.mark.parametrize("format", FORMATS)
EACH_FRAMEWORK = pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])


@EACH_FRAMEWORK
@pytest.mark.parametrize("trained", [False, True], ids=["trained whole", "trained with missing"])
def test_missing_values_go_the_way_that_was_learnt(framework: str, trained: bool) -> None:
    booster, rows = model(framework, trained), columns(True)[:100]
    assert np.isnan(rows).any(axis=1).sum() > 50
    found = opensearch(export_model(booster, "opensearch"), NAMES, rows)
    assert_allclose(found, scores_of(booster, rows), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("format", ["elasticsearch", "solr"])
def test_engines_that_drop_missing_values_get_no_model_that_learnt_from_them(format: Any) -> None:
    with pytest.raises(ValueError, match=r"learnt from missing values of title_bm25.*fill them"):
        export_model(model("lightgbm", True), format)


@EACH_FORMAT
@EACH_FRAMEWORK
def test_an_engine_scores_rows_as_the_framework_does(framework: str, format: Any) -> None:
    """Also rows with the thresholds of the model, and their neighbours in float32."""
    booster = model(framework)
    base, *rows = columns(False)[:100]

    def walk(node: Any) -> None:
        if isinstance(node, float):
            return
        cut = F(np.clip(node.threshold, -1e38, 1e38))
        if abs(cut) < 1e-34:  # LightGBM takes values up to 1e-35 for 0
            cut = F(np.copysign(1e-34, cut))
        values = [np.nextafter(cut, F(-np.inf)), cut, np.nextafter(cut, F(np.inf))]
        if format == "solr":  # its threshold is slightly lower: by an ulp, or 1.2e-13
            width = abs(cut) * F(3e-7) + F(2e-13)
            values = [cut - width, cut + width]
        for value in values:
            rows.append(base.copy())
            rows[-1][node.feature] = value
        walk(node.left)
        walk(node.right)

    for tree in read_forest(booster).trees[:5]:
        walk(tree)
    own = [f"bm25({name})" for name in NAMES]  # names of the engine
    found = ENGINES[format](export_model(booster, format, feature_names=own), own, rows)
    expected = scores_of(booster, np.array(rows).astype(np.float32))
    assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


@given(st.floats(float(F(-1e30)), float(F(1e30)), width=32))
def test_solr_cuts_at_the_threshold_or_just_below(threshold: float) -> None:
    forest = Forest([Split(0, threshold, False, -1.0, 1.0)], ["a"], "xgboost", [])
    written = json.dumps(engines.solr(forest, "m"))
    below = threshold - abs(threshold) * 2.5e-7 - 1.3e-13
    assert solr(written, ["a"], [[threshold], [below]]) == [1.0, -1.0]


@pytest.mark.parametrize("names", [NAMES[:3], [*NAMES[:4], NAMES[0]]], ids=["few", "twice"])
def test_names_must_fit_the_columns(names: list[str]) -> None:
    with pytest.raises(ValueError, match="5 different names"):
        export_model(model("lightgbm"), "solr", feature_names=names)


# -- what is read --------------------------------------------------------------------------------


def test_an_estimator_must_be_fitted() -> None:
    for estimator in (lp.LightGBMRanker(), lp.XGBoostRanker()):
        with pytest.raises(NotFittedError):
            export_model(estimator, "solr")


def test_dart_trees_are_weighted() -> None:
    data = graded()
    given = xgb.DMatrix(columns(False), data.labels, qid=data.qid)
    params = {"booster": "dart", "rate_drop": 0.5, "nthread": 1, "base_score": 0.0}
    booster = xgb.train(params, given, 10, obj=lp.lambda_ndcg)
    for some in (booster, booster[:4]):
        scores = forest_scores(read_forest(some), columns(False))
        assert_allclose(scores, some.predict(given), atol=1e-5)


def train_lightgbm(**params: Any) -> Any:
    data = graded()
    given = lgb.Dataset(np.abs(columns(False)).round(), data.binary, free_raw_data=False,
                        categorical_feature=params.pop("categories", []))  # fmt: skip
    common = {"objective": "regression", "verbose": -1, "num_threads": 1, "min_data_per_group": 1}
    return lgb.train({**common, **params}, given, 3)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: train_lightgbm(categories=[1]), "categories"),
        (lambda: train_lightgbm(objective="binary"), "binary.* transforms"),
        (lambda: train_lightgbm(objective="multiclass", num_class=2), "each class"),
        (lambda: train_lightgbm(linear_tree=True), "linear trees"),
        (lambda: train_lightgbm(zero_as_missing=True), "zero_as_missing"),
        (lambda: train_lightgbm(boosting="rf", bagging_freq=1, bagging_fraction=0.5), "forest"),
        (lambda: train_xgboost({"objective": "binary:logistic"}), "binary:logistic transforms"),
        (lambda: train_xgboost({"objective": "multi:softmax", "num_class": 2}), "2 scores"),
        (lambda: train_xgboost({"booster": "gblinear"}), "no trees"),
        (lambda: "a string", "not str"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_no_engine_reads_is_refused(made: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        export_model(made(), "opensearch")


def train_xgboost(params: dict[str, Any]) -> Any:
    data = graded()
    return xgb.train({"nthread": 1, **params}, xgb.DMatrix(data.features, data.binary), 3)


def test_categories_of_xgboost_are_refused() -> None:
    category = np.abs(columns(False)[:, 1:2]).astype(int)
    given = xgb.DMatrix(category, graded().labels, feature_types=["c"], enable_categorical=True)
    booster = xgb.train({"nthread": 1, "max_cat_to_onehot": 1}, given, 3)
    with pytest.raises(ValueError, match="categories"):
        read_forest(booster)


@EACH_FORMAT
@EACH_FRAMEWORK
def test_an_offset_is_added_to_every_score(framework: str, format: Any) -> None:
    booster, rows = model(framework), columns(False)[:20]
    found = ENGINES[format](export_model(booster, format, offset=7.5), NAMES, rows)
    assert min(found) > 0
    assert_allclose(found, scores_of(booster, rows) + 7.5, rtol=2e-5, atol=1e-6)
    with pytest.raises(ValueError, match="offset must be a number"):
        export_model(booster, format, offset=np.nan)


# -- the command line ----------------------------------------------------------------------------


@pytest.mark.parametrize(("format", "suffix"), [("solr", ".txt"), ("opensearch", ".ubj")])
def test_the_command_writes_what_the_function_returns(
    format: Any, suffix: str, tmp_path: Path
) -> None:
    booster = model("lightgbm" if suffix == ".txt" else "xgboost")
    saved = tmp_path / f"model{suffix}"
    booster.save_model(saved)
    names = ",".join(NAMES)
    arguments = ["export", str(saved), "--format", format, "--name", "mine", "--features", names]
    arguments += ["--offset", "2.5"]
    printed = invoke(*arguments)
    expected = export_model(booster, format, name="mine", offset=2.5)
    assert json.loads(printed.stdout) == json.loads(expected)
    written = tmp_path / "out.json"
    invoke(*arguments, "--out", written)
    assert written.read_text() == printed.stdout


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    model("lightgbm").save_model(tmp_path / "model")
    for name, format, message in (
        ("text", "solr", "is not a model"),
        ("nothing", "solr", "No such file"),
        ("model", "lucene", "unknown format 'lucene'"),
    ):
        assert message in invoke("export", tmp_path / name, "--format", format, ends=2).stderr
