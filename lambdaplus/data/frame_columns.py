"""Columns of pandas and polars frames as arrays of floats, and frames with more columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

FLOAT32 = ("float16", "float32", "float[pyarrow]", "halffloat[pyarrow]")


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars DataFrame; a ValueError for a LazyFrame."""
    if hasattr(X, "collect"):
        raise ValueError("X is a LazyFrame: pass X.collect()")
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def numbers_by_column(X: Any) -> dict[Any, NDArray[Any]]:
    """The numeric and Boolean columns by name, each (n,) float32 or float64 with NaN for missing.

    Columns of 32 or 16 bits are float32.  A ValueError is raised for sparse columns, names that
    are not unique, and a frame without numbers.
    """
    twice = [name for name, times in Counter(X.columns).items() if times > 1]
    if twice:
        raise ValueError(f"two columns of X have the same name, {twice[0]!r}")
    of = _of_pandas if hasattr(X, "iloc") else _of_polars
    columns = {name: of(X[name]) for name in X.columns}
    numbers = {name: array for name, array in columns.items() if array is not None}
    if not numbers:
        raise ValueError("no column of X has numbers")
    return numbers


def _of_polars(column: polars.Series) -> NDArray[Any] | None:
    import polars

    if not (column.dtype.is_numeric() or column.dtype == polars.Boolean):
        return None
    small = column.dtype == polars.Float32
    return column.cast(polars.Float32 if small else polars.Float64).to_numpy()


def _of_pandas(column: Any) -> NDArray[Any] | None:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    if hasattr(column, "sparse"):
        raise ValueError(
            f"column {column.name!r} is sparse, but zeros have ranks and distances as well: pass "
            "the dense column, .sparse.to_dense()"
        )
    if not is_numeric_dtype(column.dtype) or is_complex_dtype(column.dtype):
        return None
    dtype = np.float32 if str(column.dtype).lower() in FLOAT32 else np.float64
    array: NDArray[Any] = column.to_numpy(dtype=dtype, na_value=np.nan)
    return array


def with_columns(X: Any, kept: Sequence[Any], new: Mapping[str, NDArray[Any]]) -> Any:
    """A frame of the type of X with some of its columns, and new ones after them."""
    taken = sorted(set(map(str, kept)).intersection(new))
    if taken:
        raise ValueError(f"X has a column {taken[0]!r} already: rename it, or leave it out")
    if hasattr(X, "iloc"):
        import pandas

        return pandas.concat([X[list(kept)], pandas.DataFrame(new, index=X.index)], axis=1)
    import polars

    added = polars.DataFrame(new).fill_nan(None)  # missing as in the column
    return X[list(kept)].hstack(added) if kept else added
