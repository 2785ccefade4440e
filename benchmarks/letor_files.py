"""Time and memory of readers of LETOR files: lambdaplus, scikit-learn, LightGBM and XGBoost.

    python benchmarks/letor_files.py [--rows 50000 100000 200000] [--features 136]

The files are generated in build/: values of as many digits as in MSLR-WEB, 120 rows a query, 1.3
gigabytes for a million rows of 136 features.  Each reader is a process of its own.  Seconds are
those of all of its threads, and memory is the most that it had; the array of features alone has 8
bytes a value.  The first time of lambdaplus includes writing its cache.
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


def without_queries(file: Path) -> Path:
    """A file for LightGBM, which does not read the queries of the other one."""
    other = file.with_suffix(".without-queries")
    if not other.exists():
        with file.open("rb") as lines, (part := file.with_suffix(".part")).open("wb") as stream:
            for line in lines:
                label, _, features = line.split(b" ", 2)
                stream.write(label + b" " + features)
        part.rename(other)
    return other


def written(rows: int, features: int) -> Path:
    """The file of so many rows."""
    file = BUILD / f"letor-{rows}-{features}.txt"
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
                stream.write(f"{label} qid:{row // ROWS_OF_A_QUERY} {form % tuple(line)}\n")
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


SCIKIT_LEARN = "scikit-learn, without queries"
READERS = {
    "lambdaplus": lambdaplus,
    "lambdaplus, from its cache": lambdaplus,
    "LightGBM, with its bins, without queries": lightgbm,
    "XGBoost, float32": xgboost,
    SCIKIT_LEARN: scikit_learn,
    "scikit-learn, with queries": scikit_learn_with_queries,
}


def measure(name: str, rows: int, features: int) -> None:
    """Read in this process, and print seconds and gigabytes."""
    few, file = written(20, 5), written(rows, features)
    if name.startswith("LightGBM"):
        few, file = without_queries(few), without_queries(file)
    READERS[name](few)  # imports
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
            rows.append((name, n, seconds, peak))
            print(name, f"{n:,} rows", f"{seconds:.2f} s", f"{peak:.2f} GB", sep="  ", flush=True)
    of_peer = {n: seconds for name, n, seconds, _ in rows if name == SCIKIT_LEARN}
    table = Table(
        ("reader", "rows", "seconds", "µs a row", "by scikit-learn's", "GB"),
        [
            [name, f"{n:,}", f"{seconds:.2f}", f"{seconds / n * 1e6:.1f}",
             f"{seconds / of_peer[n]:.2f}", f"{peak:.2f}"]
            for name, n, seconds, peak in rows
        ],
    )  # fmt: skip
    print(table)
    if args.keep:
        sizes = " ".join(map(str, args.rows))
        command = f"python benchmarks/letor_files.py --rows {sizes} --keep"
        keep("letor-files", command, {f"Files of {args.features} features": table})


if __name__ == "__main__":
    main()
