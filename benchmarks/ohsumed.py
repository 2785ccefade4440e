"""LETOR 2.0's OHSUMED as the committee perceptron paper used it, for the benchmarks beside."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.baselines import QueryScaler
from lambdaplus.datasets import RankingData, read_folds
from lambdaplus.evaluation import evaluate
from lambdaplus.metrics import parse_metric

# The paper's discounts are 1, 1, 1/log2 3, ..., as its own toy example shows.
NDCG_AT = "ndcg(discount=letor)@{}"

Array = NDArray[Any]


class Part(NamedTuple):
    X: Array
    y: Array
    qid: Array


class Scaled(NamedTuple):
    name: str
    train: Part
    valid: Part
    test: Part


def scaled(data: RankingData) -> Part:
    """Features mapped linearly to [0, 1] within each query; constant ones to 0."""
    return Part(QueryScaler().fit_transform(data.features, qid=data.qid), data.labels, data.qid)


def load(folder: str) -> list[Scaled]:
    return [
        Scaled(f.name, scaled(f.train), scaled(f.valid), scaled(f.test)) for f in read_folds(folder)
    ]


def metrics() -> list[Any]:
    return [parse_metric(m) for m in ("map", *(NDCG_AT.format(k) for k in (1, 5, 10)))]


def per_query(part: Part, scores: Array) -> Array:
    """(n_queries, 4): MAP and NDCG@1, 5, 10."""
    found = evaluate(part.y, scores, qid=part.qid, metrics=metrics(), empty=0)
    return np.stack([found.per_query[str(m)] for m in metrics()], axis=1)
