"""Time and memory of a comparison by the size of its data, and of a plain script beside it.

    python benchmarks/size.py --rows 100000 1000000 [--layout table|letor] [--jobs 2] [--rounds 50]

``table`` is a Parquet file of 20 features, in queries of 40 rows; ``letor`` is text as MSLR-WEB30K
is published: 136 features, about 120 documents a query, five grades, and five folds in which each
query is in five files.  MSLR-WEB30K has 3,771,125 rows.  Data are generated in ``--folder``, which
needs about 5 KB a row of ``letor``, and removed.

Each step is a process, or a part of one, whose peak is the memory that it and its own processes
have beside files that are mapped.  The plain script reads one fold, trains LightGBM, and has
scikit-learn evaluate it; the package of LightGBM has no command line.  A table keeps the columns of
earlier runs with the same layout, jobs and rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tables import RESULTS, keep

from lambdaplus.evaluation import Table
from lambdaplus.study import Config, Summary, study_of, write_report

METHODS = "lightgbm:lambda_map", "lightgbm:lambdarank", "xgboost:lambda_map", "xgboost:rank:ndcg"
SHAPES = {"table": (20, 40), "letor": (136, 120)}  # features, rows of a query
CHUNK = 96_000  # rows that are generated at a time: whole queries of both layouts
SUBSETS = 5
COLUMN = " rows: s, GB"


# Generated data


def chunks(rows: int, layout: str) -> Iterator[pl.DataFrame]:
    """Rows of whole queries: every second feature is a whole number, as counts of words are."""
    width, length = SHAPES[layout]
    for begin in range(0, rows, CHUNK):
        rng = np.random.default_rng(begin)
        n = min(CHUNK, rows - begin)
        features = rng.normal(size=(n, width))
        merit = features[:, :5].sum(axis=1) + 3.0 * rng.normal(size=n)
        label = np.searchsorted([0.5, 4.0, 7.0, 9.5], merit)
        features[:, 1::2] = np.rint(4.0 * np.abs(features[:, 1::2]))
        columns = {f"f{j}": column for j, column in enumerate(features.T.round(6), start=1)}
        yield pl.DataFrame({"label": label, "qid": (begin + np.arange(n)) // length, **columns})


def write_table(folder: Path, rows: int) -> Path:
    file = folder / "table.parquet"
    parts = folder / "parts"
    parts.mkdir()
    for place, frame in enumerate(chunks(rows, "table")):
        frame.write_parquet(parts / f"{place:06}.parquet")
    pl.scan_parquet(parts / "*.parquet").sink_parquet(file)
    shutil.rmtree(parts)
    return file


def write_letor(folder: Path, rows: int) -> Path:
    """Five subsets of queries; a fold has three of them in one file, and two as files."""
    subsets = [folder / f"subset{number}" for number in range(SUBSETS)]
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(file.open("wb")) for file in subsets]
        for frame in chunks(rows, "letor"):
            names = frame.columns[2:]
            numbers = (
                pl.when(j % 2 == 0).then(pl.col(name).cast(int).cast(str)).otherwise(name)
                for j, name in enumerate(names, start=1)
            )
            text = frame.select(
                "qid", pl.col("label").cast(str),
                pl.format("qid:{}", "qid").alias("query"),
                *(pl.format(f"{j}:{{}}", number).alias(names[j - 1])
                  for j, number in enumerate(numbers, start=1)),
            )  # fmt: skip
            for number, stream in enumerate(streams):
                own = text.filter(pl.col("qid") % SUBSETS == number).drop("qid")
                own.write_csv(stream, include_header=False, separator=" ", quote_style="never")
    for fold in range(SUBSETS):
        order = subsets[fold:] + subsets[:fold]
        place = folder / "letor" / f"Fold{fold + 1}"
        place.mkdir(parents=True)
        with (place / "train.txt").open("wb") as train:
            for subset in order[:3]:
                with subset.open("rb") as stream:
                    shutil.copyfileobj(stream, train, 1 << 24)
        os.link(order[3], place / "vali.txt")
        os.link(order[4], place / "test.txt")
    return folder / "letor"


# Seconds and memory


def own_memory() -> int:
    """Bytes of this process and those that it started, without mapped files."""
    total, waiting = 0, [os.getpid()]
    while waiting:
        number = waiting.pop()
        with contextlib.suppress(OSError, StopIteration):  # it has ended
            lines = Path(f"/proc/{number}/status").read_text().splitlines()
            total += next(1024 * int(n.split()[1]) for n in lines if n.startswith("RssAnon"))
            for task in Path(f"/proc/{number}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
    return total


class Steps:
    """Seconds and peak memory, in GB, of the steps of this process."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[float, float]] = {}

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        peak, over = [own_memory()], threading.Event()

        def watch() -> None:
            while not over.wait(0.05):
                peak.append(max(peak.pop(), own_memory()))

        thread = threading.Thread(target=watch)
        thread.start()
        start = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            over.set()
            thread.join()
        self.found[name] = seconds, peak[0] / 1e9


