"""Data without queries: errors of rounded scores, time and memory of a gradient.

    python benchmarks/long_lists.py [--rows 1000000] [--trained 300000] [--stages]

1 % of the rows are positive.  Errors are those of the gradient (and of the Hessian) compared with
the exact sweep: the mean relative to the mean absolute value, and the largest relative to the
largest value, for several distributions of scores and for scores of a training.  Further tables:
test AUC and AP of trainings with and without rounding, with five seeds; time of a gradient on one
thread, for scores that are all different and for those of few rounds, and its peak memory; and time
by stage at the scores of a training.  With --stages, only this last table is shown, and nothing is
written.  benchmarks/training.py has the time of whole trainings.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score
from tables import keep, show

import lambdaplus as lp
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.evaluation import Table
from lambdaplus.ranking import rounding

METRICS = ("auc", "map")
TIMED = ("auc", "auc, pairs=equal", "auc, pairs=swap", "map")
TREES = {"num_leaves": 31, "learning_rate": 0.1, "verbose": -1, "num_threads": 1}


def timed_objective(name: str) -> Any:
    metric, *pairs = name.split(", pairs=")
    return lp.lambda_objective(metric, pairs=pairs[0] if pairs else "default")


@contextmanager
def without_rounding() -> Iterator[None]:
    usual, THRESHOLDS.long_list = THRESHOLDS.long_list, 10**12
    try:
        yield
    finally:
        THRESHOLDS.long_list = usual


def made_up(rows: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """28 features; the label depends on eight of them and on one interaction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 28)).astype(np.float32)
    logit = X[:, :8] @ np.random.default_rng(7).normal(size=8) * 0.7 + X[:, 8] * X[:, 9] - 6.2
    return X, (rng.random(rows) < 1 / (1 + np.exp(-logit))).astype(float)


def shapes(labels: NDArray[Any]) -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(1)
    normal, heavy = rng.normal(size=labels.size), rng.standard_t(1.5, size=labels.size)
    normal, heavy = normal + labels, heavy + labels
    found = {"normal": normal, "heavy tails (t, 1.5)": heavy}
    for size in (1e3, 1e6):
        found[f"an outlier of {size:g}"] = np.where(np.arange(labels.size) == 0, size, normal)
    found["63 distinct values"] = np.clip(np.round(8 * normal), -31, 31) / 8
    found["all tied"] = np.zeros(labels.size)
    return found


def errors(labels: NDArray[Any], scores: NDArray[Any]) -> list[str]:
    found = []
    for metric in METRICS:
        rounded = lp.gradients(labels, scores, metric=metric, normalize=True)
        with without_rounding():
            exact = lp.gradients(labels, scores, metric=metric, normalize=True)
        pairs = list(zip(rounded, exact, strict=True))
        for measure in (np.mean, np.max):
            each = [measure(np.abs(a - b)) / measure(np.abs(b)) for a, b in pairs]
            found.append(" (".join(f"{error:.0e}" for error in each) + ")")
    return found


def of_rounding(rows: int) -> dict[str, Table]:
    X, y = made_up(rows)
    lines = [[name, *errors(y, scores)] for name, scores in shapes(y).items()]
    for metric in METRICS:
        data = lgb.Dataset(X, y, params={"verbose": -1})
        model = lgb.train({**TREES, "objective": lp.lambda_objective(metric)}, data, 100)
        for rounds in (1, 10, 100):
            scores = model.predict(X, num_iteration=rounds)
            lines.append([f"{metric}, after {rounds} rounds", *errors(y, scores)])
    columns = ["AUC, mean", "AUC, largest", "AP, mean", "AP, largest"]
    return {f"Errors, {rows:,} rows": Table(["scores", *columns], lines)}


def of_trainings(rows: int) -> dict[str, Table]:
    lines = []
    for metric in METRICS:
        found = []
        for seed in range(5):
            X, y = made_up(2 * rows, seed)
            values = []
            for exact in (False, True):
                data = lgb.Dataset(X[:rows], y[:rows], params={"verbose": -1})
                params = {**TREES, "objective": lp.lambda_objective(metric), "seed": seed}
                with without_rounding() if exact else nullcontext():
                    model = lgb.train(params, data, 100)
                scores = model.predict(X[rows:])
                values += [f(y[rows:], scores) for f in (roc_auc_score, average_precision_score)]
            found.append(values)
        mean = np.mean(found, axis=0)
        gap = np.abs(np.array(found)[:, :2] - np.array(found)[:, 2:]).max(axis=0)
        for k, name in enumerate(("AUC", "AP")):
            cells = [f"{mean[k]:.5f}", f"{mean[2 + k]:.5f}", f"{gap[k]:.5f}"]
            lines.append([f"lambda_{metric}, test {name}", *cells])
    columns = ["rounded", "exact", "largest difference of a seed"]
    title = f"Trainings of 100 rounds on {rows:,} rows, five seeds"
    return {title: Table(["", *columns], lines)}


