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
    """Documents of every query in descending order of scores.

    Attributes
    ----------
    boundaries : (n_queries + 1,) int64
    row : (n,) int64
        Row of the document at each rank.
    score : (n,) float64
    code : (n,) int32
        Class of the document within its query, ascending by label.
    classes : (n_queries,) int64
        Number of classes of a query; with a single class there is nothing to separate.
    """

    boundaries: Ints
    row: Ints
    score: Floats
    code: NDArray[np.int32]
    classes: Ints


class Constraint(NamedTuple):
    """The most violated constraint of every query.

    Its value is ``loss + sum of coefficient * score`` over the documents of the query; its slope in
    w is the sum of coefficient * x.  Oracles return nothing else, so all losses share one solver.

    Attributes
    ----------
    loss : (n_queries,) float64
        Loss of the most violated ranking.
    coefficient : (n,) float64
        For each row, the difference between the feature maps of this and the correct ranking.
    """

    loss: Floats
    coefficient: Floats


Oracle = Callable[[Ranked], Constraint]


def ranked(queries: Queries, scores: Floats) -> Ranked:
    """Sort every query by score, (n,) in row order."""
    ranking, strata = rank(queries, scores), queries.strata()
    return Ranked(
        queries.boundaries,
        ranking.row,
        ranking.score,
        strata.relevance[ranking.row],
        np.diff(strata.first),
    )


def blank(found: Ranked) -> Constraint:
    """Allocate the result; a query that an oracle skips has loss 0 and coefficients 0."""
    return Constraint(np.zeros(found.classes.size), np.zeros(found.row.size))


@compiled
def split(score: Any, code: Any, good: Any, bad: Any, good_at: Any, bad_at: Any) -> tuple[int, int]:
    """Write scores and ranks of the two classes of a query in descending order; return sizes."""
    goods = bads = 0
    for r in range(score.size):
        if code[r] > 0:
            good[goods], good_at[goods] = score[r], r
            goods += 1
        else:
            bad[bads], bad_at[bads] = score[r], r
            bads += 1
    return goods, bads
