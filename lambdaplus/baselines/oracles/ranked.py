"""Input and output of separation oracles: documents sorted by score, and constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.compiled import compiled
from lambdaplus.data.queries import Floats, Ints, Queries
from lambdaplus.metrics.sort import rank


class Ranked(NamedTuple):
    """Documents of every query in descending order of scores."""

    boundaries: Ints
    row: Ints  # (n,): row of the document at each rank
    score: Floats  # (n,)
    code: NDArray[np.int32]  # (n,): class of the document within its query, ascending by label
    classes: Ints  # (n_queries,): classes of each query; with one there is nothing to separate


class Constraint(NamedTuple):
    """The most violated constraint of every query, which an oracle returns.

    Its value is ``loss + sum of coefficient * score`` over the documents of the query; its slope in
    w is the sum of coefficient * x.
    """

    loss: Floats  # (n_queries,): loss of the most violated ranking
    coefficient: Floats  # (n,): of each row, this feature map minus that of the correct ranking


Oracle = Callable[[Ranked], Constraint]


def ranked(queries: Queries, scores: Floats) -> Ranked:
    """Sort every query by score, (n,) in row order."""
    ranking, strata = rank(queries, scores), queries.strata()
    code, classes = strata.relevance[ranking.row], np.diff(strata.first)
    return Ranked(queries.boundaries, ranking.row, ranking.score, code, classes)


def blank(documents: Ranked) -> Constraint:
    """Allocate the result; a query that an oracle skips has loss 0 and coefficients 0."""
    return Constraint(np.zeros(documents.classes.size), np.zeros(documents.row.size))


@compiled
def split(documents: Any, q: int) -> tuple[Any, Any, Any, Any]:
    """Scores of the good and of the bad documents of a query, descending, and their rows."""
    low, high = documents.boundaries[q], documents.boundaries[q + 1]
    good, bad = np.empty(high - low), np.empty(high - low)
    good_row, bad_row = np.empty_like(good, np.int64), np.empty_like(bad, np.int64)
    goods = bads = 0
    for i in range(low, high):
        if documents.code[i] > 0:
            good[goods], good_row[goods] = documents.score[i], documents.row[i]
            goods += 1
        else:
            bad[bads], bad_row[bads] = documents.score[i], documents.row[i]
            bads += 1
    return good[:goods], bad[:bads], good_row[:goods], bad_row[:bads]
