"""Tables of ranking data: labels, queries, weights and features of the rows of a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.messages import warn
from lambdaplus.data.column_guesses import why_no_feature
from lambdaplus.data.column_names import Columns
from lambdaplus.data.column_plan import column_of, left_out_in_words, with_constants
from lambdaplus.data.feature_rows import BLOCK
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.table_files import WEIGHT_NAMES, TableFile
from lambdaplus.lists.order import rows_by_query
from lambdaplus.saved_model.columns import LEFT_OUT, Column
from lambdaplus.saved_model.words import require


class TableData(NamedTuple):
    """A table that was read, and what became of its columns."""

    data: RankingData
    order: NDArray[Any] | None  # of the rows
    columns: Sequence[Column]  # the features, and what is left out


def read_columns(
    path: str | os.PathLike[str], *, qid: str = "qid", label: str = "label"
) -> RankingData:
    """Read ranking data from a CSV, TSV or Parquet file.

    Parameters
    ----------
    path : str or path-like
        The name ends in .csv, .tsv or .parquet, then perhaps in .gz or .xz.  The rows of a query
        do not have to be adjacent.  A CSV file is UTF-8, and one whose header is separated
        by semicolons or tabs is read like this; commas in numbers beside semicolons are decimal
        points.
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
        fields; a label that is not a finite number; a number beyond float64, such as 1e400, and
        an integer beyond 2**53 that float64 would round; and a query that is empty or a float of
        2**53 or more.
    ImportError
        If polars is not installed.

    Warns
    -----
    UserWarning
        For columns that are left out, also those with names of an index of pandas, features with
        names of weights, and a file that is not UTF-8, which is read as Latin-1.

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
    table = TableFile.read(Path(path))
    read = read_table_data(table, Columns(qid, label), categories=False)
    if left_out := left_out_in_words(read.columns):
        warn(f"{table.file}: left out: {left_out}. Convert features among them to numbers")
    weights = [name for name in read.data.feature_names if name.strip().lower() in WEIGHT_NAMES]
    if weights:
        warn(
            f"{table.file}: {', '.join(weights)} is read as a feature: if it weights the rows, "
            "leave it out of the file"
        )
    return read.data


def read_table_data(table: TableFile, columns: Columns, *, categories: bool = True) -> TableData:
    """Read labels, queries and features; text with few values is a category, or left out."""
    _refuse_missing_columns(table, columns.roles)
    table.cells(columns.label)  # a damaged file is read here, since it is no matter of labels
    try:
        labels = table.finite_numbers(columns.label)
    except ValueError as error:
        raise ValueError(
            f"{error}. Labels are numbers, such as 1 for yes and 0 for no, or grades from 0"
        ) from None
    qid = (
        table.identifiers(columns.qid) if columns.grouped else np.zeros(labels.size, dtype=np.int64)
    )
    rows = rows_by_query(qid)
    order = table.places(columns.order)[rows] if columns.order else None
    candidates, names, found = columns.candidates(table), list[str](), list[Column]()
    matrix = np.empty((rows.size, len({*candidates} - {*columns.drop})))
    for name in candidates:
        column, values = column_of(table, name, columns, categories)
        if values is not None and categories and name not in columns.named:
            why = why_no_feature(table, column, values, columns, labels, qid)
            column, values = (Column(name, LEFT_OUT, why), None) if why else (column, values)
        found.append(column)
        if values is not None:
            matrix[:, len(names)] = values[rows]
            names.append(name)
    if not names:
        taken = ", ".join(map(repr, sorted({*columns.roles.values()})))
        raise ValueError(
            f"{table.file} has no feature: besides {taken}, it has "
            f"{left_out_in_words(found) or 'no column'}"
        )
    data = RankingData(
        _first_columns(matrix, len(names)),
        labels[rows],
        qid[rows],
        table.file.name,
        tuple(names),
        weights=table.finite_numbers(columns.weight)[rows] if columns.weight else None,
        categories=tuple(column.name for column in found if column.kind == "category"),
        grouped=columns.grouped,
    )
    return TableData(data, order, [*with_constants(found, data)])


def _first_columns(matrix: Floats, width: int) -> Floats:
    """The first columns of a matrix, which move to its beginning: a copy would be a second one."""
    if width < matrix.shape[1]:
        flat, n = matrix.reshape(-1), len(matrix)
        for begin in range(0, n, BLOCK):
            block = matrix[begin : begin + BLOCK, :width].ravel()  # a copy
            flat[begin * width :][: block.size] = block
        del flat
        matrix.resize((n, width), refcheck=False)
    return matrix


def _refuse_missing_columns(table: TableFile, by_option: dict[str, str]) -> None:
    """Raise one ValueError for all columns that options name and the table does not have."""
    missing = [option for option, name in by_option.items() if name not in table.names]
    column = "the column" if len(missing) == 1 else "the columns"
    options = ", ".join(f"--{option}" for option in missing)
    advice = f"Name {column} as {' and '.join(missing)} ({options})"
    if "qid" in missing:
        advice += "; pass --qid none if the table has no queries, so that all rows are one ranking"
    require(table.file, table.names, by_option.values(), advice)
