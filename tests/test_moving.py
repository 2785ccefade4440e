"""Rows of the page "Moving an existing pipeline" that no other file tests."""

import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_map, lambda_objective
from lambdaplus.data import digits_queries

lgb = pytest.importorskip("lightgbm", minversion="4.1")
xgb = pytest.importorskip("xgboost", minversion="3.0")
pytestmark = pytest.mark.filterwarnings(
    "ignore:The argument 'eval_set' is deprecated", "ignore:.*are not used", "ignore:.*manually"
)

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-to" / "move-a-pipeline.md").read_text()
PART, REST = graded().queries(0, 40), graded().queries(40, 60)
QUIET = {"verbosity": -1, "num_threads": 1, "objective": lambda_map}
ZERO = {"base_score": 0.0, "disable_default_eval_metric": 1, "nthread": 1}
X, Y, SIZES = PART.features, PART.labels, PART.sizes

ROWS: dict[str, dict[str, Callable[[], None]]] = {"LightGBM": {}, "XGBoost": {}}


def row(framework: str, title: str) -> Callable[[Any], Any]:
    """Register the test of a row by the text of its first cell."""

    def register(test: Any) -> Any:
        ROWS[framework][title] = test
        return test

    return register


def rows_of_the_page(framework: str) -> list[str]:
    section = PAGE.split(f"\n## {framework}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| (?!in the pipeline)([^-].*?) \| ", section, re.MULTILINE)


@pytest.mark.parametrize("framework", ["LightGBM", "XGBoost"])
def test_the_rows_are_those_of_the_page(framework: str) -> None:
    assert {*ROWS[framework]} <= {*rows_of_the_page(framework)}


# -- LightGBM ------------------------------------------------------------------------------------


def data(**options: Any) -> Any:
    return lgb.Dataset(X, Y, group=SIZES, free_raw_data=False, **options)


def trained(params: Any = None, given: Any = None, rounds: int = 5, **options: Any) -> Any:
    return lgb.train(
        {**QUIET, **(params or {})}, data() if given is None else given, rounds, **options
    )


def curves_of(params: Any, metric: Any) -> dict[str, list[float]]:
    found: dict[str, Any] = {}
    given = data()
    valid = given.create_valid(REST.features, REST.labels, group=REST.sizes)
    trained(
        params, given, valid_sets=[valid], feval=metric, callbacks=[lgb.record_evaluation(found)]
    )
    return dict(found["valid_0"])


def learns(scores: Any) -> None:
    """Training data are ranked better than by the first feature, the strongest one."""
    by_feature, by_model = (
        lp.evaluate(Y, s, group=SIZES, metrics="map")["map"] for s in (X[:, 0], scores)
    )
    assert by_model > by_feature


@row(
    "LightGBM",
    "categories, weights, monotone constraints, bagging by rows, `dart`, `goss`, `linear_tree`",
)
def _() -> None:
    categories = np.column_stack([X, np.digitize(X[:, 0], [-1, 0, 1])])
    given = lgb.Dataset(
        categories, Y, group=SIZES, weight=PART.row_weights, categorical_feature=[5]
    )
    learns(trained(given=given).predict(categories))
    monotone = trained({"monotone_constraints": [1, 0, 0, 0, 0]})
    rising = np.zeros((50, 5))
    rising[:, 0] = np.linspace(-2, 2, 50)
    assert (np.diff(monotone.predict(rising)) >= 0).all()
    for more in (
        {"bagging_fraction": 0.7, "bagging_freq": 1},
        {"boosting": "dart"},
        {"data_sample_strategy": "goss"},
        {"linear_tree": True},
    ):
        learns(trained(more, data(params=more)).predict(X))


@row("LightGBM", "saving, loading, `pred_contrib`, SHAP")
def _() -> None:
    model = trained()
    text = model.model_to_string()
    assert "\nobjective=" not in text
    assert_array_equal(lgb.Booster(model_str=text).predict(X), model.predict(X))
    shares = model.predict(X, pred_contrib=True)
    assert_allclose(shares.sum(axis=1), model.predict(X), atol=1e-9)


@row("LightGBM", "`init_model=`")
def _() -> None:
    both = trained(rounds=3, init_model=trained(rounds=2))
    assert_allclose(both.predict(X), trained(rounds=5).predict(X), atol=1e-9)
    assert trained(rounds=3, init_model=trained({"objective": "lambdarank"})).num_trees() == 8


