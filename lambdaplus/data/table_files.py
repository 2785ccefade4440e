"""Reader of CSV and Parquet files, which converts no value silently."""

from __future__ import annotations

import csv
import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arguments import hint, identifiers, int_or_text, refuse_rounding
from lambdaplus.compute.extras import installation
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.ranking.queries import rows_by_query

if TYPE_CHECKING:
    import polars

SUFFIXES = (".csv", ".parquet")
NO_QUERIES = "none"  # instead of the name of a column: all rows are one ranking
WEIGHT_NAMES = ("weight", "weights", "sample_weight", "query_weight", "w")
# Numbers as spreadsheets write them: 0,5 and 1,000.5 and 5 %. As text they would be left out.
_FOREIGN = r"^\s*[-+]?[0-9]+([.,][0-9]+)*\s*%$|^\s*[-+]?[0-9]+(,[0-9]+)+(\.[0-9]+)?\s*$"
INDEX = re.compile("|Unnamed: 0|__index_level_0__")
_LONG_INTEGER = r"^\s*[+-]?[0-9]{16,}\s*$"


def read_columns(
    path: str | os.PathLike[str], *, qid: str = "qid", label: str = "label"
) -> RankingData:
    """Read ranking data from a CSV or Parquet file.

    Parameters
    ----------
    path : str or path-like
        The name ends in .csv or .parquet.  The rows of a query do not have to be adjacent.
    qid, label : str
        Names of the columns with queries and relevance grades.

    Returns
    -------
    RankingData
        Named after the file. `features`, (n, f) float64, are all other columns of numbers or
        Booleans, in the order of the file and with their names in `feature_names`; an empty cell,
        or `NULL` in a CSV file, is NaN, and true and false, in any case, are 1 and 0. Columns of
        text, categories or dates, such as document numbers, are left out with a warning. `qid` is
        int64, or str if int64 would lose information: the queries 007 and 7 of a CSV file are
        different. Rows keep their order within each query, and queries are in the order of their
        first rows.

    Raises
    ------
    FileNotFoundError, ValueError
        For a file that does not exist or has no rows or features; a column that is missing (the
        message lists the others), occurs twice, or mixes numbers and text; a line with missing
        fields; a label that is not a finite number; and a query that is empty or a float of 2**53
        or more.
    ImportError
        If polars is not installed.

    Warns
    -----
    UserWarning
        For columns that are left out, features with names of weights or of an index of pandas, and
        features with integers that a float64 cannot represent.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "ours.csv")
    ...     _ = file.write_text("qid,bm25,label\\nb,0.5,0\\na,,2\\nb,7,1\\n")
    ...     data = read_columns(file)
    >>> data.qid.tolist(), data.features.tolist(), data.labels.tolist()
    (['b', 'b', 'a'], [[0.5], [7.0], [nan]], [0.0, 1.0, 2.0])
    """
    table = TableFile(Path(path), [qid, label])
    labels, queries = table.numbers(label), table.identifiers(qid)
    if not labels.size:
        raise ValueError(f"{table.file} has no rows")
    features = {name: table.feature(name) for name in table.names if name not in (qid, label)}
    columns = {name: column for name, column in features.items() if column is not None}
    if not columns:
        raise ValueError(f"{table.file} has no column of numbers besides {qid!r} and {label!r}")
    _warn_of_columns(table, [name for name in features if name not in columns], list(columns))
    rows = rows_by_query(queries)
    matrix = np.empty((len(labels), len(columns)))
    for j, column in enumerate(columns.values()):
        matrix[:, j] = column[rows]
    return RankingData(matrix, labels[rows], queries[rows], table.file.name, tuple(columns))


