"""Folds of a data set by name: a folder, or generated queries with clean or noisy labels.

``web-search-like:N`` are N queries as in web search, split into five folds.

``known-items:NAME`` is the set NAME with a single relevant document in each query.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from web_search import web_search_like

from lambdaplus.data import Fold, RankingData, cross_validation
from lambdaplus.study import Config
from lambdaplus.study.folds import folds_of

KNOWN_ITEMS, WEB_SEARCH = "known-items", "web-search-like"
LABEL_NOISE = {"generated-clean": 0.2, "generated-noisy": 3.0}
QUERIES = (300, 150, 1000)  # for training, validation and testing


def folds_by_name(name: str) -> list[Fold]:
    """Five folds, generated from different random streams, or read by `folds_of`."""
    kind, _, other = name.partition(":")
    if kind == KNOWN_ITEMS:
        return [with_known_items(fold, number) for number, fold in enumerate(folds_by_name(other))]
    if name in LABEL_NOISE:
        return [generated(LABEL_NOISE[name], fold) for fold in range(5)]
    if kind == WEB_SEARCH:
        return cross_validation(web_search_like(int(other)))
    return folds_of(Config(data=name))


def set_name(data: str) -> str:
    kind, _, other = data.partition(":")
    if kind == KNOWN_ITEMS:
        return f"{set_name(other)}-{KNOWN_ITEMS}"
    return Path(data).name.partition(":")[0]


def with_known_items(fold: Fold, seed: int) -> Fold:
    """One relevant document of each query, drawn at random, with the label 1, and all others.

    Queries without a relevant document keep all documents.
    """
    rng = np.random.default_rng(seed)

    def part(data: RankingData) -> RankingData:
        relevant = data.labels >= 1
        # The first relevant document of each query in a random order is kept.
        order = rng.permutation(data.labels.size)
        order = order[relevant[order]]
        kept = order[np.unique(data.qid[order], return_index=True)[1]]
        rows = ~relevant
        rows[kept] = True
        labels = np.minimum(data.labels[rows], 1.0)
        return RankingData(data.features[rows], labels, data.qid[rows])

    return Fold(fold.name, part(fold.train), part(fold.valid), part(fold.test))


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
