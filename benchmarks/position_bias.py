"""Simulated clicks on MQ2008: does learning the positions' bias beat ignoring it?

    python benchmarks/position_bias.py MQ2008_FOLDER [--seeds 4]

A weak ranker, of 1 % of the training queries, shows ten documents of each query per session; to
its standardised scores normal noise is added (of this standard deviation), as rankings of one
query differ from session to session in practice.  A document at rank r is looked at with
probability 1 / r^eta, and then clicked with probability 0.1 + 0.9 (2^label - 1) / 3.  With eta 0
there is no bias: what does correcting it cost, then?  Models are trained on clicks and judged by
test NDCG@10 of the true labels.  Nothing but the clicks and the shown documents depends on a seed.
"""

from __future__ import annotations

import argparse
import itertools
import os
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
from rich.console import Console
from rich.progress import track

import lambdaplus as lp
from lambdaplus.data import RankingData, read_folds
from lambdaplus.evaluation import Table
from lambdaplus.objectives.position_bias import PositionBias

PARAMS = {"verbose": -1, "num_threads": 1, "num_leaves": 15, "learning_rate": 0.1}
METRIC, SHOWN, ROUNDS = "ndcg@10", 10, 60
GRID = {"eta": (1.0, 0.0), "sessions": (16, 4), "noise": (0.5, 0.1)}
BASE = {  # what each method is compared with: the same objective, ignoring the bias
    "PositionBias": "ignoring",
    "lambdarank, position=": "lambdarank",
}


def clicks_on(
    train: RankingData, seed: list[int], eta: float, sessions: int, noise: float
) -> dict[str, Any]:
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
    sessions_of: dict[str, list[Any]] = {"rows": [], "position": [], "label": [], "group": []}
    for start, end in zip(starts, ends, strict=True):
        for _ in range(sessions):
            order = np.argsort(-scores[start:end] - noise * random.normal(size=end - start))
            shown = start + order[:SHOWN]
            position = np.arange(shown.size)
            clicked = random.random(shown.size) < chance[shown] / (position + 1.0) ** eta
            if clicked.any():
                parts = shown, position, clicked.astype(int), [shown.size]
                for mine, part in zip(sessions_of.values(), parts, strict=True):
                    mine.append(part)
    return {name: np.concatenate(parts) for name, parts in sessions_of.items()}


def by_method(train: RankingData, test: RankingData, clicks: dict[str, Any]) -> dict[str, float]:
    """Test NDCG@10 of models trained on clicks."""
    plain, features = lp.lambda_objective(METRIC), train.features[clicks["rows"]]
    methods: dict[str, tuple[Any, bool]] = {
        "ignoring": (plain, False),
        "PositionBias": (PositionBias(plain), True),
        "lambdarank": ("lambdarank", False),
        "lambdarank, position=": ("lambdarank", True),
    }
    values = {}
    for name, (objective, with_position) in methods.items():
        position = clicks["position"] if with_position else None
        data = lgb.Dataset(features, clicks["label"], group=clicks["group"], position=position)
        values[name] = test_value(test, objective, data)
    return values


def test_value(test: RankingData, objective: Any, data: lgb.Dataset) -> float:
    model = lgb.train({**PARAMS, "objective": objective}, data, ROUNDS)
    scores = model.predict(test.features)
    return float(lp.evaluate(test.labels, scores, qid=test.qid, metrics=METRIC)[METRIC])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=4)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    folds = read_folds(given.folder)
    rows, names = [], ["ignoring", "PositionBias", "lambdarank", "lambdarank, position="]
    for cell in track(list(itertools.product(*GRID.values()))):
        each = [
            by_method(fold.train, fold.test, clicks_on(fold.train, [2026, seed, i], *cell))
            for seed in range(given.seeds)
            for i, fold in enumerate(folds)
        ]
        row: list[Any] = [f"{value:g}" for value in cell]
        row += [float(np.mean([values[name] for values in each])) for name in names]
        for name, base in BASE.items():
            gain = np.array([values[name] - values[base] for values in each])
            row.append(f"{gain.mean():+.4f} ± {gain.std(ddof=1) / gain.size**0.5:.4f}")
        rows.append(row)
    foot = (
        f"test {METRIC}, {len(folds)} folds x {given.seeds} seeds, {ROUNDS} rounds",
        "last two columns: less the same objective that ignores the bias, ± standard error",
    )
    Console(width=140).print(Table([*GRID, *names, *BASE], rows, foot))


if __name__ == "__main__":
    main()
