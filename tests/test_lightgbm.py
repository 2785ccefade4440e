"""Objectives in LightGBM 4: the data that it passes, stores, changes and drops.

What stands around an objective there has its tests in test_lightgbm_tools.py.
"""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lightgbm_training import ESTIMATOR, QUIET, constructed, dataset, lgb, train
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GroupKFold
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

import lambdaplus as lp
from lambdaplus import eval_metric, evaluate, lambda_objective

llgb = pytest.importorskip("lambdaplus.lightgbm")

EACH_METRIC = pytest.mark.parametrize("metric", TRAINED)
FIVE = ("auc", "mauc", "map", "mrr", "ndcg")
pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


# -- training ------------------------------------------------------------------------------------


@EACH_METRIC
def test_an_objective_in_params_trains(metric: str) -> None:
    data = graded()
    # Larger trees rank these queries perfectly by MRR at once.
    booster = train(lambda_objective(metric), dataset(data), 10, params={"num_leaves": 4})
    after_one, after_ten = (
        value(metric, data, booster.predict(data.features, num_iteration=rounds))
        for rounds in (1, 10)
    )
    assert booster.num_trees() == 10
    assert value(metric, data, np.zeros(data.n)) + 0.1 < after_one < after_ten


@EACH_METRIC
@pytest.mark.parametrize("noise", [None, 1.0], ids=str)
def test_a_learning_rate_means_the_step_of_lambdarank(metric: str, noise: Any) -> None:
    one_step = {"learning_rate": 1.0, "num_leaves": 2, "min_data_in_leaf": 1}
    data = lone_pairs()
    ours, own = (
        train(objective, dataset(data), 1, params=one_step).predict(data.features)
        for objective in (lambda_objective(metric, noise=noise), "lambdarank")
    )
    assert_allclose(own, np.where(data.labels > 0, 2.0, -2.0), rtol=1e-4)
    assert_allclose(ours, own, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("metric", FIVE)
def test_it_learns_mq2008_with_default_parameters(metric: str, data_folder: Path) -> None:
    # The first tree alone gains a lot over random; the bar is what the others add to it. An
    # objective whose Hessians are under LightGBM's floor ends with trees of one or two leaves.
    data = mq2008(data_folder)
    booster = train(lambda_objective(metric), dataset(data), 30)
    after_one, after_all = (
        value(metric, data, booster.predict(data.features, num_iteration=rounds))
        for rounds in (1, 30)
    )
    leaves = [tree["num_leaves"] for tree in booster.dump_model()["tree_info"]]
    assert after_all > after_one + 0.05
    assert np.mean(leaves) > 20


@pytest.mark.slow
def test_hessians_that_are_too_small_would_fail_that_bar(data_folder: Path) -> None:
    data = mq2008(data_folder)

    def tiny(scores: Any, given: Any) -> Any:
        gradient, hessian = lp.lambda_map(scores, given)
        return 1e-6 * gradient, 1e-6 * hessian

    booster = train(tiny, dataset(data), 10)
    leaves = [tree["num_leaves"] for tree in booster.dump_model()["tree_info"]]
    assert np.mean(leaves) < 5


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

    def reached(chosen: Any) -> float:
        data = lgb.Dataset(training.features, training.labels)
        booster = train(chosen, data, 50)
        return float(score(test.labels, booster.predict(test.features)))

    assert reached(objective) > reached("binary") - near


def test_training_again_gives_the_same_model() -> None:
    data = graded()
    first = train(lp.lambda_map, dataset(data)).model_to_string()
    train(lambda_objective("map", sigma=3), dataset(graded(30, seed=9)))
    given = dataset(data)
    assert train(lp.lambda_map, given).model_to_string() == first
    assert train(lp.lambda_map, given).model_to_string() == first


@pytest.mark.parametrize(
    "params",
    [
        {"boosting": "goss"},
        {"data_sample_strategy": "goss"},
        {"boosting": "dart", "drop_rate": 0.5},
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"use_quantized_grad": True},
        {"extra_trees": True},
        {"linear_tree": True},
        {"feature_fraction": 0.5},
    ],
    ids=str,
)
def test_ways_of_boosting_and_sampling_train(params: dict[str, Any]) -> None:
    if "use_quantized_grad" in params:  # a segmentation fault before, with any custom objective
        pytest.importorskip("lightgbm", "4.2", reason="quantized gradients need LightGBM 4.2")
    data = graded()
    booster = train(lp.lambda_ndcg, dataset(data, params={**params, **QUIET}), 20, params=params)
    assert value("ndcg", data, booster.predict(data.features)) > 0.85  # 0.62 untrained