@row("LightGBM", "`label_gain`")
def _() -> None:
    gains = {"label_gain": [0, 1, 3, 3], "metric": "ndcg"}
    assert_array_equal(trained(gains).predict(X), trained().predict(X))
    assert curves_of(gains, None) != curves_of({"metric": "ndcg"}, None)
    other = {"objective": lambda_objective("ndcg(gain=0/1/3/3)")}
    assert (trained(other).predict(X) != trained({"objective": lp.lambda_ndcg}).predict(X)).any()


@row("LightGBM", "`position=` of a `Dataset`")
def _() -> None:
    from lambdaplus.objectives.position_bias import PositionBias

    place = np.concatenate([np.arange(size) for size in SIZES])
    with pytest.warns(UserWarning, match="does not use the positions of this data set"):
        ignored = trained(given=data(position=place))
    assert_array_equal(ignored.predict(X), trained().predict(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        used = trained({"objective": PositionBias(lambda_map)}, data(position=place))
    assert (used.predict(X) != ignored.predict(X)).any()


@row("LightGBM", '`boosting="rf"`')
def _() -> None:
    import lambdaplus.lightgbm as own

    forest = {"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1}
    with pytest.raises(lgb.basic.LightGBMError, match="RF mode do not support custom objective"):
        trained(forest)
    with pytest.raises(ValueError, match="num_parallel_tree"):
        own.train({**QUIET, **forest}, data(), 2)
    with pytest.raises(ValueError, match="num_parallel_tree"):
        lp.LightGBMRanker(boosting_type="rf", verbose=-1).fit(X, Y, group=SIZES)


@row("LightGBM", "`Booster.refit`")
def _() -> None:
    with pytest.raises(lgb.basic.LightGBMError, match="null objective function"):
        trained().refit(REST.features, REST.labels, group=REST.sizes)
    rest = lgb.Dataset(REST.features, REST.labels, group=REST.sizes)
    assert trained(given=rest, rounds=2, init_model=trained()).num_trees() == 7


SMALL = {"n_estimators": 5, "n_jobs": 1, "random_state": 0}


@row("LightGBM", "`booster_.save_model` of an estimator")
@row("LightGBM", "SHAP values of a classifier")
def _() -> None:
    y = (Y > 1).astype(int)
    model = lp.LightGBMClassifier(**SMALL, verbose=-1).fit(X, y)
    loaded = lgb.Booster(model_str=model.booster_.model_to_string())
    scores = loaded.predict(X)
    assert_array_equal(scores, model.predict(X, raw_score=True))
    assert_array_equal(model.predict(X), (scores > model.offset_).astype(int))
    shares = model.predict(X, pred_contrib=True)
    assert_allclose(shares.sum(axis=1), model.decision_function(X) + model.offset_, atol=1e-9)
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.predict_proba(X), model.predict_proba(X))


@row("LightGBM", "`LGBMRanker(objective=lambda_map)`")
def _() -> None:
    small = {**SMALL, "verbose": -1}
    ours = lp.LightGBMRanker(objective="map", **small).fit(X, Y, group=SIZES)
    theirs = lgb.LGBMRanker(objective=lambda_map, **small)
    theirs.fit(X, Y, group=SIZES, eval_set=[(X, Y)], eval_group=[SIZES])
    assert_array_equal(theirs.predict(X), ours.predict(X))
    [found] = theirs.evals_result_.values()
    assert "ndcg@1" in found


# -- XGBoost -------------------------------------------------------------------------------------


@row("LightGBM", "Optuna's `LightGBMTuner`")
def _() -> None:
    optuna = pytest.importorskip("optuna")
    tuner = pytest.importorskip("optuna_integration.lightgbm").LightGBMTuner
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    train = lgb.Dataset(X, Y, group=SIZES, free_raw_data=False)
    valid = train.create_valid(REST.features, REST.labels, group=REST.sizes)
    for metric, direction in (("ndcg", "MAXIMIZE"), ("ndcg@10", "MINIMIZE")):
        tuned = tuner(
            {**QUIET, "metric": metric, "eval_at": [10]},
            train,
            num_boost_round=3,
            valid_sets=[valid],
            feval=eval_metric("ndcg@10"),
            show_progress_bar=False,
            time_budget=2,
        )
        assert tuned.study.direction.name == direction


def matrix(kind: str = "DMatrix", **options: Any) -> Any:
    return getattr(xgb, kind)(X, Y, qid=PART.qid, **options)


def boosted(params: Any = None, given: Any = None, rounds: int = 5, **options: Any) -> Any:
    options = {"obj": lambda_map, "verbose_eval": False, **options}
    given = matrix() if given is None else given
    return xgb.train({**ZERO, **(params or {})}, given, rounds, **options)


def margins(model: Any) -> Any:
    return model.predict(matrix(), output_margin=True)


def recorded(params: Any, metric: Any = None, **options: Any) -> dict[str, list[float]]:
    found: dict[str, Any] = {}
    valid = xgb.DMatrix(REST.features, REST.labels, qid=REST.qid)
    options = {"obj": lambda_map, "evals_result": found, "verbose_eval": False, **options}
    xgb.train(
        {"base_score": 0.0, "nthread": 1, **params}, matrix(), 5, custom_metric=metric,
        evals=[(valid, "valid")], **options,
    )  # fmt: skip
    return dict(found["valid"])


@row(
    "XGBoost",
    "saving, loading, `pred_contribs`, SHAP, `xgb_model=`, `dart`, `num_parallel_tree`",
)
def _() -> None:
    model = boosted()
    loaded = xgb.Booster(model_file=model.save_raw("json"))
    assert_array_equal(margins(loaded), margins(model))
    shares = model.predict(matrix(), pred_contribs=True)
    assert_allclose(shares.sum(axis=1), margins(model), atol=1e-5)
    assert_allclose(
        margins(boosted(rounds=3, xgb_model=boosted(rounds=2))), margins(model), atol=1e-6
    )
    learns(margins(boosted({"booster": "dart"})))
    forest = {"num_parallel_tree": 5, "subsample": 0.7, "learning_rate": 1.0}
    learns(margins(boosted(forest, rounds=1)))


@row("XGBoost", '`process_type="update"` with `refresh`')
def _() -> None:
    refresh = {"process_type": "update", "updater": "refresh", "refresh_leaf": True}
    old = boosted()
    rest = xgb.DMatrix(REST.features, REST.labels, qid=REST.qid)
    new = boosted(refresh, rest, xgb_model=old)
    assert (margins(new) != margins(boosted())).any()
    same = boosted(refresh, xgb_model=boosted())
    assert_allclose(margins(same), margins(boosted()), atol=1e-5)


@row("XGBoost", "`base_score`")
def _() -> None:
    moved = xgb.train({"disable_default_eval_metric": 1, "nthread": 1}, matrix(), 5, obj=lambda_map)
    assert_allclose(margins(moved), margins(boosted()) + 0.5, atol=1e-5)


@row("XGBoost", '`"objective": "rank:ndcg"` beside `obj=`')
@row("XGBoost", '`"objective"` removed')
def _() -> None:
    assert list(recorded({"objective": "rank:ndcg"})) == ["ndcg@32"]
    assert list(recorded({})) == ["rmse"]
    off = {"disable_default_eval_metric": 1}
    assert list(recorded(off, eval_metric("map"))) == ["map"]


@row("XGBoost", "labels other than 0 and 1 with `rank:map`")
def _() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="binary"):
        boosted({"objective": "rank:map"}, obj=None)
    from_two = boosted(obj=lambda_objective("map", relevant=2))
    assert (margins(from_two) != margins(boosted())).any()


@row("XGBoost", "`xgb.cv`")
def _() -> None:
    import lambdaplus.xgboost as own

    options = {"nfold": 2, "obj": lambda_map, "custom_metric": eval_metric("map")}
    plain, weighted = matrix(), matrix(weight=PART.query_weights)
    folds = [xgb.cv(ZERO, given, 3, seed=0, **options) for given in (plain, weighted)]
    assert folds[0].equals(folds[1])  # the weights are ignored
    assert not own.cv(ZERO, plain, 3, **options).equals(own.cv(ZERO, weighted, 3, **options))


@pytest.mark.parametrize(
    ("framework", "title"),
    [(framework, title) for framework, rows in ROWS.items() for title in rows],
)
def test_a_row_of_the_page(framework: str, title: str) -> None:
    ROWS[framework][title]()


def test_default_metrics_of_lambdarank_end_a_training_that_has_a_feval() -> None:
    """What README says of a training without ``"metric": "None"``."""
    fold = digits_queries()[0]
    train = lgb.Dataset(fold.train.features, fold.train.labels, group=fold.train.group)
    valid = train.create_valid(fold.valid.features, fold.valid.labels, group=fold.valid.group)
    rounds, metrics = [], []
    for default in ({}, {"metric": "None"}):
        model = lgb.train(
            {"objective": "lambdarank", "verbose": -1, **default}, train,
            valid_sets=[valid], feval=lp.eval_metric("map"),
            callbacks=[lgb.early_stopping(20, verbose=False)],
        )  # fmt: skip
        rounds.append(model.best_iteration)
        metrics.append(list(model.best_score["valid_0"]))
    assert metrics == [["ndcg@1", "ndcg@2", "ndcg@3", "ndcg@4", "ndcg@5", "map"], ["map"]]
    assert rounds[0] < rounds[1]
