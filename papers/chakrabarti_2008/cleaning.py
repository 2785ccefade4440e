"""The cleaning rule: no empty documents, none that stand for both relevant and irrelevant.

Examples
--------
>>> from lambdaplus.data import RankingData
>>> from papers.chakrabarti_2008.cleaning import clean
>>> X = [[1, 0], [1, 0.01], [0, 1], [0, 0], [1, 1]]
>>> data = RankingData(X, labels=[1, 0, 1, 0, 0], qid=[7] * 5)
>>> clean(data, 0.99).features.tolist()
[[0.0, 1.0], [1.0, 1.0]]
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from papers.session import scaled

COSINE = 0.99


def clean(data: RankingData, cosine: float) -> RankingData:
    """Drop all-zero documents, and relevant and irrelevant ones of a query that are alike.

    Both go if the cosine of their features is above ``cosine`` (Chakrabarti et al. 2008, sec. 4.1).

    Raises
    ------
    ValueError
        If nothing is left.
    """
    ends = np.cumsum(data.group)
    keep = np.concatenate(
        [
            _distinct(data.features[end - size : end], data.labels[end - size : end] >= 1, cosine)
            for end, size in zip(ends, data.group, strict=True)
        ]
    )
    if not keep.any():
        raise ValueError(f"{data.name or 'the data'}: the cleaning rule leaves no document")
    return RankingData(data.features[keep], data.labels[keep], data.qid[keep], data.name)


def _distinct(X: Floats, relevant: NDArray[np.bool_], cosine: float) -> NDArray[np.bool_]:
    length = np.linalg.norm(X, axis=1)
    units = X / np.where(length > 0, length, 1.0)[:, None]
    alike = units[relevant] @ units[~relevant].T > cosine
    keep: NDArray[np.bool_] = length > 0
    keep[relevant] &= ~alike.any(axis=1)
    keep[~relevant] &= ~alike.any(axis=0)
    return keep


def prepared(data: RankingData, cosine: float | None = None) -> RankingData:
    """Binary labels, features in [0, 1] within each query; cleaned if a cosine is given."""
    binary = replace(scaled(data), labels=(data.labels >= 1).astype(np.float64))
    return binary if cosine is None else clean(binary, cosine)


class Size(NamedTuple):
    """How much data there is; ``mixed`` queries have relevant and irrelevant documents."""

    queries: int
    mixed: int
    relevant: int
    irrelevant: int
    empty: int

    @classmethod
    def of(cls, data: RankingData) -> Self:
        relevant = data.labels >= 1
        query = data.queries.query_of_row
        mixed = np.intersect1d(query[relevant], query[~relevant]).size
        empty = int((~data.features.any(axis=1)).sum())
        return cls(data.n_queries, mixed, int(relevant.sum()), int((~relevant).sum()), empty)
