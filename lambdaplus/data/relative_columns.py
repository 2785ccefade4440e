"""The numbers of `relative_features`: a matrix of ranks or distances for each kind."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.array_types import Bools, Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import n_pieces, over_tasks
from lambdaplus.ranking.queries import by_query

KINDS = ("rank", "z")

Matrix = NDArray[np.floating[Any]]


def relative_columns(
    features: Matrix, kinds: tuple[str, ...], qid: ArrayLike | None, group: ArrayLike | None
) -> list[Matrix]:
    """The relative features of each kind, of the shape and type of the features."""
    n, width = features.shape
    if n == 0:
        raise ValueError("X has no rows")
    _, queries, order = by_query(np.empty((n, 0)), np.zeros(n), qid=qid, group=group)
    rows = np.arange(n) if order is None else order
    if kinds != ("rank",) and np.isinf(features).any():
        row, column = np.argwhere(np.isinf(features))[0]
        raise ValueError(
            f"X is infinite in row {row}, column {column}: only kind='rank' allows infinite values"
        )
    are_ranks = np.array([kind == "rank" for kind in kinds])
    found = np.full((len(kinds), n, width), np.nan, dtype=features.dtype)
    features = np.ascontiguousarray(features)
    pieces = min(width, n_pieces(features.size))

    def work(piece: int) -> None:
        columns = width * piece // pieces, width * (piece + 1) // pieces
        _fill(*columns, queries.boundaries, rows, features, are_ranks, found)

    if width:
        over_tasks(work, pieces)
    return list(found)


@compiled
def _fill(
    first: int,
    last: int,
    boundaries: Ints,
    rows: Ints,
    features: Matrix,
    are_ranks: Bools,
    found: Matrix,
) -> None:
    """Write the relative features of the columns first .. last - 1, but no missing values."""
    longest = 0
    for q in range(boundaries.size - 1):
        longest = max(longest, boundaries[q + 1] - boundaries[q])
    known, of_row = np.empty(longest), np.empty(longest, dtype=np.int64)
    for q in range(boundaries.size - 1):
        for column in range(first, last):
            m = 0
            for i in range(boundaries[q], boundaries[q + 1]):
                given = float(features[rows[i], column])
                if given == given:
                    known[m], of_row[m] = given, rows[i]
                    m += 1
            if m > 0:
                order = np.argsort(known[:m])
                value, row = known[:m][order], of_row[:m][order]
                for k in range(are_ranks.size):
                    if are_ranks[k]:
                        _write_ranks(value, row, m, column, found[k])
                    else:
                        _write_z(value, row, m, column, found[k])


@compiled
def _write_ranks(value: Floats, row: Ints, m: int, column: int, found: Matrix) -> None:
    start = 0
    while start < m:
        stop = start + 1
        while stop < m and value[stop] == value[start]:
            stop += 1
        # The ranks start + 1 .. stop have the mean (start + stop + 1) / 2.
        rank = (start + stop - m) / (2.0 * m)
        for i in range(start, stop):
            found[row[i], column] = rank
        start = stop


@compiled
def _write_z(value: Floats, row: Ints, m: int, column: int, found: Matrix) -> None:
    if value[0] == value[m - 1]:
        for i in range(m):
            found[row[i], column] = 0.0
        return
    # Of the values scaled to [0, 1], so that nothing is lost if all are large or close.
    half = 1.0 if value[m - 1] - value[0] < np.inf else 0.5
    low, width = half * value[0], half * value[m - 1] - half * value[0]
    mean = 0.0
    for i in range(m):
        mean += (half * value[i] - low) / width
    mean /= m
    variance = 0.0
    for i in range(m):
        variance += ((half * value[i] - low) / width - mean) ** 2
    deviation = np.sqrt(variance / m)
    for i in range(m):
        found[row[i], column] = ((half * value[i] - low) / width - mean) / deviation
