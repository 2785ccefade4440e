"""Generated rankings, on which trees are chosen: ``KIND:FEATURES:QUERIES:DOCUMENTS:NOISE``.

- ``pairs``: the merit is of six features, four of which act in pairs; the others are noise.
- ``correlated``: features are mixtures of eight hidden ones, with noise of their own.
- ``mixed``: a quarter each of numbers, numbers with missing cells, numbers that are constant in
  each query, and categories.
- ``shop``: price, stars and brand, which nearly determine the merit if the noise is 1.

The numbers are those of training; a list has half to one and a half times DOCUMENTS.  One
document in ten has grade 1 or 2, by one threshold for all queries.  NOISE is in standard
deviations of the merit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data import Fold, RankingData

Floats = NDArray[np.float64]
TEST_ROWS, MOST_QUERIES = 24_000, 500


def _of_pairs(x: Floats) -> Floats:
    """The merit by six features: two of its four terms are products."""
    return np.asarray(
        x[:, 0]
        + 0.7 * x[:, 1] * x[:, 2]
        + 0.5 * np.sin(2 * x[:, 3])
        + 0.4 * (x[:, 4] > 0) * x[:, 5]
    )


def pairs(random: Any, qid: NDArray[Any], features: int) -> tuple[Floats, Floats]:
    x = random.normal(size=(qid.size, features))
    return x, _of_pairs(x)


def correlated(random: Any, qid: NDArray[Any], features: int) -> tuple[Floats, Floats]:
    hidden = random.normal(size=(qid.size, 8))
    mixture = np.random.default_rng(features).normal(size=(8, features)) / 3
    return hidden @ mixture + random.normal(size=(qid.size, features)), _of_pairs(hidden)


def mixed(random: Any, qid: NDArray[Any], features: int) -> tuple[Floats, Floats]:
    fixed = np.random.default_rng(features)
    quarter = features // 4
    x = random.normal(size=(qid.size, features))
    gone, constant, codes = (range(k * quarter, (k + 1) * quarter) for k in (1, 2, 3))
    merit = x[:, 0] + 0.7 * x[:, 1] * x[:, quarter]
    for column in gone:
        missing = random.random(qid.size) < 0.3
        merit += 0.3 * missing * (column % 2)
        x[missing, column] = np.nan
    for column in constant:
        x[:, column] = random.normal(size=qid[-1] + 1)[qid]
    merit += 0.7 * x[:, constant[0]] * x[:, 2]
    for column in codes:
        size = int(fixed.integers(4, 100))
        x[:, column] = random.zipf(1.3, qid.size) % size
        merit += 0.5 * fixed.normal(size=size)[x[:, column].astype(int)]
    return x, np.nan_to_num(merit)


def shop(random: Any, qid: NDArray[Any], features: int) -> tuple[Floats, Floats]:
    price, stars = random.gamma(2.0, 20.0, qid.size), random.integers(1, 6, qid.size)
    brand = random.integers(0, 4, qid.size)
    others = random.normal(size=(qid.size, features - 3))
    x = np.column_stack([price.round(2), stars, others, brand])
    return x, stars - 0.03 * price + (brand == 1)


KINDS: dict[str, Callable[[Any, NDArray[Any], int], tuple[Floats, Floats]]] = {
    "pairs": pairs, "correlated": correlated, "mixed": mixed, "shop": shop,
}  # fmt: skip


def generated(name: str, seed: int) -> Fold:
    kind, *numbers = name.split(":")
    features, queries, documents = map(int, numbers[:3])
    noise = float(numbers[3])
    random = np.random.default_rng([seed, features, queries, documents, int(10 * noise)])

    def part(queries: int) -> RankingData:
        sizes = random.integers(max(2, documents // 2), documents + documents // 2 + 1, queries)
        qid = np.repeat(np.arange(queries), sizes)
        x, merit = KINDS[kind](random, qid, features)
        spread = merit.std()
        merit = merit + spread * noise * random.normal(size=qid.size)
        merit += 0.3 * spread * random.normal(size=queries)[qid]
        grades = np.digitize(merit, np.quantile(merit, [0.9, 0.97])).astype(float)
        names = tuple(f"f{k}" for k in range(features))
        codes = names[3 * (features // 4) : 4 * (features // 4)] if kind == "mixed" else ()
        codes = names[-1:] if kind == "shop" else codes
        return RankingData(x, grades, qid, feature_names=names, categories=codes)

    others = max(40, queries // 3)
    tested = max(20, min(MOST_QUERIES, TEST_ROWS // documents))
    return Fold(f"{seed}", part(queries), part(min(others, 300)), part(tested))
