"""Objectives and metrics in XGBoost: the data that it passes, stores, changes and drops.

XGBoost runs on one thread here: these data are small.
"""

from __future__ import annotations

import copy
import gc
import json
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GroupKFold
from small_data import PLUMBED, TRAINED, Recorder, Small, graded, mq2008, rare

import lambdaplus as lp
from lambdaplus import eval_metric, evaluate, lambda_objective
from lambdaplus.frameworks import read_call

xgb = pytest.importorskip("xgboost", minversion="2.1")
lxgb = pytest.importorskip("lambdaplus.xgboost")

ONE_THREAD: dict[str, Any] = {"nthread": 1}
SILENT: dict[str, Any] = {**ONE_THREAD, "disable_default_eval_metric": 1}
ESTIMATOR: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1}
EACH_METRIC = pytest.mark.parametrize("metric", TRAINED)
FIVE = ("auc", "mauc", "map", "mrr", "ndcg")
OTHER_LABELS = np.roll(graded().labels, 7)


def matrix(data: Small, kind: Any = xgb.DMatrix, **options: Any) -> Any:
    options = {"label": data.labels, "qid": data.qid, **options}
    return kind(data.features, **options)


def train(objective: Any, data: Any, rounds: int = 8, **options: Any) -> Any:
    params = {**ONE_THREAD, **options.pop("params", {})}
    return xgb.train(params, data, rounds, obj=objective, verbose_eval=False, **options)


def predict(booster: Any, data: Small, rounds: int = 0) -> Any:
    return booster.predict(xgb.DMatrix(data.features), iteration_range=(0, rounds))


def value(metric: str, data: Small, scores: Any) -> float:
    return evaluate(data.labels, scores, group=data.sizes, metrics=metric)[metric]


def mean_leaves(booster: Any) -> float:
    return float(np.mean([tree.count("leaf=") for tree in booster.get_dump()]))


def same_gradient(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1]))


# -- training ------------------------------------------------------------------------------------


@EACH_METRIC
def test_an_objective_trains_with_default_parameters(metric: str) -> None:
    data = graded()
    booster = train(lambda_objective(metric), matrix(data), 10)
    after_one, after_ten = (
        value(metric, data, predict(booster, data, rounds)) for rounds in (1, 10)
    )
    assert booster.num_boosted_rounds() == 10
    assert value(metric, data, np.zeros(data.n)) + 0.1 < after_one < after_ten


@pytest.mark.slow
@pytest.mark.parametrize("metric", FIVE)
def test_it_learns_mq2008_with_default_parameters(metric: str, data_folder: Path) -> None:
    # The first tree alone gains a lot over random; the bar is what the others add to it. An
    # objective whose Hessians are under min_child_weight = 1 ends with trees of one or two leaves.
    data = mq2008(data_folder)
    booster = train(lambda_objective(metric), matrix(data), 30)
    after_one, after_all = (
        value(metric, data, predict(booster, data, rounds)) for rounds in (1, 30)
    )
    assert after_all > after_one + 0.05
    assert mean_leaves(booster) > 20


@pytest.mark.slow
def test_gradients_that_are_too_small_would_fail_that_bar(data_folder: Path) -> None:
    data = mq2008(data_folder)

    def tiny(scores: Any, given: Any) -> Any:
        gradient, hessian = lp.lambda_map(scores, given)
        return 1e-5 * gradient, 1e-5 * hessian

    booster = train(tiny, matrix(data), 30)
    after_one, after_all = (
        value("map", data, predict(booster, data, rounds)) for rounds in (1, 30)
    )
    assert after_all < after_one + 0.05
    assert mean_leaves(booster) < 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objective", "score", "near"),
    [(lp.lambda_auc, roc_auc_score, 0.02), (lp.lambda_map, average_precision_score, 0.01)],
    ids=["auc", "map"],
)
def test_it_learns_rare_positives_without_queries_as_log_loss_does(
    objective: Any, score: Any, near: float
) -> None:
    training, test = rare()
    data = xgb.DMatrix(training.features, training.labels)
    ours = train(objective, data, 50)
    log_loss = train(None, data, 50, params={"objective": "binary:logistic"})
    reached, bar = (
        float(score(test.labels, predict(booster, test))) for booster in (ours, log_loss)
    )
    assert reached > bar - near


