"""A gradient over all pairs of one ranking, swept and pair by pair, as the ranking grows.

    python benchmarks/pairs.py [--largest 1000000] [--most-pairs 100000] [--rounds 7]

On one thread, in milliseconds of its processor: the median over rounds of the whole call, checks
and sort included.  Writes benchmarks/results/pairs.md and .json, which the documentation draws.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

from contenders import Shape, one_query
from tables import RESULTS, Section, show, write

from lambdaplus import gradients
from lambdaplus.metrics.rounding import LONG

MEASURED = {"MAP, 2 grades": ("map", 2), "NDCG, 5 grades": ("ndcg", 5)}
PATIENCE = 2.0  # seconds, from which once is enough


def milliseconds(shape: Shape, metric: str, all_pairs: bool, rounds: int) -> float:
    found: list[float] = []
    while len(found) < rounds and sum(found) < 1000 * PATIENCE:
        start = time.thread_time()
        gradients(shape.labels, shape.scores, metric=metric, group=shape.sizes, all_pairs=all_pairs)
        found.append(1000 * (time.thread_time() - start))
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--most-pairs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    sizes = [10 ** (k / 2) for k in range(4, 20) if 10 ** (k / 2) <= arguments.largest]
    points, rows = [], []
    for name, (metric, grades) in MEASURED.items():
        for all_pairs in (False, True):
            way = "pair by pair" if all_pairs else "sweep"
            row = [f"{name}, {way}"]
            for n in (100, 100 if all_pairs else LONG):  # compiles; long lists have their own code
                milliseconds(one_query(n, grades), metric, all_pairs, 1)
            for n in map(round, sizes):
                if all_pairs and n > arguments.most_pairs:
                    row.append("-")
                    continue
                found = milliseconds(one_query(n, grades), metric, all_pairs, arguments.rounds)
                points.append({"metric": name, "way": way, "n": n, "milliseconds": found})
                row.append(f"{found:.3g}")
            rows.append(row)
    columns = ["milliseconds", *(f"{round(n):,}" for n in sizes)]
    sections = [Section("One ranking of n documents, one thread", columns, rows)]
    show(sections)
    head = "Made by `python benchmarks/pairs.py`.\n\n"
    write(RESULTS / "pairs", head + sections[0].markdown(), points)


if __name__ == "__main__":
    main()
