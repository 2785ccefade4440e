"""One gradient of lambda_map without queries on several XGBoost workers, beside one machine.

    python benchmarks/workers.py [--rows 1000000] [--workers 2]

All workers are processes of this machine, so that the time of a round is that of as many cores, and
messages travel over loopback.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from rich.console import Console
from xgboost import collective
from xgboost.tracker import RabitTracker

import lambdaplus as lp
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.evaluation.result_tables import Table

REPEATS = 7


def rows_of(n: int, worker: int, size: int, weighted: bool) -> Any:
    random = np.random.default_rng(0)
    labels = (random.random(n) < 0.03).astype(np.float32)
    scores = (random.normal(size=n) + labels).astype(np.float32)
    weights = random.integers(1, 4, n).astype(np.float32) if weighted else None
    mine = slice(n * worker // size, n * (worker + 1) // size)
    features = np.zeros((mine.stop - mine.start, 1))
    weight = None if weights is None else weights[mine]
    return scores[mine], xgb.DMatrix(features, labels[mine], weight=weight)


def times(scores: NDArray[np.float32], data: xgb.DMatrix) -> list[float]:
    """Milliseconds of one call each, on one thread, from scores that differ from round to round."""
    found = []
    with limit_threads(1):
        lp.lambda_map(scores, data)
        for k in range(REPEATS):
            given = scores * np.float32(1 + k / 100)
            begin = time.perf_counter()
            lp.lambda_map(given, data)
            found.append(1e3 * (time.perf_counter() - begin))
    return found


def worker(connection: dict[str, Any], rank: int, size: int, n: int, weighted: bool) -> Any:
    with collective.CommunicatorContext(**connection, dmlc_task_id=str(rank)):
        scores, data = rows_of(n, rank, size, weighted)
        took = times(scores, data)
        sizes, reduce = [], collective.allreduce

        def counted(values: Any, op: Any) -> Any:
            sizes.append(values.nbytes)
            return reduce(values, op)

        collective.allreduce = counted
        lp.lambda_map(scores, data)
        collective.allreduce = reduce
    return took, sum(sizes), len(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    table, size, n = [], given.workers, given.rows
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(size, context) as pool:
        for weighted in (False, True):
            one = statistics.median(times(*rows_of(n, 0, 1, weighted)))
            tracker = RabitTracker(n_workers=size, host_ip="127.0.0.1", sortby="task")
            tracker.start()
            arguments = tracker.worker_args()
            running = [
                pool.submit(worker, arguments, rank, size, n, weighted) for rank in range(size)
            ]
            several = [each.result() for each in running]
            slowest = max(statistics.median(each[0]) for each in several)
            label = "with row weights" if weighted else "without"
            table.append((label, one, slowest, several[0][1] / 1e6, several[0][2]))
    heads = (f"{n:,} rows", "one machine, ms", f"{size} workers, ms", "MB a round", "reductions")
    Console(width=110).print(Table(heads, table, ("median of 7 rounds, one thread each",)))


if __name__ == "__main__":
    main()
