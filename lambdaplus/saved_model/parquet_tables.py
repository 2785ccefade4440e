"""Tables of Parquet files."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from .columns import OF_MODEL
from .files import EXPANSION, OPENERS, expanded_at_most
from .table_rows import TableRows
from .words import require

if TYPE_CHECKING:
    import polars


def parquet_tables(
    file: Path, stream: BinaryIO, size: float, columns: Sequence[str]
) -> Iterator[TableRows]:
    """The rows of a Parquet file in batches of about this many bytes of numbers."""
    import polars as pl

    packed = file.suffix.lower() in OPENERS
    scan = pl.scan_parquet(io.BytesIO(stream.read()) if packed else stream)
    names = scan.collect_schema().names()
    require(file, names, columns, OF_MODEL)
    # Some names would be patterns.
    scan = scan.select(pl.nth([names.index(name) for name in columns or names]))
    rows = max(1, int(min(size, 2**34)) // (8 * len(columns or names) or 8))
    first = 0
    while True:
        frame = (scan if np.isinf(size) else scan.slice(first, rows)).collect()
        refuse_expanded_text(file, frame)
        if frame.height or not first:
            yield TableRows(file, frame)
        if frame.height != rows or np.isinf(size):
            return
        first += rows


def refuse_expanded_text(file: Path, frame: polars.DataFrame) -> None:
    """Raise a ValueError for repeated text that is so much larger in memory than in the file."""
    import polars as pl

    kinds = pl.String, pl.Categorical, pl.Enum
    texts = [cells.alias("") for cells in frame if cells.dtype in kinds]  # names may be patterns
    size = sum(int(cells.cast(pl.String).str.len_bytes().sum() or 0) for cells in texts)
    if size > expanded_at_most(file):
        raise ValueError(f"{file}: its text expands to more than {EXPANSION} times its size")