def test_random_forests_take_no_custom_objective_at_all() -> None:
    params = {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}
    with pytest.raises(lgb.basic.LightGBMError, match="do not support custom objective"):
        train(lp.lambda_ndcg, dataset(graded()), params=params)


def test_a_booster_updated_by_hand_is_the_same_model() -> None:
    data = graded()
    booster = lgb.Booster({**QUIET, "objective": "none"}, dataset(data))
    for _ in range(8):
        booster.update(fobj=lp.lambda_mrr)
    expected = train(lp.lambda_mrr, dataset(data)).predict(data.features)
    assert_array_equal(booster.predict(data.features), expected)


def test_a_saved_model_predicts_the_same_and_names_no_objective(tmp_path: Path) -> None:
    data = graded()
    booster = train(lp.lambda_ndcg, dataset(data))
    booster.save_model(tmp_path / "model.txt")
    text = (tmp_path / "model.txt").read_text()
    assert "\nobjective=" not in text
    loaded = lgb.Booster(model_file=tmp_path / "model.txt")
    assert_array_equal(loaded.predict(data.features), booster.predict(data.features))


# -- what the objective is given -----------------------------------------------------------------


@pytest.mark.parametrize("metric", PLUMBED)
def test_the_buffer_of_scores_is_neither_written_to_nor_kept(metric: str) -> None:
    objective = lambda_objective(metric, noise=None)
    buffers, earlier = set(), []

    def watched(scores: Any, given: Any) -> Any:
        before = scores.copy()
        scores.flags.writeable = False
        try:
            found = objective(scores, given)
        finally:
            scores.flags.writeable = True
        assert_array_equal(scores, before)
        assert not any(np.shares_memory(array, scores) for array in found)
        # LightGBM fills the same buffer again; what was kept of it would change here.
        buffers.add(scores.__array_interface__["data"][0])
        fresh = lp.gradients(
            given.get_label(), before, metric=objective.optimised, group=given.get_group(),
            normalize=True, damping=objective.shape.damping,
        )  # fmt: skip
        earlier.append((found, [array.copy() for array in found]))
        assert_allclose(found[0], fresh[0], rtol=1e-6, atol=1e-9)
        assert_allclose(found[1], fresh[1], rtol=1e-6, atol=1e-9)
        return found

    plain = train(objective, dataset(graded())).predict(graded().features)
    assert_array_equal(train(watched, dataset(graded())).predict(graded().features), plain)
    assert len(buffers) == 1
    for kept, copied in earlier:
        assert same_gradient(kept, copied)


def test_the_order_of_rows_within_queries_makes_no_difference() -> None:
    data = graded()
    order = data.shuffled()
    moved = data.rows(order)
    assert not np.array_equal(moved.labels, data.labels)
    for metric in TRAINED:
        objective = lambda_objective(metric)
        scores = data.scores()  # with ties
        gradient, hessian = objective(scores, constructed(data))
        again = objective(scores[order], constructed(moved))
        assert same_gradient(again, (gradient[order], hessian[order]))
    for metric in PLUMBED:
        objective = lambda_objective(metric)
        here, there = train(objective, dataset(data)), train(objective, dataset(moved))
        # LightGBM sums the same numbers in another order.
        assert_allclose(
            here.predict(data.features), there.predict(data.features), rtol=1e-6, atol=1e-9
        )


