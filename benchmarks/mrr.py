"""Which objective gives the best MRR?

    python benchmarks/mrr.py FOLDER [FOLDER ...] [--seeds 4] [--rounds 80] [--json FILE]

The same LightGBM trees (15 leaves, rate 0.1, half of the features, 80 % of the rows) under each
objective, on folds in LETOR's layout.  Of every tenth round, that with the best MRR on a fold's
validation queries is kept; values are means over seeds.  On validation queries one round serves
all folds of a set: its advantage over an honest one is then small, and alike for all.  The last
columns are means over sets, and differences to lambda_mrr, query by query, with standard errors.

Two objectives stand between the textbook's MRR and others: "soft", where each relevant document
satisfies the reader with chance one half (MRR's are sure to), and "noisy", the mean of the
textbook gradients over four rankings with Gumbel noise of scale 0.3 on the scores.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
from lambdaplus.metrics.rules import relevance
from numpy.typing import NDArray
from perturbed import Perturbed
from rich.console import Console
from rich.progress import Progress

from lambdaplus import evaluate, lambda_objective
from lambdaplus.datasets import Fold, RankingData, read_folds
from lambdaplus.evaluation.tables import Table
from lambdaplus.metrics.catalogue import MRR
from lambdaplus.metrics.declaration import Facts

Array = NDArray[Any]
STEP = 10


def half(facts: Facts) -> Array:
    return 0.5 * relevance(facts)


SOFT = replace(MRR, name="soft_mrr", aliases=(), gain=half, stop=half, surrogate=None)
OURS = "lambda_mrr"
OBJECTIVES: dict[str, Callable[[], Any]] = {
    OURS: lambda: lambda_objective("mrr"),  # the gradients of lambda_ndcg
    "textbook": lambda: lambda_objective("mrr", surrogate=None),
    "soft": lambda: lambda_objective(SOFT),
    "noisy": lambda: Perturbed(lambda_objective("mrr", surrogate=None), scale=0.3),
    "lambda_err": lambda: lambda_objective("err"),
    "lambda_map": lambda: lambda_objective("map"),
    "lambda_ndcg, undamped": lambda: lambda_objective("ndcg", damping=None),
    "lambda_auc": lambda: lambda_objective("auc"),
    "lambdarank": lambda: "lambdarank",
    "rank_xendcg": lambda: "rank_xendcg",
}


def mrr(data: RankingData, scores: Array) -> Array:
    """Of each query that has a relevant document."""
    found = evaluate(data.labels, scores, group=data.group, metrics=["mrr"]).per_query["mrr"]
    return np.asarray(found[~np.isnan(found)])


def curves(fold: Fold, objective: Any, rounds: int, seed: int) -> tuple[Array, Array]:
    """MRR of the validation and of the test queries after every STEP rounds."""
    params = {
        "objective": objective, "num_leaves": 15, "learning_rate": 0.1, "feature_fraction": 0.5,
        "bagging_fraction": 0.8, "bagging_freq": 1, "seed": seed, "num_threads": 1, "verbose": -1,
    }  # fmt: skip
    train = lightgbm.Dataset(fold.train.features, fold.train.labels, group=fold.train.group)
    booster = lightgbm.train(params, train, rounds)
    found = []
    for part in (fold.valid, fold.test):
        scores, curve = np.zeros(len(part.labels)), []
        for start in range(0, rounds, STEP):
            scores += booster.predict(
                part.features, raw_score=True, start_iteration=start, num_iteration=STEP,
                num_threads=1,  # without it, the next training would run on all cores
            )  # fmt: skip
            curve.append(mrr(part, scores))
        found.append(np.array(curve))
    return found[0], found[1]


def per_query(folds: list[Fold], objective: Any, rounds: int, seed: int) -> tuple[Array, Array]:
    """MRR of every query while it was for validation, and while it was for testing."""
    pairs = [curves(fold, objective, rounds, seed) for fold in folds]
    valid = np.concatenate([v for v, _ in pairs], axis=1)
    test = [t[v.mean(axis=1).argmax()] for v, t in pairs]
    return valid, np.concatenate(test)


def table(found: dict[str, dict[str, Array]], sets: list[str], what: str) -> Table:
    rows = []
    for name, values in found.items():
        means = [float(values[s].mean()) for s in sets]
        gains = [values[s] - found[OURS][s] for s in sets]
        error = np.sqrt(sum(gain.var(ddof=1) / gain.size for gain in gains)) / len(sets)
        gain = float(np.mean([gain.mean() for gain in gains]))
        versus = "" if name == OURS else f"{gain:+.4f} ± {error:.4f}"
        rows.append([name, *means, float(np.mean(means)), versus])
    return Table([what, *sets, "mean", f"to {OURS}"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    sets = [folder.name for folder in arguments.folders]
    valid: dict[str, dict[str, Array]] = {name: {} for name in OBJECTIVES}
    test: dict[str, dict[str, Array]] = {name: {} for name in OBJECTIVES}
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("training", total=len(sets) * len(OBJECTIVES) * arguments.seeds)
        for folder in arguments.folders:
            folds = read_folds(folder)
            for name, make in OBJECTIVES.items():
                pairs = []
                for seed in range(1, arguments.seeds + 1):
                    pairs.append(per_query(folds, make(), arguments.rounds, seed))
                    progress.advance(bar)
                curve = np.mean([v for v, _ in pairs], axis=0)
                valid[name][folder.name] = curve[curve.mean(axis=1).argmax()]
                test[name][folder.name] = np.mean([t for _, t in pairs], axis=0)
    tables = [table(valid, sets, "validation"), table(test, sets, "test")]
    for each in tables:
        print(each.to_markdown(), end="\n\n")
    if arguments.json:
        rows = [[list(each.columns), *map(list, each.rows)] for each in tables]
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
