"""Objectives in LightGBM and XGBoost: the data that they pass, store, change and drop.

What stands around an objective there has its tests in test_drop_ins.py.  The tests of LightGBM run
on LightGBM 3, too.
"""

import copy
import gc
import json
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosting_frameworks import Trained, pytest_generate_tests  # noqa: F401
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score, roc_auc_score
from small_data import (
    GRADED,
    PLUMBED,
    TRAINED,
    Small,
    graded,
    lone_pairs,
    queries_read,
    same_gradient,
    value,
)

import lambdaplus as lp
from lambdaplus import eval_metric, evaluate, lambda_objective
from lambdaplus.frameworks.trainings import training_of

EACH_METRIC = pytest.mark.parametrize("metric", TRAINED)


# -- training ------------------------------------------------------------------------------------


@EACH_METRIC
def test_an_objective_trains(framework: Any, metric: str) -> None:
    # Larger trees rank these queries perfectly by MRR at once.
    params = {"num_leaves": 4} if framework.name == "lightgbm" else {}
    given = framework.data(GRADED)
    trained = framework.train(
        lambda_objective(metric), given, 10, params=params, metric=eval_metric(metric),
        valid={"train": given},
    )  # fmt: skip
    after_one, after_ten = (value(metric, GRADED, trained.scores(GRADED, n)) for n in (1, 10))
    assert framework.n_rounds(trained) == 10
    assert value(metric, GRADED, np.zeros(GRADED.n)) + 0.1 < after_one < after_ten
    curve = trained.curves["train"][metric]
    assert_allclose((curve[0], curve[-1]), (after_one, after_ten), atol=2e-6)  # XGBoost: six digits


@EACH_METRIC
def test_a_learning_rate_means_the_step_of_the_frameworks_own_objectives(
    framework: Any, metric: str
) -> None:
    data = lone_pairs()
    ours, own = (
        framework.train(one, framework.data(data), 1, params=framework.one_step).scores(data)
        for one in (lambda_objective(metric), framework.native)
    )
    step = np.abs(own[0])
    assert_allclose(own, np.where(data.labels > 0, step, -step), rtol=1e-4)
    assert_allclose(ours, own, rtol=1e-4)


@pytest.mark.parametrize("own", [False, True], ids=["xgboost", "lambdaplus.xgboost"])
def test_a_saved_model_of_xgboost_may_say_that_it_ranks(
    xgboost_alone: Any, own: bool, tmp_path: Path
) -> None:
    # Elasticsearch's plugin takes models with this name, and refuses reg:squarederror.
    names, models = [], []
    module = xgboost_alone.own if own else xgboost_alone.module
    for params in ({"objective": "rank:ndcg"}, {}):
        options = {**xgboost_alone.quiet, **params}
        booster = module.train(options, xgboost_alone.data(GRADED), 8, obj=lp.lambda_ndcg)
        booster.save_model(tmp_path / "model.json")
        saved = json.loads((tmp_path / "model.json").read_text())
        names.append(saved["learner"]["objective"]["name"])
        matrix = xgboost_alone.module.DMatrix(GRADED.features)
        models.append(xgboost_alone.module.Booster(model_file=tmp_path / "model.json"))
    assert names == ["rank:ndcg", "reg:squarederror"]
    assert_array_equal(models[0].predict(matrix), models[1].predict(matrix))


# -- what XGBoost's early stopping watches -------------------------------------------------------


def own_loss(scores: Any, given: Any) -> tuple[str, float]:
    """Squared distance to the labels, which falls and rises again."""
    return "distance", float(np.mean((scores - 3 * given.get_label() + 1) ** 2))


