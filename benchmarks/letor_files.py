"""Time and memory of readers of LETOR files: lambdaplus, scikit-learn, LightGBM and XGBoost.

    python benchmarks/letor_files.py [--rows 50000 100000 200000] [--features 136]

The files are generated in build/: values of as many digits as in MSLR-WEB, 120 rows a query.  Each
reader is a process of its own.  Seconds are those of all of its threads, and memory is the most
that it had; the array of features alone has 8 bytes a value.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from tables import keep

from lambdaplus.evaluation import Table

BUILD = Path(__file__).parents[1] / "build"
ROWS_OF_A_QUERY = 120


def written(rows: int, features: int, queries: bool = True) -> Path:
    """The file, and another one without queries, since LightGBM does not read them."""
    file = BUILD / f"letor-{rows}-{features}{'' if queries else '-without-queries'}.txt"
    if file.exists():
        return file
    BUILD.mkdir(exist_ok=True)
    random = np.random.default_rng(0)
    form = " ".join(f"{j}:%g" for j in range(1, features + 1))
    with file.with_suffix(".part").open("w") as stream:
        for first in range(0, rows, 10_000):
            n = min(10_000, rows - first)
            values = np.where(
                np.arange(features) % 3 == 0,
                random.integers(0, 200, (n, features)),
                random.gamma(2.0, 20.0, (n, features)).round(6),
            )
            labels = random.integers(0, 5, n)
            for row, (label, line) in enumerate(zip(labels, values, strict=True), first):
                qid = f"qid:{row // ROWS_OF_A_QUERY} " if queries else ""
                stream.write(f"{label} {qid}{form % tuple(line)}\n")
    file.with_suffix(".part").rename(file)
    return file


def lambdaplus(file: Path) -> Any:
    from lambdaplus.data import read_letor

    return read_letor(file).features


def scikit_learn(file: Path, query_id: bool = False) -> Any:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(file), query_id=query_id)[0].toarray()


def scikit_learn_with_queries(file: Path) -> Any:
    return scikit_learn(file, query_id=True)


def lightgbm(file: Path) -> Any:
    from lightgbm import Dataset

    params = {"verbose": -1, "num_threads": 1}
    return Dataset(str(file), params=params).construct()


def xgboost(file: Path) -> Any:
    from xgboost import DMatrix

    return DMatrix(f"{file}?format=libsvm", nthread=1)


READERS = {
    "lambdaplus": lambdaplus,
    "lambdaplus, from its cache": lambdaplus,
    "LightGBM, with its bins, without queries": lightgbm,
    "XGBoost, float32": xgboost,
    "scikit-learn, without queries": scikit_learn,
    "scikit-learn, with queries": scikit_learn_with_queries,
}


def measure(name: str, rows: int, features: int) -> None:
    """Read in this process, and print seconds and gigabytes."""
    queries = not name.startswith("LightGBM")
    READERS[name](written(20, 5, queries))  # imports
    file = written(rows, features, queries)
    start = time.process_time()
    READERS[name](file)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps([seconds, peak]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 100_000, 200_000])
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--reader", choices=READERS)
    parser.add_argument("--keep", action="store_true", help="write the table to results/")
    args = parser.parse_args()
    if args.reader:
        measure(args.reader, args.rows[0], args.features)
        return
    cache, rows = BUILD / "letor-cache", []
    for entry in cache.rglob("*.npz"):
        entry.unlink()
    environment = {**os.environ, "LAMBDAPLUS_CACHE": str(cache)}
    for name in READERS:
        for n in args.rows:
            if name == "scikit-learn, with queries" and n > 200_000:  # its time is quadratic
                continue
            command = [sys.executable, __file__, "--reader", name]
            command += ["--rows", str(n), "--features", str(args.features)]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            seconds, peak = json.loads(done.stdout.splitlines()[-1])
            by_row = f"{seconds / n * 1e6:.1f}"
            rows.append([name, f"{n:,}", f"{seconds:.2f}", by_row, f"{peak:.2f}"])
            print(*rows[-1], sep="  ", flush=True)
    table = Table(("reader", "rows", "seconds", "µs a row", "GB"), rows)
    if args.keep:
        sizes = " ".join(map(str, args.rows))
        command = f"python benchmarks/letor_files.py --rows {sizes} --keep"
        keep("letor-files", command, {f"Files of {args.features} features": table})


if __name__ == "__main__":
    main()
