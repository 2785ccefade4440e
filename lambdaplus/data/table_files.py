"""Columns of CSV, TSV and Parquet files, in which no value is converted silently."""

from __future__ import annotations

import io
import json
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.extras import installation
from lambdaplus.data.date_words import DATES
from lambdaplus.data.merged_numbers import refuse_merged
from lambdaplus.data.parquet_columns import ParquetColumns
from lambdaplus.lists.keys import as_text, identifiers, int_or_text
from lambdaplus.lists.spellings import say_different, spelled_twice
from lambdaplus.saved_model.files import KINDS, OPENERS, opened, table_kind
from lambdaplus.saved_model.table_rows import FLAGS, TableRows
from lambdaplus.saved_model.tables import tables
from lambdaplus.saved_model.words import shown

if TYPE_CHECKING:
    import polars

NO_QID = "none"  # instead of the name of a column: all rows are one ranking
WEIGHT_NAMES = ("weight", "weights", "sample_weight", "query_weight", "w")
INDEX = re.compile("|Unnamed: 0|__index_level_0__")
OTHER_ZONE = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*[+-](0[1-9]|1\d)(:?\d\d)? *$"  # than UTC
# Numbers with a sign of per cent or currency, or in groups of thousands, beside others.  Spaces and
# underscores also part codes, such as "110 001".
_PLAIN = r"\d+(\.\d+)?"
_THOUSANDS = r"\d{1,3}([,'\x{a0}\x{202f}]\d{3})+(\.\d+)?"
SIGNED_NUMBERS = rf"^[+-]? ?([$€£¥] ?)?[+-]?({_PLAIN}|{_THOUSANDS}) ?(%|[$€£¥]|EUR|USD)?$"
DATES_AS_NUMBERS = r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"