def test_scores_start_at_zero_or_at_init_score() -> None:
    data = graded()
    recorder = Recorder(lp.lambda_ndcg, lambda scores, given: scores.copy())
    train(recorder, dataset(data), 1)
    assert_array_equal(recorder.seen[0], np.zeros(data.n))

    start = data.scores()
    recorder = Recorder(lp.lambda_ndcg, lambda scores, given: scores.copy())
    booster = train(recorder, dataset(data, init_score=start), 4)
    assert_array_equal(recorder.seen[0], start)
    plain = train(lp.lambda_ndcg, dataset(data), 4).predict(data.features)
    assert np.abs(booster.predict(data.features) - plain).max() > 0.01


def test_training_continues_from_a_model() -> None:
    data = graded()
    whole = train(lp.lambda_map, dataset(data), 10)
    half = train(lp.lambda_map, dataset(data, free_raw_data=False), 5)
    rest = train(lp.lambda_map, dataset(data, free_raw_data=False), 5, init_model=half)
    assert rest.num_trees() == 10
    assert_allclose(rest.predict(data.features), whole.predict(data.features), rtol=1e-9)


@EACH_METRIC
def test_weights_multiply_the_rows(metric: str) -> None:
    data, objective = graded(), lambda_objective(metric)
    plain = objective(data.scores(), constructed(data))
    weighted = objective(data.scores(), constructed(data, weight=data.row_weights))
    for mine, unweighted in zip(weighted, plain, strict=True):
        assert_allclose(mine, unweighted * data.row_weights, rtol=1e-6)
    assert not same_gradient(weighted, plain)


def test_weights_change_the_model() -> None:
    data = graded()
    weight = np.where(data.qid < 30, 1.0, 1e-3)
    focused = train(lp.lambda_ndcg, dataset(data, weight=weight), 30).predict(data.features)
    plain = train(lp.lambda_ndcg, dataset(data), 30).predict(data.features)
    here, there = data.qid < 30, data.qid >= 30
    assert np.abs(focused - plain).max() > 0.1
    rest = data.queries(30, 60)
    assert value("ndcg", rest, focused[there]) < value("ndcg", rest, plain[there])
    assert value("ndcg", data.queries(0, 30), focused[here]) > 0.9


def test_a_query_counts_in_the_metric_by_the_mean_weight_of_its_rows() -> None:
    data = graded()
    per_query = evaluate(data.labels, data.scores(), group=data.sizes, metrics="map")
    found = per_query.per_query["map"]
    weight = np.bincount(data.qid, weights=data.row_weights.astype(np.float64)) / data.sizes
    defined = ~np.isnan(found)
    expected = found[defined] @ weight[defined] / weight[defined].sum()
    name, got, higher = lp.eval_map(data.scores(), constructed(data, weight=data.row_weights))
    assert (name, higher) == ("map", True)
    assert got == pytest.approx(expected, abs=1e-6)
    assert abs(got - per_query["map"]) > 1e-4


@pytest.mark.parametrize("one_label", [31.0, 40.0, 700.0])
def test_labels_beyond_lightgbms_limit(one_label: float) -> None:
    data = graded()
    labels = np.where(data.labels == 3, one_label, data.labels)
    booster = train(lp.lambda_ndcg, dataset(data, label=labels), 10)
    found = evaluate(labels, booster.predict(data.features), group=data.sizes, metrics="ndcg")
    assert found["ndcg"] > 0.9
    with pytest.raises(lgb.basic.LightGBMError, match=r"Label .* is not less than"):
        train("lambdarank", dataset(data, label=labels))


