"""Columns of CSV, TSV and Parquet files, in which no value is converted silently."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.extras import installation
from lambdaplus.compute.identifiers import identifiers, int_or_text
from lambdaplus.data.scoring import FLAGS, KINDS, opened, require, table_kind, tables

NO_QUERIES = "none"  # instead of the name of a column: all rows are one ranking
WEIGHT_NAMES = ("weight", "weights", "sample_weight", "query_weight", "w")
INDEX = re.compile("|Unnamed: 0|__index_level_0__")
_DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
DATES = f"^({_DATE})([T ]{_TIME})?$"
DATES_AS_NUMBERS = r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"


class TableFile:
    """Columns of a CSV, TSV or Parquet file; a ValueError names the file and the column."""

    def __init__(self, file: Path) -> None:
        try:
            import polars  # noqa: F401
        except ImportError:
            raise ImportError(
                f"CSV and Parquet files need polars: {installation('dataframe')}"
            ) from None
        if not table_kind(file):
            raise ValueError(f"{file} is not {KINDS}")
        self.file = file
        [self.table] = tables(file)
        self._frame = self.table.frame
        self.names = self._frame.columns

    def require(self, names: Iterable[str], advice: str) -> None:
        """Raise a ValueError for those of these columns that the table does not have."""
        require(self.file, self.names, names, advice)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as finite numbers, (n,), without rounding."""
        numbers = self.table.numbers(name)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            raise ValueError(
                f"{self.table.place(name)}: {bad.size} cells are not finite numbers, the first is "
                f"in row {bad[0] + 1} below the header"
            )
        return numbers

    def feature(self, name: str) -> NDArray[np.float64] | None:
        """A column as a feature, (n,), NaN where a cell is empty; None for text or dates."""
        column, text = self.table.parsed(name)
        if column is None or text < 0:
            return None if column is None else self.table.unrounded(name, column)
        if not column.is_finite().any():
            return None
        raise ValueError(
            f"{self.table.place(name)} mixes numbers and text; the first text is "
            f"{self._frame[name][text]!r} in row {text + 1} below the header"
        )

    def is_flag(self, name: str) -> bool:
        """Whether a column has no values but true and false."""
        import polars

        column = self._frame[name]
        if column.dtype != polars.String:
            return column.dtype == polars.Boolean
        words = column.drop_nulls().str.strip_chars().str.to_lowercase()
        words = words.filter(words != "")
        return bool(words.len()) and bool(words.is_in([*FLAGS]).all())

    def is_declared(self, name: str) -> bool:
        """Whether the type of a column says that it is a category."""
        import polars

        dtype = self._frame[name].dtype
        of_pandas = name in self._pandas and (dtype.is_integer() or dtype == polars.String)
        return of_pandas or dtype in (polars.Categorical, polars.Enum)

    @cached_property
    def _pandas(self) -> set[str]:
        """Categories of pandas, also of numbers, whose types Parquet does not have."""
        import polars

        if table_kind(self.file) != ".parquet" or not hasattr(polars, "read_parquet_metadata"):
            return set()
        with opened(self.file) as stream:
            told = polars.read_parquet_metadata(io.BytesIO(stream.read())).get("pandas", "{}")
        try:
            columns = json.loads(told).get("columns", [])
            return {one["name"] for one in columns if one["pandas_type"] == "categorical"}
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise ValueError(f"{self.file}: what pandas noted of its columns is damaged") from None

    def are_dates(self, name: str, pattern: str = DATES) -> bool:
        """Whether all cells of a column, if they are not empty, are dates."""
        import polars

        column = self._frame[name]
        if column.dtype.is_temporal():
            return True
        if column.dtype != polars.String and not column.dtype.is_integer():
            return False
        text = column.cast(polars.String).str.strip_chars()
        text = text.filter(text != "")
        return bool(text.len()) and bool(text.str.contains(pattern).all())

    def repeats(self, name: str) -> bool:
        """Whether a column has at least two values, on two rows or more on average."""
        return 2 <= self._frame[name].n_unique() <= self._frame.height / 2

    def type_in_words(self, name: str) -> str:
        kind = self._frame[name].dtype
        return "dates" if kind.is_temporal() else str(kind).replace("String", "text")

    def places(self, name: str) -> NDArray[Any]:
        """A column of numbers or dates, (n,), by which rows can be sorted, or text of these."""
        column = self._frame[name]
        if column.dtype.is_temporal() and not column.null_count():
            return column.to_physical().to_numpy()
        return self.identifiers(name)

    def identifiers(self, name: str) -> NDArray[Any]:
        """A column as (n,) int64, or as str if a conversion to int64 would lose information."""
        import polars

        column = self._frame[name]
        try:
            if column.dtype.is_nested() or column.dtype == polars.Binary:
                raise ValueError(f"{column.dtype} is no type of numbers, text or dates")
            if column.null_count():
                row = int(column.is_null().arg_max() or 0)
                raise ValueError(
                    f"{column.null_count()} cells are empty, the first is in row {row + 1} below "
                    "the header"
                )
            if column.dtype.is_float():
                numbers = identifiers(column.to_numpy())
                whole = numbers.astype(np.int64)
                return whole if np.array_equal(whole, numbers) else numbers.astype(np.str_)
            words = column.cast(str).to_list()
            row = next((row for row, word in enumerate(words) if word.lower() == "nan"), -1)
            if row >= 0:
                raise ValueError(f"{words[row]!r} in row {row + 1} below the header is no value")
            return int_or_text(words)
        except ValueError as error:
            raise ValueError(f"{self.file}, column {name!r}: {error}") from None