class TableFile(TableRows):
    """All rows of a CSV, TSV or Parquet file; a ValueError names the file and the column."""

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a file."""
        try:
            import polars  # noqa: F401
        except ImportError:
            raise ImportError(
                f"CSV and Parquet files need polars: {installation('dataframe')}"
            ) from None
        if not table_kind(file):
            raise ValueError(f"{file} is not {KINDS}")
        if table_kind(file) == ".parquet" and file.suffix.lower() not in OPENERS:
            return cls(file, ParquetColumns(file))  # type: ignore[arg-type]
        [rows] = tables(file)
        return cls(*rows)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self.frame.columns

    def finite_numbers(self, name: str) -> NDArray[np.float64]:
        """A column of finite numbers, (n,), without rounding."""
        numbers = self.numbers(name)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            raise ValueError(
                f"{self.place(name)}: {bad.size} cells are not finite numbers, the first is "
                f"in row {bad[0] + 1} below the header"
            )
        return numbers

    def scores(self, name: str) -> NDArray[np.float64]:
        """The same of a column whose numbers do not become equal."""
        import polars

        numbers, cells = self.finite_numbers(name), self.cells(name)
        written = cells.dtype == polars.String or cells.dtype.is_decimal()
        if written and cells.n_unique() > np.unique(numbers).size:
            refuse_merged(self.place(name), cells.cast(polars.String).to_list())
        return numbers

    def feature(self, name: str) -> NDArray[np.float64] | None:
        """A column as a feature, (n,), NaN where a cell is empty; None for text or dates."""
        column, text = self.parsed(name)
        if column is None or text < 0:
            return None if column is None else self.unrounded(name, column)
        if not column.is_finite().any() or self._has_no_number(name):
            return None
        raise ValueError(
            f"{self.place(name)} mixes numbers and text; the first text is "
            f"{shown(self.cells(name)[text])!r} in row {text + 1} below the header"
        )

    def is_flag(self, name: str) -> bool:
        """Whether a column has no values but true and false."""
        import polars

        cells = self.cells(name)
        if cells.dtype != polars.String:
            return cells.dtype == polars.Boolean
        if (cells[0] or "").strip().lower() not in {"", *FLAGS}:
            return False  # in a tenth of the time, as nearly all columns are
        words = self._words(name).str.to_lowercase()
        return bool(words.len()) and bool(words.is_in([*FLAGS]).all())

    def _has_no_number(self, name: str) -> bool:
        """Whether a column of text has true and false, but no number."""
        words = self._words(name)
        numbers = words.str.replace(",", ".", literal=True) if self.decimal_commas else words
        return not numbers.cast(float, strict=False).is_finite().any()

    def _words(self, name: str) -> polars.Series:
        """The cells of a column as text, without those that are empty."""
        words = self.cells(name).cast(str).str.strip_chars()
        return words.filter(words != "")

    def is_declared(self, name: str) -> bool:
        """Whether the type of a column says that it is a category."""
        import polars

        dtype = self.cells(name).dtype
        of_pandas = name in self._pandas and (dtype.is_integer() or dtype == polars.String)
        return of_pandas or dtype in (polars.Categorical, polars.Enum)

    @cached_property
    def _pandas(self) -> set[str]:
        """Categories of pandas, also of numbers, whose types Parquet does not have."""
        import polars

        if table_kind(self.file) != ".parquet" or not hasattr(polars, "read_parquet_metadata"):
            return set()
        with opened(self.file) as stream:
            packed = self.file.suffix.lower() in OPENERS
            source = io.BytesIO(stream.read()) if packed else stream
            told = polars.read_parquet_metadata(source).get("pandas", "{}")
        try:
            columns = json.loads(told).get("columns", [])
            return {one["name"] for one in columns if one["pandas_type"] == "categorical"}
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise ValueError(f"{self.file}: what pandas noted of its columns is damaged") from None

    def are_dates(self, name: str, pattern: str = DATES) -> bool:
        """Whether all cells of a column, if they are not empty, are dates."""
        return self.cells(name).dtype.is_temporal() or self.all_match(name, pattern)

    def all_match(self, name: str, pattern: str) -> bool:
        """Whether all cells of a column of text or whole numbers, if they are not empty, match."""
        import polars

        dtype = self.cells(name).dtype
        if not (dtype == polars.String or dtype.is_integer()):
            return False
        words = self._words(name)
        return bool(words.len()) and bool(words.str.contains(pattern).all())

    def _in_one_spelling(self, name: str, words: list[str]) -> NDArray[Any]:
        """As in `int_or_text`; whole numbers may have decimals of zeros, if all are whole.

        A warning is given of text in two spellings.
        """
        decimals = re.compile(r"(-?[0-9]+)\.0+")
        found = {word: whole[1] for word in {*words} if (whole := decimals.fullmatch(word))}
        if found and all(re.fullmatch("-?[0-9]+", found.get(word, word)) for word in {*words}):
            words = [found.get(word, word) for word in words]
        ids = int_or_text(words)
        if ids.dtype.kind == "U" and (both := spelled_twice(words)):
            are_whole = all(re.fullmatch(r"-?[0-9]+(\.0+)?", word) for word in both)
            why = ", since others are no whole numbers" if are_whole else ""
            say_different(both, self.place(name), why)
        return ids

    def repeats(self, name: str) -> bool:
        """Whether a column has at least two values, on two rows or more on average."""
        return 2 <= self.cells(name).n_unique() <= self.frame.height / 2

    def places(self, name: str) -> NDArray[Any]:
        """A column of numbers or dates, (n,), by which rows can be sorted, or text of these."""
        import polars

        column = self.cells(name)
        if column.dtype.is_temporal() and not column.null_count():
            physical = column.to_physical().to_numpy()
            if isinstance(column.dtype, polars.Datetime | polars.Duration):
                kind = "m" if isinstance(column.dtype, polars.Duration) else "M"
                return physical.astype(f"{kind}8[{column.dtype.time_unit}]")
            return physical.astype("M8[D]") if column.dtype == polars.Date else physical
        if column.dtype.is_float():
            return self.finite_numbers(name)
        ids = self.identifiers(name)  # which raises for empty cells
        return as_text(column.to_list()) if column.dtype == polars.String else ids

    def has_time_zone(self, name: str) -> bool:
        """Whether a column has times of a zone, which are read as those of UTC."""
        import polars

        column = self.cells(name)
        if isinstance(column.dtype, polars.Datetime):
            return column.dtype.time_zone not in (None, "UTC")
        return column.dtype == polars.String and bool(column.str.contains(OTHER_ZONE).any())

    def identifiers(self, name: str) -> NDArray[Any]:
        """A column as (n,) int64, or as str if a conversion to int64 would lose information."""
        import polars

        column = self.cells(name)
        try:
            if column.dtype.is_nested() or column.dtype in (polars.Binary, polars.Duration):
                raise ValueError(f"{column.dtype} is no type of numbers, text or dates")
            if column.null_count():
                row = int(column.is_null().arg_max() or 0)
                raise ValueError(
                    f"{column.null_count()} cells are empty, the first is in row {row + 1} below "
                    "the header"
                )
            if column.dtype.is_float():
                numbers = identifiers(column.to_numpy())
                integers = numbers.astype(np.int64)
                return integers if np.array_equal(integers, numbers) else numbers.astype(np.str_)
            if column.dtype.is_integer():
                whole = column.cast(polars.Int64, strict=False)
                if not whole.null_count():
                    return whole.to_numpy().copy()
            words = column.cast(str).to_list()
            row = next((row for row, word in enumerate(words) if word.lower() == "nan"), -1)
            if row >= 0:
                raise ValueError(f"{words[row]!r} in row {row + 1} below the header is no value")
            return self._in_one_spelling(name, words)
        except ValueError as error:
            raise ValueError(f"{self.file}, column {name!r}: {error}") from None