class Batches(xgb.DataIter):
    """The rows in two batches of whole queries."""

    def __init__(self, data: Small) -> None:
        super().__init__()
        half = len(data.sizes) // 2
        self.parts = [data.queries(0, half), data.queries(half, len(data.sizes))]
        self.first_qid = [0, half]
        self.at = 0

    def next(self, input_data: Callable[..., Any]) -> bool:
        if self.at == len(self.parts):
            return False
        part = self.parts[self.at]
        qid = part.qid + self.first_qid[self.at]
        input_data(data=part.features, label=part.labels, qid=qid)
        self.at += 1
        return True

    def reset(self) -> None:
        self.at = 0


@pytest.mark.parametrize("metric", PLUMBED)
def test_every_kind_of_matrix_gives_the_same_gradient(metric: str) -> None:
    data, objective = graded(), lambda_objective(metric)
    expected = objective(data.labels, data.scores(), None, data.sizes)
    by_group = xgb.DMatrix(data.features, data.labels)
    by_group.set_group(data.sizes)
    kinds = [
        matrix(data),
        by_group,
        matrix(data, xgb.QuantileDMatrix),
        xgb.QuantileDMatrix(data.features, data.labels, group=data.sizes),
        xgb.QuantileDMatrix(Batches(data)),
    ]
    for given in kinds:
        assert same_gradient(objective(data.scores().astype(np.float32), given), expected)
    if metric == "ndcg":
        here, there = train(objective, kinds[0]), train(objective, kinds[2])
        assert_allclose(predict(here, data), predict(there, data), rtol=1e-5, atol=1e-6)


def test_training_again_gives_the_same_model() -> None:
    data = graded()
    first = train(lp.lambda_map, matrix(data)).save_raw()
    train(lambda_objective("map", sigma=3), matrix(graded(30, seed=9)))
    given = matrix(data)
    assert train(lp.lambda_map, given).save_raw() == first
    assert train(lp.lambda_map, given).save_raw() == first


def test_the_order_of_rows_within_queries_makes_no_difference() -> None:
    data = graded()
    order = data.shuffled()
    moved = data.rows(order)
    for metric in TRAINED:
        objective = lambda_objective(metric)
        gradient, hessian = objective(data.scores(), matrix(data))
        again = objective(data.scores()[order], matrix(moved))
        assert same_gradient(again, (gradient[order], hessian[order]))
    for metric in PLUMBED:
        objective = lambda_objective(metric)
        here, there = train(objective, matrix(data)), train(objective, matrix(moved))
        assert_allclose(predict(here, data), predict(there, data), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "params",
    [
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"booster": "dart", "rate_drop": 0.3},
        {"subsample": 0.5},
        {"grow_policy": "lossguide", "max_leaves": 8},
    ],
    ids=str,
)
def test_ways_of_boosting_and_sampling_train(params: dict[str, Any]) -> None:
    data = graded()
    booster = train(lp.lambda_ndcg, matrix(data), 20, params=params)
    assert value("ndcg", data, predict(booster, data)) > 0.85  # 0.62 untrained


def test_a_booster_updated_by_hand_is_the_same_model() -> None:
    data = graded()
    given = matrix(data)
    booster = xgb.Booster(ONE_THREAD, [given])
    for turn in range(8):
        booster.update(given, turn, fobj=lp.lambda_mrr)
    assert_array_equal(predict(booster, data), predict(train(lp.lambda_mrr, given), data))


def test_training_continues_from_a_model() -> None:
    data = graded()
    whole = train(lp.lambda_map, matrix(data), 10)
    half = train(lp.lambda_map, matrix(data), 5)
    rest = train(lp.lambda_map, matrix(data), 5, xgb_model=half)
    assert rest.num_boosted_rounds() == 10
    assert_allclose(predict(rest, data), predict(whole, data), rtol=1e-5)


