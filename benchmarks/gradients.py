"""Time of one gradient call: our objectives over all pairs beside the frameworks' own.

    python benchmarks/gradients.py [--queries 6000] [--rounds 15] [--json FILE]

MSLR's shape: queries of about 120 documents, five grades, scores that move from call to call as
they do in training.  One thread, one process, everything in turns; shown are medians and their
ratio to LightGBM's lambdarank and XGBoost's rank:ndcg.

The native gradients can't be called alone.  Their time is that of a boosting round on one feature
with two leaves, less the same round with a squared error, whose gradient is next to free.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import lightgbm
import numba
import numpy as np
import xgboost
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

import lambdaplus as lp

OURS = {
    **{
        name: lp.lambda_objective(name) for name in ("ndcg", "ndcg@10", "auc", "mauc", "map", "mrr")
    },
    "ndcg, no damping": lp.lambda_objective("ndcg", damping=None),
}
LIGHTGBM = {
    "lambdarank, truncated at 30": {"objective": "lambdarank"},
    "lambdarank, all pairs": {"objective": "lambdarank", "lambdarank_truncation_level": 10_000},
    "rank_xendcg": {"objective": "rank_xendcg"},
    "squared error": {"objective": "regression", "boost_from_average": False},
}
XGBOOST = {
    "rank:ndcg, topk 32": {"objective": "rank:ndcg"},
    "rank:map, topk 32": {"objective": "rank:map"},
    "squared error": {"objective": "reg:squarederror"},
}

Array = NDArray[Any]


def web_search_like(n_queries: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Labels with about MSLR's share of grades, query sizes, and scores that know something."""
    rng = np.random.default_rng(seed)
    sizes = np.clip(rng.lognormal(4.65, 0.5, n_queries).astype(int), 5, 900)
    labels = rng.choice(5, size=sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01])
    return labels, sizes, rng.normal(scale=0.7, size=labels.size) + 0.3 * labels


def lightgbm_round(labels: Array, sizes: Array, scores: Array, params: Any) -> Callable[[], Any]:
    feature = (np.arange(labels.size) % 7 < 3).astype(float)[:, None]
    data = lightgbm.Dataset(feature, label=labels, group=sizes, init_score=scores)
    settings = {"verbose": -1, "num_threads": 1, "num_leaves": 2, "metric": "None"}
    return lightgbm.Booster({**settings, **params}, data).update


def xgboost_round(labels: Array, sizes: Array, scores: Array, params: Any) -> Callable[[], Any]:
    if params["objective"] == "rank:map":
        labels = (labels >= 1).astype(int)
    feature = (np.arange(labels.size) % 7 < 3).astype(float)[:, None]
    data = xgboost.DMatrix(feature, label=labels, group=sizes, base_margin=scores)
    settings = {"nthread": 1, "max_depth": 1, "tree_method": "hist", "base_score": 0.0}
    booster = xgboost.Booster({**settings, **params}, [data])
    done = iter(range(1_000_000))
    return lambda: booster.update(data, next(done))


def our_call(labels: Array, sizes: Array, scores: Array, objective: Any) -> Callable[[], Any]:
    rng = np.random.default_rng(1)
    blank = np.zeros((labels.size, 1))
    data = lightgbm.Dataset(blank, label=labels, group=sizes, params={"verbose": -1})
    data.construct()
    moving = scores.copy()

    def call() -> None:
        objective(moving, data)

    def prepared() -> Callable[[], None]:
        moving[:] += rng.normal(scale=0.05, size=moving.size)  # outside of what is timed
        return call

    return prepared


def measure(n_queries: int, rounds: int) -> tuple[dict[str, float], int]:
    """Median milliseconds of each contender, in turns."""
    numba.set_num_threads(1)
    labels, sizes, scores = web_search_like(n_queries)
    ours = {name: our_call(labels, sizes, scores, found) for name, found in OURS.items()}
    native = {
        f"LightGBM {k}": lightgbm_round(labels, sizes, scores, v) for k, v in LIGHTGBM.items()
    }
    native |= {f"XGBoost {k}": xgboost_round(labels, sizes, scores, v) for k, v in XGBOOST.items()}
    times: dict[str, list[float]] = {name: [] for name in [*ours, *native]}
    for turn in track(range(rounds + 2), description="rounds", transient=True):
        for name in times:
            call = ours[name]() if name in ours else native[name]
            start = time.perf_counter()
            call()
            if turn >= 2:  # the first ones compile and fill caches
                times[name].append(1000 * (time.perf_counter() - start))
    found = {name: statistics.median(values) for name, values in times.items()}
    for framework in ("LightGBM", "XGBoost"):
        free = found.pop(f"{framework} squared error")
        for name in found:
            if name.startswith(framework):
                found[name] -= free
    return found, labels.size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    found, rows = measure(arguments.queries, arguments.rounds)
    table = Table(
        title=f"one gradient call, {rows:,} rows, {arguments.queries:,} queries, one thread"
    )
    for column in ("", "ms", "ns/row", "/ lambdarank", "/ rank:ndcg"):
        table.add_column(column, justify="right" if column else "left")
    for name, ms in found.items():
        table.add_row(
            name if name.split()[0] in ("LightGBM", "XGBoost") else f"lambdaplus {name}, all pairs",
            f"{ms:.0f}",
            f"{1e6 * ms / rows:.0f}",
            f"{ms / found['LightGBM lambdarank, truncated at 30']:.2f}",
            f"{ms / found['XGBoost rank:ndcg, topk 32']:.2f}",
        )
    Console(width=110).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "milliseconds": found}, indent=1))


if __name__ == "__main__":
    main()