def _warn_of_columns(table: TableFile, left_out: list[str], features: list[str]) -> None:
    """Warn of columns whose use may be a surprise."""
    weights = [name for name in features if name.strip().lower() in WEIGHT_NAMES]
    indices = [name for name in features if INDEX.fullmatch(name)]
    for names, what in (
        (left_out, "are no numbers and left out: convert those that are features to numbers"),
        (weights, "are read as features: if they are weights, leave them out of the file"),
        (
            indices,
            "seem to be row numbers that pandas wrote, and are read as features: leave them "
            "out, by to_csv(index=False)",
        ),
        (
            [name for name in features if table.has_rounded(name)],
            "contain integers beyond 2**53, which become equal to others: leave them out of the "
            "file if they are identifiers",
        ),
    ):
        if names:
            shown = ", ".join(map(repr, names))
            warnings.warn(f"{table.file}: the columns {shown} {what}", stacklevel=3)


class NoColumnError(ValueError):
    """A table lacks a column that was asked for."""


class TableFile:
    """Columns of a CSV or Parquet file; a ValueError names the file and the column."""

    def __init__(self, file: Path, needed: Sequence[str]) -> None:
        try:
            import polars
        except ImportError:
            raise ImportError(
                f"CSV and Parquet files need polars: {installation('dataframe')}"
            ) from None
        if twice := [name for name in needed if needed.count(name) > 1]:
            raise ValueError(f"{file}: the column {twice[0]!r} cannot be used for two purposes")
        self.file, suffix = file, file.suffix.lower()
        if suffix not in SUFFIXES:
            raise ValueError(f"{file} is neither .csv nor .parquet")
        errors = (polars.exceptions.PolarsError, polars.exceptions.PanicException, csv.Error)
        try:
            with file.open("rb") as stream:  # polars would interpret a path as a pattern or a URL
                read = _read_csv if suffix == ".csv" else polars.read_parquet
                self._frame: polars.DataFrame = read(stream)
        except errors as error:
            # Advice of polars follows the message.
            message = " ".join(str(error).partition("\n\n")[0].split()) or type(error).__name__
            raise ValueError(f"{file}: {message}") from None
        except ValueError as error:
            raise ValueError(f"{file}, {error}") from None
        self.names = self._frame.columns
        if missing := [name for name in needed if name not in self.names]:
            raise NoColumnError(
                f"{file} has no column "
                f"{', '.join(f'{name!r}{hint(name, self.names)}' for name in missing)}; it has: "
                f"{', '.join(self.names)}. Pass the names of its columns"
            )

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as finite numbers, (n,), without rounding."""
        import polars

        column, where = self._frame[name], f"{self.file}, column {name!r}"
        if column.dtype == polars.String:
            numbers, text = _parsed(column)
            if text.size:
                raise ValueError(
                    f"{where}: {column[int(text[0])]!r} in row {text[0] + 1} below the header is "
                    "not a number"
                )
            long = column.filter(column.str.contains(_LONG_INTEGER))
            refuse_rounding(map(int, long.to_list()), where)
        elif column.dtype.is_numeric() or column.dtype in (polars.Boolean, polars.Null):
            if column.dtype.is_integer() and self._is_long(column):
                refuse_rounding(column.drop_nulls().to_list(), where)
            numbers = column.cast(polars.Float64).to_numpy()
        else:  # polars would cast dates, durations and categories
            raise ValueError(f"{where} is not numeric, but {column.dtype}")
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            raise ValueError(
                f"{where}: {bad.size} cells are not finite numbers, the first is in row "
                f"{bad[0] + 1} below the header"
            )
        return numbers

    @staticmethod
    def _is_long(column: polars.Series) -> bool:
        """Whether a column of integers has some beyond 2^53."""
        bounds: tuple[Any, Any] = (column.min(), column.max())
        return any(abs(bound or 0) > 2**53 for bound in bounds)

    def feature(self, name: str) -> NDArray[np.float64] | None:
        """A column as a feature, (n,), NaN where a cell is empty; None for text or dates."""
        import polars

        column, where = self._frame[name], f"{self.file}, column {name!r}"
        if column.null_count() == len(column):
            return np.full(len(column), np.nan)  # the feature is missing in all rows
        if column.dtype.is_numeric() or column.dtype == polars.Boolean:
            return column.cast(polars.Float64).to_numpy()
        if column.dtype != polars.String:
            return None
        numbers, text = _parsed(column)
        if not text.size:
            return numbers
        first = f"{column[int(text[0])]!r}"
        if np.isfinite(numbers).any():
            raise ValueError(
                f"{where} mixes numbers and text; the first text is {first} in row {text[0] + 1} "
                "below the header"
            )
        if column.drop_nulls().str.contains(_FOREIGN).all():
            raise ValueError(
                f"{where} has numbers with commas or percent signs, such as {first}: write 0.5 or "
                "1000.5, or leave the column out"
            )
        return None

    def codes(self, name: str) -> tuple[NDArray[np.float64] | None, int]:
        """A column of text as codes of its sorted values, (n,), and their number.

        Codes are 0, 1, ..., and NaN where a cell is empty; None for dates and other types.
        """
        import polars

        column = self._frame[name]
        if column.dtype not in (polars.String, polars.Categorical, polars.Enum):
            return None, 0
        text = column.cast(polars.String)
        text = text.set(text.str.strip_chars() == "", None)
        values = text.drop_nulls().unique().sort()
        codes = text.replace_strict(values, polars.int_range(len(values), eager=True))
        return codes.cast(polars.Float64).to_numpy(), len(values)

    def has_rounded(self, name: str) -> bool:
        """Whether a column has integers that a float64 cannot represent."""
        import polars

        column = self._frame[name]
        if column.dtype == polars.String:
            long = column.filter(column.str.contains(_LONG_INTEGER)).to_list()
        elif column.dtype.is_integer() and self._is_long(column):
            long = column.drop_nulls().to_list()
        else:
            return False
        return any(int(cell) != float(cell) for cell in long)

    def identifiers(self, name: str) -> NDArray[Any]:
        """A column as (n,) int64, or as str if a conversion to int64 would lose information."""
        column = self._frame[name]
        try:
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


def _parsed(column: polars.Series) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Convert cells of text to numbers, or NaN if empty, and return the rows with other text."""
    cells = column.str.strip_chars()
    empty = cells.is_null() | cells.is_in(["", "NULL"])
    numbers = cells.cast(float, strict=False)
    beyond = (numbers.is_infinite() & cells.str.contains("[0-9]")).fill_null(value=False)
    numbers = numbers.set(beyond, None)  # 1e400 is no number that float64 has
    return numbers.to_numpy(), np.flatnonzero((numbers.is_null() & ~empty).to_numpy())


