"""Documents as the rankers are given them, checked, with the rows of each query adjacent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from lambdaplus.data.arrays import plain, query_ids
from lambdaplus.data.queries import Ints, Queries, rows_by_query
from lambdaplus.evaluation import EvalMetric

NO_QUERIES = (
    "{0} has no queries: pass {1}qid= (the query of each row, in any order) or {1}group= (query "
    "sizes, in row order). In scikit-learn's searches and cross-validation qid arrives only after "
    "sklearn.set_config(enable_metadata_routing=True). To rank all rows as one list, use "
    "LightGBMClassifier or XGBoostClassifier"
)


class Documents(NamedTuple):
    """Rows in query order, and where each was (None if the order has not changed)."""

    X: Any
    y: Any
    queries: Queries
    rows: Ints | None

    def in_order(self, values: Any) -> Any:
        """Values of rows as they were given, in query order; None stays None."""
        unchanged = values is None or self.rows is None
        return values if unchanged else _safe_indexing(values, self.rows)

    def weights(self, name: str, given: Any) -> Any:
        """Row weights, checked and in query order."""
        if given is not None:
            try:
                Queries(self.queries.labels, weight=given)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        return self.in_order(given)


def read_documents(name: str, X: Any, y: Any, qid: Any, group: Any) -> Documents:
    """Check labels and queries, and bring the rows of each query together, otherwise in order."""
    if qid is None and group is None and "qid" in getattr(X, "columns", ()):
        X, qid = X.drop("qid", axis=1), X["qid"]  # as XGBRanker does
    if qid is None and group is None:
        what = "" if name in ("training data", "score") else "eval_"
        raise ValueError(NO_QUERIES.format(name, what))
    try:
        refuse_masked({"X": X})
        labels = Queries(y).labels
        if np.shape(X)[0] != len(labels):
            raise ValueError(f"X has {np.shape(X)[0]} rows, but there are {len(labels)} labels")
        ids = rows = None if qid is None else query_ids(qid, len(labels))
        if ids is not None and group is None:
            rows = rows_by_query(ids)
            if (rows[1:] > rows[:-1]).all():
                rows = None
            else:
                X, y, labels, ids = (_safe_indexing(one, rows) for one in (X, y, labels, ids))
        return Documents(X, y, Queries(labels, group=group, qid=ids), rows)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def refuse_nothing_to_rank(name: str, metric: EvalMetric, queries: Queries) -> None:
    """Raise if the metric has no value, or the same one for the best and the worst ranking."""
    group = queries.sizes if queries.grouped else None
    try:
        best, worst = (
            metric(queries.labels, scores, None, group)
            for scores in (queries.labels, -queries.labels)
        )
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if best == worst:
        raise ValueError(
            f"{name}: {metric.metrics[0]} is the same for the best and the worst ranking, so there "
            "is nothing to learn: no query has two documents that it tells apart"
        )


def refuse_masked(given: Mapping[str, Any]) -> None:
    """Raise for arrays with masked entries, whose masks the frameworks would drop."""
    for name, value in given.items():
        for array in _arrays(value):
            plain(array, name)


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ma.MaskedArray):
        yield value
    elif isinstance(value, list | tuple) and value and hasattr(value[0], "__len__"):
        for inner in value:
            yield from _arrays(inner)
