"""Labels, queries and weights as LightGBM and XGBoost store them in data sets."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Ints
from lambdaplus.frameworks.data_sets import (
    Framework,
    group_sizes,
    refuse_parts_of_queries,
    rows_of_each_query,
    rows_taken,
)
from lambdaplus.frameworks.internals import xgboost_field_in_place


class StoredFields(NamedTuple):
    """What a data set stores, or an estimator passes."""

    labels: NDArray[Any]
    sizes: NDArray[Any] | None  # of queries
    weights: NDArray[Any] | None  # of rows; of queries in a DMatrix that has some


def read_xgboost(data: Any) -> StoredFields:
    """What a DMatrix stores, in its own memory: it may only be compared or copied at once."""
    names = ("label", "group_ptr", "weight")
    labels, bounds, weights = (xgboost_field_in_place(data, name) for name in names)
    sizes: Ints = np.subtract(bounds[1:], bounds[:-1], dtype=np.int64)
    return StoredFields(labels, sizes if sizes.size else None, weights if weights.size else None)


def read_lightgbm(data: Any) -> StoredFields:
    """What a Dataset stores; of a subset, the queries of which it has rows."""
    # These are the data in use; get_label and others may return earlier values.
    labels = data.get_field("label")
    labels = np.empty(0) if labels is None else labels
    sizes = group_sizes(data)
    if sizes is None or sizes.sum() != labels.size:  # LightGBM may lose the groups of a subset
        sizes_of_all, rows = rows_taken(data)
        if sizes_of_all is not None:
            taken = rows_of_each_query(sizes_of_all, np.unique(rows))
            sizes = taken[taken > 0]
    return StoredFields(labels, sizes, data.get_field("weight"))


def weights_of_rows(framework: Framework, data: Any, stored: StoredFields) -> NDArray[Any] | None:
    """Weights of rows, if there are any; a ValueError if the fields do not fit the data."""
    labels, sizes, weights = stored
    if framework == "lightgbm":
        refuse_parts_of_queries(data)
    if framework != "xgboost":
        return weights
    if labels.size != data.num_row():
        raise ValueError(f"the DMatrix has {labels.size} labels for {data.num_row()} rows")
    if weights is None or sizes is None:
        return weights
    if weights.size != sizes.size:
        raise ValueError(
            f"{weights.size} weights for {sizes.size} queries: with query groups "
            "XGBoost expects one weight per query, not per row; an objective carries those of "
            "rows, as lambda_map.weighted(weights)"
        )
    return np.repeat(weights, sizes)
