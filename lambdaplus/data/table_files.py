"""Ranking data from CSV and Parquet."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from lambdaplus.data.frame_columns import feature_column, finite_column, identifier_column
from lambdaplus.data.frames import read_frame
from lambdaplus.data.queries import rows_by_query
from lambdaplus.data.ranking_data import RankingData


def read_columns(
    path: str | os.PathLike[str], *, qid: str = "qid", label: str = "label"
) -> RankingData:
    """Read ranking data from a CSV or Parquet file.

    Parameters
    ----------
    path : path
        The name ends in .csv or .parquet.  The rows of a query do not have to be adjacent.
    qid, label : str
        Names of the columns with queries and relevance grades.

    Returns
    -------
    RankingData
        Named after the file. `features`, (n, f) float64, are all other columns of numbers or
        Booleans, in the order of the file and with their names in `feature_names`; an empty cell,
        or `NULL` in a CSV file, is NaN. Columns of text or dates, such as document numbers, are
        left out. `qid` is int64, or str if int64 would lose information: the queries 007 and 7 of a
        CSV file are different. Rows keep their order within each query, and queries are in the
        order of their first rows.

    Raises
    ------
    ValueError
        For a column that is missing (the message lists the others) or given twice, a line with
        missing fields, a label that is not a finite number, a query that is empty or a float of
        2**53 or more, and a column that mixes numbers and text.
    ImportError
        If polars is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "ours.csv")
    ...     _ = file.write_text("qid,doc,bm25,label\\nb,d1,0.5,0\\na,d2,,2\\nb,d3,7,1\\n")
    ...     data = read_columns(file)
    >>> data.qid.tolist(), data.features.tolist(), data.labels.tolist()
    (['b', 'b', 'a'], [[0.5], [7.0], [nan]], [0.0, 1.0, 2.0])
    """
    file = Path(path)
    frame = read_frame(file, [qid, label], text=[qid])
    labels = finite_column(file, frame[label])
    queries = identifier_column(file, frame[qid])
    columns = {
        name: feature
        for name in frame.columns
        if name not in (qid, label) and (feature := feature_column(file, frame[name])) is not None
    }
    if not columns:
        raise ValueError(f"{file} has no column of numbers besides {qid!r} and {label!r}")
    if not labels.size:
        raise ValueError(f"{file} has no rows")
    rows = rows_by_query(queries)
    features = np.empty((len(labels), len(columns)))
    for j, column in enumerate(columns.values()):
        features[:, j] = column[rows]
    names = tuple(columns)
    return RankingData(features, labels[rows], queries[rows], file.name, names)
