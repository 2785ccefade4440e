"""Time of our readers of text and tables beside scikit-learn's, polars' and pyarrow's.

    python benchmarks/loading.py [ROWS]

The sets are made by `web_search_like`: 20,000 rows x 136 unless said otherwise, written as svmlight
text with seven digits a value (as in MSLR) and with all digits that a double has (as dumped by
scikit-learn), as CSV and as Parquet.  Every reader reads a small file first, so that compiling is
not timed; then the better of two is taken.  The files are in the system's file cache.  The sums of
all values must agree.  Writes benchmarks/results/loading.md and .json.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tables

from lambdaplus.data import RankingData, read_columns, read_letor, web_search_like

REPEATS = 2


class Timing(NamedTuple):
    """Seconds, processor seconds of all threads, and the sum of what was read."""

    reader: str
    seconds: float
    processor: float
    total: float


def write_text(data: RankingData, path: pathlib.Path, value: str) -> None:
    line = " ".join(["%d qid:%d", *(f"{j}:{value}" for j in range(1, data.features.shape[1] + 1))])
    with path.open("w") as file:
        for label, qid, row in zip(data.labels, data.qid, data.features, strict=True):
            file.write(line % (label, qid, *row.tolist()) + "\n")


def frame_of(data: RankingData) -> Any:
    import polars

    columns = {f"f{j}": column for j, column in enumerate(data.features.T)}
    return polars.DataFrame({"qid": data.qid, "label": data.labels, **columns})


def by_scikit_learn(path: pathlib.Path) -> Any:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(path), query_id=True)[0].data


def by_float(path: pathlib.Path) -> Any:
    """What Python's float alone takes: no labels, no queries, no checks."""
    pairs = path.read_bytes().replace(b"qid:", b"").replace(b":", b" ").split()
    return np.array([float(text) for text in pairs])


def ours(path: pathlib.Path) -> Any:
    return read_letor(path).features


def ours_sparse(path: pathlib.Path) -> Any:
    return read_letor(path, sparse=True).features.data  # type: ignore[attr-defined]


def our_table(path: pathlib.Path) -> Any:
    return read_columns(path).features


def by_polars(path: pathlib.Path) -> Any:
    import polars

    csv = path.suffix == ".csv"
    frame = polars.read_csv(path) if csv else polars.read_parquet(path)
    return frame.drop("qid", "label").to_numpy()


def by_pyarrow(path: pathlib.Path) -> Any:
    from pyarrow import csv, parquet

    table = csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    return np.stack([column.to_numpy() for column in table.columns[2:]], axis=1)


TEXT: dict[str, tuple[Callable[[pathlib.Path], Any], bool]] = {  # reader, whether with the cache
    "scikit-learn's load_svmlight_file": (by_scikit_learn, False),
    "Python's float, the numbers alone": (by_float, False),
    "read_letor": (ours, False),
    "read_letor, sparse=True": (ours_sparse, False),
    "read_letor, from the cache": (ours, True),
}
TABLES: dict[str, tuple[Callable[[pathlib.Path], Any], bool]] = {
    "polars": (by_polars, False),
    "pyarrow": (by_pyarrow, False),
    "read_columns": (our_table, False),
}


def timed(name: str, read: Callable[[pathlib.Path], Any], path: pathlib.Path) -> Timing:
    found = []
    for _ in range(REPEATS):
        start, worked = time.perf_counter(), time.process_time()
        total = float(np.asarray(read(path)).sum())
        found.append((time.perf_counter() - start, time.process_time() - worked, total))
    return Timing(name, *min(found))


def run(rows: int, folder: pathlib.Path) -> dict[str, list[Timing]]:
    data = web_search_like(-(-rows // 120))
    small = data.take_queries(np.arange(3))
    kinds: dict[str, tuple[str, Callable[[RankingData, pathlib.Path], None], Any]] = {
        "svmlight text, seven digits": ("a.txt", lambda d, p: write_text(d, p, "%.7g"), TEXT),
        "svmlight text, all digits": ("b.txt", lambda d, p: write_text(d, p, "%.17g"), TEXT),
        "CSV": ("a.csv", lambda d, p: frame_of(d).write_csv(p), TABLES),
        "Parquet": ("a.parquet", lambda d, p: frame_of(d).write_parquet(p), TABLES),
    }
    for name, write, _ in kinds.values():
        write(data, folder / name)
        write(small, folder / f"small-{name}")
    time.sleep(2.5)  # a file that has just changed is not cached
    found: dict[str, list[Timing]] = {}
    for kind, (name, _, readers) in kinds.items():
        megabytes = (folder / name).stat().st_size / 1e6
        timings = []
        for reader, (read, with_cache) in readers.items():
            os.environ["LAMBDAPLUS_CACHE"] = str(folder / "cache") if with_cache else "off"
            read(folder / f"small-{name}")
            if with_cache:
                read(folder / name)  # fills it
            timings.append(timed(reader, read, folder / name))
        sums = [one.total for one in timings if one.reader != "Python's float, the numbers alone"]
        assert np.allclose(sums, sums[0], rtol=1e-9), (kind, timings)
        rows, columns = data.features.shape
        found[f"{kind}: {rows:,} x {columns}, {megabytes:.0f} MB"] = timings
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="?", type=int, default=20_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(arguments.rows, pathlib.Path(folder))
    columns = ["", "seconds", "processor seconds", "to the first"]
    sections = [
        tables.Section(
            kind,
            columns,
            [
                [
                    one.reader,
                    f"{one.seconds:.3f}",
                    f"{one.processor:.3f}",
                    f"{one.processor / timings[0].processor:.2f}",
                ]
                for one in timings
            ],
        )
        for kind, timings in found.items()
    ]
    tables.show(sections)
    head = (
        f"Made by `python benchmarks/loading.py` on {os.cpu_count()} cores "
        f"({platform.machine()}); the last column compares processor seconds."
    )
    text = "\n\n".join([head, *(section.markdown() for section in sections)])
    written = {kind: [one._asdict() for one in timings] for kind, timings in found.items()}
    tables.write(tables.RESULTS / "loading", text, written)


if __name__ == "__main__":
    main()
