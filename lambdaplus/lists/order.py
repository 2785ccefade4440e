"""An order of rows in which those of each query are adjacent, and features in this order."""

from itertools import starmap
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.lists.keys import identifiers
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.vectors import vector


class Documents(NamedTuple):
    """Features and queries, with the rows of each query adjacent; made by `by_query`."""

    X: Any
    queries: Queries
    rows: Ints | None  # (n,) the original rows in this order; None if it has not changed

    def has_rows_as(self, other: Self) -> bool:
        """Whether the queries have the same rows, in the same order, as those of others."""
        pairs: Any = (self.rows, other.rows), (self.queries.sizes, other.queries.sizes)
        return all(starmap(np.array_equal, pairs))  # None is equal to None only

    def in_order(self, values: Any) -> Any:
        """Values of the original rows in this order; None stays None."""
        return values if values is None or self.rows is None else rows_of(values, self.rows)

    def in_original_order(self, values: Floats) -> Floats:
        """Values of the rows in this order, for the original rows."""
        if self.rows is None:
            return values
        original = np.empty_like(values)
        original[self.rows] = values
        return original


def by_query(
    X: Any, labels: ArrayLike, *, qid: ArrayLike | None = None, group: ArrayLike | None = None
) -> Documents:
    """Check labels and queries, and bring the rows of each query together, in their order.

    Queries are in the order of their first rows.
    """
    rows = None
    if qid is not None and group is None:
        labels = vector(labels, "labels")
        qid = identifiers(qid, "qid", labels.size)
        order = rows_by_query(qid)
        if (order[1:] < order[:-1]).any():
            labels, qid, rows = labels[order], qid[order], order
    queries = Queries(labels, group=group, qid=qid)
    if np.shape(X)[0] != queries.n_documents:
        raise ValueError(f"X has {np.shape(X)[0]} rows for {queries.n_documents} labels")
    documents = Documents(X, queries, rows)
    return documents._replace(X=documents.in_order(X))


def rows_of(values: Any, rows: Ints) -> Any:
    """Rows of an array, list, data frame or sparse matrix, in this order; CSR of a sparse one."""
    from sklearn.utils import _safe_indexing, indexable  # the first is private, but documented

    if hasattr(values, "to_pylist"):  # pyarrow's, which scikit-learn 1.6 cannot index
        return values.take(rows)
    return _safe_indexing(indexable(values)[0], rows)


def rows_by_query(qid: NDArray[Any]) -> Ints:
    """An order of the rows, (n,) int64, in which the rows of each query are adjacent."""
    _, first, query = np.unique(qid, return_index=True, return_inverse=True)
    return np.argsort(first[query], kind="stable")
