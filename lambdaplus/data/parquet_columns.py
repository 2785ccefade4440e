"""The columns of a Parquet file, which are read when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lambdaplus.saved_model.files import opened
from lambdaplus.saved_model.parquet_tables import refuse_expanded_text
from lambdaplus.saved_model.tables import errors_of_polars_named, refuse_no_rows

if TYPE_CHECKING:
    import polars

_BYTES = 1 << 24  # of the columns that are read together, as numbers
_READS = 32  # at most, since each reads the list of all columns


class ParquetColumns:
    """What a table needs of a frame, without having all columns in memory at a time."""

    def __init__(self, file: Path) -> None:
        import polars as pl

        self._file, self._state = file, tuple[int, ...]()
        with self._scanned() as scan:
            self.columns = scan.collect_schema().names()
            self.height = int(scan.select(pl.len()).collect().item())
        refuse_no_rows(file, self.height)
        self._places = {name: place for place, name in enumerate(self.columns)}
        self._together = max(_BYTES // (8 * self.height), len(self.columns) // _READS, 1)
        self._last: dict[str, polars.Series] = {}

    def __getitem__(self, name: str) -> polars.Series:
        """A column, which is read with those after it if these are small."""
        import polars as pl

        if name not in self._last:
            place = self._places[name]
            self._last = {}  # before the next ones are read
            with self._scanned() as scan:
                # Some names would be patterns.
                places = range(place, min(place + self._together, len(self.columns)))
                frame = scan.select(pl.nth([*places])).collect()
            refuse_expanded_text(self._file, frame)
            self._last = {cells.name: cells for cells in frame}
        return self._last[name]

    @contextmanager
    def _scanned(self) -> Iterator[polars.LazyFrame]:
        import polars as pl

        with errors_of_polars_named(self._file), opened(self._file) as stream:
            found = os.fstat(stream.fileno())
            state = found.st_ino, found.st_size, found.st_mtime_ns
            if self._state not in ((), state):
                raise ValueError(f"{self._file} was changed while it was read")
            self._state = state
            yield pl.scan_parquet(stream)
