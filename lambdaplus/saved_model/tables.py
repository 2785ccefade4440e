"""Tables: the rows of a CSV, TSV or Parquet file, in batches."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .csv_tables import csv_tables
from .files import opened, table_kind
from .parquet_tables import parquet_tables
from .table_rows import TableRows


def tables(file: Path, size: float = np.inf, columns: Sequence[str] = ()) -> Iterator[TableRows]:
    """The rows of a file in batches of about this many bytes; by default, all in one.

    A ValueError names the file, and a damaged line, or one of these columns that is missing.
    """
    read = parquet_tables if table_kind(file) == ".parquet" else csv_tables
    rows = 0
    # polars would interpret a path as a pattern or a URL.
    with errors_of_polars_named(file), opened(file) as stream:
        for table in read(file, stream, size, columns):
            yield table._replace(first=rows + 1)
            rows += table.frame.height
    refuse_no_rows(file, rows)


@contextmanager
def errors_of_polars_named(file: Path) -> Iterator[None]:
    """Raise errors of polars as a ValueError that names the file."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, csv.Error) as error:
        # Advice of polars follows the message.
        message = " ".join(str(error).partition("\n\n")[0].split()) or type(error).__name__
        raise ValueError(f"{file}: {message}") from None


def refuse_no_rows(file: Path, rows: int) -> None:
    """Raise a ValueError for a table without rows."""
    if not rows:
        raise ValueError(f"{file} has no rows below its header")