def _read_csv(stream: BinaryIO) -> polars.DataFrame:
    """Read columns of true and false as Booleans, all others as text."""
    import polars

    # The header is read as a row, because polars renames a repeated column.
    frame = polars.read_csv(stream, has_header=False, infer_schema_length=0, null_values=["NULL"])
    names = ["" if name is None else name for name in frame.row(0)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"line 1: the header contains {', '.join(map(repr, twice))} twice")
    if frame[:, -1].null_count():  # polars fills short lines with empty cells
        stream.seek(0)
        frame = _without_blank_lines(stream, frame)
    frame = frame[1:].rename(dict(zip(frame.columns, names, strict=True)))
    # pandas writes True and False, spreadsheets TRUE and FALSE.
    lower = (column.str.strip_chars().str.to_lowercase() for column in frame)
    flags = [
        (column == "true").alias(column.name)
        for column in lower
        if column.drop_nulls().is_in(["true", "false"]).all()
    ]
    return frame.with_columns(flags)


def _without_blank_lines(stream: BinaryIO, frame: polars.DataFrame) -> polars.DataFrame:
    lines = (line.decode("utf-8-sig", errors="replace") for line in stream)
    blank = []
    reader = csv.reader(lines)
    for fields in reader:
        blank.append(not fields)
        if fields and len(fields) < frame.width:
            raise ValueError(
                f"line {reader.line_num}: {len(fields)} fields for {frame.width} columns"
            )
    keep = ~np.array(blank, dtype=bool)
    return frame.filter(keep) if len(keep) == len(frame) else frame
