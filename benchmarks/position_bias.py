"""Simulated clicks on MQ2008: does learning the positions' bias beat ignoring it?

    python benchmarks/position_bias.py MQ2008_FOLDER [--results DIR] [--seeds 4]

A weak ranker, of 1 % of the training queries, shows ten documents of each query per session; to
its standardised scores normal noise is added (of this standard deviation), as rankings of one
query differ from session to session in practice.  A document at rank r is looked at with
probability 1 / r^eta, and then clicked with probability 0.1 + 0.9 (2^label - 1) / 3.  With eta 0
there is no bias: what does correcting it cost, then?  Models are trained on clicks and judged by
test NDCG@10 of the true labels.

GRID was fixed before the first run with these seeds, each cell is run once, and all are shown.
Nothing but the clicks and the shown documents depends on a seed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import pathlib
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from tables import RESULTS, write

import lambdaplus as lp
from lambdaplus.data import RankingData, read_folds
from lambdaplus.evaluation.result_tables import Cell, Table
from lambdaplus.objectives.position_bias import PositionBias

PARAMS = {"verbose": -1, "num_threads": 1, "num_leaves": 15, "learning_rate": 0.1}
METRIC, SHOWN, ROUNDS = "ndcg@10", 10, 60
GRID: dict[str, tuple[Any, ...]] = {"eta": (1.0, 0.0), "sessions": (16, 4), "noise": (0.5, 0.1)}
IGNORING, NATIVE, TRUE = "ignoring", "lambdarank", "true labels"
BASE = {  # what each method is compared with: the same objective, ignoring the bias
    "PositionBias": IGNORING,
    "lambdarank, position=": NATIVE,
}
METHODS = (IGNORING, "PositionBias", NATIVE, "lambdarank, position=", TRUE)


def clicks_on(
    train: RankingData, seed: list[int], eta: float, sessions: int, noise: float
) -> dict[str, NDArray[Any]]:
    """Rows shown, their positions and clicks, session by session."""
    random = np.random.default_rng(seed)
    ends = np.cumsum(train.group)
    starts = ends - train.group
    few = random.choice(train.n_queries, max(2, train.n_queries // 100), replace=False)
    rows = np.concatenate([np.arange(starts[q], ends[q]) for q in few])
    weak = lgb.LGBMRanker(n_estimators=10, num_leaves=4, min_child_samples=2, verbose=-1, n_jobs=1)
    weak.fit(train.features[rows], train.labels[rows], group=train.group[few])
    scores = weak.predict(train.features)
    scores = scores / scores.std() + 1e-6 * random.normal(size=scores.size)
    chance = 0.1 + 0.9 * (2.0**train.labels - 1.0) / 3.0
    found: dict[str, list[Any]] = {"rows": [], "position": [], "label": [], "group": []}
    for start, end in zip(starts, ends, strict=True):
        for _ in range(sessions):
            order = np.argsort(-scores[start:end] - noise * random.normal(size=end - start))
            shown = start + order[:SHOWN]
            position = np.arange(shown.size)
            clicked = random.random(shown.size) < chance[shown] / (position + 1.0) ** eta
            if clicked.any():
                found["rows"].append(shown)
                found["position"].append(position)
                found["label"].append(clicked.astype(int))
                found["group"].append([shown.size])
    return {name: np.concatenate(parts) for name, parts in found.items()}


def trained_on_clicks(
    train: RankingData, test: RankingData, clicks: dict[str, NDArray[Any]]
) -> dict[str, float]:
    """Test NDCG@10 by method."""
    plain = lp.lambda_objective(METRIC)
    methods: dict[str, tuple[Any, bool]] = {
        IGNORING: (plain, False),
        "PositionBias": (PositionBias(plain), True),
        NATIVE: ("lambdarank", False),
        "lambdarank, position=": ("lambdarank", True),
    }
    features = train.features[clicks["rows"]]
    found = {}
    for name, (objective, with_position) in methods.items():
        position = clicks["position"] if with_position else None
        data = lgb.Dataset(features, clicks["label"], group=clicks["group"], position=position)
        found[name] = test_value(test, objective, data)
    return found


def test_value(test: RankingData, objective: Any, data: lgb.Dataset) -> float:
    model = lgb.train({**PARAMS, "objective": objective}, data, ROUNDS)
    scores = model.predict(test.features)
    return float(lp.evaluate(test.labels, scores, qid=test.qid, metrics=METRIC)[METRIC])


def tables(results: list[dict[str, Any]], runs: str) -> tuple[Table, Table]:
    """Means of every cell of the grid, and paired differences to ignoring the bias."""
    means, gains = [], []
    for cell in results:
        head = [f"{cell[name]:g}" for name in GRID]
        value = {method: np.array(cell[METRIC][method]) for method in METHODS}
        means.append([*head, *(float(value[method].mean()) for method in METHODS)])
        row: list[Any] = []
        for method, base in BASE.items():
            gain = value[method] - value[base]
            error = gain.std(ddof=1) / np.sqrt(gain.size)
            mark = "*" if abs(gain.mean()) >= 2 * error else ""
            row.append(Cell(f"{gain.mean():+.4f} ± {error:.4f}", mark))
        gains.append([*head, *row])
    foot = (
        "difference to the same objective ignoring the bias, ± standard error over folds and seeds;"
        " *: at least two standard errors",
    )
    return (
        Table([*GRID, *METHODS], means, (f"mean test NDCG@10; {runs}",)),
        Table([*GRID, *BASE], gains, foot),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    folds = list(read_folds(arguments.folder))
    best = []
    for fold in folds:
        data = lgb.Dataset(fold.train.features, fold.train.labels, group=fold.train.group)
        best.append(test_value(fold.test, lp.lambda_objective(METRIC), data))
    runs = f"MQ2008, {len(folds)} folds x {arguments.seeds} seeds, {ROUNDS} rounds"
    results: list[dict[str, Any]] = []
    with Progress(console=Console(stderr=True)) as progress:
        cells = [dict(zip(GRID, cell, strict=True)) for cell in itertools.product(*GRID.values())]
        bar = progress.add_task("training", total=len(cells) * len(folds) * arguments.seeds)
        for cell in cells:
            values: dict[str, list[float]] = {method: [] for method in METHODS}
            for seed, (i, fold) in itertools.product(range(arguments.seeds), enumerate(folds)):
                clicks = clicks_on(fold.train, [2026, seed, i], **cell)
                found = trained_on_clicks(fold.train, fold.test, clicks)
                for method, value in {**found, TRUE: best[i]}.items():
                    values[method].append(value)
                progress.advance(bar)
            results.append({**cell, METRIC: values})  # seeds one after the other, folds within
            written = "\n\n".join(table.to_markdown() for table in tables(results, runs))
            write(arguments.results / "position-bias", written, results)
    for table in tables(results, runs):
        Console(width=110).print(table)


if __name__ == "__main__":
    main()
