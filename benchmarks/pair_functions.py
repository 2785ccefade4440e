"""Choose the share of damped pairs for each objective, on validation queries.

    python benchmarks/pair_functions.py fit SET [SET ...] [--draws 3] [--jobs 2]
    python benchmarks/pair_functions.py choose
    python benchmarks/pair_functions.py test

SET is named as in `ranking_sets.folds_by_name`.  Every objective is trained with each share, and
each framework's own objectives, with trees of 4, 16 and 64 leaves; the n-th draw has the n-th fold
and seed.  The value of a training is the highest mean of `WINDOW` consecutive evaluations on
validation queries by the objective's metric, and that of a share on a set the mean over draws and
trees.

The rule: the share with the highest mean over sets and frameworks, or a cheaper one that is within
one standard error over sets of it; or one share for all objectives, if it is nowhere further behind
the best than one error and `ONE_RULE`.

``fit`` writes each finished training to the folder --kept, from which the same command continues;
``choose`` makes the tables of validation values, and ``test`` those of test queries, where leaves
and round are chosen by validation.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from defaults import TRAINERS, best_window
from numpy.typing import ArrayLike
from ranking_sets import LABEL_NOISE, folds_by_name, generated, set_name
from rich.progress import track

from lambdaplus import LambdaObjective, lambda_objective, parse_metric
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import Fold
from lambdaplus.data.queries import Queries
from lambdaplus.objectives import Objective
from lambdaplus.study import Method, Settings
from lambdaplus.study.methods import Task
from lambdaplus.study.validation import values_of

METRICS = ("ndcg", "ndcg@10", "map", "mrr", "auc")
OBJECTIVES = ("ndcg", "map", "mrr", "auc")  # that of ndcg@10 is that of ndcg
OWN = {"lightgbm": ("lambdarank",), "xgboost": ("rank:ndcg", "rank:map", "rank:pairwise")}
LEAVES = (4, 16, 64)
SETTINGS = Settings(rounds=1000, patience=50, learning_rate=0.1, every=2, threads=1)
TREES = {
    "lightgbm": lambda leaves: {"num_leaves": leaves, "feature_fraction": 0.7},
    "xgboost": lambda leaves: {"max_leaves": leaves, "colsample_bytree": 0.7},
}
QUERIES = (300, 400, 5000)  # of generated sets
ONE_RULE = 0.001


@dataclass(unsafe_hash=True)
class HalfOfEach(Objective):
    """The mean of both gradients, each normalised: both halves count the same in each query."""

    plain: LambdaObjective
    damped: LambdaObjective

    def __post_init__(self) -> None:
        self.metric, self.one_group = self.plain.metric, False

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        both = [one.derivatives(queries, scores) for one in (self.plain, self.damped)]
        return np.mean([one[0] for one in both], axis=0), np.mean([one[1] for one in both], axis=0)


SHARES: dict[str, dict[str, Any]] = {  # in the order of their prices
    "none": {"damping": None},
    "third": {"damping": 0.01, "damped": 1 / 3},
    "half": {"damping": 0.01, "damped": 0.5},
    "two thirds": {"damping": 0.01, "damped": 2 / 3},
    "damped": {"damping": 0.01, "damped": 1.0},
    "half, level": {},
}
STAGES = (("none", "half", "damped", "own"), ("third", "half, level"), ("two thirds",))


def objective(metric: str, share: str) -> Any:
    if share == "half, level":
        return HalfOfEach(objective(metric, "none"), objective(metric, "damped"))
    return lambda_objective(metric, **SHARES[share])


Key = tuple[str, str, str, int, int]  # set, framework, name of the objective, leaves, draw


def tasks(sets: list[str], draws: range, stages: str) -> Iterator[Key]:
    """What matters most comes first."""
    for stage in stages:
        for draw, data, leaves, framework in product(draws, sets, LEAVES, TRAINERS):
            for share in STAGES[int(stage)]:
                ours = [f"{metric}, {share}" for metric in OBJECTIVES]
                for name in OWN[framework] if share == "own" else ours:
                    yield data, framework, name, leaves, draw


@cache
def folds(data: str) -> list[Fold]:
    kind, _, other = data.rpartition(":")
    if other in LABEL_NOISE and not kind:
        return [generated(LABEL_NOISE[data], number, QUERIES) for number in range(5)]
    return folds_by_name(data)


def fit(key: Key) -> dict[str, Any]:
    data, framework, name, leaves, draw = key
    fold, start = folds(data)[draw % 5], time.process_time()
    target = objective(*name.split(", ", 1)) if ", " in name else name
    metrics = tuple(parse_metric(metric) for metric in METRICS)
    method = Method(name, TRAINERS[framework], target, "ndcg")
    task = Task(
        method, TREES[framework](leaves), fold.train, fold.valid, SETTINGS, draw, metrics, fold.name
    )
    with limit_threads(1):
        fitted: Any = TRAINERS[framework](task)
        curves = {str(metric): one.curve for metric, one in fitted.items()}
        tested = {
            str(metric): values_of([metric], fold.test, one.predict(fold.test))[metric]
            for metric, one in fitted.items()
        }
    return {
        "key": [set_name(data), *key[1:]],
        "valid": {metric: best_window(curve) for metric, curve in curves.items()},
        "rounds": {str(metric): one.rounds for metric, one in fitted.items()},
        "test": tested,
        "seconds": time.process_time() - start,
    }


def fit_all(given: argparse.Namespace) -> None:
    given.kept.mkdir(parents=True, exist_ok=True)
    file = given.kept / "fits.jsonl"
    finished = {tuple(one["key"]) for one in read(given.kept)}
    left = [
        key
        for key in tasks(given.sets, range(given.first, given.first + given.draws), given.stages)
        if (set_name(key[0]), *key[1:]) not in finished
    ]
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool, file.open("a") as out:
        for one in track(pool.imap_unordered(fit, left), total=len(left)):
            out.write(json.dumps(one, default=float) + "\n")
            out.flush()


def read(kept: Path) -> list[dict[str, Any]]:
    file = kept / "fits.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("fit", "choose", "test"))
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    parser.add_argument("--stages", default="012", help="which shares to fit, and their order")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kept", type=Path, default=Path("build/pair-functions"))
    given = parser.parse_args()
    if given.step == "fit":
        fit_all(given)


if __name__ == "__main__":
    main()