def test_fractional_labels() -> None:
    data = graded()
    labels = data.labels / 3 + 0.25
    booster = train(lambda_objective("ndcg", gain="linear"), dataset(data, label=labels), 10)
    scores = booster.predict(data.features)
    assert (
        evaluate(labels, scores, group=data.sizes, metrics="ndcg(gain=linear)").mean[
            "ndcg(gain=linear)"
        ]
        > 0.95
    )
    with pytest.raises(lgb.basic.LightGBMError, match="should be int type"):
        train("lambdarank", dataset(data, label=labels))


def test_a_fractional_threshold_finds_the_labels_that_equal_it() -> None:
    data = graded()
    labels = data.labels / 10 + 0.4
    scores, relevant = data.scores(), float(labels.max())
    _, expected, _ = eval_metric("map", relevant=relevant)(labels, scores, None, data.sizes)
    given = constructed(data, label=labels)
    assert eval_metric("map", relevant=relevant)(scores, given)[1] == pytest.approx(expected)


def test_a_query_of_12000_rows() -> None:
    random = np.random.default_rng(0)
    features = random.normal(size=(12_100, 4))
    labels = np.digitize(features[:, 0] + 0.3 * random.normal(size=12_100), [1.0, 2.0])
    data = Small(features, labels.astype(float), np.array([12_000, 60, 40]))
    for metric in PLUMBED:
        booster = train(lambda_objective(metric), dataset(data), 3)
        assert value(metric, data, booster.predict(features)) > 0.8
    with pytest.raises(lgb.basic.LightGBMError, match="Number of rows 12000 exceeds upper limit"):
        train("lambdarank", dataset(data), 1)


def test_a_label_that_only_validation_data_has_is_no_error() -> None:
    data = graded()
    first, rest = data.queries(0, 40), data.queries(40, 60)
    labels = np.where(first.labels == 2, 1.0, first.labels)
    training = dataset(first, label=labels)
    record: dict[str, Any] = {}
    train(
        lp.lambda_mauc,
        training,
        valid_sets=[dataset(rest, label=rest.labels + 0.5, reference=training)],
        feval=eval_metric("mauc", "ndcg", "auc"),
        callbacks=[lgb.record_evaluation(record)],
    )
    assert len(record["valid_0"]["mauc"]) == 8


# -- changes, caches -----------------------------------------------------------------------------


def change(method: str, *arguments: Any) -> Callable[[Any], Any]:
    return lambda data: getattr(data, method)(*arguments)


def swapped_sizes() -> Any:
    """Other query sizes for the same rows: their order reversed."""
    return graded().sizes[::-1].copy()


OTHER_LABELS = np.roll(graded().labels, 7)


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({"label": OTHER_LABELS}, change("set_label", OTHER_LABELS)),
        ({"label": OTHER_LABELS}, change("set_field", "label", OTHER_LABELS)),
        ({"group": swapped_sizes()}, change("set_group", swapped_sizes())),
        ({"group": swapped_sizes()}, change("set_field", "group", swapped_sizes())),
        ({"weight": graded().row_weights}, change("set_weight", graded().row_weights)),
        ({"weight": graded().row_weights}, change("set_field", "weight", graded().row_weights)),
    ],
    ids=lambda value: "" if callable(value) else next(iter(value)),
)
@pytest.mark.parametrize("metric", ["map", "mauc"])
def test_what_is_set_after_a_training_is_used_in_the_next(
    metric: str, options: dict[str, Any], changed: Any
) -> None:
    data, objective = graded(), lambda_objective(metric)
    given = constructed(data)
    train(objective, given, 2, feval=eval_metric(metric), valid_sets=[given])
    stale, stale_value = objective(data.scores(), given), eval_metric(metric)(data.scores(), given)
    changed(given)
    fresh = constructed(data, **options)
    found = objective(data.scores(), given)
    assert same_gradient(found, objective(data.scores(), fresh))
    assert not same_gradient(found, stale)
    found_value = eval_metric(metric)(data.scores(), given)
    assert found_value == eval_metric(metric)(data.scores(), fresh)
    assert found_value != stale_value


