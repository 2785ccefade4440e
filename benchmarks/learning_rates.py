"""Rounds to the best model at several learning rates, and what it is worth.

    python benchmarks/learning_rates.py fit LETOR_FOLDS [...] --seeds 0,1 --jobs 1
    python benchmarks/learning_rates.py show

Trees are those of `ranking_trees` with other rates, which are twice as large in XGBoost; a training
ends as in ``lambdaplus compare``, when no metric has improved for so many rounds.  Sets are named
as in `list_sets`, of which a seed is a fold.  Each metric has its own best round, by validation
queries; seconds are those of the processor, without those of validation.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from kept_fits import keep_tables, read, run, study_parser
from trees import FRAMEWORK_NAMES, Fits, train

from lambdaplus.evaluation import Table
from lambdaplus.study.config import ROUNDS

RATES = (0.02, 0.05, 0.1, 0.2)
METRICS = {"map": "map", "ndcg@10": "ndcg", "auc": "auc"}
"""The objective of lambdaplus for each metric."""
OWN = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}


@cache
def compiled(*key: Any) -> None:
    """Load the kernels of an objective, which is no part of its time."""
    train(key, rounds=2, patience=2, every=1)


def fit(key: tuple[Any, ...]) -> dict[str, Any]:
    rounds, patience = ROUNDS
    compiled(*key[:2], "node=.5", key[3], 0, key[5])
    found = train(key, rounds, patience, every=1)
    best = {}
    for metric, values in found["valid"].items():
        place = int(np.argmax(values))
        best[metric] = {
            "round": place + 1,
            "seconds": found["times"][place],
            "valid": values[place],
            "test": found["test"][metric][place],
        }
    return {"key": key, "best": best, "seconds": found["seconds"]}


def tasks(given: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    for seed, on, rate, framework in product(given.seeds, given.sets, RATES, OWN):
        for name in (*METRICS.values(), OWN[framework]):
            yield on, framework, f"node=.5,rate={rate}", name, seed, ",".join(METRICS)


def by_rate(fits: Fits, framework: str, metric: str) -> Table:
    """The best models by a metric: geometric means of rounds and seconds, means of values."""
    rows = []
    for name, rate in product((METRICS[metric], OWN[framework]), RATES):
        best = [
            fit["best"][metric] for key, fit in fits.items()
            if key[1] == framework and key[2] == f"node=.5,rate={rate}" and key[3] == name
        ]  # fmt: skip
        mean = {kind: np.array([one[kind] for one in best]) for kind in best[0]}
        cost = {kind: np.exp(np.log(mean[kind]).mean()) for kind in ("round", "seconds")}
        rows.append([
            name, f"{rate:g}", f"{cost['round']:.0f}", f"{cost['seconds']:.2f}",
            f"{mean['valid'].mean():.4f}", f"{mean['test'].mean():.4f}",
        ])  # fmt: skip
    foot = (
        f"{metric.upper()} of the round with the best value on validation queries; rounds and "
        "seconds of the processor until then, on one thread, without those of validation: "
        "geometric means over sets and folds; the rate in XGBoost is twice that of the column"
    )
    return Table(["objective", "rate", "rounds", "seconds", "validation", "test"], rows, [foot])


def show(given: argparse.Namespace) -> None:
    fits: Fits = {tuple(one["key"][:5]): one for one in read(given.kept)}
    finished = Counter((on, seed) for on, *_, seed in fits)  # a fold with all of its trainings
    whole = len(RATES) * len(OWN) * (len(METRICS) + 1)
    fits = {key: fit for key, fit in fits.items() if finished[key[0], key[4]] == whole}
    tables = {
        f"{metric.upper()}, {title}": by_rate(fits, framework, metric)
        for metric in METRICS
        for framework, title in FRAMEWORK_NAMES.items()
    }
    keep_tables("learning-rates", fits, tables)


def main() -> None:
    run(study_parser(__doc__, "learning-rates").parse_args(), fit, tasks, show)


if __name__ == "__main__":
    main()
