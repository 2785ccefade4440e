"""CSV and Parquet files as data frames.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.data.frames import read_frame
>>> with tempfile.TemporaryDirectory() as folder:
...     file = pathlib.Path(folder, "ours[1].csv")
...     _ = file.write_text("qid,score\\n007,2\\n")
...     read_frame(file, ["qid", "score"], text=["qid"]).rows()
[('007', 2)]
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    import polars

SUFFIXES = (".csv", ".parquet")
_FIRST_ROWS = 1000  # used to infer column types, unless later rows do not match


def read_frame(file: Path, needed: Sequence[str], text: Sequence[str] = ()) -> polars.DataFrame:
    """Read all columns of a file.

    Parameters
    ----------
    file : path
        Used literally: characters such as ``*`` and ``[`` are part of the name.
    needed : sequence of str
        Required columns.
    text : sequence of str
        Columns of a CSV file whose digits are read as text, so that 007 and 7 differ.

    Raises
    ------
    ValueError
        For another type of file, for one that cannot be read, for two columns with the same name,
        if a required column is missing, and for a line of a CSV file with missing fields.
    FileNotFoundError
        If the file does not exist.
    ImportError
        If polars is not installed.
    """
    try:
        import polars
    except ImportError:
        raise ImportError(
            "CSV and Parquet need polars: pip install 'lambdaplus[dataframe]'"
        ) from None
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{file} is neither .csv nor .parquet")
    try:
        with file.open("rb") as stream:  # polars would interpret a path as a pattern or a URL
            frame = _csv(file, stream, text) if suffix == ".csv" else polars.read_parquet(stream)
    except FileNotFoundError:
        raise
    except (polars.exceptions.PolarsError, OSError, csv.Error) as error:
        raise ValueError(f"{file}: {first_lines(error)}") from None
    except polars.exceptions.PanicException as error:  # from a file with inconsistent parts
        raise ValueError(f"{file}: {first_lines(error)}") from None
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise ValueError(
            f"{file} has no column {', '.join(map(repr, missing))}; it has: "
            f"{', '.join(frame.columns)}"
        )
    return frame


def _csv(file: Path, stream: BinaryIO, text: Sequence[str]) -> polars.DataFrame:
    import polars

    first = polars.read_csv(stream, has_header=False, infer_schema_length=0, n_rows=1)
    names = ["" if name is None else name for name in first.row(0)]
    kinds = {name: polars.String for name in text if name in names}
    try:
        frame = _read_csv(stream, kinds, _FIRST_ROWS)
    except polars.exceptions.ComputeError:  # for example, the first rows have integers only
        frame = _read_csv(stream, kinds, None)
    if frame.columns != names:  # polars renames a repeated column
        twice = sorted({name for name in names if names.count(name) > 1})
        problem = f"names {', '.join(map(repr, twice))} twice" if twice else "cannot be read"
        raise ValueError(f"{file}, line 1: the header {problem}")
    return _without_blank_lines(file, frame)


def _read_csv(stream: BinaryIO, kinds: Any, rows: int | None) -> polars.DataFrame:
    """The data frame; column types are inferred from this number of rows, or from all."""
    import polars

    stream.seek(0)
    return polars.read_csv(
        stream, null_values=["NULL"], infer_schema_length=rows, schema_overrides=kinds
    )


def _without_blank_lines(file: Path, frame: polars.DataFrame) -> polars.DataFrame:
    """The rows except blank lines; a ValueError for a line that is shorter than the header.

    Polars fills such lines with empty cells, so the last column shows whether there may be one.
    """
    if not (frame[:, -1].null_count() or frame.is_empty()):
        return frame
    blank = []
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        reader = csv.reader(stream)
        for fields in reader:
            blank.append(not fields)
            if fields and len(fields) < frame.width:
                raise ValueError(
                    f"{file}, line {reader.line_num}: {len(fields)} fields for {frame.width} "
                    "columns"
                )
    keep = ~np.array(blank[1:], dtype=bool)
    return frame.filter(keep) if len(keep) == len(frame) else frame


def first_lines(error: BaseException) -> str:
    """The error message, without the long advice that may follow."""
    return " ".join(str(error).partition("\n\n")[0].split()) or type(error).__name__
