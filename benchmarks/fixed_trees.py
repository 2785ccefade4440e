"""Trainings that differ in the objective alone: the same trees, rounds and early stopping.

The parameters of the trees are those of the first draws in the search of `benchmarks/accuracy.py`.
Each training keeps, for every metric, the test value of the round that is the best by that metric
on the validation queries, and a validation value.  Finished trainings are kept in a file, one line
each, and what is there is not trained again.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import multiprocessing
import pathlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from accuracy_values import METRICS
from rich.progress import track
from same_trees import TREES, highest

from lambdaplus.data import read_folds
from lambdaplus.evaluation import evaluate
from lambdaplus.study import Settings, find_methods
from lambdaplus.study.boosting import Boosting
from lambdaplus.study.config import LONG
from lambdaplus.study.search_space import draw
from lambdaplus.study.trials import LOOKS
from lambdaplus.study.validation import Validation

SETTINGS = Settings(*LONG)
EVERY = SETTINGS.rounds // LOOKS  # rounds from one evaluation to the next
WINDOW = 5  # evaluations whose highest mean is the validation value, since single ones fluctuate

read = lru_cache(read_folds)  # in each process


@dataclass(frozen=True)
class Job:
    """One training.

    ``method`` is named as in `lambdaplus compare`, ``options`` are those of our objective,
    ``rate`` is a factor of the learning rate that was drawn, and ``also`` is one more metric to
    evaluate.
    """

    method: str
    data: str
    fold: int
    draw: int
    options: tuple[tuple[str, Any], ...] = ()
    rate: float = 1.0
    also: str = ""

    @property
    def metrics(self) -> list[str]:
        return [*METRICS, *([self.also] if self.also else [])]

    @property
    def framework(self) -> str:
        return self.method.partition(":")[0]

    @property
    def key(self) -> str:
        about = dataclasses.asdict(self) | {"data": pathlib.Path(self.data).name}
        return json.dumps(about, sort_keys=True)


@dataclass(frozen=True)
class Trained:
    """What a training reached, by metric."""

    test: dict[str, float]
    valid: dict[str, float]
    rounds: dict[str, int]


def train(job: Job) -> Trained:
    [method] = find_methods(job.method)
    fold = read(pathlib.Path(job.data))[job.fold]
    parameters = {**draw(TREES[job.framework], 0, job.draw), **dict(job.options)}
    parameters["learning_rate"] *= job.rate
    validation = Validation(fold.valid, job.metrics, SETTINGS.patience, EVERY)
    assert isinstance(method.trainer, Boosting)
    predict = method.trainer.follow(method, parameters, fold.train, SETTINGS, job.draw, validation)
    rounds = {metric: validation.best_round(metric) for metric in job.metrics}
    test = {}
    for metric, best in rounds.items():
        scores = predict(fold.test, best)
        found = evaluate(fold.test.labels, scores, group=fold.test.group, metrics=[metric])
        test[metric] = float(found.mean[metric])
    valid = {m: highest(np.asarray(validation.curves[m]), WINDOW) for m in job.metrics}
    return Trained(test, valid, rounds)


def kept_in(path: pathlib.Path) -> dict[str, Trained]:
    """The finished trainings of a file, by the key of their job."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = (json.loads(line) for line in lines)
    return {one["job"]: Trained(**one["trained"]) for one in found}


def trained(
    jobs: Iterable[Job], path: pathlib.Path, processes: int
) -> Iterator[tuple[Job, Trained]]:
    """Every job and what it reached; after Ctrl-C those that are finished."""
    jobs, done = list(jobs), kept_in(path)
    missing = [job for job in jobs if job.key not in done]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        tasks = {pool.submit(train, job): job for job in missing}
        try:
            for task in track(as_completed(tasks), total=len(tasks), description="trainings"):
                key = tasks[task].key
                done[key] = task.result()
                line = json.dumps({"job": key, "trained": dataclasses.asdict(done[key])})
                with path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
    return ((job, done[job.key]) for job in jobs if job.key in done)


def parser(about: str, draws: int) -> argparse.ArgumentParser:
    """The options that both studies have."""
    found = argparse.ArgumentParser(description=about.splitlines()[0])
    found.add_argument("sets", nargs="+", help="folders of LETOR folds")
    found.add_argument("--draws", type=int, default=draws, help="of the trees' parameters")
    found.add_argument("--folds", type=int, default=5)
    found.add_argument("--jobs", type=int, default=2)
    found.add_argument("--kept", type=pathlib.Path, default=pathlib.Path("fixed-trees.jsonl"))
    return found
