"""What stands around an objective in XGBoost: metrics, our module, folds, estimators."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from small_data import Recorder, graded, value
from xgboost_training import ONE_THREAD, SILENT, matrix, predict, train, xgb

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_objective

lxgb = pytest.importorskip("lambdaplus.xgboost")

ESTIMATOR: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1}


# -- metrics as custom_metric --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "names"),
    [
        (lp.eval_map, ["map"]),
        (eval_metric("map", "ndcg@10", "mauc"), ["map", "ndcg@10", "mauc"]),
        (
            eval_metric("ndcg@3", "map", gain="linear", relevant=2),
            ["ndcg(gain=linear)@3", "map(relevant=2)"],
        ),
    ],
    ids=["one", "several", "with options"],
)
def test_custom_metric_reports_what_evaluate_says(metric: Any, names: list[str]) -> None:
    data, record = graded(), dict[str, Any]()
    first, rest = data.queries(0, 40), data.queries(40, 60)
    given = matrix(first)
    booster = train(
        lp.lambda_ndcg,
        given,
        5,
        params=SILENT,
        custom_metric=metric,
        evals=[(given, "train"), (matrix(rest), "rest")],
        evals_result=record,
    )
    for name, part in (("train", first), ("rest", rest)):
        assert list(record[name]) == names
        for each, values in record[name].items():
            expected = [
                value(each, part, predict(booster, part, rounds + 1)) for rounds in range(5)
            ]
            assert_allclose(values, expected, atol=2e-6)  # XGBoost prints six digits


def test_a_validation_set_without_anything_relevant_is_an_error() -> None:
    data = graded()
    nothing = matrix(data, label=np.zeros(data.n))
    with pytest.raises(ValueError, match="ndcg has no value on any query"):
        train(lp.lambda_ndcg, matrix(data), custom_metric=lp.eval_ndcg, evals=[(nothing, "none")])


def stop_early(module: Any, metric: str, **options: Any) -> tuple[Any, list[float]]:
    data, record = graded(), dict[str, Any]()
    first, rest = data.queries(0, 30), data.queries(30, 60)
    booster = module.train(
        SILENT, matrix(first), 60, obj=lambda_objective(metric), verbose_eval=False,
        custom_metric=eval_metric(metric), evals=[(matrix(rest), "rest")], evals_result=record,
        **options,
    )  # fmt: skip
    return booster, record["rest"][metric]


@pytest.mark.parametrize("metric", ["mrr", "mauc", "hand_till"])
def test_plain_early_stopping_minimises_metrics_that_xgboost_does_not_know(metric: str) -> None:
    # The trap that lambdaplus.xgboost.train is there for.
    booster, curve = stop_early(xgb, metric, early_stopping_rounds=4)
    assert booster.best_iteration == np.argmin(curve)
    assert max(curve) > curve[booster.best_iteration]
    told, curve = stop_early(xgb, metric, early_stopping_rounds=4, maximize=True)
    assert told.best_iteration == np.argmax(curve)


@pytest.mark.parametrize("metric", ["map", "ndcg", "mauc"])  # one that XGBoost does not know
def test_our_early_stopping_maximises(metric: str) -> None:
    booster, curve = stop_early(lxgb, metric, early_stopping_rounds=4)
    assert booster.best_iteration == np.argmax(curve)
    assert len(curve) == booster.best_iteration + 5 < 60
    assert booster.best_score == max(curve) > curve[0]


@pytest.mark.parametrize("metric", ["auc", "map", "ndcg"])
def test_plain_early_stopping_maximises_these(metric: str) -> None:
    booster, curve = stop_early(xgb, metric, early_stopping_rounds=4)
    assert booster.best_iteration == np.argmax(curve)


def test_our_early_stopping_does_as_it_is_told() -> None:
    booster, curve = stop_early(lxgb, "mrr", early_stopping_rounds=4, maximize=False)
    assert booster.best_iteration == np.argmin(curve)


def test_our_early_stopping_maximises_as_a_callback_too() -> None:
    booster, curve = stop_early(lxgb, "mauc", callbacks=[xgb.callback.EarlyStopping(rounds=4)])
    assert booster.best_iteration == np.argmax(curve)


def test_our_early_stopping_leaves_callbacks_for_other_metrics_alone() -> None:
    data, record = graded(), dict[str, Any]()
    given = matrix(data)

    def squares(scores: Any, given: Any) -> Any:
        return scores - given.get_label(), np.ones(scores.size)

    stop = xgb.callback.EarlyStopping(rounds=3, metric_name="rmse")
    booster = lxgb.train(
        {**ONE_THREAD, "eval_metric": "rmse"}, given, 10, obj=squares, verbose_eval=False,
        custom_metric=lp.eval_ndcg, evals=[(given, "train")], evals_result=record,
        callbacks=[stop],
    )  # fmt: skip
    curve = record["train"]["rmse"]
    assert curve[-1] < curve[0]
    assert booster.best_iteration == np.argmin(curve)


def test_our_early_stopping_keeps_its_hands_off_the_callback_it_is_given() -> None:
    stop = xgb.callback.EarlyStopping(rounds=4)
    stop_early(lxgb, "mauc", callbacks=[stop])
    assert stop.maximize is None


# -- lambdaplus.xgboost --------------------------------------------------------------------------


def test_our_train_is_xgboosts() -> None:
    data = graded()
    params = {**ONE_THREAD, "max_depth": 3}
    before = dict(params)
    ours = lxgb.train(params, matrix(data), 8, obj=lp.lambda_map)
    plain = train(lp.lambda_map, matrix(data), params={"max_depth": 3, "base_score": 0.0})
    assert params == before
    assert_array_equal(predict(ours, data), predict(plain, data))
    native = lxgb.train({**ONE_THREAD, "objective": "rank:ndcg"}, matrix(data), 8)
    expected = train(None, matrix(data), params={"objective": "rank:ndcg"})
    assert_array_equal(predict(native, data), predict(expected, data))


@pytest.mark.parametrize("names", [["a-b"], ["a b"], ["a:b"], ["a\tb"], [3], ["same", "same"]])
def test_evaluation_sets_whose_names_xgboost_misreads_are_refused(names: list[Any]) -> None:
    data = matrix(graded())
    with pytest.raises(ValueError, match="evaluation sets need different names without spaces"):
        lxgb.train(SILENT, data, 2, evals=[(data, name) for name in names])


def test_our_train_prints_no_default_metric_unless_asked() -> None:
    data = graded()

    def reported(**params: Any) -> list[str]:
        record: dict[str, Any] = {}
        given = matrix(data)
        lxgb.train(
            {**ONE_THREAD, **params}, given, 2, obj=lp.lambda_ndcg, custom_metric=lp.eval_map,
            evals=[(given, "train")], evals_result=record, verbose_eval=False,
        )  # fmt: skip
        return list(record["train"])

    assert reported() == ["map"]
    assert reported(eval_metric="ndcg@5") == ["ndcg@5", "map"]
    assert reported(disable_default_eval_metric=0) == ["rmse", "map"]


def test_our_module_is_xgboost_otherwise() -> None:
    for name in ("DMatrix", "QuantileDMatrix", "Booster", "XGBRegressor", "callback"):
        assert getattr(lxgb, name) is getattr(xgb, name)
    assert lxgb.__version__ == xgb.__version__
    assert lxgb.train is not xgb.train
    assert lxgb.cv is not xgb.cv
    with pytest.raises(AttributeError, match="no_such_thing"):
        lxgb.no_such_thing  # noqa: B018


WEIGHTED = """
import numpy as np, xgboost
def objective(scores, data):
    return np.zeros(4) + [-1, 1, -1, 1], np.ones(4)
