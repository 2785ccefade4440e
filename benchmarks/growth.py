"""How the time of a gradient grows with the length of one ranking, up to ten million documents.

    python benchmarks/growth.py [--largest 10000000] [--rounds 5]

One query, two grades and five, on one thread and on all; numpy's stable argsort of the same scores
beside it, and the frameworks' own as far as they go.  Memory is the most that a call of ours took
beyond what was there before it, inputs and outputs included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

import numba
import numpy as np
from contenders import OURS, one_query, our_call
from tables import Section, show

MEASURED = ("NDCG, no damping", "AUC", "MAP")


def nanoseconds(n: int, grades: int, name: str, threads: int, rounds: int) -> float:
    numba.set_num_threads(threads)
    clock = time.thread_time if threads == 1 else time.perf_counter
    prepared = our_call(one_query(n, grades), OURS[name])
    found = []
    for turn in range(rounds + 2):
        call = prepared()
        start = clock()
        call()
        if turn >= 2:
            found.append(clock() - start)
    return 1e9 * statistics.median(found) / n


def argsort_nanoseconds(n: int) -> float:
    scores = one_query(n, 2).scores
    start = time.thread_time()
    np.argsort(-scores, kind="stable")
    return 1e9 * (time.thread_time() - start) / n


def bytes_a_document(n: int) -> float:
    """In a process of its own, whose high-water mark is read before and after."""
    code = f"""
import resource, sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
import numpy as np
import lambdaplus as lp
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
rng = np.random.default_rng(0)
labels, scores = rng.integers(0, 2, {n}).astype(float), rng.normal(size={n})
lp.lambda_auc(labels[:200_000], scores[:200_000])
before = peak()
lp.lambda_auc(labels, scores)
print((peak() - before) / {n})
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(found.stdout)


def sections(largest: int, rounds: int) -> list[Section]:
    sizes = [10**k for k in range(3, 8) if 10**k <= largest]
    cores = os.cpu_count() or 1
    rows = []
    for grades in (2, 5):
        for name in MEASURED if grades == 2 else MEASURED[:1]:
            for threads in sorted({1, cores}):
                ns = [nanoseconds(n, grades, name, threads, rounds) for n in sizes]
                label = f"{name}, {grades} grades, {threads} thread{'s' * (threads > 1)}"
                growth = f"{ns[-1] / ns[sizes.index(10_000)]:.2f}"
                rows.append([label, *(f"{value:.0f}" for value in ns), growth])
    sort = [argsort_nanoseconds(n) for n in sizes]
    rows.append(["numpy's stable argsort", *(f"{value:.0f}" for value in sort), ""])
    note = (
        f"AUC without queries, {largest:,} rows: {bytes_a_document(largest):.0f} bytes a row at "
        "most beside what was there before the call, copies of labels and the output included."
    )
    columns = ["", *(f"{n:,}" for n in sizes), f"{largest:,} to 10,000"]
    return [Section("One ranking: nanoseconds a document", columns, rows, note)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    show(sections(arguments.largest, arguments.rounds))


if __name__ == "__main__":
    main()
