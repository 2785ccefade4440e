"""Time of gradients, ours and the frameworks', of long rankings, and of the start.

    python benchmarks/speed.py [--full]

Without --full, data is smaller.  Our gradients include sorting; scores change between calls.
Fails if a gradient of ours on one thread has become slower, beside LightGBM's lambdarank, than
results/speed.json says, by more than NOISE.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from contenders import (
    LIGHTGBM,
    Shape,
    lightgbm_round,
    milliseconds,
    one_query,
    short_queries,
    web_search,
)
from tables import RESULTS, keep

from lambdaplus import gradients
from lambdaplus.evaluation import Table

SWEPT = {"MAP, 2 grades": ("map", 2), "NDCG, 5 grades": ("ndcg", 5)}
LIMIT = 10_000  # documents of a query in LightGBM's lambdarank
NOISE = 1.25  # ratios of two runs differ by less, on a machine without other work
PATIENCE = 2.0  # seconds after which a measurement is not repeated
FIRST = """
import numpy as np
import lambdaplus as lp
lp.lambda_ndcg(np.array([0, 1, 2, 0]), np.zeros(4), None, np.array([4]))
"""
ALL = """
import numpy as np
import lambdaplus as lp
labels, scores, group = np.arange(40) % 3, np.arange(40.0), np.array([40])
for name in ("ndcg", "map", "err"):
    lp.lambda_objective(name)(labels, scores, None, group)
    lp.evaluate(labels, scores, group=group, metrics=[name])
