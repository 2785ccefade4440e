"""Trains with LightGBM on one of two machines, and prints what happened, in one line of JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import lightgbm as lgb
import numpy as np

import lambdaplus as lp


def train(rank: int, ports: list[int], case: str) -> Any:
    random = np.random.default_rng(rank)
    X = random.normal(size=(400, 3))
    y = (X[:, 0] + random.normal(size=400) > 1).astype(float)
    group = [20] * 20 if case.startswith("queries") else None
    params = {
        "num_machines": 2, "machines": ",".join(f"127.0.0.1:{port}" for port in ports),
        "local_listen_port": ports[rank], "time_out": 1, "tree_learner": "data",
        "pre_partition": True, "num_leaves": 4, "num_threads": 1, "verbosity": -1,
    }  # fmt: skip
    kept = []

    def objective(scores: Any, data: Any) -> Any:
        kept.append((lp.lambda_map(scores, data), lp.lambda_map(y, scores.copy(), None, group)))
        return kept[-1][0]

    params["objective"], params["metric"] = objective, "None"
    data = lgb.Dataset(X, y, group=group)
    more: dict[str, Any] = {}
    if case == "queries, feval":
        more = {"valid_sets": [data], "feval": lp.eval_map}
    try:
        lgb.train(params, data, 3, **more)
    except ValueError as error:
        return str(error)
    same = all(
        np.array_equal(one, other) for pair in kept for one, other in zip(*pair, strict=True)
    )
    return {"rounds": len(kept), "same": same}


if __name__ == "__main__":
    _, number, first, second, what = sys.argv
    print("\n" + json.dumps(train(int(number), [int(first), int(second)], what)))
