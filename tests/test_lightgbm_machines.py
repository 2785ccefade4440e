"""LightGBM on two machines: exact with queries, refused where rows of the other are needed."""

import json
import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from lambdaplus.compute.collective import ONE_MACHINE
from lambdaplus.frameworks.calls import lightgbm_workers

pytest.importorskip("lightgbm", minversion="4")

PROGRAM = Path(__file__).parent / "lightgbm_machines.py"
ROOT = Path(__file__).parents[1]


def free_ports(n: int) -> list[str]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [str(each.getsockname()[1]) for each in sockets]


@pytest.mark.slow
def test_queries_are_exact_and_what_needs_the_rows_of_the_other_machine_is_refused() -> None:
    ports = free_ports(6)
    machines = [
        subprocess.Popen(
            [sys.executable, PROGRAM, str(rank), *ports], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for rank in range(2)
    ]  # fmt: skip
    for machine in machines:
        printed = machine.communicate(timeout=100)[0]
        with_queries, without, with_metric = json.loads(printed.splitlines()[-1])
        assert with_queries == [True] * 3
        for error, message in (
            (without, "Objectives of data without queries need all rows: train with XGBoost"),
            (with_metric, "each machine would have another value and stop in another round"),
        ):
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