@pytest.mark.parametrize("own", [False, True], ids=["xgboost", "lambdaplus.xgboost"])
def test_a_saved_model_may_say_that_it_ranks(own: bool, tmp_path: Path) -> None:
    # Elasticsearch's plugin takes models with this name, and refuses reg:squarederror.
    data, module = graded(), lxgb if own else xgb
    names, models = [], []
    for params in ({"objective": "rank:ndcg"}, {}):
        options = {"base_score": 0.0, **ONE_THREAD, **params}
        booster = module.train(options, matrix(data), 8, obj=lp.lambda_ndcg)
        booster.save_model(tmp_path / "model.json")
        saved = json.loads((tmp_path / "model.json").read_text())
        names.append(saved["learner"]["objective"]["name"])
        models.append(xgb.Booster(model_file=tmp_path / "model.json"))
    assert names == ["rank:ndcg", "reg:squarederror"]
    assert_array_equal(predict(models[0], data), predict(models[1], data))
    native = train(None, matrix(data), params={"objective": "rank:ndcg", "base_score": 0.0})
    assert np.abs(predict(models[0], data) - predict(native, data)).max() > 0.01


# -- what the objective is given -----------------------------------------------------------------


@pytest.mark.parametrize("metric", PLUMBED)
def test_the_scores_are_neither_written_to_nor_kept(metric: str) -> None:
    objective = lambda_objective(metric)
    earlier = []

    def watched(scores: Any, given: Any) -> Any:
        before = scores.copy()
        scores.flags.writeable = False
        found = objective(scores, given)
        assert_array_equal(scores, before)
        assert not any(np.shares_memory(array, scores) for array in found)
        scores.flags.writeable = True
        scores[:] = np.nan  # these must not be read again
        earlier.append((found, [array.copy() for array in found]))
        return found

    data = graded()
    plain = predict(train(objective, matrix(data)), data)
    assert_array_equal(predict(train(watched, matrix(data)), data), plain)
    for kept, copied in earlier:
        assert same_gradient(kept, copied)


def test_scores_start_at_base_score_or_base_margin() -> None:
    data = graded()

    def first_scores(given: Any, module: Any = xgb, **params: Any) -> Any:
        recorder = Recorder(lp.lambda_ndcg, lambda scores, data: scores.copy())
        module.train({**ONE_THREAD, **params}, given, 1, obj=recorder)
        return recorder.seen[0]

    start = data.scores().astype(np.float32)
    assert_array_equal(first_scores(matrix(data)), np.full(data.n, 0.5))
    assert_array_equal(first_scores(matrix(data), base_score=0), np.zeros(data.n))
    assert_array_equal(first_scores(matrix(data), lxgb), np.zeros(data.n))
    assert_array_equal(first_scores(matrix(data), lxgb, base_score=2), np.full(data.n, 2.0))
    assert_array_equal(first_scores(matrix(data, base_margin=start)), start)


@EACH_METRIC
def test_query_weights_multiply_the_rows_of_their_query(metric: str) -> None:
    data, objective = graded(), lambda_objective(metric)
    plain = objective(data.scores(), matrix(data))
    weighted = objective(data.scores(), matrix(data, weight=data.query_weights))
    for mine, unweighted in zip(weighted, plain, strict=True):
        assert_allclose(mine, unweighted * data.query_weights[data.qid], rtol=1e-6)
    assert not same_gradient(weighted, plain)


def test_query_weights_change_the_model_and_the_metric() -> None:
    data = graded()
    weight = np.where(np.arange(60) < 30, 1.0, 1e-3)
    given = matrix(data, weight=weight)
    focused = predict(train(lp.lambda_ndcg, given, 30), data)
    plain = predict(train(lp.lambda_ndcg, matrix(data), 30), data)
    there = data.qid >= 30
    rest = data.queries(30, 60)
    assert value("ndcg", rest, focused[there]) < value("ndcg", rest, plain[there])

    per_query = evaluate(data.labels, data.scores(), group=data.sizes, metrics="map")
    found = per_query.per_query["map"]
    defined = ~np.isnan(found)
    expected = found[defined] @ weight[defined] / weight[defined].sum()
    assert lp.eval_map(data.scores(), given) == ("map", pytest.approx(expected, abs=1e-6))
    assert abs(expected - per_query["map"]) > 1e-3


