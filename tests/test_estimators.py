"""LightGBMRanker and XGBoostRanker as scikit-learn users expect rankers to behave."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import Small, graded

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus import eval_metric, evaluate, lambda_objective, query_folds
from lambdaplus.comparison.registry import find_methods
from lambdaplus.estimators import LightGBMRanker, XGBoostRanker

KINDS = [LightGBMRanker, XGBoostRanker]
both = pytest.mark.parametrize("kind", KINDS)
SMALL: dict[str, Any] = {"n_estimators": 12, "n_jobs": 1, "random_state": 0}


def split() -> tuple[Small, Small]:
    return graded().queries(0, 40), graded().queries(40, 60)


def fitted(kind: Any, *, data: Small | None = None, fit: Any = None, **options: Any) -> Any:
    data = graded() if data is None else data
    model = kind(**{**SMALL, **options})
    return model.fit(data.features, data.labels, qid=data.qid, **(fit or {}))


# -- scikit-learn's own checks -------------------------------------------------------------------


EXCEPTED = {
    "check_do_not_raise_errors_in_init_or_set_params": (
        "passes kwargs=..., which is no parameter of the framework: unknown names are refused at "
        "once, as Python refuses unknown arguments"
    ),
    "check_sample_weight_equivalence_on_dense_data": (
        "weights of a query's documents scale gradients; they are not copies of rows"
    ),
    "check_sample_weight_equivalence_on_sparse_data": "likewise",
}


def checked(kind: Any, **options: Any) -> Any:
    # The checks know no queries and have labels of all kinds; concordance takes any numbers.
    return kind(
        objective=lambda_objective("concordance", one_group=True), n_estimators=2, n_jobs=1,
        **options,
    )  # fmt: skip


@pytest.mark.slow
@parametrize_with_checks(
    [checked(LightGBMRanker, min_child_samples=1), checked(XGBoostRanker)],
    expected_failed_checks=lambda estimator: EXCEPTED,
)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


# -- what is trained -----------------------------------------------------------------------------


def test_lightgbm_gives_the_model_of_plain_training() -> None:
    data = graded()
    model = fitted(LightGBMRanker, objective="map@5", num_leaves=7, reg_alpha=0.1)
    given = lgb.Dataset(data.features, data.labels, group=data.sizes)
    params = {"num_leaves": 7, "lambda_l1": 0.1, "seed": 0, "verbosity": -1, "num_threads": 1}
    booster = lgb.train(params, given, 12, fobj=lambda_objective("map@5"))
    assert_array_equal(model.predict(data.features), booster.predict(data.features))


def test_xgboost_gives_the_model_of_plain_training() -> None:
    data = graded()
    model = fitted(XGBoostRanker, objective="map@5", max_depth=3, reg_alpha=0.1)
    given = xgb.DMatrix(data.features, data.labels, group=data.sizes)
    params = {"max_depth": 3, "alpha": 0.1, "seed": 0, "nthread": 1}
    booster = xgb.train(params, given, 12, obj=lambda_objective("map@5"))
    assert_array_equal(model.predict(data.features), booster.predict(given))


@pytest.mark.parametrize(
    ("kind", "objective", "metric"),
    [
        (LightGBMRanker, "lambdarank", "ndcg@10"),
        (LightGBMRanker, "rank_xendcg", "ndcg@10"),
        (XGBoostRanker, "rank:ndcg", "ndcg@10"),
        (XGBoostRanker, "rank:pairwise", "ndcg@10"),
    ],
)
def test_native_objectives_are_judged_by_their_metric(
    kind: Any, objective: str, metric: str
) -> None:
    train, valid = split()
    held_out = {"eval_set": (valid.features, valid.labels, valid.qid)}
    model = fitted(kind, data=train, objective=objective, fit=held_out)
    assert list(model.evals_result_["valid_0"]) == [metric]
    found = evaluate(valid.labels, model.predict(valid.features), qid=valid.qid, metrics=metric)
    score = model.score(valid.features, valid.labels, qid=valid.qid)
    assert score == pytest.approx(found[metric])
    assert score > 0.85


def test_xgboosts_map_learns_from_relevant_or_not_and_is_judged_by_all_grades() -> None:
    data = graded()
    binary = replace(data, labels=(data.labels >= 1).astype(float))
    held_out = {"eval_set": (data.features, data.labels, data.qid)}
    options = {"objective": "rank:map", "eval_metric": "ndcg", "early_stopping_rounds": None}
    models = [fitted(XGBoostRanker, data=d, fit=held_out, **options) for d in (data, binary)]
    scores = [model.predict(data.features) for model in models]
    assert_array_equal(*scores)
    found = evaluate(data.labels, scores[0], qid=data.qid, metrics="ndcg")
    assert models[0].evals_result_["valid_0"]["ndcg"][-1] == pytest.approx(found["ndcg"], abs=1e-6)


@both
def test_objectives_and_metrics_come_in_every_form(kind: Any) -> None:
    data = graded()
    by_name, made = (fitted(kind, objective=o) for o in ("mrr", lambda_objective("mrr")))
    assert_array_equal(by_name.predict(data.features), made.predict(data.features))
    result = evaluate(
        data.labels, made.predict(data.features), qid=data.qid, metrics=["mrr", "map", "auc"]
    )
    for metric, value in (
        (None, result["mrr"]), ("map", result["map"]), (["auc", "map"], result["auc"]),
        (eval_metric("map"), result["map"]),
    ):  # fmt: skip
        made.set_params(eval_metric=metric)
        assert made.score(data.features, data.labels, qid=data.qid) == pytest.approx(value)


@both
@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("ndgc", "did you mean 'ndcg'"),
        ("rank:foo", "is not a metric name.*or one of"),
        ("p", "@10"),
    ],
)
def test_an_unknown_objective_raises(kind: Any, objective: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(kind, objective=objective)


# -- early stopping ------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("metric", ["ndcg", "mrr"])
def test_it_stops_on_the_objectives_metric_and_predicts_by_the_best_round(
    kind: Any, metric: str
) -> None:
    train, valid = split()
    held_out = {"eval_set": (valid.features, valid.labels, valid.qid)}
    options = {"objective": metric, "n_estimators": 80, "learning_rate": 0.3}
    model = fitted(kind, data=train, fit=held_out, early_stopping_rounds=5, **options)
    curve = model.evals_result_["valid_0"][metric]
    assert model.best_iteration_ == int(np.argmax(curve)) + 1 == len(curve) - 5 < 75
    score = model.score(valid.features, valid.labels, qid=valid.qid)
    assert score == pytest.approx(max(curve), abs=2e-6)
    exactly = fitted(kind, data=train, **{**options, "n_estimators": model.best_iteration_})
    assert_allclose(
        model.predict(valid.features), exactly.predict(valid.features), rtol=1e-6, atol=1e-7
    )
    assert_allclose(model.feature_importances_, exactly.feature_importances_, rtol=1e-5)
    whole = fitted(kind, data=train, fit=held_out, early_stopping_rounds=None, **options)
    assert whole.best_iteration_ == 80 == len(whole.evals_result_["valid_0"][metric])


@both
def test_the_last_set_and_the_first_metric_end_the_training(kind: Any) -> None:
    train, valid = split()
    sets = [(train.features, train.labels), (valid.features, valid.labels)]
    model = fitted(
        kind, data=train, n_estimators=80, eval_metric=["map", "mrr"], early_stopping_rounds=6,
        learning_rate=0.3, fit={"eval_set": sets, "eval_qid": [train.qid, valid.qid]},
    )  # fmt: skip
    assert list(model.evals_result_) == ["valid_0", "valid_1"]
    assert list(model.evals_result_["valid_0"]) == ["map", "mrr"]
    curve = model.evals_result_["valid_1"]["map"]
    assert len(curve) - 7 == np.argmax(curve)
    assert model.best_iteration_ == np.argmax(curve) + 1


@both
def test_dart_does_not_stop(kind: Any) -> None:
    train, valid = split()
    name = {"boosting_type" if kind is LightGBMRanker else "booster": "dart"}
    held_out = {"eval_set": (valid.features, valid.labels, valid.qid)}
    model = fitted(kind, data=train, n_estimators=40, early_stopping_rounds=1, fit=held_out, **name)
    assert model.best_iteration_ == 40 == len(model.evals_result_["valid_0"]["ndcg"])


@both
def test_evaluation_sets_come_in_every_form(kind: Any) -> None:
    train, valid = split()
    X, y, qid = valid.features, valid.labels, valid.qid
    forms: list[dict[str, Any]] = [
        {"eval_set": (X, y, qid)},
        {"eval_set": (X, y), "eval_qid": qid},
        {"eval_set": [(X, y, qid)]},
        {"eval_set": [(X, y)], "eval_qid": [qid]},
        {"eval_set": [(X, y)], "eval_group": [valid.sizes]},
        {"eval_set": (X, y), "eval_group": valid.sizes.tolist()},
        {"eval_set": (X, y, qid), "eval_sample_weight": np.ones(valid.n)},
    ]
    curves = [fitted(kind, data=train, fit=form).evals_result_ for form in forms]
    assert all(curve == curves[0] for curve in curves)
    weights = np.repeat(valid.query_weights, valid.sizes)
    weighted = fitted(kind, data=train, fit={**forms[0], "eval_sample_weight": weights})
    assert weighted.evals_result_ != curves[0]


@both
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eval_set": None, "eval_qid": [1]}, "eval_qid was passed without eval_set"),
        ({"eval_set": 3}, r"evaluation set 0 is not \(X, y\)"),
        ({"eval_set": [([1], [2], [3], [4])]}, r"evaluation set 0 is not \(X, y\)"),
        ({"eval_set": [([[1.0] * 5] * 2, [0, 1])]}, r"valid_0 \(eval_set\) has no queries"),
        (
            {"eval_set": [([[1.0] * 5] * 2, [0, 1])], "eval_qid": [[1, 1], [2]]},
            "one entry for each",
        ),
        ({"eval_set": [([[1.0] * 5] * 2, [0, 1], [1])]}, "qid must have one entry per row"),
        ({"eval_set": ([[1.0] * 5] * 2, [0, 1], [1, 1]), "eval_qid": [1, 1]}, "its qid twice"),
        ({"eval_set": ([[1.0] * 5] * 2, [0, 0], [1, 1])}, "valid_0: ndcg has no value on any"),
        ({"eval_set": ([[1.0] * 4] * 2, [0, 1], [1, 1])}, "4 features"),
    ],
)
def test_unusable_evaluation_sets_raise(kind: Any, change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(kind, fit=change)


# -- queries -------------------------------------------------------------------------------------


@both
def test_the_rows_of_a_query_may_stand_anywhere(kind: Any) -> None:
    data = graded()
    order = np.random.default_rng(0).permutation(data.n)
    # Queries are put in the order they appear in, so let that be the same.
    order = order[np.argsort(data.qid[order] == 0, kind="stable")]
    names = np.array([f"query {q}" for q in data.qid])
    model = fitted(kind)
    weights = np.repeat(data.query_weights, data.sizes)
    moved = kind(**SMALL).fit(data.features[order], data.labels[order], qid=names[order])
    assert moved.score(data.features, data.labels, qid=data.qid) == pytest.approx(
        model.score(data.features, data.labels, qid=data.qid), abs=0.01
    )
    assert_array_equal(model.predict(data.features[order]), model.predict(data.features)[order])
    X, y, qid = data.features[order], data.labels[order], names[order]
    assert model.score(X, y, qid=qid) == pytest.approx(
        model.score(data.features, data.labels, qid=data.qid)
    )
    assert model.score(X, y, qid=qid, sample_weight=weights[order]) == pytest.approx(
        model.score(data.features, data.labels, qid=data.qid, sample_weight=weights)
    )


@both
def test_interleaved_queries_train_the_same_model(kind: Any) -> None:
    data = graded()
    order = np.lexsort([data.qid, np.arange(data.n) - np.repeat(_starts(data), data.sizes)])
    assert (np.diff(data.qid[order]) < 0).any()
    weights = np.repeat(data.query_weights, data.sizes)
    model = fitted(kind, fit={"sample_weight": weights})
    moved = kind(**SMALL).fit(
        data.features[order], data.labels[order], qid=data.qid[order], sample_weight=weights[order]
    )
    by_group = kind(**SMALL).fit(
        data.features, data.labels, group=data.sizes, sample_weight=weights
    )
    for other in (moved, by_group):
        assert_array_equal(other.predict(data.features), model.predict(data.features))
    plain = fitted(kind)
    assert np.abs(plain.predict(data.features) - model.predict(data.features)).max() > 0.01


def _starts(data: Small) -> Any:
    return np.cumsum(data.sizes) - data.sizes


@both
def test_a_missing_qid_raises_unless_the_data_is_one_ranking(kind: Any) -> None:
    data = graded()
    for objective in ("ndcg", "mrr", "map+mrr"):
        with pytest.raises(ValueError, match=r"training data: .* has no queries: set group= \(or"):
            kind(objective=objective, **SMALL).fit(data.features, data.labels)
    with pytest.raises(ValueError, match="has no queries"):
        kind(objective=next(iter(kind._native)), **SMALL).fit(data.features, data.labels)
    for objective in ("auc", "map", lambda_objective("ndcg", one_group=True)):
        model = kind(objective=objective, **SMALL).fit(
            data.features, data.labels, sample_weight=data.row_weights
        )
        assert model.score(data.features, data.labels) > 0.8
    with pytest.raises(ValueError, match=r"fitted with queries, and score\(\) got none"):
        fitted(kind).score(data.features, data.labels)


@both
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qid": [1, 2]}, r"qid must have one entry per row: shape \(2,\) for"),
        ({"qid": None, "group": [3, 4]}, "group sizes add up to 7, but there are"),
        ({"group": [3, 4]}, "not both"),
        ({"sample_weight": [1.0]}, "1 weights for"),
    ],
)
def test_queries_that_do_not_fit_the_rows_raise(kind: Any, change: Any, message: str) -> None:
    data = graded()
    model, given = kind(**SMALL), {"qid": data.qid, **change}
    with pytest.raises(ValueError, match=message):
        model.fit(data.features, data.labels, **given)
    with pytest.raises(ValueError, match=message):
        fitted(kind).score(data.features, data.labels, **given)


@both
def test_queries_of_one_document_and_irrelevant_ones_change_nothing(kind: Any) -> None:
    data = graded()
    levels = np.round(data.features)  # few values, which are the same bins however often they occur
    X = np.vstack([levels, levels[:7]])
    y = np.append(data.labels, [1, 0, 3, 0, 0, 0, 0])
    qid = np.append(data.qid, [90, 91, 92, 93, 93, 93, 93])
    options = {**SMALL, **({"min_child_samples": 0} if kind is LightGBMRanker else {})}
    model = kind(**options).fit(X, y, qid=qid)
    plain = kind(**options).fit(levels, data.labels, qid=data.qid)
    assert_allclose(model.predict(levels), plain.predict(levels), rtol=1e-4, atol=1e-6)
    relevant = evaluate(y, model.predict(X), qid=qid, metrics="ndcg")
    assert model.score(X, y, qid=qid) == pytest.approx(relevant["ndcg"])


@both
def test_data_without_anything_to_tell_apart_raises(kind: Any) -> None:
    data = graded()
    with pytest.raises(ValueError, match="training data: ndcg has no value on any query"):
        kind(**SMALL).fit(data.features, np.zeros(data.n), qid=data.qid)


@both
def test_labels_that_training_did_not_have_are_no_error(kind: Any) -> None:
    data = graded()
    model = kind(**SMALL).fit(data.features, data.binary, qid=data.qid)
    new = np.where(data.labels > 2, 40.0, data.labels / 2)
    found = evaluate(new, model.predict(data.features), qid=data.qid, metrics="ndcg")
    assert model.score(data.features, new, qid=data.qid) == pytest.approx(found["ndcg"])
    beyond = kind(**SMALL).fit(data.features, new, qid=data.qid)  # natively at most 31
    assert beyond.score(data.features, new, qid=data.qid) > 0.9


# -- unusable input ------------------------------------------------------------------------------


@both
def test_missing_features_are_fine_and_missing_labels_are_not(kind: Any) -> None:
    data = graded()
    X = data.features.copy()
    X[::7, 0] = np.nan
    model = kind(**SMALL).fit(X, data.labels, qid=data.qid)
    assert np.isfinite(model.predict(X)).all()
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X)
    y = data.labels.copy()
    y[3] = np.nan
    for act in (model.score, model.fit):
        with pytest.raises(ValueError, match="NaN"):
            act(data.features, y, qid=data.qid)


@both
def test_before_fitting_and_with_other_features_it_raises(kind: Any) -> None:
    data = graded()
    model = kind()
    for act in (
        lambda: model.predict(data.features),
        lambda: model.score(data.features, data.labels, qid=data.qid),
        lambda: model.feature_importances_,
    ):
        with pytest.raises(NotFittedError):
            act()
    ready = fitted(kind)
    with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5 features"):
        ready.predict(data.features[:, :4])


def test_xgboost_wants_one_weight_for_each_query() -> None:
    data = graded()
    with pytest.raises(ValueError, match=r"one weight for each query.*or use LightGBMRanker"):
        fitted(XGBoostRanker, fit={"sample_weight": data.row_weights})
    plain = fitted(LightGBMRanker)
    weighted = fitted(LightGBMRanker, fit={"sample_weight": data.row_weights})
    assert np.abs(plain.predict(data.features) - weighted.predict(data.features)).max() > 0.01


# -- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (LightGBMRanker, "num_leafs", "unexpected keyword argument 'num_leafs'.*'num_leaves'"),
        (XGBoostRanker, "max_dept", "unexpected keyword argument 'max_dept'.*'max_depth'"),
        (LightGBMRanker, "lambda_l1", "takes 'lambda_l1' under the name 'reg_alpha'"),
        (LightGBMRanker, "num_iterations", "under the name 'n_estimators'"),
        (LightGBMRanker, "metric", "under the name 'eval_metric'"),
        (LightGBMRanker, "seed", "under the name 'random_state'"),
        (XGBoostRanker, "eta", "under the name 'learning_rate'"),
        (XGBoostRanker, "num_target", "unexpected keyword argument"),
        (XGBoostRanker, "num_leaves", "unexpected keyword argument"),
    ],
)
def test_unknown_parameters_are_refused(kind: Any, name: str, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        kind(**{name: 1})
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}'.*{message}"):
        kind().set_params(**{name: 1})


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (LightGBMRanker, {"max_bin": 7, "extra_trees": True, "feature_fraction_bynode": 0.5}),
        (XGBoostRanker, {"max_bin": 7, "colsample_bylevel": 0.5, "num_parallel_tree": 2}),
    ],
)
def test_the_frameworks_other_parameters_are_taken_and_kept(kind: Any, more: Any) -> None:
    data = graded()
    model = fitted(kind, **more)
    assert {name: model.get_params()[name] for name in more} == more
    copies = [clone(model), eval(repr(model)), pickle.loads(pickle.dumps(kind(**SMALL, **more)))]
    copies.append(kind(**SMALL).set_params(**more))
    expected = model.predict(data.features)
    for mine in copies:
        assert mine.get_params() == model.get_params()
        mine.fit(data.features, data.labels, qid=data.qid)
        assert_array_equal(mine.predict(data.features), expected)
    plain = kind(**SMALL)
    assert "max_bin" not in plain.get_params()
    assert np.abs(fitted(kind).predict(data.features) - expected).max() > 0.01
    clone(model).set_params(max_bin=9)
    assert model.get_params()["max_bin"] == 7


def test_parameters_reach_xgboost_without_its_saying_that_they_are_not_used(capfd: Any) -> None:
    fitted(XGBoostRanker, max_bin=7, verbosity=1, tree_method="hist", reg_lambda=2.0)
    assert "not used" not in "".join(capfd.readouterr())


@both
def test_subsampling_and_seeds_have_an_effect(kind: Any) -> None:
    data = graded()

    def scores(seed: Any) -> Any:
        return fitted(kind, subsample=0.5, random_state=seed).predict(data.features)

    assert_array_equal(scores(1), scores(1))
    assert_array_equal(scores(np.random.RandomState(1)), scores(np.random.RandomState(1)))
    assert np.abs(scores(1) - scores(2)).max() > 0.01


# -- kinds of data -------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_data_frames_have_names_and_categories(kind: Any, library: Any) -> None:
    data = graded()
    columns = {f"f{i + 1}": data.features[:, i] for i in range(5)}
    frame = library.DataFrame(columns)
    series = library.Series(data.labels), library.Series(data.qid)
    model = kind(**SMALL).fit(frame, series[0], qid=series[1])
    assert_array_equal(model.predict(frame), fitted(kind).predict(data.features))
    assert model.feature_names_in_.tolist() == list(columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list(columns)[::-1]])

    # A category that no threshold tells apart: relevant where it is "b" or "d".
    words = np.array(list("abcde"))[np.random.default_rng(0).integers(0, 5, data.n)]
    labels = np.isin(words, ["b", "d"]).astype(int)
    kindly = "category" if library is pd else pl.Categorical
    column = library.Series(words.tolist(), dtype=kindly)
    columns["word"] = column
    with_words = library.DataFrame({"f1": data.features[:, 0], "word": column})
    stumps = {"max_depth": 1, "n_estimators": 6, "learning_rate": 0.5}
    if kind is LightGBMRanker:
        stumps |= {"min_data_per_group": 1, "cat_smooth": 1}
    order = np.random.default_rng(1).permutation(data.n)
    moved = with_words.iloc[order] if library is pd else with_words[order]
    model = kind(**{**SMALL, **stumps, "objective": "auc"})
    model.fit(moved, labels[order], qid=data.qid[order])
    assert model.score(with_words, labels, qid=data.qid) == pytest.approx(1.0)
    assert model.feature_importances_[1] > 0.9
    part = with_words[:50] if library is pl else with_words.iloc[:50]
    assert_array_equal(model.predict(part), model.predict(with_words)[:50])


@both
def test_sparse_data(kind: Any) -> None:
    data = graded()
    dense = np.where(np.abs(data.features) > 0.7, data.features, 0.0)
    model = kind(**SMALL).fit(csr_matrix(dense), data.labels, qid=data.qid)
    expected = dense if kind is LightGBMRanker else np.where(dense == 0, np.nan, dense)
    same = kind(**SMALL).fit(expected, data.labels, qid=data.qid)
    assert_allclose(model.predict(csr_matrix(dense)), same.predict(expected), rtol=1e-6, atol=1e-7)
    assert_array_equal(model.predict(csr_matrix(dense)), model.predict(csr_matrix(dense).tocsc()))


# -- copies, importances, the model inside -------------------------------------------------------


@both
def test_copies_predict_the_same(kind: Any, tmp_path: Path) -> None:
    data = graded()
    model = fitted(kind, objective="ndcg@10+0.5*mrr", eval_metric=eval_metric("map"))
    joblib.dump(model, tmp_path / "model")
    for mine in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert mine.get_params() == model.get_params()
        assert_array_equal(mine.predict(data.features), model.predict(data.features))
    assert not hasattr(clone(model), "booster_")


@both
def test_importances_are_shares_of_gain(kind: Any) -> None:
    found = fitted(kind, n_estimators=30).feature_importances_
    assert found.sum() == pytest.approx(1)
    assert set(np.argsort(found)[-3:]) == {0, 1, 2}  # the features that the labels come from


def test_the_saved_model_of_xgboost_is_a_rankers(tmp_path: Path) -> None:
    data = graded()
    model = fitted(XGBoostRanker, objective="mrr")
    path = str(tmp_path / "model.json")
    model.booster_.save_model(path)
    loaded = xgb.XGBRanker()
    loaded.load_model(path)
    assert loaded.objective == "rank:ndcg"
    assert_allclose(loaded.predict(data.features), model.predict(data.features), rtol=1e-6)


# -- searches ------------------------------------------------------------------------------------


@pytest.fixture
def routing() -> Any:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_a_search_over_both_passes_queries_on(routing: Any) -> None:
    reason = "before 1.8 scikit-learn routes nothing to the score of a pipeline"
    pytest.importorskip("sklearn", minversion="1.8", reason=reason)
    data = graded()
    grid = [
        {"ranker": [LightGBMRanker(**SMALL)], "ranker__num_leaves": [4], "ranker__max_bin": [15]},
        {"ranker": [XGBoostRanker(**SMALL)], "ranker__max_depth": [1, 3]},
    ]
    search = GridSearchCV(
        Pipeline([("ranker", LightGBMRanker())]), grid, cv=GroupKFold(3), error_score="raise"
    )
    search.fit(data.features, data.labels, qid=data.qid, groups=data.qid)
    # The first point's folds, fitted by hand.
    values = []
    for train, test in GroupKFold(3).split(data.features, groups=data.qid):
        model = LightGBMRanker(num_leaves=4, max_bin=15, **SMALL)
        model.fit(data.features[train], data.labels[train], qid=data.qid[train])
        values.append(model.score(data.features[test], data.labels[test], qid=data.qid[test]))
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(values))
    assert search.score(data.features, data.labels, qid=data.qid) > 0.9


@both
def test_cross_validation_with_weights(kind: Any, routing: Any) -> None:
    data = graded()
    weights = np.repeat(data.query_weights, data.sizes)
    model = kind(**SMALL).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    folds = query_folds(qid=data.qid, n_splits=3)
    found = cross_val_score(
        model, data.features, data.labels, cv=folds,
        params={"qid": data.qid, "sample_weight": weights}, error_score="raise",
    )  # fmt: skip
    train, test = folds[0]
    model.fit(
        data.features[train], data.labels[train], qid=data.qid[train], sample_weight=weights[train]
    )
    expected = model.score(
        data.features[test], data.labels[test], qid=data.qid[test], sample_weight=weights[test]
    )
    assert found[0] == pytest.approx(expected)
    assert len(found) == 3


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_library_loads_neither_scikit_learn_nor_frameworks_until_asked() -> None:
    code = (
        "import sys, lambdaplus as lp\n"
        "heavy = {'sklearn', 'lightgbm', 'xgboost', 'pandas'}\n"
        "assert not heavy & set(sys.modules)\n"
        "lp.XGBoostRanker()\n"
        "assert not heavy - {'sklearn'} & set(sys.modules) - {'pandas'}\n"
        "assert 'LightGBMRanker' in lp.__all__\n"
        "from lambdaplus import LightGBMRanker\n"
        "assert LightGBMRanker.__module__ == 'lambdaplus.estimators.lightgbm'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="no attribute 'CatBoostRanker'"):
        _ = lp.CatBoostRanker


@pytest.mark.slow
def test_a_framework_that_is_not_installed_is_named() -> None:
    code = (
        "import sys; sys.modules['lightgbm'] = sys.modules['xgboost'] = None\n"
        "from lambdaplus import LightGBMRanker, XGBoostRanker\n"
        "for kind in (LightGBMRanker, XGBoostRanker):\n"
        "    model = kind(objective='auc')\n"
        "    for act in (lambda: model.fit([[1.0], [2.0]], [0, 1]), lambda: kind(max_bin=9)):\n"
        "        try:\n"
        "            act()\n"
        "        except ImportError as error:\n"
        "            print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in ("lightgbm", "xgboost"):
        assert done.stdout.count(f"pip install 'lambdaplus[{name}]'") == 2


@both
def test_comparisons_may_name_them(kind: Any) -> None:
    from lambdaplus.comparison.methods import Settings
    from lambdaplus.datasets import RankingData

    parts = [RankingData(part.features, part.labels, part.qid) for part in split()]
    [method] = find_methods(f"lambdaplus.estimators:{kind.__name__}")
    found = method.fit({}, parts[0], parts[1], Settings(threads=1), seed=3)
    scores = found.predict(parts[1])
    assert evaluate(parts[1].labels, scores, qid=parts[1].qid, metrics="ndcg@10")["ndcg@10"] > 0.8
    assert 1 <= found.rounds <= 100
    assert len(found.curve) >= found.rounds
