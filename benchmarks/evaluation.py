"""Time of one evaluation: our feval beside LightGBM's own metrics on the same rows.

    python benchmarks/evaluation.py [--queries 6000] [--rounds 15] [--json FILE]

MSLR's shape: queries of about 120 documents, five grades.  One thread, one process, everything in
turns; shown are medians and their ratio.  Our scores move from call to call, as in training.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import time
from functools import partial

import lightgbm
import numpy as np
from contenders import web_search
from tables import Section, show

import lambdaplus as lp

METRICS = {
    "ndcg@10 + map@10": (("ndcg@10", "map@10"), ["ndcg", "map"]),
    "ndcg@10": (("ndcg@10",), ["ndcg"]),
    "map@10": (("map@10",), ["map"]),
}


def measure(n_queries: int, rounds: int) -> tuple[dict[str, dict[str, float]], int]:
    """Median milliseconds of each metric, ours and LightGBM's."""
    os.environ["OMP_NUM_THREADS"] = "1"
    labels, sizes, scores = web_search(n_queries)
    rng = np.random.default_rng(1)
    found: dict[str, dict[str, float]] = {}
    for name, (ours, theirs) in METRICS.items():
        data = lightgbm.Dataset(
            np.zeros((labels.size, 1)), labels, group=sizes, init_score=scores,
            params={"verbose": -1},
        )  # fmt: skip
        params = {"objective": "none", "metric": theirs, "eval_at": [10]}
        booster = lightgbm.Booster({**params, "verbose": -1, "num_threads": 1}, data)
        feval = lp.eval_metric(*ours)
        times: dict[str, list[float]] = {"lambdaplus": [], "LightGBM": []}
        moving = scores.copy()
        for turn in range(rounds + 2):
            moving += rng.normal(scale=0.05, size=moving.size)
            calls = {"lambdaplus": partial(feval, moving, data), "LightGBM": booster.eval_train}
            for contender, call in calls.items():
                start = time.perf_counter()
                call()
                if turn >= 2:  # the first ones compile and fill caches
                    times[contender].append(1000 * (time.perf_counter() - start))
        found[name] = {contender: statistics.median(ms) for contender, ms in times.items()}
    return found, labels.size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    found, rows = measure(arguments.queries, arguments.rounds)
    title = f"One evaluation, {rows:,} rows, {arguments.queries:,} queries, one thread"
    lines = [
        [name, f"{ours:.0f}", f"{theirs:.0f}", f"{ours / theirs:.2f}"]
        for name, (ours, theirs) in ((name, ms.values()) for name, ms in found.items())
    ]
    show([Section(title, ["", "lambdaplus ms", "LightGBM ms", "ratio"], lines)])
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "milliseconds": found}, indent=1))


if __name__ == "__main__":
    main()