lp.lambda_map(labels > 0, scores, np.ones(40))
"""
STARTS = {
    "import lambdaplus": "import lambdaplus",
    "first gradient, import included": FIRST,
    "of that, import numba": "import numba",
}


def of_gradients(queries: int, rounds: int) -> dict[str, Table]:
    """Medians, and their ratios to LightGBM's lambdarank and XGBoost's rank:ndcg."""
    shapes = {
        f"{queries:,} queries of about 120 documents, five grades": web_search(queries),
        f"{queries:,} queries of about 120 documents, two grades": web_search(queries, 2),
        "a million rows in queries of 10 to 50 documents, three grades": short_queries(1_000_000),
        "10,000 rows in queries of 10 to 50 documents, three grades": short_queries(),
    }
    tables = {}
    for title, shape in shapes.items():
        # With few rows, several threads cost more than they save.
        for threads in sorted({1, os.cpu_count() or 1} if shape.labels.size > 16_000 else {1}):
            ms = milliseconds(shape, rounds, threads)
            rows = [
                [name, f"{value:.2f}", f"{1e6 * value / shape.labels.size:.0f}"]
                + [f"{value / ms[own]:.2f}" for own in ("LightGBM lambdarank", "XGBoost rank:ndcg")]
                for name, value in ms.items()
            ]
            heads = ["", "ms", "ns a row", "to lambdarank", "to rank:ndcg"]
            s = "s" * (threads > 1)
            tables[f"One gradient: {title}, {threads} thread{s}"] = Table(heads, rows)
    return tables


def sweep_and_pairs(largest: int, rounds: int) -> tuple[Table, list[dict[str, Any]]]:
    """Time of a gradient of one ranking: all pairs, by the sweep and pair by pair, and lambdarank.

    LightGBM's lambdarank compares each document with the first 30, and takes at most 10,000.
    """
    sizes = [n for k in range(4, 13) if (n := round(10 ** (k / 2))) <= largest]
    points, rows = [], []
    for name, (metric, grades) in SWEPT.items():
        for way, all_pairs, most in (("sweep", False, largest), ("pair by pair", True, 100_000)):
            row = [f"{name}, {way}"]
            for n in sizes:
                if n > most:
                    row.append("-")
                    continue
                ms = of_one_ranking(one_query(n, grades), metric, all_pairs, rounds)
                points.append({"metric": name, "way": way, "n": n, "milliseconds": ms})
                row.append(f"{ms:.3g}")
            rows.append(row)
    times = [of_lambdarank(one_query(n, 5), rounds) for n in sizes if n <= LIMIT]
    for n, ms in zip(sizes, times, strict=False):
        point = {"metric": "NDCG, 5 grades", "way": "lambdarank", "n": n, "milliseconds": ms}
        points.append(point)
    shown = [f"{ms:.3g}" for ms in times]
    rows.append(["LightGBM lambdarank, 5 grades", *shown, *("-" for _ in sizes[len(times) :])])
    return Table(["milliseconds", *(f"{n:,}" for n in sizes)], rows), points


def of_one_ranking(shape: Shape, metric: str, all_pairs: bool, rounds: int) -> float:
    """Median of milliseconds of processor time, without the first call, which compiles."""
    took: list[float] = []
    while len(took) <= rounds and sum(took) < 1000 * PATIENCE:
        start = time.thread_time()
        gradients(shape.labels, shape.scores, metric=metric, group=shape.sizes, all_pairs=all_pairs)
        took.append(1000 * (time.thread_time() - start))
    return statistics.median(took[1:] or took)


def of_lambdarank(shape: Shape, rounds: int) -> float:
    """Median of milliseconds of processor time; of a round, less one with squared error."""
    updates = [lightgbm_round(shape, LIGHTGBM[name], 1) for name in ("lambdarank", "squared error")]
    took: list[list[float]] = [[], []]
    for turn in range(5 * rounds + 2):
        for update, times in zip(updates, took, strict=True):
            start = time.thread_time()
            update()
            if turn >= 2:
                times.append(1000 * (time.thread_time() - start))
    return max(statistics.median(took[0]) - statistics.median(took[1]), 1e-3)


def ratios(tables: Iterable[tuple[str, Sequence[Sequence[Any]]]]) -> dict[tuple[str, str], float]:
    """Ratios to lambdarank of our gradients on one thread, by data, without its size, and name."""
    return {
        (re.sub(r"^[\d,]+ queries", "queries", data.removeprefix("One gradient: ")), row[0]): ratio
        for data, rows in tables
        if data.endswith(", 1 thread")
        for row in rows
        if row[0].startswith("lambdaplus") and (ratio := float(row[3]))
    }


def slower(now: Mapping[Any, float], kept: Mapping[Any, float]) -> list[str]:
    """The gradients whose ratio has grown by more than `NOISE`."""
    return [
        f"{name}, {data}: {ratio:.2f} of lambdarank, was {kept[data, name]:.2f}"
        for (data, name), ratio in now.items()
        if (data, name) in kept and ratio > NOISE * kept[data, name]
    ]


def starts() -> Table:
    """Times in new processes, the best of three, with kernels from the cache, and without."""
    with tempfile.TemporaryDirectory() as folder:
        first = seconds_of(FIRST, "perf_counter", folder)
    with tempfile.TemporaryDirectory() as folder:
        cold = seconds_of(ALL, "process_time", folder)
        rows = [
            [name, f"{min(seconds_of(code, 'perf_counter', folder) for _ in range(3)):.3f}"]
            for name, code in STARTS.items()
        ]
    rows.append(["first gradient after installation, compilation included", f"{first:.1f}"])
    rows.append(["compiling every kernel of objectives and metrics, processor time", f"{cold:.1f}"])
    return Table(["", "seconds"], rows)


def seconds_of(code: str, clock: str, folder: str) -> float:
    timed = f"import time\nstart = time.{clock}()\n{code}\nprint(time.{clock}() - start)"
    given = {**os.environ, "NUMBA_CACHE_DIR": folder}
    ended = subprocess.run(
        [sys.executable, "-c", timed], env=given, capture_output=True, text=True, check=True
    )
    return float(ended.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the sizes of the documentation")
    full = parser.parse_args().full
    kept = json.loads((RESULTS / "speed.json").read_text(encoding="utf-8"))["tables"]
    ranking, points = sweep_and_pairs(1_000_000 if full else 10_000, 7 if full else 3)
    of_one_round = of_gradients(3000 if full else 600, 9 if full else 5)
    tables = {
        **of_one_round,
        "One ranking of n documents, one thread": ranking,
        f"Start, {os.cpu_count()} cores": starts(),
    }
    command = "python benchmarks/speed.py" + " --full" * full
    keep("speed" if full else "speed-small", command, tables, pairs=points)
    was = ratios((table["title"], table["rows"]) for table in kept)
    if found := slower(ratios((name, table.rows) for name, table in of_one_round.items()), was):
        sys.exit("\n".join(["", "Slower than benchmarks/results/speed.json:", *found]))


if __name__ == "__main__":
    main()
