"""Folds of a data set by name: a folder, or generated queries with clean or noisy labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lambdaplus.data import Fold, RankingData
from lambdaplus.study.config import folds_of

LABEL_NOISE = {"generated-clean": 0.2, "generated-noisy": 3.0}
QUERIES = (300, 150, 1000)  # for training, validation and testing


def folds_by_name(name: str) -> list[Fold]:
    """Five folds, generated from different random streams, or read by `folds_of`."""
    if name in LABEL_NOISE:
        return [generated(LABEL_NOISE[name], fold) for fold in range(5)]
    return folds_of(name)


def set_name(data: str) -> str:
    return Path(data).name.partition(":")[0]


def generated(label_noise: float, fold: int, sizes: tuple[int, ...] = QUERIES) -> Fold:
    """Queries of 8 to 25 documents, four grades of a smooth function of twenty features."""
    rng, model = np.random.default_rng([fold, int(10 * label_noise)]), np.random.default_rng(5)
    weights = model.normal(size=(20, 6))

    def part(n_queries: int) -> RankingData:
        group = rng.integers(8, 26, n_queries)
        features = rng.normal(size=(group.sum(), 20))
        merit = np.tanh(features @ weights / 2) @ np.array([2, 1.5, -1, 1, 0.7, -0.5])
        merit += 0.8 * (features[:, 0] > 1) + np.repeat(rng.normal(size=n_queries), group) / 2
        seen = merit + label_noise * rng.normal(size=merit.size)
        grade = np.digitize(seen, np.quantile(seen, [0.6, 0.85, 0.95])).astype(float)
        return RankingData(features, grade, np.repeat(np.arange(n_queries), group))

    return Fold(f"{fold}", *map(part, sizes))
