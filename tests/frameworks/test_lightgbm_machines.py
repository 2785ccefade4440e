"""LightGBM on two machines: exact with queries, refused where rows of the other are needed."""

import multiprocessing
import socket
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import lambdaplus as lp
from lambdaplus.compute.collective import ONE_MACHINE
from lambdaplus.frameworks.workers import lightgbm_workers

lgb = pytest.importorskip("lightgbm", minversion="4")


def free_ports(n: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def train(rank: int, ports: list[int], queries: bool, feval: bool) -> Any:
    """On one of two machines: whether each gradient was that of its rows alone, or the error."""
    random = np.random.default_rng(rank)
    X = random.normal(size=(400, 3))
    y = (X[:, 0] + random.normal(size=400) > 1).astype(float)
    group = [20] * 20 if queries else None
    params = {
        "num_machines": 2, "machines": ",".join(f"127.0.0.1:{port}" for port in ports),
        "local_listen_port": ports[rank], "time_out": 1, "tree_learner": "data",
        "pre_partition": True, "num_leaves": 4, "num_threads": 1, "verbosity": -1,
    }  # fmt: skip
    same = []

    def objective(scores: Any, data: Any) -> Any:
        trained = lp.lambda_objective("map + logloss") if queries else lp.lambda_map
        found = trained(scores, data)
        alone = trained(y, scores.copy(), None, group)
        same.append(all(map(np.array_equal, found, alone)))
        return found

    params["objective"], params["metric"] = objective, "None"
    data = lgb.Dataset(X, y, group=group)
    more: dict[str, Any] = {"valid_sets": [data], "feval": lp.eval_map} if feval else {}
    try:
        lgb.train(params, data, 3, **more)
    except ValueError as error:
        return str(error)
    return same


@pytest.mark.slow
def test_queries_are_exact_and_what_needs_the_rows_of_the_other_machine_is_refused() -> None:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:

        def on_both(queries: bool, feval: bool) -> list[Any]:
            ports = free_ports(2)
            machines = [pool.submit(train, rank, ports, queries, feval) for rank in range(2)]
            return [machine.result(100) for machine in machines]

        assert on_both(queries=True, feval=False) == [[True] * 3] * 2
        for case, message in (
            ((False, False), "Objectives of data without queries need all rows: train with XGB"),
            ((True, True), "each machine would have another value and stop in another round"),
        ):
            for error in on_both(*case):
                assert error.startswith("LightGBM trains on 2 machines")
                assert message in error


@pytest.mark.parametrize(
    ("params", "size"),
    [
        ({"num_machines": 3, "tree_learner": "data"}, 3),
        ({"num_machine": "2", "tree": "voting_parallel"}, 2),
        ({"machines": "10.0.0.1:1,10.0.0.2:1", "tree_learner": "data_parallel"}, 2),
        ({"nodes": ["10.0.0.1:1", "10.0.0.2:1"], "tree_type": "voting"}, 2),
        ({"num_machines": 2}, 1),  # each trains a model of its own
        ({"num_machines": 2, "tree_learner": "feature"}, 1),  # each has all rows
        ({"num_machines": 1, "tree_learner": "data"}, 1),
        ({"tree_learner": "data"}, 1),
        ({}, 1),
    ],
)
def test_machines_are_known_from_the_parameters(params: dict[str, Any], size: int) -> None:
    found = lightgbm_workers(params)
    assert found.size == size
    assert (found is ONE_MACHINE) == (size == 1)
