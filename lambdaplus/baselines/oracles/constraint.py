"""The result of separation oracles: constraints; and the two classes of a ranked query."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.lists.queries import Queries
from lambdaplus.ranking.sort import Ranking


class Constraint(NamedTuple):
    """The most violated constraint of every query, which an oracle returns.

    Its value is ``loss + sum of coefficient * score`` over the documents of the query; its slope in
    w is the sum of coefficient * x.
    """

    loss: Floats  # (n_queries,): loss of the most violated ranking
    coefficient: Floats  # (n,): of each row, this feature map minus that of the correct ranking


Oracle = Callable[[Ranking], Constraint]


def of_each_query(kernel: Any, queries: Queries, ranking: Ranking, *arguments: Any) -> Constraint:
    """The constraints by a kernel; a query that it skips has loss 0 and coefficients 0."""
    worst = Constraint(np.zeros(queries.n_queries), np.zeros(queries.n_documents))
    code, n_classes = queries.strata().code, queries.strata().n_classes
    over_queries(kernel, queries.boundaries, ranking, code, n_classes, *arguments, *worst)
    return worst


@compiled
def split(boundaries: Ints, ranking: Ranking, code: Int32s, q: int) -> tuple[Any, Any, Any, Any]:
    """Scores of the good and of the bad documents of a query, descending, and their rows."""
    low, high = boundaries[q], boundaries[q + 1]
    good, bad = np.empty(high - low), np.empty(high - low)
    good_row, bad_row = np.empty_like(good, np.int64), np.empty_like(bad, np.int64)
    goods = bads = 0
    for r in range(low, high):
        row = ranking.row[r]
        if code[row] > 0:
            good[goods], good_row[goods] = ranking.score[r], row
            goods += 1
        else:
            bad[bads], bad_row[bads] = ranking.score[r], row
            bads += 1
    return good[:goods], bad[:bads], good_row[:goods], bad_row[:bads]
