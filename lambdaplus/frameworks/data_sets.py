"""Features, labels, query sizes and weights of the data sets of LightGBM and XGBoost."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Ints
from lambdaplus.compute.arrays import checked_array, from_gpu

Framework = Literal["lightgbm", "xgboost", "arrays"]


def framework_of(data: Any) -> Framework:
    """The framework of a data set or a booster; "arrays" if it is neither's."""
    for kind in type(data).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in ("lightgbm", "xgboost"):
            return root  # type: ignore[return-value]
    return "arrays"


class RawData(NamedTuple):
    """Labels, query sizes and weights as stored by a framework."""

    labels: NDArray[Any]
    sizes: NDArray[Any] | None
    weights: NDArray[Any] | None


def canonical(X: Any) -> Any:
    """A sparse matrix as CSR or CSC with sorted indices and no duplicates; all else unchanged.

    LightGBM misreads unsorted columns, and both frameworks misread duplicates.  They would use the
    values below a mask, for which a ValueError is raised.
    """
    if np.ma.is_masked(X):
        checked_array(X, "X")
    if not hasattr(X, "tocsr"):
        return X
    X = X if X.format in ("csr", "csc") else X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


# Types of columns that LightGBM reads from frames of polars and pyarrow, by narwhals' names.
_NUMBERS = {f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)}
_NUMBERS |= {"Boolean", "Float32", "Float64"}


def readable_by_lightgbm(X: Any) -> Any:
    """Features as in `canonical`; a ValueError for columns on which LightGBM ends Python."""
    try:
        import narwhals
    except ImportError:  # a LightGBM that raises errors of its own
        return canonical(X)
    dependencies = narwhals.dependencies
    if not dependencies.is_into_dataframe(X) or dependencies.is_pandas_dataframe(X):
        return canonical(X)
    for column, kind in narwhals.from_native(X, eager_only=True).schema.items():
        if str(kind).partition("(")[0] not in _NUMBERS:
            raise ValueError(
                f"the column {column!r} is {kind}, which LightGBM cannot read from "
                f"{type(X).__module__.partition('.')[0]}: convert it to numbers, leave it out or, "
                "for categories, pass X.to_pandas() in training and prediction"
            )
    return X


def xgboost_field(data: Any, name: str) -> NDArray[Any]:
    """A field of an xgboost.DMatrix, empty if it has none: "label", "weight", "group_ptr", ..."""
    read = data.get_uint_info if name == "group_ptr" else data.get_float_info
    field: NDArray[Any] = from_gpu(read(name))
    return field


def read_xgboost(data: Any) -> RawData:
    """Labels, query sizes and row weights; XGBoost has one weight per query, if any."""
    labels, weights = xgboost_field(data, "label"), xgboost_field(data, "weight")
    if labels.size != data.num_row():
        raise ValueError(f"the DMatrix has {labels.size} labels for {data.num_row()} rows")
    bounds = xgboost_field(data, "group_ptr").astype(np.int64)
    sizes = np.diff(bounds) if bounds.size > 1 else None
    if not weights.size or sizes is None:
        return RawData(labels, sizes, weights if weights.size else None)
    if weights.size != sizes.size:
        raise ValueError(
            f"{weights.size} weights for {sizes.size} queries: with query groups "
            "XGBoost expects one weight per query, not per row; an objective carries those of "
            "rows, as lambda_map.weighted(weights)"
        )
    return RawData(labels, sizes, np.repeat(weights, sizes))


def read_lightgbm(data: Any) -> RawData:
    # These are the data in use; get_label and others may return earlier values.
    labels = data.get_field("label")
    labels = np.empty(0) if labels is None else labels
    sizes = group_sizes(data)
    if sizes is None or sizes.sum() != labels.size:  # LightGBM may lose the groups of a subset
        whole, rows = _rows_taken(data)
        if whole is not None:
            taken = rows_of_each_query(whole, np.unique(rows))
            sizes = taken[taken > 0]
    return RawData(labels, sizes, data.get_field("weight"))


def group_sizes(data: Any) -> Ints | None:
    bounds = data.get_field("group")
    if bounds is None or len(bounds) < 2:
        return None
    sizes: Ints = np.subtract(bounds[1:], bounds[:-1], dtype=np.int64)
    return sizes


def _rows_taken(data: Any) -> tuple[Ints | None, Ints]:
    """Query sizes of the original data set of which this is a subset, and the rows that it has."""
    rows: Ints | None = None
    while getattr(data, "used_indices", None) is not None and data.reference is not None:
        used = np.asarray(data.used_indices, dtype=np.int64)
        rows = used if rows is None else used[rows]
        data = data.reference
    whole = None if rows is None else group_sizes(data)
    return (None, np.empty(0, np.int64)) if rows is None or whole is None else (whole, rows)


def refuse_parts_of_queries(data: Any) -> None:
    """Raise a ValueError for a LightGBM data set with parts of queries and without new groups."""
    whole, rows = _rows_taken(data)
    if whole is None:
        return
    taken, sizes = rows_of_each_query(whole, rows), group_sizes(data)
    if sizes is None or np.array_equal(sizes, taken[taken > 0]):
        refuse_cut_queries(
            "this subset of the data", whole, rows,
            ", as lgb.cv does by default: use lambdaplus.lightgbm.cv, or pass "
            "folds=sklearn.model_selection.GroupKFold(n_splits)",
        )  # fmt: skip


def rows_of_each_query(sizes: Ints, rows: Ints) -> Ints:
    """How many of these rows each of the queries of these sizes has, (n_queries,)."""
    query = np.repeat(np.arange(sizes.size), sizes)
    return np.bincount(query[rows], minlength=sizes.size)


def refuse_cut_queries(what: str, sizes: Ints, rows: Ints, advice: str) -> None:
    """Raise a ValueError if rows of a data set are parts of queries, or if some are repeated."""
    different = np.unique(rows)
    taken = rows_of_each_query(sizes, different)
    cut = int(np.sum((taken > 0) & (taken < sizes)))
    if different.size < rows.size:
        raise ValueError(
            f"{what} has {rows.size - different.size} rows of the data again, so the copies of a "
            "query would be one query: make a data set of these rows, X[rows] and y[rows], with a "
            "query of its own (group=) for each copy"
        )
    if cut:
        raise ValueError(f"{what} splits {cut} of {sizes.size} queries{advice}")
