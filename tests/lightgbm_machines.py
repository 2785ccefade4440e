"""Trains with LightGBM on one of two machines, and prints what happened, in one line of JSON."""

import json
import sys
from typing import Any

import lightgbm as lgb
import numpy as np

import lambdaplus as lp


def train(rank: int, ports: list[int], queries: bool, feval: bool) -> Any:
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
        found = lp.lambda_map(scores, data)
        alone = lp.lambda_map(y, scores.copy(), None, group)
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


if __name__ == "__main__":
    rank, *ports = map(int, sys.argv[1:])
    cases = ((True, False), (False, False), (True, True))
    print("\n" + json.dumps([
        train(rank, ports[2 * i : 2 * i + 2], *case) for i, case in enumerate(cases)
    ]))  # fmt: skip
