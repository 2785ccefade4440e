"""Lossless conversion of columns of data frames to arrays.

Examples
--------
>>> from pathlib import Path
>>> import polars
>>> from lambdaplus.data.frame_columns import identifier_column, number_column
>>> identifier_column(Path("ours.csv"), polars.Series("qid", ["007", "7"])).tolist()
['007', '7']
>>> number_column(Path("ours.csv"), polars.Series("score", ["+2", " Infinity"])).tolist()
[2.0, inf]
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.arrays import identifiers, int_or_text, refuse_rounding

if TYPE_CHECKING:
    import polars


# Numbers as spreadsheets write them, which would be left out as text: 0,5 and 1,000.5 and 5 %.
_FOREIGN = r"^\s*[-+]?[0-9]+([.,][0-9]+)*\s*%$|^\s*[-+]?[0-9]+(,[0-9]+)+(\.[0-9]+)?\s*$"


def number_column(file: Path, column: polars.Series) -> NDArray[np.float64]:
    """The column as numbers, (n,) float64; an empty cell is NaN.

    Raises
    ------
    ValueError
        For a cell that is not a number, or an integer that a float64 cannot represent.
    """
    import polars

    where = f"{file}, column {column.name!r}"
    if column.dtype != polars.String:
        # The cast would also accept dates, durations and codes of categories.
        if not column.dtype.is_numeric() and column.dtype not in (polars.Boolean, polars.Null):
            raise ValueError(f"{where} is not numeric, but {column.dtype}")
        if column.dtype.is_integer():
            lowest: Any = column.min() or 0
            highest: Any = column.max() or 0
            if max(-lowest, highest) > 2**53:
                refuse_rounding(column.drop_nulls().to_list(), where)
        return column.cast(polars.Float64).to_numpy()
    numbers, text = _parsed(column)
    if text.size:
        raise ValueError(
            f"{where}: {column[int(text[0])]!r} in row {text[0] + 1} below the header is not a "
            "number"
        )
    long = column.filter(column.str.contains(r"^\s*[+-]?[0-9]{16,}\s*$"))
    refuse_rounding(map(int, long.to_list()), where)
    return numbers


def finite_column(file: Path, column: polars.Series) -> NDArray[np.float64]:
    """Like `number_column`, with a ValueError unless all cells are finite numbers."""
    found = number_column(file, column)
    bad = np.flatnonzero(~np.isfinite(found))
    if bad.size:
        raise ValueError(
            f"{file}, column {column.name!r}: {bad.size} cells are not finite numbers, the first "
            f"is in row {bad[0] + 1} below the header"
        )
    return found


def feature_column(file: Path, column: polars.Series) -> NDArray[np.float64] | None:
    """The column as a feature, (n,) float64; None if it contains text or dates.

    Raises
    ------
    ValueError
        If it mixes numbers and text.
    """
    import polars

    if column.dtype.is_numeric() or column.dtype == polars.Boolean:
        return column.cast(polars.Float64).to_numpy()
    if column.null_count() == len(column):
        return np.full(len(column), np.nan)  # the feature is missing in all rows
    if column.dtype != polars.String:
        return None
    numbers, text = _parsed(column)
    if not text.size:
        return numbers
    if np.isfinite(numbers).any():
        raise ValueError(
            f"{file}, column {column.name!r} mixes numbers and text; the first text is "
            f"{column[int(text[0])]!r} in row {text[0] + 1} below the header"
        )
    if column.drop_nulls().str.contains(_FOREIGN).all():
        raise ValueError(
            f"{file}, column {column.name!r} has numbers with commas or percent signs, such as "
            f"{column[int(text[0])]!r}: write 0.5 or 1000.5, or leave the column out"
        )
    return None


def _parsed(column: polars.Series) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Convert cells of text to numbers, or NaN if empty, and return the rows with other text."""
    import polars

    cells = column.str.strip_chars()
    empty = cells.is_null() | cells.is_in(["", "NULL"])
    numbers = cells.cast(polars.Float64, strict=False)
    return numbers.to_numpy(), np.flatnonzero((numbers.is_null() & ~empty).to_numpy())


def identifier_column(file: Path, column: polars.Series) -> NDArray[Any]:
    """The column as (n,) int64, or as str if a conversion to int64 would lose information.

    Raises
    ------
    ValueError
        If a cell is empty or NaN, and for floats that are not integers below 2**53.
    """
    if column.null_count():
        row = int(column.is_null().arg_max() or 0)
        raise ValueError(
            f"{file}, column {column.name!r}: {column.null_count()} cells are empty, the first is "
            f"in row {row + 1} below the header"
        )
    try:
        return _identifiers(column, file.suffix.lower() == ".csv")
    except ValueError as error:
        raise ValueError(f"{file}, column {column.name!r}: {error}") from None


def _identifiers(column: polars.Series, digits_are_numbers: bool) -> NDArray[Any]:
    import polars

    if column.dtype.is_integer():
        return int_or_text(column.cast(polars.String).to_list())
    if column.dtype.is_float():
        numbers = identifiers(column.to_numpy())
        whole = numbers.astype(np.int64)
        return whole if np.array_equal(whole, numbers) else numbers.astype(np.str_)
    words = column.cast(polars.String).to_list()
    missing = next((row for row, word in enumerate(words) if word.lower() == "nan"), None)
    if missing is not None:
        raise ValueError(f"{words[missing]!r} in row {missing + 1} below the header names nothing")
    found = int_or_text(words)
    return found if digits_are_numbers else found.astype(np.str_)