def stopped_by(
    xgboost_alone: Any, metric: Any, own: bool = False, params: Any = (), **options: Any
) -> Any:
    """The best round, from 0, and the curves of a training with early stopping."""
    parts = [xgboost_alone.data(GRADED.queries(*ends)) for ends in ((0, 30), (30, 60))]
    curves: dict[str, Any] = {}
    booster = (xgboost_alone.own if own else xgboost_alone.module).train(
        {**xgboost_alone.quiet, "eta": 0.3, **dict(params)}, parts[0], 60, obj=lp.lambda_mrr,
        custom_metric=metric, evals=[(parts[1], "rest")], evals_result=curves, verbose_eval=False,
        **{"early_stopping_rounds": 4, **options},
    )  # fmt: skip
    return booster.best_iteration, {name: list(curve) for name, curve in curves["rest"].items()}


def both(ours: Any, ours_last: bool) -> Any:
    """A function that returns one of our metrics and the user's own."""

    def metric(scores: Any, given: Any) -> Any:
        values = [own_loss(scores, given), ours(scores, given)]
        return values if ours_last else values[::-1]

    return metric


@pytest.mark.parametrize("own", [False, True], ids=["xgboost", "lambdaplus.xgboost"])
@pytest.mark.parametrize("metric", ["map", "mrr"])
@pytest.mark.parametrize("way", ["beside it", "in a callback", "in eval_set of a callback"])
def test_a_loss_of_the_user_is_minimised_whoever_evaluates_ours(
    xgboost_alone: Any, way: str, metric: str, own: bool
) -> None:
    ours, rest = eval_metric(metric), GRADED.queries(30, 60)
    given, seen = xgboost_alone.data(rest), []

    class Log(xgboost_alone.module.callback.TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            if way == "in a callback":
                seen.append(ours(model.predict(given, output_margin=True), given))
            else:
                seen.append(model.eval_set([(given, "log")], epoch, ours, True))
            return False

    logged = {} if way == "beside it" else {"callbacks": [Log()]}
    function = both(ours, ours_last=False) if way == "beside it" else own_loss
    best, curves = stopped_by(xgboost_alone, function, own, **logged)
    assert best == np.argmin(curves["distance"]) > 0
    assert len(curves["distance"]) == best + 5
    assert (len(seen) > 4) == bool(logged)


def test_a_function_that_calls_ours_has_a_direction_of_its_own(xgboost_alone: Any) -> None:
    for metric in (both(lp.eval_mrr, True), lambda scores, given: lp.eval_mrr(scores, given)):
        best, curves = stopped_by(xgboost_alone, metric, maximize=True)
        assert best == np.argmax(curves["mrr"])

    def lower_is_better(scores: Any, given: Any) -> Any:
        return "mrr", -lp.eval_mrr(scores, given)[1]

    best, curves = stopped_by(xgboost_alone, lower_is_better, maximize=False)
    assert best == np.argmin(curves["mrr"])
    best, curves = stopped_by(xgboost_alone, both(lp.eval_map, True))  # XGBoost knows this name
    assert best == np.argmax(curves["map"])


def test_callbacks_stop_at_the_best_value_of_what_they_watch(xgboost_alone: Any) -> None:
    for own, watched, best_of, name in (
        (False, {"maximize": False}, np.argmin, "mauc"),
        (True, {}, np.argmax, "mauc"),
        (True, {"metric_name": "rmse"}, np.argmin, "rmse"),
    ):
        stop = xgboost_alone.module.callback.EarlyStopping(rounds=3, **watched)
        options = {"early_stopping_rounds": None, "callbacks": [stop]}
        params = {"eval_metric": "rmse"}
        best, curves = stopped_by(xgboost_alone, lp.eval_mauc, own, params, **options)
        assert best == best_of(curves[name])


def test_a_metric_of_ours_in_xgboosts_classifier_is_maximised(xgboost_alone: Any) -> None:
    """Its estimators wrap a callable metric in a function of theirs."""
    pytest.importorskip("xgboost", "3")  # for a callable metric beside others
    model = xgboost_alone.module.XGBClassifier(
        n_estimators=30, n_jobs=1, early_stopping_rounds=3, learning_rate=0.5,
        eval_metric=["logloss", eval_metric("mauc")],
    )  # fmt: skip
    noisy = np.random.default_rng(0).permutation(GRADED.binary)
    model.fit(GRADED.features, GRADED.binary, eval_set=[(GRADED.features, noisy)], verbose=False)
    curve = model.evals_result()["validation_0"]["mauc"]
    assert model.best_iteration == np.argmax(curve) != np.argmin(curve)


# -- what the objective is given -----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix", "in batches", "external memory"])
def test_every_kind_of_xgboosts_matrix_gives_the_same_gradient(
    xgboost_alone: Any, kind: str, tmp_path: Path
) -> None:
    xgb = xgboost_alone.module
    gradient, hessian = lp.lambda_ndcg(GRADED.labels, GRADED.scores(), None, GRADED.sizes)
    if kind == "in batches":
        given = xgb.QuantileDMatrix(batches(xgb, GRADED))
    elif kind == "external memory":
        pytest.importorskip("xgboost", "3")
        given = xgb.ExtMemQuantileDMatrix(
            batches(xgb, GRADED, cache_prefix=str(tmp_path / "cache"))
        )
    else:
        given = xgboost_alone.data(GRADED, kind=kind)
    found = lp.lambda_ndcg(GRADED.scores().astype(np.float32), given)
    assert same_gradient(found, (gradient, 2 * hessian))  # as XGBoost's own objectives


def batches(xgb: Any, data: Small, **options: Any) -> Any:
    """The rows in two batches of whole queries."""

    class Batches(xgb.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(**options)
            self.first = 0

        def next(self, input_data: Callable[..., Any]) -> bool:
            if self.first == 60:
                return False
            part = data.queries(self.first, self.first + 30)
            input_data(data=part.features, label=part.labels, qid=part.qid + self.first)
            self.first += 30
            return True

        def reset(self) -> None:
            self.first = 0

    return Batches()


@pytest.mark.parametrize("metric", PLUMBED)
def test_scores_are_neither_written_to_nor_kept(framework: Any, metric: str) -> None:
    objective = lambda_objective(metric)
    earlier = []

    def watched(scores: Any, given: Any) -> Any:
        before = scores.copy()
        scores.flags.writeable = False
        found = objective(scores, given)
        scores.flags.writeable = True
        assert_array_equal(scores, before)
        assert not any(np.shares_memory(array, scores) for array in found)
        # LightGBM fills the same buffer again; what was kept of it would change here.
        fresh = lp.gradients(
            GRADED.labels, before, metric=objective.surrogate, group=GRADED.sizes, normalize=True,
        )  # fmt: skip
        assert_allclose(found[0], fresh[0], rtol=1e-6, atol=1e-9)
        earlier.append((found, [array.copy() for array in found]))
        return found

    plain = framework.train(objective, framework.data(GRADED)).scores(GRADED)
    seen = framework.train(watched, framework.data(GRADED)).scores(GRADED)
    assert_array_equal(seen, plain)
    for kept, copied in earlier:
        assert same_gradient(kept, copied)


@EACH_METRIC
def test_weights_multiply_the_rows(framework: Any, metric: str) -> None:
    objective = lambda_objective(metric)
    weight = GRADED.row_weights if framework.row_weights else GRADED.query_weights
    by_row = weight if framework.row_weights else weight[GRADED.qid]
    plain = objective(GRADED.scores(), framework.data(GRADED))
    weighted = objective(GRADED.scores(), framework.data(GRADED, weight=weight))
    for mine, unweighted in zip(weighted, plain, strict=True):
        assert_allclose(mine, unweighted * by_row, rtol=1e-6)
    assert not same_gradient(weighted, plain)


def test_weights_change_the_metric(framework: Any) -> None:
    by_query = np.where(np.arange(60) < 30, 1.0, 1e-3)
    given = framework.data(
        GRADED, weight=by_query[GRADED.qid] if framework.row_weights else by_query
    )
    per_query = evaluate(GRADED.labels, GRADED.scores(), group=GRADED.sizes, metrics="map")
    found = per_query.per_query["map"]
    defined = ~np.isnan(found)
    expected = found[defined] @ by_query[defined] / by_query[defined].sum()
    assert lp.eval_map(GRADED.scores(), given)[:2] == ("map", pytest.approx(expected, abs=1e-6))
    assert abs(expected - per_query["map"]) > 1e-3


def test_weights_of_ungrouped_data_are_multiplicities(framework: Any) -> None:
    twice = np.random.default_rng(5).integers(1, 3, GRADED.n)
    rows = np.repeat(np.arange(GRADED.n), twice)
    weighted = framework.data(GRADED, label=GRADED.binary, sizes=None, weight=twice)
    copied = Small(GRADED.features[rows], GRADED.binary[rows].astype(float), np.array([len(rows)]))
    mine = lp.lambda_auc(GRADED.scores(), weighted)
    theirs = lp.lambda_auc(GRADED.scores()[rows], framework.data(copied, sizes=None))
    for one, other in zip(mine, theirs, strict=True):
        assert_allclose(one, np.bincount(rows, weights=other), rtol=1e-5)
    for metric, score in (("auc", roc_auc_score), ("map", average_precision_score)):
        expected = score(GRADED.binary, GRADED.scores(), sample_weight=twice)
        found = eval_metric(metric)(GRADED.scores(), weighted)
        assert found[:2] == (metric, pytest.approx(expected, abs=1e-9))


def test_labels_and_queries_beyond_the_frameworks_limits(framework: Any) -> None:
    native = "lambdarank" if framework.name == "lightgbm" else "rank:ndcg"
    for labels in (GRADED.labels * 20, GRADED.labels / 3 + 0.25):
        given = framework.data(GRADED, label=labels)
        scores = framework.train(lp.lambda_ndcg, given, 10).scores(GRADED)
        assert evaluate(labels, scores, group=GRADED.sizes, metrics="ndcg")["ndcg"] > 0.9
        if framework.name == "lightgbm" or labels.max() > 31:
            with pytest.raises(Exception, match=r"[Ll]abel|relevance"):
                framework.train(native, framework.data(GRADED, label=labels))
    if framework.name == "lightgbm":
        long = np.random.default_rng(0).normal(size=(10_001, 2))
        one = Small(long, (long[:, 0] > 1).astype(float), np.array([10_001]))
        with pytest.raises(Exception, match="10000"):
            framework.train(native, framework.data(one))
        assert framework.n_rounds(framework.train(lp.lambda_map, framework.data(one), 1)) == 1


# -- changes, caches -----------------------------------------------------------------------------


SWAPPED = GRADED.sizes[::-1].copy()
LABELS = np.roll(GRADED.labels, 7)
CHANGES: dict[str, list[tuple[dict[str, Any], str, tuple[Any, ...]]]] = {
    "lightgbm": [
        ({"label": LABELS}, "set_label", (LABELS,)),
        ({"label": LABELS}, "set_field", ("label", LABELS)),
        ({"sizes": SWAPPED}, "set_group", (SWAPPED,)),
        ({"sizes": SWAPPED}, "set_field", ("group", SWAPPED)),
        ({"weight": GRADED.row_weights}, "set_weight", (GRADED.row_weights,)),
        ({"weight": GRADED.row_weights}, "set_field", ("weight", GRADED.row_weights)),
        ({}, "set_field", ("weight", None)),  # weights can be taken away again
    ],
    "xgboost": [
        ({"label": LABELS}, "set_label", (LABELS,)),
        ({"sizes": SWAPPED}, "set_group", (SWAPPED,)),
        ({"weight": GRADED.query_weights}, "set_weight", (GRADED.query_weights,)),
    ],
}


@pytest.mark.parametrize("metric", ["map", "mauc"])
def test_what_is_set_after_a_training_is_used_in_the_next(framework: Any, metric: str) -> None:
    objective, measure = lambda_objective(metric), eval_metric(metric)
    for options, method, arguments in CHANGES[framework.name]:
        given = framework.data(GRADED, weight=None if options else GRADED.row_weights)
        framework.train(objective, given, 2, metric=measure, valid={"train": given})
        stale, stale_value = objective(GRADED.scores(), given), measure(GRADED.scores(), given)
        getattr(given, method)(*arguments)
        fresh = framework.data(GRADED, **options)
        found = objective(GRADED.scores(), given)
        assert same_gradient(found, objective(GRADED.scores(), fresh))
        assert not same_gradient(found, stale)
        assert measure(GRADED.scores(), given) == measure(GRADED.scores(), fresh) != stale_value


def test_what_is_set_between_two_rounds_is_used_in_the_second(framework: Any) -> None:
    for options, method, arguments in CHANGES[framework.name]:
        given = framework.data(GRADED, weight=None if options else GRADED.row_weights)
        seen: list[Any] = []

        def objective(
            scores: Any, data: Any, seen: Any = seen, method: Any = method, new: Any = arguments
        ) -> Any:
            if seen:
                getattr(data, method)(*new)
            seen.append(lp.lambda_map(GRADED.scores(), data))
            return seen[-1]

        framework.train(objective, given, 2)
        expected = lp.lambda_map(GRADED.scores(), framework.data(GRADED, **options))
        assert [same_gradient(found, expected) for found in seen] == [False, True]


def test_trainings_in_turn_on_one_data_set_have_threads_of_their_own(framework: Any) -> None:
    given, of_lightgbm = framework.data(GRADED), framework.name == "lightgbm"
    expected = framework.by_hand(lp.lambda_map, given, 3).scores(GRADED)
    name, more = ("num_threads", {"objective": "none"}) if of_lightgbm else ("nthread", {})
    boosters = [
        framework.module.Booster(
            {**framework.quiet, name: threads, **more}, given if of_lightgbm else [given]
        )
        for threads in (1, 2)
    ]
    for turn in range(3):
        for booster in boosters:
            booster.update(*([] if of_lightgbm else [given, turn]), fobj=lp.lambda_map)
    trainings = [training_of(booster) for booster in boosters]
    assert [(one.threads, one.rounds) for one in trainings] == [(1, 3), (2, 3)]
    for booster in boosters:
        assert_array_equal(Trained(booster).scores(GRADED), expected)


def test_the_queries_of_a_data_set_live_as_long_as_it(framework: Any) -> None:
    data = graded(seed=77)
    given = framework.data(data)
    trained = framework.train(lp.lambda_map, given, 2, metric=lp.eval_map, valid={"train": given})
    kept = queries_read(data.scores(), given)
    copy.deepcopy(lp.lambda_map)(data.scores(), given)  # as lightgbm.train does
    assert queries_read(data.scores(), given) is kept
    queries, watched = weakref.ref(kept), weakref.ref(given)
    del trained, given, kept
    gc.collect()
    assert watched() is None
    assert queries() is None


# -- threads -------------------------------------------------------------------------------------


def test_trainings_at_once_are_what_they_are_one_after_the_other(framework: Any) -> None:
    shared = framework.data(GRADED)

    def run(objective: Any) -> Any:
        given = shared if objective is lp.lambda_mauc else framework.data(GRADED)
        trained = framework.train(objective, given, metric=lp.eval_map, valid={"train": given})
        return trained.scores(GRADED)

    objectives = [lp.lambda_map, lp.lambda_mauc, lp.lambda_ndcg] * 2
    expected = [run(objective) for objective in objectives]
    with ThreadPoolExecutor(3) as pool:
        for mine, theirs in zip(pool.map(run, objectives, timeout=60), expected, strict=True):
            assert_array_equal(mine, theirs)