def test_weights_can_be_taken_away_again() -> None:
    data = graded()
    given = constructed(data, weight=data.row_weights)
    weighted = lp.lambda_ndcg(data.scores(), given)
    given.set_weight(None)  # which LightGBM ignores, as it does weights that are all 1
    assert same_gradient(lp.lambda_ndcg(data.scores(), given), weighted)
    assert_array_equal(given.get_field("weight"), data.row_weights)
    given.set_field("weight", None)
    found = lp.lambda_ndcg(data.scores(), given)
    assert not same_gradient(found, weighted)
    assert same_gradient(found, lp.lambda_ndcg(data.scores(), constructed(data)))


def test_what_is_known_of_a_data_set_dies_with_it() -> None:
    data = graded(seed=77)
    given = constructed(data)
    booster = train(lp.lambda_map, given, 2, feval=lp.eval_map, valid_sets=[given])
    queries = weakref.ref(queries_read(data.scores(), given))
    watched = weakref.ref(given)
    assert queries() is not None
    del booster, given
    gc.collect()
    assert watched() is None
    assert queries() is None


def test_what_is_known_of_a_data_set_is_found_again_by_copies_of_the_objective() -> None:
    # lgb.train copies the objective with its parameters, twice.
    data = graded()
    given = constructed(data)
    lp.lambda_map(data.scores(), given)
    queries = queries_read(data.scores(), given)
    copy.deepcopy(lp.lambda_map)(data.scores(), given)
    assert queries_read(data.scores(), given) is queries


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_raise(bad: float) -> None:
    scores = graded().scores()
    scores[7] = bad
    for made in (lp.lambda_ndcg, lp.eval_ndcg):
        with pytest.raises(ValueError, match=rf"scores must be finite.*{bad} in row 7"):
            made(scores, constructed(graded()))


@pytest.mark.parametrize("metric", ["mauc", "hand_till", "mrr", "ndcg"])
def test_a_forgotten_group_raises(metric: str) -> None:
    data = graded()
    with pytest.raises(ValueError, match=rf"{metric} ranks.*no queries: set group="):
        train(lambda_objective(metric), dataset(data, group=None))
    given = dataset(data, group=None)
    with pytest.raises(ValueError, match=rf"{metric} ranks.*no queries: set group="):
        train(lp.lambda_auc, given, valid_sets=[given], feval=eval_metric(metric))


@pytest.mark.parametrize("metric", ["auc", "map"])
def test_without_group_all_rows_are_one_ranking_for_auc_and_map(metric: str) -> None:
    data = graded()
    booster = train(lambda_objective(metric), dataset(data, group=None))
    scores = booster.predict(data.features)
    score = roc_auc_score if metric == "auc" else average_precision_score
    assert score(data.binary, scores) > 0.9
    name, got, _ = eval_metric(metric)(scores, constructed(data, group=None))
    assert (name, got) == (metric, pytest.approx(score(data.binary, scores), abs=1e-12))


@pytest.mark.parametrize("metric", ["mauc", "hand_till", "mrr", "ndcg"])
def test_one_group_takes_all_rows_as_one_query(metric: str) -> None:
    data = graded()
    one = train(lambda_objective(metric, one_group=True), dataset(data, group=None))
    named = train(lambda_objective(metric), dataset(data, group=[data.n]))
    assert_array_equal(one.predict(data.features), named.predict(data.features))


BY_QUERY = {"bagging_by_query": True, "bagging_freq": 1, "bagging_fraction": 0.5}


def by_query_in_train() -> None:
    train(lp.lambda_ndcg, dataset(graded()), params=BY_QUERY)


def by_query_as_text() -> None:
    train(lp.lambda_ndcg, dataset(graded()), params={**BY_QUERY, "bagging_by_query": "true"})


