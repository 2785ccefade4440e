"""Which defaults suit which length of the lists: our options beside what a user would take.

    python benchmarks/list_lengths.py fit SET [SET ...] [--seeds 2] [--jobs 2]
    python benchmarks/list_lengths.py show

SET is named as in `list_sets`.  Every contender is trained on the same folds, with trees and
learning rate as in `SETTINGS` and the defaults of its framework otherwise, on one thread.  For each
metric, the round is the one with the highest validation value, and test queries are read once.
``fit`` writes each finished training to the folder --kept, from which the same command continues.
"""

from __future__ import annotations

import argparse
import base64
import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from defaults import TRAINERS
from list_sets import fold_of
from rich.progress import track

from lambdaplus import evaluate, lambda_objective
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import RankingData
from lambdaplus.study import Config, Method
from lambdaplus.study.methods import Task, parse_criterion

METRICS = ("map", "ndcg@10", "auc")
SETTINGS = Config(rounds=300, patience=60, learning_rate=0.1, every=5)
TREES: dict[str, dict[str, Any]] = {
    "lightgbm": {"num_leaves": 31},
    "xgboost": {"max_depth": 6, "max_leaves": 0, "grow_policy": "depthwise"},
}
PLAIN: dict[str, Any] = {"damping": None, "pointwise": 0.0}
OURS = {
    "map": ("map", PLAIN),
    "map, damped .1": ("map", {**PLAIN, "damping": 0.1}),
    "map, damped .01": ("map", {**PLAIN, "damping": 0.01}),
    "map, damped .1, log-loss": ("map", {}),
    "map, damped .01, log-loss": ("map", {"damping": 0.01}),
    "auc, swap deltas": ("auc", {**PLAIN, "surrogate": "auc(pairs=swap)"}),
    "auc, equal pairs": ("auc(pairs=equal)", PLAIN),
    "auc, equal pairs, log-loss": ("auc(pairs=equal)", {"damping": None}),
    "ndcg": ("ndcg", PLAIN),
    "ndcg, damped .1": ("ndcg", {**PLAIN, "damping": 0.1}),
    "ndcg, damped .1, log-loss": ("ndcg", {}),
    "ndcg, top 30, damped .1, log-loss": ("ndcg", {"truncation": 30}),
}
THEIRS: dict[str, dict[str, dict[str, Any]]] = {
    "lightgbm": {
        "log-loss": {"objective": "binary"},
        "lambdarank": {"objective": "lambdarank"},
        "lambdarank, top 300": {"objective": "lambdarank", "lambdarank_truncation_level": 300},
        "rank_xendcg": {"objective": "rank_xendcg"},
    },
    "xgboost": {
        "log-loss": {"objective": "binary:logistic"},
        "rank:ndcg": {"objective": "rank:ndcg"},
        "rank:map": {"objective": "rank:map"},
        "rank:map, mean": {"objective": "rank:map", "lambdarank_pair_method": "mean"},
        "rank:pairwise": {"objective": "rank:pairwise"},
    },
}
Key = tuple[str, str, str, int]  # set, framework, name, seed


def tasks(sets: list[str], seeds: int) -> Iterator[Key]:
    for seed in range(seeds):
        for on in sets:
            for framework, theirs in THEIRS.items():
                for name in (*theirs, *OURS):
                    yield on, framework, name, seed


def fit(key: Key) -> dict[str, Any]:
    on, framework, name, seed = key
    fold, start = fold_of(on, seed), time.process_time()
    params = dict(THEIRS[framework].get(name, {}))
    target = params.pop("objective", None)
    if target is None:
        metric, options = OURS[name]
        target = lambda_objective(metric, **options)
    metrics = tuple(map(parse_criterion, METRICS))
    method = Method(name, TRAINERS[framework], target, "map")
    with limit_threads(1):
        fitted: Any = TRAINERS[framework](
            Task(
                method, {**TREES[framework], **params}, fold.train, fold.valid, SETTINGS, seed,
                metrics, fold.name,
            )
        )  # fmt: skip
        seconds = time.process_time() - start
        tested = {
            str(m): per_query(fold.test, m, one.predict(fold.test)) for m, one in fitted.items()
        }
    return {
        "key": key,
        "valid": {str(metric): max(one.curve) for metric, one in fitted.items()},
        "rounds": {str(metric): one.rounds for metric, one in fitted.items()},
        "test": tested,
        "per_round": seconds / max(len(one.curve) * one.every for one in fitted.values()),
        "seconds": time.process_time() - start,
    }


def per_query(part: RankingData, metric: Any, scores: Floats) -> str:
    """The values of all queries, as text of 16 bits for each; 65535 is NaN."""
    found = evaluate(part.labels, scores, group=part.group, metrics=[metric]).per_query[str(metric)]
    whole = np.where(np.isnan(found), 65535, np.rint(65534 * np.nan_to_num(found)))
    return base64.b64encode(whole.astype("<u2").tobytes()).decode()


def values_in(text: str) -> Floats:
    whole = np.frombuffer(base64.b64decode(text), "<u2")
    return np.where(whole == 65535, np.nan, whole / 65534)


def fit_all(given: argparse.Namespace) -> None:
    given.kept.mkdir(parents=True, exist_ok=True)
    finished = {tuple(one["key"]) for one in read(given.kept)}
    left = [key for key in tasks(given.sets, given.seeds) if key not in finished]
    file = given.kept / "fits.jsonl"
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool, file.open("a") as out:
        for one in track(pool.imap_unordered(fit, left), total=len(left)):
            out.write(json.dumps(one, default=float) + "\n")
            out.flush()


def read(kept: Path) -> list[dict[str, Any]]:
    file = kept / "fits.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("fit", "show"))
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kept", type=Path, default=Path("build/list-lengths"))
    given = parser.parse_args()
    fit_all(given)


if __name__ == "__main__":
    main()