def test_weights_per_row_of_grouped_data_raise() -> None:
    data = graded()
    given = matrix(data)
    given.set_weight(np.ones(data.n))  # XGBoost does not mind yet
    message = rf"{data.n} weights for 60 queries: .*one weight per query"
    for made in (lp.lambda_ndcg, lp.eval_ndcg):
        with pytest.raises(ValueError, match=message):
            made(data.scores(), given)
    with pytest.raises(
        (ValueError, xgb.core.XGBoostError), match=r"number of query groups|per query"
    ):
        train(lp.lambda_ndcg, given)


def test_weights_of_ungrouped_data_are_multiplicities() -> None:
    data = graded()
    twice = np.random.default_rng(5).integers(1, 3, data.n)
    rows = np.repeat(np.arange(data.n), twice)
    weighted = xgb.DMatrix(data.features, data.binary, weight=twice)
    copies = xgb.DMatrix(data.features[rows], data.binary[rows])
    mine = lp.lambda_auc(data.scores(), weighted)
    theirs = lp.lambda_auc(data.scores()[rows], copies)
    for one, other in zip(mine, theirs, strict=True):
        assert_allclose(one, np.bincount(rows, weights=other), rtol=1e-5)
    for metric, score in (("auc", roc_auc_score), ("map", average_precision_score)):
        expected = score(data.binary, data.scores(), sample_weight=twice)
        found = eval_metric(metric)(data.scores(), weighted)
        assert found == (metric, pytest.approx(expected, abs=1e-9))


def test_labels_beyond_xgboosts_limit_fractional_labels_and_long_queries() -> None:
    data = graded()
    for labels in (data.labels * 20, data.labels / 3 + 0.25):
        booster = train(lp.lambda_ndcg, matrix(data, label=labels), 10)
        found = evaluate(labels, predict(booster, data), group=data.sizes, metrics="ndcg")
        assert found["ndcg"] > 0.9
    with pytest.raises(xgb.core.XGBoostError):
        train(None, matrix(data, label=data.labels * 20), params={"objective": "rank:ndcg"})
    random = np.random.default_rng(0)
    features = random.normal(size=(12_100, 4))
    labels = np.digitize(features[:, 0] + 0.3 * random.normal(size=12_100), [1.0, 2.0])
    long = Small(features, labels.astype(float), np.array([12_000, 60, 40]))
    for metric in PLUMBED:
        booster = train(lambda_objective(metric), matrix(long), 3)
        assert value(metric, long, predict(booster, long)) > 0.75


# -- changes, caches -----------------------------------------------------------------------------


def change(method: str, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda data: getattr(data, method)(*arguments, **options)


OTHER_SIZES = graded().sizes[::-1].copy()
OTHER_QID = np.repeat(np.arange(60), OTHER_SIZES)


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({"label": OTHER_LABELS}, change("set_label", OTHER_LABELS)),
        ({"label": OTHER_LABELS}, change("set_info", label=OTHER_LABELS)),
        ({"qid": OTHER_QID}, change("set_group", OTHER_SIZES)),
        ({"qid": OTHER_QID}, change("set_info", qid=OTHER_QID)),
        ({"weight": graded().query_weights}, change("set_weight", graded().query_weights)),
    ],
    ids=lambda value: "" if callable(value) else next(iter(value)),
)
@pytest.mark.parametrize("metric", ["map", "mauc"])
def test_what_is_set_after_a_training_is_used_in_the_next(
    metric: str, options: dict[str, Any], changed: Any
) -> None:
    data, objective = graded(), lambda_objective(metric)
    given = matrix(data)
    train(objective, given, 2, custom_metric=eval_metric(metric), evals=[(given, "train")])
    stale, stale_value = objective(data.scores(), given), eval_metric(metric)(data.scores(), given)
    changed(given)
    fresh = matrix(data, **options)
    found = objective(data.scores(), given)
    assert same_gradient(found, objective(data.scores(), fresh))
    assert not same_gradient(found, stale)
    found_value = eval_metric(metric)(data.scores(), given)
    assert found_value == eval_metric(metric)(data.scores(), fresh)
    assert found_value != stale_value