def by_query_with_a_data_set_made_before() -> None:
    given = constructed(graded())
    train(lp.lambda_auc, given, 2)
    train(lp.lambda_auc, given, params=BY_QUERY)


def by_query_in_update() -> None:
    booster = lgb.Booster({**QUIET, **BY_QUERY, "objective": "none"}, dataset(graded()))
    booster.update(fobj=lp.lambda_ndcg)


def by_query_in_a_wrapped_objective() -> None:
    train(lambda scores, data: lp.lambda_ndcg(scores, data), dataset(graded()), params=BY_QUERY)


def by_query_in_cv() -> None:
    lgb.cv(
        {**QUIET, **BY_QUERY, "objective": lp.lambda_ndcg},
        dataset(graded()),
        3,
        folds=GroupKFold(3),
    )


def by_query_in_our_train() -> None:
    llgb.train({**QUIET, **BY_QUERY}, dataset(graded()), 3, fobj=lp.lambda_ndcg)


def by_query_in_our_train_with_a_data_set_made_before() -> None:
    given = constructed(graded())
    llgb.train({**QUIET, **BY_QUERY, "objective": lp.lambda_ndcg}, given, 3)


def by_query_in_our_cv() -> None:
    llgb.cv({**QUIET, **BY_QUERY}, dataset(graded()), 3, fobj=lp.lambda_ndcg)


def by_query_in_the_ranker() -> None:
    data = graded()
    ranker = lgb.LGBMRanker(objective=lp.lambda_ndcg, **ESTIMATOR, **BY_QUERY)
    ranker.fit(data.features, data.labels, group=data.sizes)


@pytest.mark.parametrize(
    "act",
    [
        by_query_in_train,
        by_query_as_text,
        by_query_with_a_data_set_made_before,
        by_query_in_update,
        by_query_in_a_wrapped_objective,
        by_query_in_cv,
        by_query_in_our_train,
        by_query_in_our_train_with_a_data_set_made_before,
        by_query_in_our_cv,
        by_query_in_the_ranker,
    ],
)
def test_bagging_by_query_raises(act: Callable[[], None]) -> None:
    with pytest.raises(ValueError, match="bagging_by_query=True, LightGBM learns nothing"):
        act()


def test_bagging_by_query_is_no_error_where_it_works_or_is_off() -> None:
    data = graded()
    llgb.train({**QUIET, **BY_QUERY, "objective": "lambdarank"}, dataset(data), 2)
    off = {**BY_QUERY, "bagging_by_query": False}
    booster = train(lp.lambda_ndcg, dataset(data), 20, params=off)
    assert value("ndcg", data, booster.predict(data.features)) > 0.85
    # Left over from another run, with other parameters now:
    given = dataset(data, params={**QUIET, **BY_QUERY})
    booster = train(lp.lambda_ndcg, given, 20)
    assert value("ndcg", data, booster.predict(data.features)) > 0.85


# -- threads -------------------------------------------------------------------------------------


def test_three_trainings_at_once_are_what_they_are_one_after_the_other() -> None:
    data = graded()

    def run(objective: Any) -> Any:
        given = dataset(data)
        booster = train(objective, given, feval=eval_metric("map"), valid_sets=[given])
        return booster.predict(data.features)

    objectives = [lp.lambda_map, lp.lambda_map, lp.lambda_ndcg] * 2
    expected = [run(objective) for objective in objectives]
    with ThreadPoolExecutor(3) as pool:
        for mine, theirs in zip(pool.map(run, objectives, timeout=60), expected, strict=True):
            assert_array_equal(mine, theirs)


def test_three_trainings_on_the_same_data_at_once() -> None:
    data = graded()
    given = constructed(data)
    expected = train(lp.lambda_mauc, given).predict(data.features)
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(train, lp.lambda_mauc, given) for _ in range(3)]
        for one in runs:
            assert_array_equal(one.result(timeout=60).predict(data.features), expected)
