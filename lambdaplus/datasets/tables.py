"""Ranking data from CSV and Parquet, and what all readers of such files share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.datasets.ranking_data import RankingData

SUFFIXES = (".csv", ".parquet")


def read_columns(
    path: str | os.PathLike[str], *, qid: str = "qid", label: str = "label"
) -> RankingData:
    """Read ranking data from a CSV or Parquet file, the rows of a query anywhere.

    Parameters
    ----------
    path : path
        Ends in .csv or .parquet.
    qid, label : str
        Names of the columns of queries and of relevance grades.

    Returns
    -------
    RankingData
        Named after the file. `features`, (n, f) float64, are all other columns of numbers or truth
        values, in the order of the file; an empty cell, or `NULL` in a CSV, is NaN.
        Columns of text, such as document numbers, are left out. Rows keep their order within each
        query, and queries that of their first rows.

    Raises
    ------
    ValueError
        For a column that is missing (those there are listed), a label that is no finite number, an
        empty query, and a column that mixes numbers and text.
    ImportError
        Without narwhals and polars.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.datasets import read_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "ours.csv")
    ...     _ = file.write_text("qid,doc,bm25,label\\nb,d1,0.5,0\\na,d2,,2\\nb,d3,7,1\\n")
    ...     data = read_columns(file)
    >>> data.qid.tolist(), data.features.tolist(), data.labels.tolist()
    (['b', 'b', 'a'], [[0.5], [7.0], [nan]], [0.0, 1.0, 2.0])
    """
    file = Path(path)
    frame = read_frame(file, [qid, label])
    labels = finite_column(file, label, frame[label].to_numpy())
    refuse_empty(file, qid, frame)
    queries = frame[qid].to_numpy()
    if queries.dtype.kind not in "iu":
        queries = queries.astype(np.str_)
    names = [
        name
        for name in frame.columns
        if name not in (qid, label) and _holds_numbers(file, frame[name])
    ]
    if not names:
        raise ValueError(f"{file} has no column of numbers besides {qid!r} and {label!r}")
    rows = rows_by_query(queries)
    features = np.empty((len(labels), len(names)))
    for j, name in enumerate(names):
        features[:, j] = frame[name].to_numpy()[rows]  # an empty cell becomes NaN
    return RankingData(features, labels[rows], queries[rows], name=file.name)


def read_frame(file: Path, needed: Sequence[str]) -> Any:
    """A data frame of narwhals.

    Raises
    ------
    ValueError
        For another kind of file, for one that cannot be read, and if a needed column is missing.
    FileNotFoundError
        If there is no such file.
    ImportError
        Without narwhals and polars.
    """
    try:
        import narwhals
        import polars
    except ImportError:
        raise ImportError(
            "CSV and Parquet need narwhals and polars: pip install 'lambdaplus[dataframe]'"
        ) from None
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{file} is neither .csv nor .parquet")
    try:
        if suffix == ".csv":
            # Kinds of columns from all rows: the first hundred may hold whole numbers only.
            frame = narwhals.read_csv(
                str(file), backend="polars", null_values=["NULL"], infer_schema_length=None
            )
        else:
            frame = narwhals.read_parquet(str(file), backend="polars")
    except polars.exceptions.PolarsError as error:
        raise ValueError(f"{file}: {error}") from None
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise ValueError(
            f"{file} has no column {', '.join(map(repr, missing))}; it has: "
            f"{', '.join(frame.columns)}"
        )
    return frame


def finite_column(file: Path, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    """A column as numbers.

    Raises
    ------
    ValueError
        Unless all cells hold a finite number.
    """
    try:
        found = column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}, column {name!r}: {error}") from None
    bad = np.flatnonzero(~np.isfinite(found))
    if bad.size:
        raise ValueError(
            f"{file}, column {name!r}: {bad.size} cells hold no finite number, the first is in "
            f"row {bad[0] + 1} below the header"
        )
    return found


def refuse_empty(file: Path, name: str, frame: Any) -> None:
    """Raise a ValueError if the column has empty cells."""
    if frame[name].null_count():
        raise ValueError(f"{file}, column {name!r}: {frame[name].null_count()} cells are empty")


def rows_by_query(qid: NDArray[Any]) -> NDArray[np.intp]:
    """Order of the rows that puts those of a query together, where its first row stands."""
    _, first, query = np.unique(qid, return_index=True, return_inverse=True)
    return np.argsort(first[query], kind="stable")


def _holds_numbers(file: Path, column: Any) -> bool:
    import narwhals

    if column.dtype.is_numeric() or column.dtype == narwhals.Boolean:
        return True
    if column.dtype != narwhals.String:
        return bool(column.null_count() == len(column))  # a feature known of no row
    numbers = column.to_native().cast(float, strict=False).is_not_null().to_numpy()
    text = np.flatnonzero(~numbers & ~column.is_null().to_numpy())
    if numbers.any() and text.size:
        raise ValueError(
            f"{file}, column {column.name!r} mixes numbers and text; the first text is "
            f"{column[int(text[0])]!r} in row {text[0] + 1} below the header"
        )
    return False
