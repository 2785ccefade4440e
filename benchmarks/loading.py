"""Time of reading svmlight text beside scikit-learn's loader, and of reading it from the cache.

    python benchmarks/loading.py [ROWS] [--folder FOLDER]

The text is made by `web_search_like`: 700,000 x 136 if no other number of rows is asked for, about
a gigabyte, which the folder must have room for twice over. Every reader runs in a process of its
own, after one that reads a small file, so that compiling is not timed; the text is in the system's
file cache for all of them. Prints seconds,
the ratio to scikit-learn's, and the sum of all features, which must be the same.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from lambdaplus.datasets import RankingData, read_letor, web_search_like


def write_text(data: RankingData, path: Path) -> None:
    """Write a set as svmlight text, seven digits a value, as in MSLR's."""
    line = " ".join(["%d qid:%d", *(f"{j}:%.7g" for j in range(1, data.features.shape[1] + 1))])
    with path.open("w") as file:
        for label, qid, row in zip(data.labels, data.qid, data.features, strict=True):
            file.write(line % (label, qid, *row.tolist()) + "\n")


def read_sklearn(path: Path) -> float:
    from sklearn.datasets import load_svmlight_file

    features, _, _ = load_svmlight_file(str(path), query_id=True)
    return float(features.sum())


def read_ours(path: Path) -> float:
    return float(read_letor(path).features.sum())


def read_ours_sparse(path: Path) -> float:
    return float(read_letor(path, sparse=True).features.sum())


def map_ours(path: Path) -> float:
    """Without touching the features, which is all that a study needs to begin."""
    return float(read_letor(path).features.shape[1])


READERS = (  # name, reader, whether the cache is on
    ("scikit-learn's load_svmlight_file", read_sklearn, False),
    ("read_letor", read_ours, False),
    ("read_letor, sparse=True", read_ours_sparse, False),
    ("read_letor, filling the cache", read_ours, True),
    ("read_letor from the cache, all values summed", read_ours, True),
    ("read_letor from the cache, mapped", map_ours, True),
)


def time_one(
    read: Callable[[Path], float], cache: str, small: Path, path: Path
) -> tuple[float, float]:
    """Seconds, and what the reader returns."""
    os.environ["LAMBDAPLUS_CACHE"] = cache
    read(small)
    start = time.perf_counter()
    total = read(path)
    return time.perf_counter() - start, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="?", type=int, default=700_000)
    parser.add_argument("--folder", type=Path, help="for the text and the cache")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as made:
        folder = Path(made)
        data = web_search_like(-(-arguments.rows // 120))
        small, path = folder / "small.txt", folder / "all.txt"
        write_text(data.take_queries(np.arange(2)), small)
        write_text(data, path)
        rows, columns = data.features.shape
        del data
        time.sleep(2.5)  # a file that has just changed is not cached
        print(f"{rows:,} x {columns}, {path.stat().st_size / 1e6:,.0f} MB, {os.cpu_count()} cores")
        theirs = None
        for name, read, with_cache in READERS:
            cache = str(folder / "cache") if with_cache else "off"
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                seconds, total = process.submit(time_one, read, cache, small, path).result()
            theirs = theirs or seconds
            print(f"{name:<46}{seconds:8.2f} s{seconds / theirs:9.4f}   {total!r}", flush=True)


if __name__ == "__main__":
    main()
