"""Runs of made-up systems, on queries and on rows."""

from functools import cache
from typing import Any

import numpy as np

from lambdaplus import evaluate
from lambdaplus.evaluation import Evaluation


def run(noise: float, seed: int = 0, **given_: Any) -> Evaluation:
    """A system on 40 queries of 15 documents, the worse the more noise."""
    random = np.random.default_rng(1)
    labels = random.integers(0, 3, 600)
    scores = labels + noise * np.random.default_rng(seed).normal(size=600)
    chosen = {"group": [15] * 40, "metrics": ["map", "ndcg@5"], **given_}
    return evaluate(labels, scores, **chosen)


@cache
def four_runs() -> dict[str, Evaluation]:
    """Not a constant, which would compile kernels in each worker that collects this file."""
    return {"good": run(0.5, 1), "fair": run(2.0, 2), "same": run(2.0, 3), "bad": run(9.0, 4)}


def of_rows(n: int, seed: int, weighted: bool = False) -> tuple[dict[str, Evaluation], Any]:
    """Two systems on rows with ties and, if asked for, weights; and what they were made of."""
    random = np.random.default_rng(seed)
    labels = (random.random(n) < 0.3).astype(float)
    labels[:4] = [0, 1, 0, 1]
    scores = [np.round(labels + random.normal(size=n), 1) for _ in range(2)]
    weight = random.uniform(0.2, 2.0, n) if weighted else None
    runs = {
        name: evaluate(labels, one, weight=weight, metrics=["auc", "map"])
        for name, one in zip("ab", scores, strict=True)
    }
    return runs, (labels, scores, weight)
