"""How the time of a gradient grows with the length of one ranking, up to ten million documents.

    python benchmarks/growth.py [--largest 10000000] [--rounds 5]

One query, two grades and five, on one thread and on all; numpy's stable argsort of the same scores
beside it, and the frameworks' own as far as they go.  Memory is the most that a call of ours took
beyond what was there before it, outputs included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from contenders import LIGHTGBM, OURS, XGBOOST, lightgbm_round, one_query, our_call, xgboost_round
from lightgbm.basic import LightGBMError
from tables import Section, show

MEASURED = ("NDCG", "AUC", "MAP")
NATIVE = (
    ("LightGBM", "lambdarank"),
    ("LightGBM", "lambdarank, all pairs"),
    ("XGBoost", "rank:ndcg"),
    ("XGBoost", "rank:ndcg, all pairs"),
)
PATIENCE = 20.0  # seconds that a native gradient may take


def nanoseconds(n: int, grades: int, name: str, threads: int, rounds: int) -> float:
    os.environ["OMP_NUM_THREADS"] = str(threads)
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


def native_nanoseconds(sizes: list[int], framework: str, name: str) -> list[str]:
    """Of the frameworks' own gradient on five grades and one thread, size by size.

    Until LightGBM refuses the length, or a call would take too long.
    """
    make, known = (
        (lightgbm_round, LIGHTGBM) if framework == "LightGBM" else (xgboost_round, XGBOOST)
    )
    found: list[str] = []
    for n in sizes:
        params = known["rank:ndcg" if framework == "XGBoost" else name]
        if framework == "XGBoost" and name == "rank:ndcg, all pairs":
            params = {**params, "lambdarank_num_pair_per_sample": n}
        try:
            ns = round_nanoseconds(make, n, params)
        except LightGBMError:
            return found + ["refused"] * (len(sizes) - len(found))
        found.append(f"{ns - round_nanoseconds(make, n, known['squared error']):.0f}")
        if ns * 1e-9 * n * 100 > PATIENCE and "all pairs" in name:
            break
    return found + ["too long"] * (len(sizes) - len(found))


def round_nanoseconds(make: Callable[..., Any], n: int, params: Any) -> float:
    one_round = make(one_query(n, 5), params, 1)
    found = []
    for _ in range(3):
        start = time.thread_time()
        one_round()
        found.append(time.thread_time() - start)
    return 1e9 * statistics.median(found) / n


def argsort_nanoseconds(n: int) -> float:
    scores = one_query(n, 2).scores
    start = time.thread_time()
    np.argsort(-scores, kind="stable")
    return 1e9 * (time.thread_time() - start) / n


def bytes_a_document(n: int) -> tuple[float, float]:
    """Most that the first and the second call take beyond what was there before, output included.

    In a process of its own, whose high-water mark Linux forgets just before each call.
    """
    code = f"""
import pathlib, re
import numpy as np
import lambdaplus as lp
def kept(what):
    found = re.search(what + r":\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())
    return 1024 * int(found[1])
rng = np.random.default_rng(0)
labels, scores = rng.integers(0, 2, {n}).astype(float), rng.normal(size={n})
lp.lambda_auc(labels[:200_000], scores[:200_000])
for call in range(2):
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = kept("VmRSS")
    lp.lambda_auc(labels, scores)
    print((kept("VmHWM") - before) / {n})
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = map(float, found.stdout.split())
    return first, second


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
    for framework, name in NATIVE:
        rows.append([f"{framework} {name}, 5 grades, 1 thread",
                     *native_nanoseconds(sizes, framework, name), ""])  # fmt: skip
    sort = [argsort_nanoseconds(n) for n in sizes]
    rows.append(["numpy's stable argsort", *(f"{value:.0f}" for value in sort), ""])
    first, second = bytes_a_document(largest)
    note = (
        f"AUC without queries, {largest:,} rows: the first call took {first:.0f} bytes a row at "
        f"most, what it keeps with the labels included, each further one {second:.0f}."
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
