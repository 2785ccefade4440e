"""Which metrics are recorded, and which of them early stopping and tuners watch.

Most rows run on both frameworks, and on LightGBM 3, too.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from boosting_frameworks import pytest_generate_tests  # noqa: F401
from contracts import Rows, Warns, contract, hold
from small_data import GRADED
from small_trainings import X, dataset, train, watched

import lambdaplus as lp
from lambdaplus import eval_metric


def tuned(f: Any, metric: str) -> str:
    optuna = pytest.importorskip("optuna")
    tuner = pytest.importorskip("optuna_integration.lightgbm").LightGBMTuner
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    given = {**f.quiet, "objective": lp.lambda_map, "metric": metric, "eval_at": [10]}
    train = dataset(f, free_raw_data=False, params={})
    search = tuner(
        given, train, num_boost_round=3, feval=eval_metric("ndcg@10"), show_progress_bar=False,
        valid_sets=[train.create_valid(X, GRADED.labels, group=GRADED.sizes)], time_budget=2,
    )  # fmt: skip
    return str(search.study.direction.name)


def stopped_by_feval(f: Any, params: dict[str, Any]) -> int:
    pytest.importorskip("lightgbm", "4", reason="early stopping of older ones cannot be seen")
    given = dataset(f)
    params = {**f.quiet, "objective": "lambdarank", "early_stopping_round": 2, **params}
    valid = given.create_valid(X, GRADED.labels, group=GRADED.sizes)
    booster = f.own.train(params, given, 2, valid_sets=[valid], feval=lp.eval_map)
    return int(booster.num_trees())


LIGHTGBM: Rows = {
    "optuna's tuner, by LightGBM's metric": (lambda f, _: tuned(f, "ndcg"), "MAXIMIZE"),
    "optuna's tuner, by a metric whose direction it does not know":
        (lambda f, _: tuned(f, "ndcg@10"), "MINIMIZE"),
    **{
        f"early stopping by feval, {how}": (
            lambda f, _, params=params: stopped_by_feval(f, params), right
        )
        for how, params, right in (
            ("and LightGBM's default metric", {},
             Warns("watches the default metric of the objective 'lambdarank', too")),
            ("alone", {"metric": "None"}, 2),
            ("the first one", {"first_metric_only": True}, 2),
            ("with our objective", {"objective": "map"}, 2),
        )
    },
}  # fmt: skip


@contract(LIGHTGBM)
def test_metrics_in_lightgbm(
    act: Callable[..., Any], right: Any, lightgbm_alone: Any, tmp_path: Path
) -> None:
    hold(act, right, lightgbm_alone, tmp_path)


def through(metric: Any) -> dict[str, Any]:
    """Functions of the user that call a metric."""
    return {
        "a lambda": lambda scores, data: metric(scores, data),
        "partial": partial(metric),
        "an object": type("Own", (), {"__call__": lambda _, *given: metric(*given)})(),
    }


def stopping(f: Any, metric: Any, **options: Any) -> Any:
    """A training of XGBoost with early stopping."""
    given = f.data(GRADED)
    return f.own.train(
        f.quiet, given, 4, obj=lp.lambda_map, evals=[(given, "v")], verbose_eval=False,
        custom_metric=metric, **({"early_stopping_rounds": 2} | options),
    ).num_boosted_rounds()  # fmt: skip


def stopped(f: Any, params: Any = (), **options: Any) -> int:
    """A training with early stopping, and without our defaults."""
    given = f.data(GRADED)
    options = {"early_stopping_rounds": 3, **options}
    f.module.train(
        {"nthread": 1, "base_score": 0.0, **dict(params)}, given, 8, obj=lp.lambda_map,
        evals=[(given, "v")], verbose_eval=False, **options,
    )  # fmt: skip
    return 1


XGBOOST: Rows = {
    **{
        f"a metric in {name} with early stopping": (
            lambda f, name=name: stopping(f, through(eval_metric("mrr"))[name]),
            Warns("a function that calls eval_metric.'mrr'. is the metric"),
        )
        for name in ("a lambda", "partial", "an object")
    },
    **{
        f"a metric in a lambda {how}": (
            lambda f, metric=metric, options=options: stopping(
                f, through(eval_metric(metric))["a lambda"], **options) > 0,
            True,
        )
        for how, metric, options in (
            ("with a direction", "mrr", {"maximize": True}),
            ("without early stopping", "mrr", {"early_stopping_rounds": None}),
            ("whose name XGBoost knows", "map", {}),
        )
    },
    "early stopping by RMSE": (lambda f: stopped(f), Warns("its default metric, rmse")),
    "the default metric, RMSE, without early stopping":
        (lambda f: stopped(f, early_stopping_rounds=None), 1),
    "early stopping by our metric": (lambda f: stopped(f, custom_metric=lp.eval_map), 1),
    "early stopping by XGBoost's metric": (lambda f: stopped(f, {"eval_metric": "ndcg"}), 1),
    "our train, whose default metric is off": (watched, []),
    "our train with a metric of ours": (lambda f: watched(f, ours=lp.eval_map), ["map"]),
    "our train with a metric of both":
        (lambda f: watched(f, ours=lp.eval_map, eval_metric="ndcg@5"), ["ndcg@5", "map"]),
    "the default metric of rank:ndcg": (
        lambda f: train(f, metric=lambda *_: ("own", 0.0), params={
            "disable_default_eval_metric": 0, "objective": "rank:ndcg"})[1],
        ["ndcg@32", "own"],
    ),
}  # fmt: skip


@contract(XGBOOST)
def test_metrics_in_xgboost(act: Callable[..., Any], right: Any, xgboost_alone: Any) -> None:
    hold(act, right, xgboost_alone)


def test_an_early_stopping_callback_that_is_used_again_stops_before(xgboost_alone: Any) -> None:
    f, rounds = xgboost_alone, []
    stop = f.module.callback.EarlyStopping(rounds=2, maximize=True, metric_name="map")
    for _ in range(2):
        curves: dict[str, Any] = {}
        given = f.data(GRADED)
        f.own.train(
            f.quiet, given, 9, obj=lp.lambda_map, custom_metric=lp.eval_map, verbose_eval=False,
            evals=[(given, "v")], evals_result=curves, callbacks=[stop],
        )  # fmt: skip
        rounds.append(len(curves["v"]["map"]))
    assert rounds[1] < rounds[0] == 9
