"""Objectives in XGBoost: the data that it passes, stores, changes and drops.

What stands around an objective there has its tests in test_xgboost_tools.py.
"""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score, roc_auc_score
from small_data import (
    PLUMBED,
    TRAINED,
    Recorder,
    Small,
    graded,
    lone_pairs,
    mq2008,
    queries_read,
    rare,
    same_gradient,
    value,
)
from xgboost_training import ONE_THREAD, SILENT, matrix, predict, train, xgb

import lambdaplus as lp
from lambdaplus import eval_metric, evaluate, lambda_objective

lxgb = pytest.importorskip("lambdaplus.xgboost")

EACH_METRIC = pytest.mark.parametrize("metric", TRAINED)
FIVE = ("auc", "mauc", "map", "mrr", "ndcg")
OTHER_LABELS = np.roll(graded().labels, 7)


def mean_leaves(booster: Any) -> float:
    return float(np.mean([tree.count("leaf=") for tree in booster.get_dump()]))


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


@EACH_METRIC
@pytest.mark.parametrize("noise", [None, 1.0], ids=str)
def test_a_learning_rate_means_the_step_of_xgboosts_own_objectives(metric: str, noise: Any) -> None:
    one_step = {"eta": 1.0, "lambda": 0.0, "min_child_weight": 0.0, "max_depth": 1}
    data = lone_pairs()
    ours, own = (
        predict(
            train(objective, matrix(data), 1, params={**one_step, **own, "base_score": 0.0}), data
        )
        for objective, own in (
            (lambda_objective(metric, noise=noise), {}),
            (None, {"objective": "rank:pairwise"}),
        )
    )
    assert_allclose(own, np.where(data.labels > 0, 1.0, -1.0), rtol=1e-5)
    assert_allclose(ours, own, rtol=1e-5)


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
    gradient, hessian = objective(data.labels, data.scores(), None, data.sizes)
    expected = gradient, 2 * hessian  # as XGBoost's own objectives
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
    queries = weakref.ref(queries_read(data.scores(), given))
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
