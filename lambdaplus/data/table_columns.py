"""The columns of a table: its labels, queries, weights and features, and what is left out."""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.messages import hint, refuse_missing
from lambdaplus.data.letor import read_letor
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.table_files import INDEX, NO_QUERIES, WEIGHT_NAMES, TableFile, table_kind
from lambdaplus.ranking.documents import rows_by_query

MOST_VALUES = 255  # of a category
ROWS_OF_A_VALUE = 10  # on average, at least; text with fewer, such as a title, is left out
QUERY_NAMES = (
    "query", "query_id", "queryid", "q_id", "session", "session_id", "search_id", "srch_id",
    "impression_id", "request_id", "group", "group_id", "user", "user_id", "customer",
    "customer_id", "day", "date",
)  # fmt: skip
LABEL_NAMES = (
    "labels", "relevance", "rel", "grade", "rating", "target", "y", "class", "clicked", "click",
    "purchased", "is_fraud", "fraud", "forward_return", "return",
)  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table: what each is used for, and which are features.

    Without ``features``, all others that can be are features.  ``qid`` is "none" without queries.
    """

    qid: str = "qid"
    label: str = "label"
    weight: str = ""
    order: str = ""
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        roles = {name: getattr(self, name) for name in ("qid", "label", "weight")}
        for name, column in roles.items():
            if column and list(roles.values()).count(column) > 1:
                twice = " and ".join(other for other in roles if roles[other] == column)
                raise ValueError(f"{twice} are the same column, {column!r}")
            if not column and name != "weight":
                raise ValueError(f"{name} is empty: leave it out for the default")
        if self.order and self.order in (self.label, self.weight):
            raise ValueError(f"order is the column of labels or weights, {self.order!r}")

    @property
    def roles(self) -> dict[str, str]:
        """The column of each role that has one."""
        roles = ("qid", "label", "weight", "order")
        named = {role: getattr(self, role) for role in roles if getattr(self, role)}
        return {role: name for role, name in named.items() if name != NO_QUERIES}


class TableData(NamedTuple):
    """A table that was read, and what became of its columns."""

    data: RankingData
    order: NDArray[Any] | None  # of the rows
    left_out: dict[str, str]  # why, by column
    levels: dict[str, list[str]]  # the values of each category, in the order of their codes


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
    table = TableFile(Path(path))
    read = read_table_data(table, Columns(qid, label), categories=False)
    if read.left_out:
        warnings.warn(
            f"{table.file}: left out: {in_words(read.left_out)}. Convert features among them to "
            "numbers",
            stacklevel=2,
        )
    weights = [name for name in read.data.feature_names if name.strip().lower() in WEIGHT_NAMES]
    if weights:
        warnings.warn(
            f"{table.file}: {', '.join(weights)} is read as a feature: if it weights the rows, "
            "leave it out of the file",
            stacklevel=2,
        )
    return read.data


def read_table_data(table: TableFile, columns: Columns, *, categories: bool = True) -> TableData:
    """Read labels, queries and features; text with few values is a category, or left out."""
    _refuse_missing_columns(table, columns.roles)
    try:
        labels = table.numbers(columns.label)
    except ValueError as error:
        raise ValueError(
            f"{error}. Labels are numbers, such as 1 for yes and 0 for no, or grades from 0"
        ) from None
    grouped = columns.qid != NO_QUERIES
    qid = table.identifiers(columns.qid) if grouped else np.zeros(labels.size, dtype=np.int64)
    rows = rows_by_query(qid)
    order = table.places(columns.order)[rows] if columns.order else None
    features, levels, left_out = _features_of(table, columns, categories)
    if not features:
        taken = ", ".join(map(repr, sorted({*columns.roles.values()})))
        raise ValueError(
            f"{table.file} has no feature: besides {taken}, it has "
            f"{in_words(left_out) or 'no column'}"
        )
    data = RankingData(
        np.stack([*features.values()], axis=1)[rows],
        labels[rows],
        qid[rows],
        table.file.name,
        tuple(features),
        weights=table.numbers(columns.weight)[rows] if columns.weight else None,
        categories=tuple(levels),
        grouped=grouped,
    )
    return TableData(data, order, left_out, levels)


def in_words(left_out: Mapping[str, str]) -> str:
    """The columns that are left out, and why."""
    words = [f"{name or 'a column without a name'} ({why})" for name, why in left_out.items()]
    return ", ".join(words)


def read_features(
    file: Path, names: Sequence[str], levels: Mapping[str, Sequence[str]]
) -> NDArray[np.float64]:
    """Features of a file by name, (n, f), in the order of its rows; NaN for other levels.

    In LETOR and svmlight files, which number features, those that are absent are 0.
    """
    refuse_missing(file)
    if table_kind(file):
        table = TableFile(file)
        table.require(names, "The model was trained with these columns")
        return np.column_stack([_column(table, name, levels.get(name)) for name in names])
    read = read_letor(file, grouped=False)
    numbered = read.feature_names or [str(j) for j in range(1, read.features.shape[1] + 1)]
    place = {name: j for j, name in enumerate(numbered)}
    absent = np.zeros(read.labels.size)
    return np.column_stack(
        [read.features[:, place[name]] if name in place else absent for name in names]
    )


def _column(table: TableFile, name: str, levels: Sequence[str] | None) -> Floats:
    if levels is None:
        column = table.feature(name)
        if column is None:
            raise ValueError(f"{table.file}, column {name!r} has no numbers, as in training")
        return column
    codes, values = table.codes(name)
    if codes is None:
        raise ValueError(f"{table.file}, column {name!r} is no text, as in training")
    known = {value: float(code) for code, value in enumerate(levels)}
    of_values = np.array([*(known.get(value, np.nan) for value in values), np.nan])
    return of_values[np.where(np.isnan(codes), len(values), codes).astype(np.int64)]


def guess_columns(table: TableFile, columns: Columns) -> tuple[Columns, list[str]]:
    """Columns of queries and labels with other names than the default, if these are not there.

    The sentences say what was taken for what, and how to change it.
    """
    taken, said = columns, []
    if columns.label == Columns.label and columns.label not in table.names:
        several = _named_like(table, LABEL_NAMES, columns)
        if len(several) > 1:
            raise ValueError(
                f"{table.file} has no column 'label', and the labels may be in "
                f"{' or '.join(several)}: name the column with --label"
            )
        if several:
            taken = replace(taken, label=several[0])
            said.append(f"{several[0]} has the labels")
    if columns.qid == Columns.qid and columns.qid not in table.names and taken.label in table.names:
        name = next(iter(_named_like(table, QUERY_NAMES, taken)), "")
        taken = replace(taken, qid=name or NO_QUERIES)
        said.append(
            f"{name} has the queries"
            if name
            else "no column has the queries, so that all rows are one ranking"
        )
    if not said:
        return columns, []
    now = f"--qid {shlex.quote(taken.qid)} --label {shlex.quote(taken.label)}"
    return taken, [
        f"Guessed by names of columns: {', and '.join(said)}.",
        f"To change it: lambdaplus compare {shlex.quote(str(table.file))} {now}, with other "
        "columns, or --qid none without queries.",
    ]


def _named_like(table: TableFile, names: Sequence[str], columns: Columns) -> list[str]:
    """Columns with these names, in any case, and the same value in several rows."""
    lower = {name.strip().lower(): name for name in reversed(table.names)}
    used = {columns.label, columns.weight, *columns.drop, *columns.features}
    found = [lower[name] for name in names if lower.get(name, "") not in ("", *used)]
    return [name for name in found if table.repeats(name)]


def _refuse_missing_columns(table: TableFile, by_option: dict[str, str]) -> None:
    """Raise one ValueError for all columns that options name and the table does not have."""
    missing = [option for option, name in by_option.items() if name not in table.names]
    column = "the column" if len(missing) == 1 else "the columns"
    options = ", ".join(f"--{option}" for option in missing)
    advice = f"Name {column} as {' and '.join(missing)} ({options})"
    if "qid" in missing:
        advice += "; pass --qid none if the table has no queries, so that all rows are one ranking"
    table.require(by_option.values(), advice)


def _wanted_features(columns: Columns, names: Sequence[str]) -> list[str]:
    """The columns that may be features: not taken for a role, nor dropped."""
    taken = columns.roles.values()
    for option in ("features", "drop"):
        for name in getattr(columns, option):
            if name not in names:
                raise ValueError(
                    f"--{option}: there is no column {name!r}{hint(name, names)}; there are: "
                    f"{', '.join(names)}"
                )
            if name in taken:
                raise ValueError(
                    f"--{option}: {name!r} is the column of the labels, queries, weights or order"
                )
    if both := [name for name in columns.features if name in columns.drop]:
        raise ValueError(f"{both[0]!r} is in --features and in --drop")
    free = [name for name in names if name not in taken and name not in columns.drop]
    return [name for name in free if name in columns.features or not columns.features]


def _features_of(
    table: TableFile, columns: Columns, categories: bool
) -> tuple[dict[str, Floats], dict[str, list[str]], dict[str, str]]:
    """Features by name, the values of categories, and why others are left out."""
    features: dict[str, Floats] = {}
    levels: dict[str, list[str]] = {}
    left_out = dict.fromkeys(columns.drop, "--drop")
    for name in _wanted_features(columns, table.names):
        if INDEX.fullmatch(name) and name not in columns.features:
            left_out[name] = "row numbers that pandas wrote"
            continue
        try:
            column = table.feature(name)
        except ValueError as error:
            if not categories:
                raise
            raise ValueError(f"{error}; or leave it out with --drop {name}") from None
        if column is None:
            column, values = table.codes(name)
            if column is None or not categories:
                left_out[name] = table.type_in_words(name)
                continue
            known = int(np.isfinite(column).sum())
            if len(values) > MOST_VALUES or len(values) * ROWS_OF_A_VALUE > known:
                left_out[name] = f"text with {len(values):,} different values"
                continue
            levels[name] = values
        features[name] = column
    return features, levels, left_out


def doubts(data: RankingData, columns: Columns) -> list[str]:
    """Columns that may be no features, but were not named."""
    found = []
    for name, column in zip(data.feature_names, data.features.T, strict=True):
        if name in columns.features:
            continue
        if name.strip().lower() in WEIGHT_NAMES:
            found.append(
                f"{name} is used as a feature: pass --weight {name} if it weights the rows, or "
                f"--drop {name}."
            )
        elif name not in data.categories and _counts_rows(column):
            found.append(
                f"{name} is used as a feature, but has a different whole number in each row: pass "
                f"--drop {name} if it numbers the rows."
            )
    return found


def _counts_rows(column: Floats) -> bool:
    whole = np.isfinite(column).all() and (column == np.floor(column)).all()
    return bool(whole) and column.size > 100 and np.unique(column).size == column.size
