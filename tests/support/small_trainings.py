"""Trainings and cross-validations of a few rounds on graded queries, in any of the frameworks.

The argument ``f`` is a framework of `boosting_frameworks`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from small_data import GRADED, Recorder, value

import lambdaplus as lp

N, X = GRADED.n, GRADED.features


def train(
    f: Any, objective: Any = lp.lambda_map, metric: Any = None, valid: Any = "the same",
    rounds: int = 2, data: Any = (), **options: Any,
) -> Any:  # fmt: skip
    """Scores after a training, and the names of what it records."""
    given = f.data(GRADED, **dict(data)) if isinstance(data, tuple | dict) else data
    sets = {"v": given if valid == "the same" else valid} if metric is not None else {}
    trained = f.train(objective, given, rounds, metric=metric, valid=sets, **options)
    return trained.scores(GRADED), sorted(trained.curves.get("v", {}))


def lost(f: Any) -> Any:
    """The data without its queries."""
    return f.data(GRADED, sizes=None)


own = partial(train, own=True)


def by_name(f: Any, name: Any) -> Any:
    """Our train with an objective among the parameters."""
    return f.own.train({**f.quiet, "objective": name}, f.data(GRADED), 2)


def cv(f: Any, objective: Any = lp.lambda_map, **params: Any) -> Any:
    data, params = params.pop("data", None), {**f.quiet, **params}
    given = {"fobj": objective} if f.name == "lightgbm" else {"obj": objective}
    return f.own.cv(params, f.data(GRADED) if data is None else data, 2, **given)


def forms(_: Any, act: Callable[..., Any]) -> None:
    """Raises the error of a metric if an objective has one, too."""
    try:
        act(lp.lambda_ndcg)
    except ValueError:
        act(lp.eval_ndcg)


def first_scores(f: Any, start: Any = None, **options: Any) -> Any:
    recorder = Recorder(lp.lambda_ndcg, lambda scores, given: scores.copy())
    f.train(recorder, f.data(GRADED, start=start), 1, **options)
    return recorder.seen[0]


def learns(f: Any, rounds: int = 5, **params: Any) -> bool:
    """Whether rows of a training are ranked better than by the strongest feature."""
    given = dataset(f) if f.name == "lightgbm" else f.data(GRADED)
    found = f.train(lp.lambda_map, given, rounds, params=params).scores(GRADED)
    return value("map", GRADED, found) > value("map", GRADED, X[:, 0])


def dataset(f: Any, **changed: Any) -> Any:
    """Data that is not constructed yet."""
    given = {"label": GRADED.labels, "group": GRADED.sizes, "params": f.quiet, **changed}
    return f.module.Dataset(X, **given)


def watched(f: Any, **params: Any) -> list[str]:
    """The names that our train records; with query weights, XGBoost's RMSE ends the process."""
    given, curves = f.data(GRADED, weight=GRADED.query_weights), {}
    f.own.train(
        {"nthread": 1, **params}, given, 2, obj=lp.lambda_map, verbose_eval=False,
        evals=[(given, "v")], evals_result=curves, custom_metric=params.get("ours"),
    )  # fmt: skip
    return list(curves.get("v", ()))
