"""Simulated clicks on MQ2008: does learning the positions' bias beat ignoring it?

    python benchmarks/position_bias.py MQ2008_FOLDER [--seeds 1] [--noise 0.5] [--sessions 16]

A weak ranker, of 1 % of the training queries, shows ten documents of each query per session; to
its standardised scores normal noise is added (its standard deviation is --noise), as rankings of
one query differ from session to session in practice.  A document at rank r is looked at with
probability 1 / r, and then clicked with probability 0.1 + 0.9 (2^label - 1) / 3.  Models are
trained on clicks and judged by test NDCG@10 of the true labels.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

import lightgbm as lgb
import numpy as np
from rich.console import Console
from rich.progress import track

import lambdaplus as lp
from lambdaplus.datasets import Fold, RankingData, read_folds
from lambdaplus.evaluation.tables import Table
from lambdaplus.objectives.position_bias import PositionBias, PropensityRatios

PARAMS = {"verbose": -1, "num_threads": 1, "num_leaves": 15, "learning_rate": 0.1}
METRIC, SHOWN, ROUNDS = "ndcg@10", 10, 60


def clicks_on(train: RankingData, seed: int, noise: float, sessions: int) -> dict[str, Any]:
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
            clicked = random.random(shown.size) < chance[shown] / (position + 1.0)
            if clicked.any():
                found["rows"].append(shown)
                found["position"].append(position)
                found["label"].append(clicked.astype(int))
                found["group"].append([shown.size])
    return {name: np.concatenate(parts) for name, parts in found.items()}


def values_of(fold: Fold, seed: int, noise: float, sessions: int) -> dict[str, float]:
    """Test NDCG@10 by method."""
    train, test = fold.train, fold.test
    clicks = clicks_on(train, seed, noise, sessions)
    features = train.features[clicks.pop("rows")]
    plain = lp.lambda_objective(METRIC)
    position = clicks.pop("position")
    methods: dict[str, tuple[Any, Any]] = {
        "ignoring the bias": (plain, None),
        "PositionBias": (PositionBias(plain), position),
        "PropensityRatios": (PropensityRatios(plain), position),
        "LightGBM lambdarank, ignoring it": ("lambdarank", None),
        "LightGBM lambdarank, position=": ("lambdarank", position),
    }
    found = {}
    for name, (objective, given) in methods.items():
        data = lgb.Dataset(features, position=given, **clicks)
        model = lgb.train({**PARAMS, "objective": objective}, data, ROUNDS)
        found[name] = _value(test, model)
    whole = lgb.Dataset(train.features, train.labels, group=train.group)
    model = lgb.train({**PARAMS, "objective": plain}, whole, ROUNDS)
    return {**found, "true labels instead of clicks": _value(test, model)}


def _value(test: RankingData, model: Any) -> float:
    scores = model.predict(test.features)
    return float(lp.evaluate(test.labels, scores, qid=test.qid, metrics=METRIC)[METRIC])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--noise", type=float, default=0.5)
    parser.add_argument("--sessions", type=int, default=16)
    arguments = parser.parse_args()
    folds = read_folds(arguments.folder)
    runs = [(fold, seed) for seed in range(arguments.seeds) for fold in folds]
    values = [
        values_of(fold, 10 * seed + i, arguments.noise, arguments.sessions)
        for i, (fold, seed) in enumerate(track(runs, "runs"))
    ]
    ignored = np.array([value["ignoring the bias"] for value in values])
    rows = []
    for name in values[0]:
        own = np.array([value[name] for value in values])
        wins = f"{(own > ignored).sum()} of {len(own)}"
        rows.append((name, float(own.mean()), float((own - ignored).mean()), wins))
    foot = (
        f"MQ2008, {len(folds)} folds, {arguments.seeds} seeds, {arguments.sessions} sessions a "
        f"query, noise {arguments.noise:g}, {ROUNDS} rounds",
    )
    heads = ("trained on clicks", "test NDCG@10", "gain", "better in")
    Console(width=110).print(Table(heads, rows, foot))


if __name__ == "__main__":
    main()
