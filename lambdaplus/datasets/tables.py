"""Ranking data from CSV and Parquet."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from lambdaplus.datasets.columns import feature_column, finite_column, identifier_column
from lambdaplus.datasets.frames import read_frame
from lambdaplus.datasets.ranking_data import RankingData
from lambdaplus.queries import rows_by_query


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
        values, in the order of the file and named in `feature_names`; an empty cell, or `NULL` in a
        CSV, is NaN. Columns of text or dates, such as document numbers, are left out. `qid` is
        int64, or str if that would lose something: the queries 007 and 7 of a CSV stay two.
        Rows keep their order within each query, and queries that of their first rows.

    Raises
    ------
    ValueError
        For a column that is missing (those there are listed) or named twice, a line that lacks
        fields, a label that is no finite number, a query that is empty or a float from 2**53 on,
        and a column that mixes numbers and text.
    ImportError
        Without polars.

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
