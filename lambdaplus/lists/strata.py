"""The classes of labels in each query."""

from dataclasses import dataclass

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats, Int32s, Ints, Rows
from lambdaplus.compute.collective import Workers


@dataclass(frozen=True, slots=True)
class Strata:
    """The documents of every query, split by class: one stratum for each class of each query.

    The classes of a query are the labels that occur in it, numbered in ascending order.
    """

    label: Floats  # (s,) label of each stratum; 0 or 1 if there is a threshold
    count: Floats  # (s,) number of documents; sum of weights if these are multiplicities
    query: Ints  # (s,) query of each stratum
    edges: Ints  # (n_queries + 1,) first stratum of each query, and the number of strata
    code: Int32s  # (n,) class of each row within its query

    @property
    def n_classes(self) -> Ints:
        """Number of classes of each query, (n_queries,) int64."""
        return np.diff(self.edges)

    def sum(self, values: Floats) -> Floats:
        """Sum a value per stratum over each query: (s,) -> (n_queries,)."""
        return np.add.reduceat(values, self.edges[:-1])


def strata_of_list(label: Floats | Bools, copies: Floats | None, workers: Workers) -> Strata:
    """The strata of one list, of which each worker has some rows; a sort of all would be slow."""
    # A worker may lack a class, but must number those that it has as the others do.
    labels = np.unique(workers.concatenate(np.unique(label).astype(np.float64)))
    code = np.searchsorted(labels, label)
    count = workers.sum(_counted(code, labels.size, copies))
    edges = np.array([0, labels.size])
    return Strata(labels, count, np.zeros(labels.size, np.int64), edges, code.astype(np.int32))


def strata_of_queries(label: Floats | Bools, boundaries: Ints, order: Rows) -> Strata:
    """The strata of queries; ``order`` has the rows by (query, label)."""
    # In this order, a stratum starts where either changes.
    starts_query = np.zeros(label.size, dtype=bool)
    starts_query[boundaries[:-1]] = True
    starts = starts_query.copy()
    starts[1:] |= label[order[1:]] != label[order[:-1]]
    stratum = np.empty(label.size, dtype=np.int64)
    stratum[order] = np.cumsum(starts) - 1
    of_first_row = np.flatnonzero(starts)
    labels = label[order[of_first_row]].astype(np.float64)
    query = np.cumsum(starts_query)[of_first_row] - 1
    edges = np.searchsorted(query, np.arange(boundaries.size))
    # Rows of a query are adjacent, so that this is in the order of the rows.
    code = stratum - np.repeat(edges[:-1], np.diff(boundaries))
    return Strata(labels, _counted(stratum, labels.size), query, edges, code.astype(np.int32))


def _counted(stratum: Ints, n: int, copies: Floats | None = None) -> Floats:
    if copies is not None:  # in an order that does not depend on that of the rows
        order = np.lexsort((copies, stratum))
        stratum, copies = stratum[order], copies[order]
    return np.bincount(stratum, copies, n).astype(np.float64)


def reaches(label: Floats, threshold: float) -> Bools:
    """Whether labels are at least the threshold, or the threshold rounded to float32."""
    return np.asarray(label >= least_reaching(threshold))


def least_reaching(threshold: float) -> float:
    """The least label that reaches the threshold, which may be rounded to float32.

    LightGBM and XGBoost store labels in float32, in which 0.7 is less than the float64 0.7.
    """
    return min(threshold, float(np.float32(threshold)))