def of_gradients(rows: int) -> dict[str, Table]:
    lines = []
    for n in (rows // 20, rows, 10 * rows):
        rng = np.random.default_rng(0)
        y = (rng.random(n) < 0.01).astype(np.float32)
        every = rng.normal(size=n) + y
        data = lgb.Dataset(np.zeros((n, 1)), y, params={"verbose": -1}).construct()
        for metric in TIMED:
            objective, cells = timed_objective(metric), []
            for scores in (every, in_leaves(every)):
                took = []
                for _ in range(9):
                    with limit_threads(1):
                        start = time.thread_time()
                        objective(scores, data)
                        took.append(time.thread_time() - start)
                cells.append(f"{1e9 * np.median(took[2:]) / n:.1f}")
            tracemalloc.start()
            objective(every, data)
            cells.append(f"{tracemalloc.get_traced_memory()[1] / n:.0f}")
            tracemalloc.stop()
            lines.append([f"lambda_{metric}, {n:,} rows", *cells])
    heads = ["ns a row, different scores", "ns a row, few rounds", "bytes a row"]
    return {"One gradient, one thread": Table(["", *heads], lines)}


STAGES = {
    "find cells": (rounding, "find_cells"),
    "count rows": (rounding, "slots_in_cells"),
    "write rows": (rounding.Rounded, "write_rows"),
}
ROUNDS = (1, 5, 10, 15, 20)


@contextmanager
def timed_stages(took: dict[str, list[float]], clock: Callable[[], float]) -> Iterator[None]:
    """Add the seconds of each call of a stage to ``took``."""
    usual = {stage: getattr(*of) for stage, of in STAGES.items()}

    def timed(stage: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            start = clock()
            found = usual[stage](*arguments)
            took[stage].append(clock() - start)
            return found

        return call

    for stage, of in STAGES.items():
        setattr(*of, timed(stage))
    try:
        yield
    finally:
        for stage, of in STAGES.items():
            setattr(*of, usual[stage])


def of_stages(rows: int, calls: int = 15) -> dict[str, Table]:
    """At scores of trees, which are clusters; other data is in the caches before each call."""
    X, y = made_up(rows)
    data = lgb.Dataset(X, y.astype(np.float32), params={"verbose": -1})
    model = lgb.train({**TREES, "objective": lp.lambda_auc}, data, ROUNDS[-1])
    other, lines = np.ones(2**23), []
    for threads in sorted({1, os.cpu_count() or 1}):
        # On one thread, other programs do not count.
        clock = time.thread_time if threads == 1 else time.perf_counter
        for rounds in ROUNDS:
            scores = model.predict(X, num_iteration=rounds)
            for kind in (np.float64, np.float32):  # of LightGBM and of XGBoost
                given, took = scores.astype(kind), defaultdict[str, list[float]](list)
                with limit_threads(threads), timed_stages(took, clock):
                    for _ in range(calls):
                        other += 1.0
                        start = clock()
                        lp.lambda_auc(given, data)
                        took["all"].append(clock() - start)
                ns = {k: 1e9 * statistics.median(v[3:]) / rows for k, v in took.items()}
                rest = ns["all"] - sum(ns[stage] for stage in STAGES)
                cells = [*(ns[stage] for stage in STAGES), rest, ns["all"]]
                what = f"{rounds} rounds, {kind.__name__}, {threads} threads"
                lines.append([what, len(np.unique(given)), *(f"{value:.1f}" for value in cells)])
    columns = ["scores", "different", *STAGES, "all else", "all"]
    title = f"Stages of a gradient of lambda_auc, {rows:,} rows, ns a row"
    return {title: Table(columns, lines)}


def in_leaves(scores: NDArray[Any]) -> NDArray[Any]:
    """Scores of a few rounds: many rows have one of some scores, the others have close ones."""
    few = np.round(4 * scores) / 4
    return np.where(np.random.default_rng(1).random(scores.size) < 0.5, few, few + 1e-4 * scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--trained", type=int, default=300_000)
    parser.add_argument("--stages", action="store_true", help="show only time by stage")
    given = parser.parse_args()
    if given.stages:
        show(of_stages(given.rows))
        return
    tables = {
        **of_gradients(given.rows),
        **of_stages(given.rows),
        **of_rounding(given.rows),
        **of_trainings(given.trained),
    }
    keep("long-lists", " ".join(["python benchmarks/long_lists.py", *sys.argv[1:]]), tables)


if __name__ == "__main__":
    main()
