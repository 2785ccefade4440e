"""Rows of a table of any kind: its columns as numbers, text and codes of categories."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import Column, are_whole_numbers
from .exact_numbers import changed
from .words import shown

if TYPE_CHECKING:
    import polars

FLAGS = {"true": 1.0, "false": 0.0}


class TableRows(NamedTuple):
    """Rows of a CSV, TSV or Parquet file; the columns of a CSV file are text."""

    file: Path
    frame: polars.DataFrame
    decimal_commas: bool = False
    first: int = 1  # the number of the first row below the header

    def place(self, name: str, row: int | None = None) -> str:
        """A column, or a cell of it, in words."""
        where = "" if row is None else f", row {self.first + row} below the header"
        return f"{self.file}, column {name!r}{where}"

    def cells(self, name: str) -> polars.Series:
        """A column without its name, which polars may take for a pattern, such as ``^x$``."""
        return self.frame[name].alias("")

    def parsed(self, name: str) -> tuple[polars.Series | None, int]:
        """A column as float64, null where it is no number, and its first row of text, or -1.

        True and false, in any case, are 1 and 0.  None stands for a column of other types: polars
        would cast dates, durations and categories.
        """
        import polars as pl

        cells = self.cells(name)
        if cells.dtype != pl.String:
            known = cells.dtype.is_numeric() or cells.dtype in (pl.Boolean, pl.Null)
            return cells.cast(pl.Float64) if known else None, -1
        text = cells.str.strip_chars()
        decimal = text.str.replace(",", ".", literal=True) if self.decimal_commas else text
        numbers = decimal.cast(pl.Float64, strict=False)
        if numbers.null_count() == cells.null_count():
            return numbers, -1
        # pandas writes True and False, spreadsheets TRUE and FALSE.
        flags = text.str.to_lowercase().replace_strict(FLAGS, default=None, return_dtype=pl.Float64)
        numbers = numbers.zip_with(numbers.is_not_null(), flags)
        is_text = numbers.is_null() & cells.is_not_null() & (text != "")
        return numbers, int(is_text.arg_max() or 0) if is_text.any() else -1

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column, (n,), NaN where a cell is empty; a ValueError for other cells."""
        numbers, text = self.parsed(name)
        if numbers is None:
            raise ValueError(f"{self.place(name)} is not numeric, but {self.cells(name).dtype}")
        if text >= 0:
            cell = self.cells(name)[text]
            raise ValueError(f"{self.place(name, text)}: {shown(cell)!r} is not a number")
        return self.unrounded(name, numbers)

    def unrounded(self, name: str, numbers: polars.Series) -> NDArray[np.float64]:
        """The numbers of a column; a ValueError for cells that float64 changes."""
        import polars as pl

        cells = self.cells(name)
        exact = cells.dtype.is_integer() or cells.dtype == pl.Decimal
        if exact or cells.dtype == pl.String:
            for row in (numbers.abs() >= 2.0**53).fill_null(False).arg_true():
                if why := changed(str(cells[row]).strip(), numbers[row]):
                    raise ValueError(f"{self.place(name, row)}{why}")
        return numbers.to_numpy()

    def words(self, name: str, whole_numbers: bool = False) -> polars.Series | None:
        """A column of text, or of whole numbers if wanted, as text, null where a cell is empty.

        None stands for a column of other types.
        """
        import polars as pl

        cells = self.cells(name)
        if whole_numbers and cells.dtype.is_float():  # as pandas has them beside empty cells
            known = cells.fill_nan(None)
            integers = known.cast(pl.Int64, strict=False)
            cells = integers if integers.cast(cells.dtype).equals(known) else cells
        is_text = cells.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)
        if not is_text and not (whole_numbers and cells.dtype.is_integer()):
            return None
        text = cells.cast(pl.String)
        if whole_numbers:
            text = text.str.replace(r"^(-?[0-9]+)\.0+$", "$1")
        return text.set(text.str.strip_chars() == "", None)

    def codes(self, column: Column, unseen: dict[str, Counter[str]]) -> NDArray[np.float64]:
        """A category as the places of its levels, (n,), NaN for empty cells and other values.

        The other values are added to ``unseen``.
        """
        import polars as pl

        words = self.words(column.name, are_whole_numbers(column.levels))
        if words is None:
            kind = self.cells(column.name).dtype
            raise ValueError(f"{self.place(column.name)} is no text, as in training, but {kind}")
        levels = pl.Series(column.levels, dtype=pl.String)
        places = pl.Series(range(len(column.levels)), dtype=pl.Float64)
        codes = words.replace_strict(levels, places, default=None, return_dtype=pl.Float64)
        if codes.null_count() > words.null_count():
            other = words.filter(codes.is_null() & words.is_not_null())
            unseen.setdefault(column.name, Counter()).update(other)
        return codes.to_numpy()
