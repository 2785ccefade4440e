"""Trainings of a study: each is tested once and kept as a line, from which tables are made.

The test values of all queries are kept, so any two trainings can be compared by query.
"""

from __future__ import annotations

import argparse
import base64
import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.progress import track
from tables import keep

from lambdaplus import evaluate
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import Table
from lambdaplus.study import Config, Method
from lambdaplus.study.boosted_trainer import BoostedTrainer
from lambdaplus.study.methods import parse_criterion
from lambdaplus.study.tasks import Task


class Trained(NamedTuple):
    """A training, and the scores of its test rows at the best round of each metric."""

    valid: dict[str, float]
    rounds: dict[str, int]
    ran: int
    scores: dict[str, Floats]


def train(
    trainer: BoostedTrainer,
    target: Any,
    params: Mapping[str, Any],
    fold: Fold,
    metrics: Sequence[str],
    *,
    rounds: int,
    patience: int,
    every: int,
    seed: int,
) -> Trained:
    """Train once, on one thread; the round of each metric is the best on validation queries."""
    criteria = tuple(map(parse_criterion, metrics))
    config = Config(rounds=rounds, patience=patience, every=every)
    method = Method("", trainer, target, metrics[0])
    with limit_threads(1):
        fitted: Any = trainer(
            Task(method, params, fold.train, fold.valid, config, seed, criteria, fold.name)
        )
        scores = {str(metric): one.predict(fold.test) for metric, one in fitted.items()}
    return Trained(
        {str(metric): max(one.curve) for metric, one in fitted.items()},
        {str(metric): one.rounds for metric, one in fitted.items()},
        max(len(one.curve) * one.every for one in fitted.values()),
        scores,
    )


def per_query(part: RankingData, metric: str, scores: Floats) -> str:
    """The values of all queries, as text of 16 bits for each; 65535 is NaN."""
    found = evaluate(part.labels, scores, group=part.group, metrics=[metric]).per_query[metric]
    whole = np.where(np.isnan(found), 65535, np.rint(65534 * np.nan_to_num(found)))
    return base64.b64encode(whole.astype("<u2").tobytes()).decode()


def values_in(text: str) -> Floats:
    whole = np.frombuffer(base64.b64decode(text), "<u2")
    return np.where(whole == 65535, np.nan, whole / 65534)


def read(kept: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for file in kept.glob("*.jsonl") for line in file.read_text().splitlines()
    ]


def fit_all(
    fit: Callable[[Any], dict[str, Any]], keys: Iterable[tuple[Any, ...]], kept: Path, jobs: int
) -> None:
    """Train what ``kept`` has not yet; each training is kept as soon as it is finished."""
    kept.mkdir(parents=True, exist_ok=True)
    finished = {tuple(one["key"]) for one in read(kept)}
    left = [key for key in keys if key not in finished]
    file = kept / f"{os.getpid()}.jsonl"
    with multiprocessing.get_context("spawn").Pool(jobs) as pool, file.open("a") as out:
        for one in track(pool.imap_unordered(fit, left), total=len(left)):
            out.write(json.dumps(one, default=float) + "\n")
            out.flush()


def keep_tables(name: str, fits: Mapping[Any, dict[str, Any]], tables: Mapping[str, Table]) -> None:
    """Keep the tables of a study, with the command, the hours and the number of its fits."""
    command = " ".join([f"python benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    hours = sum(fit["seconds"] for fit in fits.values()) / 3600
    keep(name, command, tables, hours=hours, fits=len(fits))


def study_parser(description: str, folder: str) -> argparse.ArgumentParser:
    """The arguments that all studies of kept fits have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("fit", "show"))
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--seeds", type=lambda text: list(map(int, text.split(","))), default=[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kept", type=Path, default=Path("build", folder))
    return parser


def run(
    given: argparse.Namespace, fit: Callable[[Any], dict[str, Any]],
    tasks: Callable[[argparse.Namespace], Iterable[tuple[Any, ...]]],
    show: Callable[[argparse.Namespace], None],
) -> None:  # fmt: skip
    """Do the step that the command names."""
    if given.step == "fit":
        if not given.sets:
            sys.exit("fit needs sets, as --help shows")
        fit_all(fit, tasks(given), given.kept, given.jobs)
    elif not read(given.kept):  # tables of nothing would replace those in benchmarks/results
        sys.exit(
            f"no trainings in {given.kept}: fit them first, as --help shows; "
            "benchmarks/tables.py NAME shows the tables of a file in benchmarks/results"
        )
    else:
        show(given)
