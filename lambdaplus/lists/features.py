"""Features that would be read as other numbers: dates, durations and masked entries."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from lambdaplus.lists.vectors import checked_array

CONVERT = "convert it (dates to what recurs, such as the day of the week), or leave it out"
DATES = re.compile(r"(?i)date|time|duration")


def refuse_dates(
    X: Any, name: str = "X", kinds: str = "mM", others: re.Pattern[str] = DATES
) -> None:
    """Raise a ValueError for masked entries, and for dates and durations.

    NumPy would take the values below a mask, and days or nanoseconds since 1970.  ``kinds`` are
    those of arrays, and ``others`` are types of columns of polars and pyarrow.
    """
    if np.ma.is_masked(X):
        checked_array(X, name)
    if isinstance(X, np.ndarray) and X.dtype.kind in kinds:
        raise ValueError(f"{name} is an array of {X.dtype}, not of numbers: {CONVERT}")
    for column, kind in _types_of_columns(X):
        of_pandas = getattr(kind, "kind", "")
        if of_pandas in ("m", "M") or (not of_pandas and others.match(str(kind))):
            raise ValueError(f"the column {column!r} is {kind}, not numbers: {CONVERT}")


def _types_of_columns(X: Any) -> Iterator[tuple[Any, Any]]:
    root = type(X).__module__.partition(".")[0]
    if root == "pandas" and hasattr(X, "columns"):
        yield from zip(X.columns, X.dtypes, strict=True)
    elif root in ("polars", "pyarrow") and hasattr(X, "schema"):
        schema = X.schema
        yield from zip(schema.names, schema.types) if root == "pyarrow" else schema.items()  # noqa: B905
