"""The time of features relative to the query, beside pandas and a training on them.

    python benchmarks/relative_speed.py [--rows 1000000]

Rows have 136 features, a third of them with few values, in queries of about 120 documents.  Times
are those of one call after a first one that compiles.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from contenders import Array, web_search
from tables import keep

from lambdaplus.compute.parallel import limit_threads, n_threads
from lambdaplus.data import relative_features
from lambdaplus.evaluation import Table

WIDTH = 136
SMALL = 50_000  # rows for pandas
ROUNDS = 50


def features(n: int, seed: int = 0) -> Array:
    X = np.random.default_rng(seed).standard_normal((n, WIDTH), dtype=np.float32)
    X[:, ::3] = np.floor(3 * np.exp(X[:, ::3]))
    return X


def seconds(call: Callable[[], Any], threads: int = 1) -> float:
    with limit_threads(threads):
        start = time.perf_counter()
        call()
        return time.perf_counter() - start


def trained(X: Array, labels: Array, sizes: Array) -> Callable[[], Any]:
    params = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}
    return lambda: lightgbm.train(params, lightgbm.Dataset(X, labels, group=sizes), ROUNDS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    shape = web_search(given.rows // 120)
    X, sizes = features(shape.labels.size), shape.sizes
    few = int(np.searchsorted(np.cumsum(sizes), SMALL))
    group = sizes[:few]
    some, labels = X[: group.sum()], shape.labels[: group.sum()]
    more = relative_features(some, group=group)
    relative_features(some, group=group, kind="z")  # both have compiled what they need
    by_query = pd.DataFrame(some).groupby(np.repeat(np.arange(few), group))
    rows: list[list[Any]] = []

    def note(what: str, call: Callable[[], Any], n: int = len(some), threads: int = 1) -> None:
        took = seconds(call, threads)
        rows.append([what, f"{n:,}", threads, round(took, 2), round(1e9 * took / n / WIDTH, 1)])

    for kinds in (["rank"], ["z"], ["rank", "z"]):
        name = f"relative_features, {' and '.join(kinds)}"
        call = partial(relative_features, X, group=sizes, kind=kinds)
        for threads in sorted({1, n_threads()}):
            note(name, call, len(X), threads)
    note("relative_features, rank", partial(relative_features, some, group=group))
    note("pandas, groupby(qid).rank()", by_query.rank)
    note(f"lambdarank, {ROUNDS} rounds, raw features", trained(some, labels, group))
    note(f"lambdarank, {ROUNDS} rounds, with ranks beside", trained(more, labels, group))
    foot = f"{WIDTH} features, float32"
    table = Table(["", "rows", "threads", "seconds", "ns per value"], rows, [foot])
    command = " ".join(["python benchmarks/relative_speed.py", *sys.argv[1:]])
    keep("relative-speed", command, {"Features relative to the query": table})


if __name__ == "__main__":
    main()
