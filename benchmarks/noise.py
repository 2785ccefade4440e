"""Does noise in the ranking lift validation metrics, and which noise?

    python benchmarks/noise.py DATA [DATA ...] [--folds 2] [--rounds 300] [--framework lightgbm]

DATA are the names of sets in ../shared/data; generated ones are added: short queries with clean and
with noisy labels.  Every objective is trained with the same small trees on the training queries of
a fold, and counted at its best round on the validation queries; no test query is looked at.  The
best of many rounds is a little optimistic, for all alike.  Means over folds, then over sets.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from accuracy_values import NATIVE
from generated_folds import generated
from linear_data import folds
from rich.progress import track
from tables import RESULTS, Section, show, write

import lambdaplus as lp
from lambdaplus.datasets import Fold
from lambdaplus.objectives import Noise
from lambdaplus.queries import Queries
from lambdaplus.training import LIGHTGBM, XGBOOST, Documents, Framework, Training

SHARED = Path(__file__).parents[2] / "shared" / "data"
METRICS = ("map", "ndcg@10", "mrr", "auc")
NOISES = {
    "no noise": None,
    "half": Noise(),
    "all": Noise(share=1.0),
    "half, curvature of weights": Noise(curvature="weights"),
}
NOISE_OF = {"generated-clean": 0.2, "generated-noisy": 3.0}
LEAVES, RATE, DOCUMENTS = 4, 0.095, 10
TREES: dict[str, tuple[Framework, dict[str, Any]]] = {
    "lightgbm": (LIGHTGBM, {
        "num_leaves": LEAVES, "learning_rate": RATE, "min_data_in_leaf": DOCUMENTS, "verbose": -1,
    }),
    "xgboost": (XGBOOST, {
        "grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0, "learning_rate": RATE,
        "tree_method": "hist", "base_score": 0.0,
    }),
}  # fmt: skip


def folds_of(name: str, n: int) -> list[Fold]:
    if name in NOISE_OF:
        return [generated(NOISE_OF[name], fold) for fold in range(n)]
    return folds(SHARED, name)[:n]


def best_on_validation(framework: str, objective: Any, fold: Fold, rounds: int) -> dict[str, Any]:
    """The best value of each metric over the rounds, and its round, counted from 1."""
    trainer, params = TREES[framework]
    metric = lp.eval_metric(*METRICS)
    training = Training(objective, params, rounds, metric=metric, seed=1, threads=1)
    train, valid = (
        Documents(part.dense_features, Queries(part.labels, group=part.group))
        for part in (fold.train, fold.valid)
    )
    curves = trainer.train(training, train, {"valid": valid}).curves["valid"]
    return {name: (max(curve), int(np.argmax(curve)) + 1) for name, curve in curves.items()}


def table(metric: str, trained: dict[str, dict[str, list[Any]]], rounds: int) -> Section:
    sets = list(next(iter(trained.values())))
    rows = []
    for name, by_set in trained.items():
        means = [statistics.mean(found[metric][0] for found in by_set[s]) for s in sets]
        chosen = [found[metric][1] for s in sets for found in by_set[s]]
        late = sum(r > 0.95 * rounds for r in chosen)
        numbers = [f"{value:.4f}" for value in [*means, statistics.mean(means)]]
        rows.append([name, *numbers, f"{late} of {len(chosen)}"])
    rows.sort(key=lambda row: row[-2], reverse=True)
    return Section(f"{metric} on validation queries", ["", *sets, "mean", "near the cap"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--framework", choices=NATIVE, default="lightgbm")
    given = parser.parse_args()
    sets = [*given.data, *NOISE_OF]
    of_set = {name: folds_of(name, given.folds) for name in sets}
    found: dict[str, dict[str, dict[str, list[Any]]]] = {metric: {} for metric in METRICS}
    jobs: list[Any] = [(None, native) for native in NATIVE[given.framework]]
    jobs += list(product(METRICS, NOISES))
    for metric, name in track(jobs, description=given.framework):
        for data in sets:
            for fold in of_set[data]:
                objective = (
                    lp.lambda_objective(metric, noise=NOISES[name]) if metric else name
                )  # fmt: skip
                best = best_on_validation(given.framework, objective, fold, given.rounds)
                for of in METRICS if metric is None else (metric,):
                    found[of].setdefault(name, {}).setdefault(data, []).append(best)
    sections = [table(metric, trained, given.rounds) for metric, trained in found.items()]
    show(sections)
    text = [f"# Noise in the ranking, {given.framework}", "", f"`python {' '.join(sys.argv)}`; "
            f"{LEAVES} leaves, learning rate {RATE}, {DOCUMENTS} documents in a leaf, up to "
            f"{given.rounds} rounds, {given.folds} folds."]  # fmt: skip
    text += ["", *(f"{section.markdown()}\n" for section in sections)]
    write(
        RESULTS / f"noise-{given.framework}",
        "\n".join(text),
        {"rounds": given.rounds, "found": found},
    )


if __name__ == "__main__":
    main()
