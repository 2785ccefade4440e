"""Weighted Borda count: hypotheses vote by ranking the documents of each query."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from lambdaplus.data.arrays import query_ids
from lambdaplus.data.queries import Floats, Ints, rows_by_query

BLOCK = 256  # number of hypotheses at a time; a voted perceptron has hundreds of thousands


def borda_count(features: Floats, hypotheses: Floats, votes: Floats, boundaries: Ints) -> Floats:
    """Points of each document: the sum over hypotheses of votes times documents ranked below it.

    Parameters
    ----------
    features : (n, m) float64
    hypotheses : (k, m) float64
        Linear in the features.
    votes : (k,) float64
    boundaries : (n_queries + 1,) int64

    Returns
    -------
    (n,) float64
        Of two tied documents, each counts half for the other.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.baselines.borda import borda_count
    >>> features, one = np.array([[2.0], [5.0], [5.0]]), np.ones(1)
    >>> borda_count(features, one[:, None], one, np.array([0, 3]))
    array([0. , 1.5, 1.5])
    """
    points = np.zeros(len(features))
    for first in range(0, len(votes), BLOCK):
        block = slice(first, first + BLOCK)
        scores = features @ hypotheses[block].T
        for start, stop in itertools.pairwise(boundaries):
            points[start:stop] += (rankdata(scores[start:stop], axis=0) - 1.0) @ votes[block]
    return points


def queries_together(qid: ArrayLike, n: int) -> tuple[Ints, Ints]:
    """An order in which the rows of each query are adjacent, and the boundaries of the queries."""
    ids = query_ids(qid, n)
    rows = rows_by_query(ids)
    starts = np.flatnonzero(ids[rows][1:] != ids[rows][:-1]) + 1
    return rows, np.concatenate([[0], starts, [n]])
