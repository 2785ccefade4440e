"""Features and queries of the data sets of LightGBM and XGBoost."""

import re
from typing import Any, Literal

import numpy as np

from lambdaplus.compute.array_types import Ints
from lambdaplus.lists.columns import columns_of, native
from lambdaplus.lists.features import refuse_dates

Framework = Literal["lightgbm", "xgboost", "arrays"]


def framework_of(data: Any) -> Framework:
    """The framework of a data set or a booster; "arrays" if it is neither's."""
    for kind in type(data).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in ("lightgbm", "xgboost"):
            return root  # type: ignore[return-value]
    return "arrays"


def canonical(X: Any) -> Any:
    """A sparse matrix as CSR or CSC with sorted indices and no duplicates; others as in `native`.

    LightGBM misreads unsorted columns, and both frameworks misread duplicates.  They would use the
    values below a mask, for which a ValueError is raised.  So it is for dates, durations and text,
    of which LightGBM would take the days or nanoseconds since 1970, and XGBoost would end with a
    stack trace.
    """
    _refuse_equal_names(X)
    refuse_dates(X, kinds="mMSUV", others=_NO_NUMBERS)
    if not hasattr(X, "tocsr"):
        return native(X)
    X = X if X.format in ("csr", "csc") else X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _refuse_equal_names(X: Any) -> None:
    """Raise a ValueError for a frame with two columns of one name.

    XGBoost fails at them for another reason.
    """
    columns: Any = getattr(X, "columns", None)
    if not getattr(columns, "is_unique", True):  # of pandas
        twice = columns[columns.duplicated()][0]
        raise ValueError(f"two columns are called {twice!r}: rename one, or leave it out")


# The frameworks themselves refuse text in frames, and complex numbers.
_NO_NUMBERS = re.compile(r"(?i)date|time|duration|decimal|list|array|struct|binary|object|map")

# Types of columns that LightGBM reads from frames of polars and pyarrow, by narwhals' names.
_NUMBERS = {f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)}
_NUMBERS |= {"Boolean", "Float32", "Float64"}


def readable_by_lightgbm(X: Any) -> Any:
    """Features as in `canonical`; a ValueError for columns on which LightGBM ends Python."""
    if isinstance(X, np.ndarray):  # narwhals takes a tenth of the time of predicting a row
        return canonical(X)
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


def refuse_other_features(name: str, X: Any, of_training: Any) -> None:
    """Raise a ValueError for features that are not those of the training data, in their order.

    Frames are compared by their columns, and others by the number of features.  LightGBM would read
    the features of a data set to evaluate by their places, and those that are missing as 0.
    """
    columns, other = columns_of(X), columns_of(of_training)
    if columns is not None and other is not None and columns != other:
        raise ValueError(
            f"{name} has the columns {columns}, which are not those of the training data, in their "
            f"order: {other}"
        )
    width, expected = width_of(X), width_of(of_training)
    if width and expected and width != expected:
        raise ValueError(
            f"{name} has {width} features, and the training data {expected}: pass the same "
            "features in the same order"
        )


def width_of(X: Any) -> int:
    """The number of features of an array, frame, or list of rows or arrays; 0 if it is unknown."""
    if isinstance(X, list) and X and isinstance(X[0], list | tuple | np.ndarray):
        return int((np.shape(X[0]) or (0,))[-1])  # LightGBM takes arrays of rows, too
    shape: Any = getattr(X, "shape", (0,))
    return int(shape[1]) if len(shape) == 2 else 0


def group_sizes(data: Any) -> Ints | None:
    """Sizes of the queries of a LightGBM data set, (n_queries,); None if it has none."""
    bounds = data.get_field("group")
    if bounds is None or len(bounds) < 2:
        return None
    sizes: Ints = np.subtract(bounds[1:], bounds[:-1], dtype=np.int64)
    return sizes


def rows_taken(data: Any) -> tuple[Ints | None, Ints]:
    """Query sizes of the original data set of which this is a subset, and the rows that it has."""
    rows: Ints | None = None
    while getattr(data, "used_indices", None) is not None and data.reference is not None:
        used = np.asarray(data.used_indices, dtype=np.int64)
        rows = used if rows is None else used[rows]
        data = data.reference
    sizes_of_all = None if rows is None else group_sizes(data)
    return (
        (None, np.empty(0, np.int64))
        if rows is None or sizes_of_all is None
        else (sizes_of_all, rows)
    )


def refuse_parts_of_queries(data: Any) -> None:
    """Raise a ValueError for a LightGBM data set with parts of queries and without new groups."""
    sizes_of_all, rows = rows_taken(data)
    if sizes_of_all is None:
        return
    taken, sizes = rows_of_each_query(sizes_of_all, rows), group_sizes(data)
    if sizes is None or np.array_equal(sizes, taken[taken > 0]):
        refuse_cut_queries(
            "this subset of the data", sizes_of_all, rows,
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