data = xgboost.DMatrix(np.eye(4), [1, 0, 1, 0], qid=[0, 0, 1, 1], weight=[1, 2])
xgboost.train({}, data, 1, obj=objective, evals=[(data, "train")])
"""


@pytest.mark.slow
def test_plain_training_with_query_weights_dies_of_its_default_metric() -> None:
    # The trap that lambdaplus.xgboost.train is there for: rmse wants a weight for every row, and
    # XGBoost 3.2 ends the process where it finds two for four.
    pytest.importorskip("xgboost", minversion="3.0")  # 2.1 never comes back
    ended = subprocess.run([sys.executable, "-c", WEIGHTED], capture_output=True, timeout=60)
    assert ended.returncode != 0


def test_training_with_query_weights_by_ours_or_with_a_named_metric() -> None:
    data = graded()
    given = matrix(data, weight=data.query_weights)
    options = {"evals": [(given, "train")], "custom_metric": lp.eval_ndcg, "verbose_eval": False}
    record: dict[str, Any] = {}
    lxgb.train(ONE_THREAD, given, 8, obj=lp.lambda_ndcg, evals_result=record, **options)
    named = {**ONE_THREAD, "objective": "rank:ndcg"}
    xgb.train(named, given, 8, obj=lp.lambda_ndcg, **options)
    assert record["train"]["ndcg"][-1] > 0.9


# -- cross-validation ----------------------------------------------------------------------------


def test_cv_keeps_queries_whole() -> None:
    data = graded()
    # The label contains the number of the query, which identifies the rows of a fold.
    labels = data.labels + 4 * data.qid

    def objective(scores: Any, given: Any) -> Any:
        sizes = np.diff(given.get_uint_info("group_ptr"))
        return lp.lambda_ndcg(given.get_label() % 4, scores, None, sizes)

    def queries(scores: Any, given: Any) -> Any:
        sizes = np.diff(given.get_uint_info("group_ptr"))
        qid = given.get_label().astype(int) // 4
        assert_array_equal(qid, np.repeat(qid[np.cumsum(sizes) - 1], sizes))
        return qid

    recorder = Recorder(objective, queries)
    xgb.cv(SILENT, matrix(data, label=labels), 1, nfold=4, obj=recorder, as_pandas=False)
    assert len(recorder.seen) == 4
    for qid in recorder.seen:
        taken = np.bincount(qid, minlength=60)
        assert set(np.unique(taken / data.sizes)) == {0.0, 1.0}


def test_cv_with_folds_of_rows_loses_the_queries_and_does_not_pass_in_silence() -> None:
    data = graded()
    folds = list(GroupKFold(4).split(data.features, groups=data.qid))
    with pytest.raises((ValueError, xgb.core.XGBoostError)):
        xgb.cv(SILENT, matrix(data), 1, folds=folds, obj=lp.lambda_ndcg, as_pandas=False)


def test_cv_reports_our_metrics() -> None:
    data = graded()
    found = xgb.cv(
        SILENT, matrix(data), 5, nfold=4, obj=lp.lambda_ndcg, as_pandas=False, seed=1,
        custom_metric=eval_metric("ndcg@5", "map"),
    )  # fmt: skip
    for name in ("train-ndcg@5-mean", "test-ndcg@5-mean", "train-map-mean", "test-map-std"):
        assert len(found[name]) == 5
    assert found["train-ndcg@5-mean"][-1] > 0.9
    assert found["test-ndcg@5-mean"][-1] > found["test-ndcg@5-mean"][0]


def test_cv_of_xgboost_forgets_query_weights() -> None:
    # Nothing of ours: a fold of weighted queries reaches every objective without weights.
    data = graded()
    recorder = Recorder(lp.lambda_ndcg, lambda scores, given: given.get_weight().size)
    given = matrix(data, weight=data.query_weights)
    xgb.cv(SILENT, given, 1, nfold=3, obj=recorder, as_pandas=False)
    assert recorder.seen == [0, 0, 0]


# -- estimators ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["XGBRegressor", "XGBClassifier"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("objective", [lp.lambda_auc, lp.lambda_map], ids=["auc", "map"])
def test_estimators_train_on_ungrouped_data(kind: str, weighted: bool, objective: Any) -> None:
    data = graded()
    weight = data.row_weights if weighted else None
    model = getattr(xgb, kind)(objective=objective, base_score=0.5, **ESTIMATOR)
    model.fit(data.features, data.binary, sample_weight=weight)
    given = xgb.DMatrix(data.features, data.binary, weight=weight)
    start = 0.5 if kind == "XGBRegressor" else 0.0  # a classifier's is a probability
    booster = train(objective, given, params={"base_score": start})
    margin = model.predict(data.features, output_margin=True)
    assert_allclose(margin, predict(booster, data), rtol=1e-6, atol=1e-6)
    assert roc_auc_score(data.binary, margin) > 0.9


@pytest.mark.parametrize("kind", ["XGBRegressor", "XGBClassifier"])
def test_estimators_get_the_metric_as_a_number(kind: str) -> None:
    data = graded()
    metric = Recorder(lp.eval_auc, None).function
    assert isinstance(metric(data.binary, data.scores()), float)
    assert isinstance(metric(data.binary, data.scores(), sample_weight=data.row_weights), float)
    model = getattr(xgb, kind)(objective=lp.lambda_auc, eval_metric=metric, **ESTIMATOR)
    model.fit(
        data.features, data.binary, sample_weight=data.row_weights, verbose=False,
        eval_set=[(data.features, data.binary)], sample_weight_eval_set=[data.row_weights],
    )  # fmt: skip
    curve = model.evals_result()["validation_0"]["auc"]
    margin = model.predict(data.features, output_margin=True)
    unweighted = roc_auc_score(data.binary, margin)
    weighted = roc_auc_score(data.binary, margin, sample_weight=data.row_weights)
    assert len(curve) == 8
    assert curve[-1] == pytest.approx(weighted, abs=2e-6)
    assert abs(weighted - unweighted) > 1e-5


def test_estimators_refuse_several_metrics_in_one() -> None:
    data = graded()
    model = xgb.XGBRegressor(
        objective=lp.lambda_auc, eval_metric=eval_metric("auc", "map"), **ESTIMATOR
    )
    with pytest.raises(TypeError, match="support a single metric"):
        model.fit(data.features, data.binary, eval_set=[(data.features, data.binary)])


def test_estimators_stop_early() -> None:
    data = graded()
    first, rest = data.queries(0, 30), data.queries(30, 60)
    model = xgb.XGBRegressor(
        objective=lp.lambda_auc, eval_metric=lp.eval_auc, early_stopping_rounds=4,
        n_estimators=60, n_jobs=1,
    )  # fmt: skip
    model.fit(first.features, first.binary, eval_set=[(rest.features, rest.binary)], verbose=False)
    curve = model.evals_result()["validation_0"]["auc"]
    assert model.best_iteration == np.argmax(curve)
    assert len(curve) == model.best_iteration + 5 < 60


def test_the_ranker_refuses_what_it_would_average_wrongly() -> None:
    data = graded()
    model = xgb.XGBRanker(eval_metric=lp.eval_ndcg, **ESTIMATOR)
    with pytest.raises(TypeError, match=r"averages a callable metric by query size.*custom_metric"):
        model.fit(
            data.features, data.labels, qid=data.qid, verbose=False,
            eval_set=[(data.features, data.labels)], eval_qid=[data.qid],
        )  # fmt: skip


def test_the_ranker_of_xgboost_takes_no_custom_objective_at_all() -> None:
    data = graded()
    with pytest.raises(ValueError, match="not supported by XGBRanker"):
        xgb.XGBRanker(objective=lp.lambda_ndcg, **ESTIMATOR).fit(
            data.features, data.labels, qid=data.qid
        )


def test_a_fitted_estimator_can_be_copied_pickled_and_cloned() -> None:
    data = graded()
    made = xgb.XGBRegressor(
        objective=lambda_objective("map", relevant=2), eval_metric=lp.eval_map, **ESTIMATOR
    )
    model = made.fit(data.features, data.labels, verbose=False)
    expected = model.predict(data.features)
    copies = [
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        clone(model).fit(data.features, data.labels),
        pickle.loads(pickle.dumps(model)).fit(data.features, data.labels),
    ]
    for mine in copies:
        assert mine.get_params()["objective"] == model.objective
        assert mine.get_params()["eval_metric"] == lp.eval_map
        assert_array_equal(mine.predict(data.features), expected)
