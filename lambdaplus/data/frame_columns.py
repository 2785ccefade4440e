"""Convert columns of pandas and polars frames to float arrays, and append columns to frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arguments import numbers, refuse_rounding
from lambdaplus.compute.array_types import Bools

if TYPE_CHECKING:
    import polars

FLOAT32 = ("float16", "float32", "float[pyarrow]", "halffloat[pyarrow]")


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars DataFrame; a ValueError for a LazyFrame."""
    if hasattr(X, "collect"):
        raise ValueError("X is a LazyFrame: pass X.collect()")
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def numbers_by_column(X: Any, chosen: Bools | None = None) -> dict[Any, NDArray[Any]]:
    """The numeric and Boolean columns by name, each (n,) float32 or float64 with NaN for missing.

    Columns of 32 or 16 bits are float32.  With ``chosen``, (columns,), they are these columns, of
    which one may have missing values only.  A ValueError is raised for sparse columns, integers
    that a float64 cannot represent, names that are not unique, a chosen column without numbers, and
    a frame without numbers.
    """
    twice = [name for name, times in Counter(X.columns).items() if times > 1]
    if twice:
        raise ValueError(f"two columns of X have the same name, {twice[0]!r}")
    numbers_of = _of_pandas if hasattr(X, "iloc") else _of_polars
    names = [name for i, name in enumerate(X.columns) if chosen is None or chosen[i]]
    columns = {name: numbers_of(X[name]) for name in names}
    if chosen is not None:
        columns |= {name: _missing(X[name]) for name, array in columns.items() if array is None}
    found = {name: array for name, array in columns.items() if array is not None}
    if not found and chosen is None:
        raise ValueError("no column of X has numbers")
    return found


def _missing(column: Any) -> NDArray[np.float64]:
    """A column of Python objects, such as numbers and None, as floats; not of text."""
    missing = (column.isna if hasattr(column, "isna") else column.is_null)().to_list()
    objects = np.array(column.to_list(), dtype=object)
    objects[missing] = np.nan
    where = f"column {column.name!r} of X, which had numbers in fit,"
    for x in objects:
        if isinstance(x, str):
            raise ValueError(f"{where} has text now, such as {x!r}")
    return numbers(objects, where)


def _of_polars(column: polars.Series) -> NDArray[Any] | None:
    import polars

    if not (column.dtype.is_numeric() or column.dtype == polars.Boolean):
        return None
    if column.dtype.is_integer():
        _refuse_rounding(column.name, column.min(), column.max(), column.drop_nulls())
    small = column.dtype == polars.Float32
    return column.cast(polars.Float32 if small else polars.Float64).to_numpy()


def _of_pandas(column: Any) -> NDArray[Any] | None:
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_integer_dtype, is_numeric_dtype

    if hasattr(column, "sparse"):
        raise ValueError(
            f"column {column.name!r} is sparse, but zeros have ranks and distances as well: pass "
            "the dense column, .sparse.to_dense()"
        )
    flags = is_bool_dtype(column.dtype) and column.dtype.kind == "b"  # pyarrow's are not numeric
    if not (flags or is_numeric_dtype(column.dtype)) or is_complex_dtype(column.dtype):
        return None
    if is_integer_dtype(column.dtype) and column.notna().any():
        _refuse_rounding(column.name, column.min(), column.max(), column.dropna())
    dtype = np.float32 if str(column.dtype).lower() in FLOAT32 else np.float64
    array: NDArray[Any] = column.to_numpy(dtype=dtype, na_value=np.nan)
    return array


def _refuse_rounding(name: Any, least: Any, most: Any, column: Any) -> None:
    if any(abs(int(bound or 0)) > 2**53 for bound in (least, most)):
        refuse_rounding(map(int, column.to_list()), f"column {name!r} of X")


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
