"""Gradient and Hessian by row, from those of the documents of each entry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.compiled import compiled
from lambdaplus.data.queries import Floats, Ints
from lambdaplus.metrics.entries import Entries
from lambdaplus.objectives.sums import Sums


def per_document(
    entries: Entries, sums: Sums, factor: Floats, of_class: Floats | None
) -> NDArray[np.float64]:
    """Gradient and Hessian of each document of the entries, (m, 2).

    Parameters
    ----------
    entries : Entries
    sums : Sums
        Sums over the pairs of all documents of each entry.
    factor : (n_queries,) float64
        What the sums of each query are multiplied by.
    of_class : (n_classes,) float64, optional
        Factors of the Hessians of each class.
    """
    values = np.empty((entries.score.size, 2))
    curve = np.empty(0) if of_class is None else of_class
    _share(*entries, *sums[:2], factor, curve, values)
    return values


@compiled(error_model="numpy")
def _share(
    edges: Any, score: Any, relevance: Any, size: Any, weight: Any, gradient: Any, hessian: Any,
    factor: Any, of_class: Any, values: Any,
) -> None:  # fmt: skip
    for q in range(edges.size - 1):
        for e in range(edges[q], edges[q + 1]):
            share = factor[q] / weight[e] if weight[e] > 0.0 else 0.0
            values[e, 0] = share * gradient[e]
            values[e, 1] = share * hessian[e] * (of_class[relevance[e]] if of_class.size else 1.0)


def write_rows(
    row: Any,
    first: Ints,
    values: Floats,
    weight: Floats | None,
    gradient: Floats,
    hessian: Floats,
) -> None:
    """Write the values of each row's entry.

    Parameters
    ----------
    row : (m,) int
        Rows by rank.
    first : (n_entries + 1,) int64
        First rank of each entry.
    values : (n_entries, 2) float64
        Gradient and Hessian of a document of each entry.
    weight : (n,) float64, optional
        Factor of each row.
    gradient, hessian : (n,) float64
        To write to.
    """
    factor = np.empty(0) if weight is None else weight
    _write(row, first, values, factor, gradient, hessian)


@compiled
def _write(row: Any, first: Any, values: Any, weight: Any, gradient: Any, hessian: Any) -> None:
    for e in range(first.size - 1):
        slope, bend = values[e, 0], values[e, 1]
        for r in range(first[e], first[e + 1]):
            times = weight[row[r]] if weight.size else 1.0
            gradient[row[r]] = slope * times
            hessian[row[r]] = bend * times