def compared(data: Path, folder: Path, jobs: int, rounds: int) -> Steps:
    """The steps of ``lambdaplus compare --report --save-model``."""
    steps, threads = Steps(), max(1, len(os.sched_getaffinity(0)) // jobs)
    config = Config(data=str(data), methods=METHODS, metrics=("ndcg@10",), rounds=rounds)
    with steps.step("start"):
        pass
    with steps.step("read"):
        study = study_of(config, folder / "fits", jobs, threads)
    print(study.memory.in_words, file=sys.stderr)
    with steps.step("plan (digests of the data)"):
        print(f"{len(study)} fits", file=sys.stderr)
    with steps.step("fits"):
        study.finish()
    with steps.step("evaluate and test"):
        summary = Summary(study.results)
        summary.decision()
    with steps.step("report"):
        (folder / "report").mkdir()
        write_report(summary, folder / "report", "", data=str(data), date="", study=study)
    with steps.step("model"):
        study.save_model(folder / "model")
    return steps


def lengths_of(queries: Any) -> Any:
    """The number of rows of each query, in the order of the rows."""
    return np.diff([0, *(np.flatnonzero(queries[1:] != queries[:-1]) + 1), queries.size])


def plain(data: Path, rounds: int) -> Steps:
    """One fold without lambdaplus."""
    import lightgbm
    from sklearn.datasets import load_svmlight_file
    from sklearn.metrics import ndcg_score

    steps, parts = Steps(), {}
    with steps.step("plain: start"):
        pass
    with steps.step("plain: read a fold"):
        if data.is_file():
            frame = pl.read_parquet(data)
            subset = frame["qid"].to_numpy() % SUBSETS
            for part, rows in ("train", subset < 3), ("vali", subset == 3), ("test", subset == 4):
                own = frame.filter(rows)
                features = own.drop("label", "qid").to_numpy()
                parts[part] = features, own["label"].to_numpy(), own["qid"].to_numpy()
            del frame, own, features
        else:
            for part in ("train", "vali", "test"):
                file = data / "Fold1" / f"{part}.txt"
                rows, labels = load_svmlight_file(str(file))
                with file.open("rb") as lines:  # query_id=True copies all of them for each row
                    queries = np.array([line.split(b" ", 2)[1] for line in lines])
                parts[part] = rows.toarray(), labels, queries
    groups = {part: lengths_of(own[2]) for part, own in parts.items()}
    with steps.step("plain: LightGBM, lambdarank"):
        train = lightgbm.Dataset(*parts["train"][:2], group=groups["train"])
        valid = train.create_valid(*parts["vali"][:2], group=groups["vali"])
        threads = len(os.sched_getaffinity(0))
        settings = {"objective": "lambdarank", "verbosity": -1, "num_threads": threads}
        model = lightgbm.train(
            {**settings, "metric": "ndcg", "eval_at": [10]}, train, rounds, valid_sets=[valid]
        )
    with steps.step("plain: score, scikit-learn's NDCG"):
        features, labels, _ = parts["test"]
        scores = model.predict(features)
        ends = np.cumsum(groups["test"])[:-1]
        pairs = zip(np.split(labels, ends), np.split(scores, ends), strict=True)
        np.mean([ndcg_score([label], [score], k=10) for label, score in pairs])
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000])
    parser.add_argument("--layout", choices=[*SHAPES], default="table")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--step", help=argparse.SUPPRESS)  # of a process that this one starts
    asked = parser.parse_args()
    if asked.step:
        data, folder = Path(asked.step), asked.folder
        work = compared(data, folder, asked.jobs, asked.rounds) if folder else plain(
            data, asked.rounds)  # fmt: skip
        print(json.dumps(work.found))
        return
    made = "python benchmarks/size.py --rows {} --layout {layout} --jobs {jobs} --rounds {rounds}"
    title = f"{asked.layout}: {len(METHODS)} methods, five folds, {asked.rounds} rounds, jobs: {asked.jobs}"  # noqa: E501
    for rows in asked.rows:  # kept one by one, beside those of earlier runs
        found = {
            step: "{:.1f}, {:.2f}".format(*told) for step, told in measured(rows, asked).items()
        }
        cells = {**kept_cells(f"size-{asked.layout}", title), rows: found}
        sizes, steps = sorted(cells), dict.fromkeys(itertools.chain(*cells.values()))
        lines = [[step, *(cells[size].get(step, "") for size in sizes)] for step in steps]
        columns = ["step", *(f"{size:,}{COLUMN}" for size in sizes)]
        command = made.format(" ".join(map(str, sizes)), **vars(asked))
        keep(f"size-{asked.layout}", command, {title: Table(columns, lines)})


def kept_cells(name: str, title: str) -> dict[int, dict[str, str]]:
    """The cells of a table that is kept, by the number of rows and the step."""
    file = RESULTS / f"{name}.json"
    tables = json.loads(file.read_text(encoding="utf-8"))["tables"] if file.exists() else ()
    return {
        int(column.removesuffix(COLUMN).replace(",", "")): {row[0]: row[j] for row in one["rows"]}
        for one in tables
        if one["title"] == title
        for j, column in enumerate(one["columns"])
        if j
    }


def measured(rows: int, asked: Any) -> dict[str, tuple[float, float]]:
    """All steps for data of so many rows."""
    with tempfile.TemporaryDirectory(dir=asked.folder) as made:
        folder = Path(made)
        data = (write_table if asked.layout == "table" else write_letor)(folder, rows)
        script = [sys.executable, __file__, "--step", str(data), "--rounds", str(asked.rounds)]
        found = {}
        for more in (["--folder", made, "--jobs", str(asked.jobs)], []):
            # A cache of text would need as much space again.
            environment = {**os.environ, "LAMBDAPLUS_CACHE": "off"}
            ended = subprocess.run(
                [*script, *more], check=True, stdout=subprocess.PIPE, text=True, env=environment
            )
            found |= json.loads(ended.stdout.splitlines()[-1])
        scored, steps = data if data.is_file() else data / "Fold1" / "test.txt", Steps()
        with steps.step("predict, with what this script needs"):
            command = [sys.executable, "-m", "lambdaplus", "predict", folder / "model", scored]
            subprocess.run([*command, "--out", folder / "scores.csv"], check=True, stdout=2)
        return found | steps.found


if __name__ == "__main__":
    main()
