"""Worker processes that XGBoost's collective connects, for the tests of several machines."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import xgboost as xgb
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

MOST_WORKERS = 3
SECONDS = 60.0  # in which each worker has to end, with a result or an error


class Group:
    """Processes that are started once and serve many tests, of which each connects some anew."""

    def __init__(self, pools: list[ProcessPoolExecutor]) -> None:
        self.pools = pools  # of one process each

    def start(self, function: Callable[..., Any], parts: list[Any], *arguments: Any) -> list[Any]:
        """Futures of the results of ``function(part, *arguments)`` on a worker for each part."""
        tracker = RabitTracker(n_workers=len(parts), host_ip="127.0.0.1", sortby="task")
        tracker.start()
        connection = {**tracker.worker_args(), "dmlc_timeout": 30}
        futures = [
            pool.submit(
                _connected, {**connection, "dmlc_task_id": str(rank)}, function, part, *arguments
            )
            for rank, (pool, part) in enumerate(zip(self.pools, parts, strict=False))
        ]
        futures[0].tracker = tracker  # type: ignore[attr-defined]  # as long as it is used
        return futures

    def run(self, function: Callable[..., Any], parts: list[Any], *arguments: Any) -> list[Any]:
        """The results, in the order of the parts."""
        futures = self.start(function, parts, *arguments)
        return [future.result(SECONDS) for future in futures]

    def errors(self, function: Callable[..., Any], parts: list[Any], *arguments: Any) -> list[str]:
        """What each worker raised; an empty text for none."""
        found = []
        for future in self.start(function, parts, *arguments):
            error = future.exception(SECONDS)
            found.append("" if error is None else f"{type(error).__name__}: {error}")
        return found


def _connected(
    connection: dict[str, Any], function: Callable[..., Any], part: Any, *arguments: Any
) -> Any:
    with CommunicatorContext(**connection):
        return function(part, *arguments)


@contextmanager
def worker_group() -> Iterator[Group]:
    spawn = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        each = [ProcessPoolExecutor(1, spawn) for _ in range(MOST_WORKERS)]
        yield Group([stack.enter_context(pool) for pool in each])


# What workers do -------------------------------------------------------------------------------


def matrix(part: dict[str, Any]) -> xgb.DMatrix:
    n = len(part["scores"])
    features = part.get("features", np.zeros((n, 1)))
    return xgb.DMatrix(features, part["labels"], qid=part.get("qid"), weight=part.get("weight"))


def answers(part: dict[str, Any], function: Any) -> Any:
    """What an objective or a metric answers to this worker."""
    return function(part["scores"], matrix(part))


class Stopwatch(xgb.callback.TrainingCallback):
    """Ends a worker at its second round."""

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if epoch == 1:
            import os

            os._exit(1)
        return False


def trained(
    part: dict[str, Any], objective: Any, metric: Any, params: dict[str, Any], rounds: int = 5
) -> tuple[Any, Any, Any]:
    """Gradients of each round, values of each round, and the scores of the model."""
    given, data, log = [], matrix(part), {}

    def kept(scores: Any, data: Any) -> Any:
        given.append(objective(scores, data))
        return given[-1]

    callbacks = [Stopwatch()] if part.get("dies") else []
    booster = xgb.train(
        {"base_score": 0.0, "nthread": 1, "disable_default_eval_metric": 1, **params}, data,
        rounds, obj=kept, custom_metric=metric, evals=[(data, "train")] if metric else [],
        evals_result=log, callbacks=callbacks, verbose_eval=False,
        **part.get("train", {}),
    )  # fmt: skip
    # From XGBoost 3.4 on, a worker without rows predicts a matrix.
    return given, log.get("train", {}), booster.predict(data, output_margin=True).ravel()
