"""Forms in which users pass features: frames, tables, and arrays of other devices or bytes."""

from typing import Any

import numpy as np


def from_gpu(values: Any) -> Any:
    """A CuPy array as one of NumPy, which would refuse to convert it; other values as they are."""
    on_gpu = hasattr(values, "__cuda_array_interface__") and hasattr(values, "get")
    return values.get() if on_gpu else values


def from_narwhals(values: Any) -> Any:
    """A frame or series of narwhals as that of the library behind it; other values as they are."""
    wrapped = type(values).__module__.partition(".")[0] == "narwhals"
    return values.to_native() if wrapped and hasattr(values, "to_native") else values


def native(values: Any) -> Any:
    """An array, or a frame of pandas, in the byte order of this machine, or as it is.

    XGBoost reads the bytes of others, as those of FITS and NetCDF files, in the wrong order.
    """
    if isinstance(values, np.ndarray):
        kind = values.dtype
        return values if kind.isnative else values.astype(kind.newbyteorder("="))
    types: Any = getattr(values, "dtypes", None)  # of a series, one
    if isinstance(types, np.dtype):
        return values if types.isnative else values.astype(types.newbyteorder("="))
    if not hasattr(values, "isetitem"):
        return values
    places = [i for i, one in enumerate(types) if isinstance(one, np.dtype) and not one.isnative]
    values = values.copy(deep=False) if places else values
    for i in places:
        values.isetitem(i, native(values.iloc[:, i]))
    return values


def columns_of(X: Any) -> list[Any] | None:
    """The names of the columns of a frame or table; None for anything else.

    A ValueError is raised for a frame of polars that is not computed yet.
    """
    if type(X).__name__ == "LazyFrame":
        raise ValueError("X is a LazyFrame, which has no rows yet: pass X.collect()")
    names = getattr(X, "column_names", None)  # of pyarrow, whose columns are the data
    if names is None and hasattr(X, "dtypes"):
        names = getattr(X, "columns", None)
    return None if names is None else list(names)