def test_what_is_known_of_a_matrix_dies_with_it() -> None:
    data = graded(seed=77)
    given = matrix(data)
    booster = train(lp.lambda_map, given, 2, custom_metric=lp.eval_map, evals=[(given, "train")])
    queries = weakref.ref(read_call(data.scores(), given).queries)
    watched = weakref.ref(given)
    assert queries() is not None
    del booster, given
    gc.collect()
    assert watched() is None
    assert queries() is None


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_margins_that_are_not_finite_raise(bad: float) -> None:
    # XGBoost itself would accept the NaN gradients, and return a model that says 0 for all.
    margin = np.zeros(graded().n)
    margin[7] = bad
    given = matrix(graded(), base_margin=margin)
    with pytest.raises(ValueError, match=rf"scores must be finite.*{bad} in row 7"):
        train(lp.lambda_ndcg, given)
    with pytest.raises(ValueError, match=rf"scores must be finite.*{bad} in row 7"):
        train(
            lambda scores, data: (np.zeros(data.num_row()), np.ones(data.num_row())),
            given, params=SILENT, custom_metric=lp.eval_ndcg, evals=[(given, "train")],
        )  # fmt: skip


@pytest.mark.parametrize("metric", ["mauc", "hand_till", "mrr", "ndcg"])
def test_a_forgotten_group_raises(metric: str) -> None:
    given = matrix(graded(), qid=None)
    with pytest.raises(ValueError, match=rf"{metric} ranks.*no queries: set group= \(or qid=\)"):
        train(lambda_objective(metric), given)
    with pytest.raises(ValueError, match=rf"{metric} ranks.*no queries: set group= \(or qid=\)"):
        train(lp.lambda_auc, given, custom_metric=eval_metric(metric), evals=[(given, "train")])


@pytest.mark.parametrize("metric", ["auc", "map"])
def test_without_group_all_rows_are_one_ranking_for_auc_and_map(metric: str) -> None:
    data = graded()
    scores = predict(train(lambda_objective(metric), matrix(data, qid=None)), data)
    score = roc_auc_score if metric == "auc" else average_precision_score
    assert score(data.binary, scores) > 0.9
    found = eval_metric(metric)(scores, matrix(data, qid=None))
    assert found == (metric, pytest.approx(score(data.binary, scores), abs=1e-9))


@pytest.mark.parametrize("metric", ["mauc", "hand_till", "mrr", "ndcg"])
def test_one_group_takes_all_rows_as_one_query(metric: str) -> None:
    data = graded()
    one = train(lambda_objective(metric, one_group=True), matrix(data, qid=None))
    named = train(lambda_objective(metric), matrix(data, qid=np.zeros(data.n, dtype=int)))
    assert_array_equal(predict(one, data), predict(named, data))


def test_labels_that_are_missing_or_too_many_raise() -> None:
    data = graded()
    with pytest.raises(ValueError, match=f"the DMatrix has 0 labels for {data.n} rows"):
        lp.lambda_auc(data.scores(), xgb.DMatrix(data.features))
    two = xgb.DMatrix(data.features, label=np.stack([data.labels, data.labels], axis=1))
    with pytest.raises(ValueError, match=f"{2 * data.n} labels for {data.n} rows"):
        lp.lambda_auc(data.scores(), two)


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


# -- threads -------------------------------------------------------------------------------------


def test_three_trainings_at_once_are_what_they_are_one_after_the_other() -> None:
    data = graded()

    def run(objective: Any) -> Any:
        given = matrix(data)
        booster = train(
            objective, given, custom_metric=lp.eval_map, evals=[(given, "train")], params=SILENT
        )
        return predict(booster, data)

    objectives = [lp.lambda_map, lp.lambda_map, lp.lambda_ndcg] * 2
    expected = [run(objective) for objective in objectives]
    with ThreadPoolExecutor(3) as pool:
        for mine, theirs in zip(pool.map(run, objectives, timeout=60), expected, strict=True):
            assert_array_equal(mine, theirs)
