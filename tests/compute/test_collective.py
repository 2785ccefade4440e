"""Means over the workers of a training, which are threads here: fast, and in one process.

`test_workers.py` has those of XGBoost's own collective, between processes.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from small_data import graded

import lambdaplus as lp
from lambdaplus.compute.collective import FailedWorkerError
from lambdaplus.frameworks.workers import XGBoostWorkers

xgboost = pytest.importorskip("xgboost", minversion="2.1")


class Threads:
    """Threads in place of the workers that XGBoost's collective connects."""

    def __init__(self, size: int, patch: pytest.MonkeyPatch) -> None:
        self.size = size
        self._own = threading.local()
        self._arrays: list[Any] = [None] * size
        self._all_here = threading.Barrier(size, timeout=30)
        patch.setattr("xgboost.collective.get_world_size", lambda: size)
        patch.setattr("xgboost.collective.get_rank", lambda: self._own.rank)
        patch.setattr("xgboost.collective.allreduce", self.allreduce)
        patch.setattr("xgboost.collective.broadcast", None)  # it unpickles what others send

    def allreduce(self, array: Any, operation: Any) -> Any:
        self._arrays[self._own.rank] = array
        self._all_here.wait()
        reduced = getattr(np, operation.name.lower())(self._arrays, axis=0)  # its sum, max or min
        self._all_here.wait()
        return reduced

    def run(self, function: Callable[..., Any], parts: list[Any]) -> list[Any]:
        """The results of a function of the arguments of each worker."""

        def of_worker(rank: int) -> Any:
            self._own.rank = rank
            return function(*parts[rank])

        with ThreadPoolExecutor(self.size) as pool:
            return list(pool.map(of_worker, range(self.size)))


def test_a_mean_over_workers_is_that_of_all_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    data, metric = graded(), lp.eval_metric("ndcg@10", "map")
    scores = data.scores().astype(np.float32)

    def of_queries(first: int, last: int, weights: Any) -> tuple[Any, Any]:
        here, part = (data.qid >= first) & (data.qid < last), data.queries(first, last)
        rows = {"label": part.labels, "qid": part.qid, "weight": weights[first:last]}
        return scores[here], xgboost.DMatrix(part.features, **rows)

    for weights in (data.query_weights, np.ones(60)):
        expected = dict(metric(*of_queries(0, 60, weights)))
        with monkeypatch.context() as patch:
            workers = Threads(3, patch)
            parts = [of_queries(*ends, weights) for ends in ((0, 7), (7, 30), (30, 60))]
            for values in workers.run(metric, parts):
                assert dict(values) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("message", ["no rows", "caf\u00e9 " * 600, "", "\x1b[2J"])
def test_an_error_of_a_worker_is_told_by_the_others(
    monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    """As much of it as fits into what is exchanged, without codes that a terminal obeys."""

    def of_worker(number: int) -> str:
        try:
            with XGBoostWorkers(xgboost.collective).together():
                if number == 1:
                    raise OSError(message)
        except (OSError, FailedWorkerError) as error:
            return f"{type(error).__name__}: {error}"
        return "no error"

    first, failed, last = Threads(3, monkeypatch).run(of_worker, [(0,), (1,), (2,)])
    assert failed == f"OSError: {message}"
    words = f"FailedWorkerError: rank 1 of 3 workers stopped with {failed}"
    words = words.replace("\x1b", r"\x1b")
    assert first == last == words[: len(first)]
    assert len(first) >= min(len(words), 1500)


DIFFERENT = {
    "other ranks": (lp.eval_metric("ndcg@5"), lp.eval_metric("ndcg@10")),
    "another order": (lp.eval_metric("map", "auc"), lp.eval_metric("auc", "map")),
    "another parameter": (lp.eval_metric("map"), lp.eval_metric("map", relevant=2)),
    "another objective": (lp.lambda_objective("ndcg"), lp.lambda_objective("map")),
    "another option": (lp.lambda_objective("ndcg"), lp.lambda_objective("ndcg", sigma=2)),
}


@pytest.mark.parametrize("functions", DIFFERENT.values(), ids=DIFFERENT)
def test_workers_that_compute_different_things_are_an_error_on_all(
    monkeypatch: pytest.MonkeyPatch, functions: tuple[Any, Any]
) -> None:
    """Though all of them have reductions of the same shapes: the results would be mixed."""
    data = graded()

    def of_worker(number: int) -> str:
        first, last = ((0, 30), (30, 60))[number]
        here, part = (data.qid >= first) & (data.qid < last), data.queries(first, last)
        matrix = xgboost.DMatrix(part.features, label=part.labels, qid=part.qid)
        try:
            functions[number](data.scores()[here].astype(np.float32), matrix)
        except FailedWorkerError as error:
            return str(error)
        return "no error"

    for error in Threads(2, monkeypatch).run(of_worker, [(0,), (1,)]):
        assert "the 2 workers do not compute the same" in error


def test_labels_of_its_own_are_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    function = lp.lambda_objective("map")

    def of_worker(number: int) -> None:
        what = function.on(np.arange(10.0 + number))
        with XGBoostWorkers(xgboost.collective).together(what):
            pass

    assert Threads(2, monkeypatch).run(of_worker, [(0,), (1,)]) == [None, None]
