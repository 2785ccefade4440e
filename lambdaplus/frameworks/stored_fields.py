"""Labels, queries and weights as LightGBM and XGBoost store them in data sets."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.frameworks.data_sets import (
    Framework,
    query_boundaries,
    refuse_parts_of_queries,
    rows_of_each_query,
    rows_taken,
    sizes_between,
    xgboost_field,
)
from lambdaplus.frameworks.internals import xgboost_field_in_place


class StoredFields(NamedTuple):
    """What a data set stores, or an estimator passes.

    Data sets have boundaries of queries, (n_queries + 1,), and XGBoost has one weight for each
    query, if there are queries; estimators pass sizes, (n_queries,), and weights of rows.
    """

    labels: NDArray[Any]
    queries: NDArray[Any] | None
    weights: NDArray[Any] | None

    def same_as(self, other: "StoredFields") -> bool:
        """Whether all are equal; nothing is equal to nothing only."""
        return all(map(_are_equal, self, other))

    def copied(self) -> "StoredFields":
        """The same in memory of its own."""
        queries, weights = (None if part is None else part.copy() for part in self[1:])
        return StoredFields(self.labels.copy(), queries, weights)


def _are_equal(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def read_xgboost(data: Any) -> StoredFields:
    """What a DMatrix stores, perhaps in its own memory: `copied` is what may be kept."""
    labels, bounds, weights = (_field(data, name) for name in ("label", "group_ptr", "weight"))
    return StoredFields(
        labels, bounds if bounds.size > 1 else None, weights if weights.size else None
    )


def _field(data: Any, name: str) -> NDArray[Any]:
    in_place = xgboost_field_in_place(data, name)
    return xgboost_field(data, name) if in_place is None else in_place


def read_lightgbm(data: Any) -> StoredFields:
    """What a Dataset stores, and boundaries of those of its queries that are in a subset."""
    # These are the data in use; get_label and others may return earlier values.
    labels = data.get_field("label")
    labels = np.empty(0) if labels is None else labels
    bounds = query_boundaries(data)
    if bounds is None or bounds[-1] != labels.size:  # LightGBM may lose the groups of a subset
        whole, rows = rows_taken(data)
        if whole is not None:
            taken = rows_of_each_query(whole, np.unique(rows))
            bounds = np.append(0, np.cumsum(taken[taken > 0]))
    return StoredFields(labels, bounds, data.get_field("weight"))


def sizes_and_weights(
    framework: Framework, data: Any, stored: StoredFields
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Sizes of queries and weights of rows, if any; a ValueError if they do not fit the data."""
    labels, queries, weights = stored
    if framework == "arrays":
        return queries, weights
    if framework == "lightgbm":
        refuse_parts_of_queries(data)
    elif labels.size != data.num_row():
        raise ValueError(f"the DMatrix has {labels.size} labels for {data.num_row()} rows")
    sizes = None if queries is None else sizes_between(queries)
    if framework == "lightgbm" or weights is None or sizes is None:
        return sizes, weights
    if weights.size != sizes.size:
        raise ValueError(
            f"{weights.size} weights for {sizes.size} queries: with query groups "
            "XGBoost expects one weight per query, not per row; an objective carries those of "
            "rows, as lambda_map.weighted(weights)"
        )
    return sizes, np.repeat(weights, sizes)
