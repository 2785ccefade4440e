"""The columns of a table: its labels, queries, weights and features, and what is left out."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.messages import warn
from lambdaplus.data.column_kinds import (
    IDENTIFIERS,
    are_codes,
    are_places,
    is_position,
    names_items,
    tells_rows_apart,
)
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.splits import are_real
from lambdaplus.data.table_files import (
    DATES_AS_NUMBERS,
    INDEX,
    NO_QID,
    WEIGHT_NAMES,
    TableFile,
)
from lambdaplus.lists.keys import codes
from lambdaplus.lists.order import rows_by_query
from lambdaplus.saved_model.columns import LEFT_OUT, Column, are_whole_numbers
from lambdaplus.saved_model.words import like, require

CONSTANT = "the same in all rows of each query"
# Text is taken for a category if it has at most so many values, on so many rows on average.
MOST_VALUES, ROWS_OF_A_VALUE = 1000, 10
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

    Without ``features``, all others that can be are features; those with a + before their names are
    taken besides the others, and so are ``categories``.  ``qid`` is "none" without queries.
    """

    qid: str = "qid"
    label: str = "label"
    weight: str = ""
    order: str = ""
    features: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
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
    def grouped(self) -> bool:
        """Whether a column has the query of each row."""
        return self.qid != NO_QID

    @property
    def roles(self) -> dict[str, str]:
        """The column of each role that has one."""
        roles = ("qid", "label", "weight", "order")
        named = {role: getattr(self, role) for role in roles if getattr(self, role)}
        return {role: name for role, name in named.items() if name != NO_QID}

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that are to be features, whatever they look like."""
        return (*(name.removeprefix("+") for name in self.features), *self.categories)

    def candidates(self, table: TableFile) -> list[str]:
        """The columns that may be features or are dropped; a ValueError for names of no column."""
        taken, names = self.roles.values(), table.names
        for option in ("features", "categories", "drop"):
            for name in getattr(self, option):
                column = name.removeprefix("+") if option == "features" else name
                if column not in names:
                    raise ValueError(
                        f"--{option}: there is no column {column!r}{like(column, names)}; there "
                        f"are: {', '.join(names)}"
                    )
                if column in taken:
                    raise ValueError(
                        f"--{option}: {column!r} is the column of the labels, queries, weights or "
                        "order"
                    )
                if option != "drop" and column in self.drop:
                    raise ValueError(f"{column!r} is in --{option} and in --drop")
        only = not all(name.startswith("+") for name in self.features)
        wanted = {*self.drop, *(self.named if only else names)} - {*taken}
        return [name for name in names if name in wanted]


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
    features: dict[str, Floats] = {}
    found = []
    for name in columns.candidates(table):
        column, values = _column_of(table, name, columns, categories)
        if values is not None and categories and name not in columns.named:
            why = _why_no_feature(table, column, values, columns, labels, qid)
            column, values = (Column(name, LEFT_OUT, why), None) if why else (column, values)
        found.append(column)
        if values is not None:
            features[name] = values
    if not features:
        taken = ", ".join(map(repr, sorted({*columns.roles.values()})))
        raise ValueError(
            f"{table.file} has no feature: besides {taken}, it has "
            f"{left_out_in_words(found) or 'no column'}"
        )
    matrix, names = np.empty((rows.size, len(features))), tuple(features)
    for j, name in enumerate(names):
        matrix[:, j] = features.pop(name)[rows]  # the copy of a column is not needed any more
    data = RankingData(
        matrix,
        labels[rows],
        qid[rows],
        table.file.name,
        names,
        weights=table.finite_numbers(columns.weight)[rows] if columns.weight else None,
        categories=tuple(column.name for column in found if column.kind == "category"),
        grouped=columns.grouped,
    )
    return TableData(data, order, [*_with_constants(found, data)])


def left_out_in_words(columns: Sequence[Column]) -> str:
    """The columns that are left out, and why."""
    left_out = [column for column in columns if column.kind == LEFT_OUT]
    return ", ".join(f"{one.name or 'a column without a name'} ({one.why})" for one in left_out)


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
        taken = replace(taken, qid=name or NO_QID)
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
        f"To change it: lambdaplus compare {shlex.quote(str(table.file))} {now}",
        "with the right columns, or with --qid none if the rows are no lists.",
    ]


def _named_like(table: TableFile, names: Sequence[str], columns: Columns) -> list[str]:
    """Columns with these names, in any case, and the same value in several rows."""
    lower = {name.strip().lower(): name for name in reversed(table.names)}
    used = {columns.label, columns.weight, *columns.drop, *columns.named}
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
    require(table.file, table.names, by_option.values(), advice)


def _column_of(
    table: TableFile, name: str, columns: Columns, categories: bool
) -> tuple[Column, Floats | None]:
    """What a column is used as, and why, and its values if it is a feature."""
    if name in columns.drop:
        return Column(name, LEFT_OUT, "--drop"), None
    named = name in columns.named
    if INDEX.fullmatch(name) and not named:
        return Column(name, LEFT_OUT, "row numbers that pandas wrote"), None
    if not (categories and (name in columns.categories or table.is_declared(name))):
        try:
            values = table.feature(name)
        except ValueError as error:
            if not categories:
                raise
            raise ValueError(
                f"{error}; or leave it out with --drop {name}, or make it a category with "
                f"--categories {name}"
            ) from None
        if values is not None:
            return Column(name, "flag" if table.is_flag(name) else "number"), values
    levels, why = _levels(table, name, columns, categories)
    if not why:
        column = Column(name, "category", levels=levels)
        return column, table.codes(column, {})
    if named:
        asked, kind = "--features", "feature"
        if name in columns.categories:
            asked, kind = "--categories", "category"
        raise ValueError(f"{asked}: {table.file}, column {name!r}, cannot be a {kind}: {why}")
    return Column(name, LEFT_OUT, why), None


def _levels(
    table: TableFile, name: str, columns: Columns, categories: bool
) -> tuple[list[str], str]:
    """The levels of a category, and why the column is none; empty if it is one."""
    declared = name in columns.categories or table.is_declared(name)
    if not declared and table.are_dates(name):
        advice = (
            ": convert what recurs, such as the day of the week, to numbers; "
            f"--order {name} tests on later rows"
        )
        return [], f"dates{advice if categories else ''}"
    words = table.words(name, whole_numbers=declared)
    if words is None or not categories:
        dtype = table.frame[name].dtype
        return [], "dates" if dtype.is_temporal() else str(dtype).replace("String", "text")
    levels = words.drop_nulls().unique().sort().to_list()
    as_written = table.words(name) if declared and not are_whole_numbers(levels) else None
    if as_written is not None:  # as `codes` will read them
        levels = as_written.drop_nulls().unique().sort().to_list()
    n_rows, why = words.len() - words.null_count(), f"text with {len(levels):,} different values"
    if 2 * len(levels) > n_rows:
        return [], why
    recurring = len(levels) <= MOST_VALUES and len(levels) * ROWS_OF_A_VALUE <= n_rows
    if declared or name in columns.named or recurring:
        return levels, ""
    return [], f"{why}; --features +{name} makes it a category"


def _why_no_feature(
    table: TableFile, column: Column, values: Floats, columns: Columns, labels: Floats,
    qid: NDArray[Any],
) -> str:  # fmt: skip
    """Why a column that could be a feature is left out unless it is named; empty if it is one."""
    name, grouped = column.name, columns.grouped
    keeps = f"--features +{name} keeps it"
    if column.kind == "category":
        declared = table.is_declared(name)
        apart = grouped and not declared and tells_rows_apart(*_codes_by_query(values, qid))
        if not declared and (names_items(name) or apart):
            how = "by its name" if names_items(name) else "different in each row of a query"
            return (
                f"{len(column.levels):,} names of items, {how}, which new items do not have; "
                f"--features +{name} makes it a category"
            )
        return ""
    by_name = is_position(name, columns.label, grouped) and not are_real(labels)
    if by_name and are_places(values, codes(qid)):
        return (
            "where a row was shown, by its name, which is unknown before it is shown, and which "
            f"clicks depend on: see Position bias in the documentation; {keeps}"
        )
    return _why_no_number(table, name, values)


def _codes_by_query(values: Floats, qid: NDArray[Any]) -> tuple[Ints, Ints]:
    """Codes of a category and numbers of queries, without empty cells."""
    known = ~np.isnan(values)
    return values[known].astype(np.int64), codes(qid)[known]


def _why_no_number(table: TableFile, name: str, values: Floats) -> str:
    """Why a column of numbers is left out unless it is named; empty if it is a feature."""
    keeps = f"--features +{name} keeps it"
    if not _are_integers(values) or table.is_flag(name):
        return ""
    if values.min() >= 19000101 and table.are_dates(name, DATES_AS_NUMBERS):
        return f"dates; {keeps}"
    different = np.unique(values).size
    dense = np.ptp(values) <= 2 * values.size or bool((np.diff(values) >= 0.0).all())
    if values.size > 100 and different >= 0.9 * values.size and dense:
        return f"a number for nearly every row, as an identifier has; {keeps}"
    if (IDENTIFIERS.fullmatch(name) or names_items(name)) and different > 2:
        makes = f"--categories {name} makes it a category"
        return f"an identifier, by its name; {keeps}, {makes}"
    return ""


def _with_constants(columns: Sequence[Column], data: RankingData) -> Iterator[Column]:
    """The columns, where it is said of features that they are the same in each query."""
    starts, query = data.queries.boundaries[:-1], data.queries.query_of_row
    values = dict(zip(data.feature_names, data.features.T, strict=True)) if data.grouped else {}
    for column in columns:
        cells = values.get(column.name)
        same = cells is not None and np.array_equal(cells, cells[starts][query], equal_nan=True)
        yield column._replace(why=CONSTANT) if same else column


def agreed(plans: Mapping[Path, Sequence[Column]]) -> list[Column]:
    """The columns of a data set of several files, in which a flag may be a number.

    A ValueError names two files of which only one has a feature.
    """
    found: dict[str, dict[Path, Column]] = {}
    for file, columns in plans.items():
        for column in columns:
            found.setdefault(column.name, {})[file] = column
    plan = []
    for name, by_file in found.items():
        used = [file for file, column in by_file.items() if column.kind != LEFT_OUT]
        if other := [file for file in plans if used and file not in used]:
            said = f"{used[0]} has the feature {name!r}, and all files of a data set need the same"
            if other[0] not in by_file:
                raise ValueError(f"{said}, but {other[0]} has no column {name!r}")
            raise ValueError(
                f"{said}, but in {other[0]} it is left out: {by_file[other[0]].why}. --drop {name} "
                "leaves it out of all files"
            )
        first, *others = by_file.values()
        if used and any(column != first for column in others):
            kinds = {column.kind for column in by_file.values()}
            first = Column(name, first.kind if len(kinds) == 1 else "number")
        plan.append(first)
    return plan


def plan_in_words(columns: Sequence[Column], query: str = "query") -> str:
    """What columns are used as, if not as numbers, and what is left out."""
    by_kind = {
        "Categories": [f"{c.name} ({len(c.levels):,} values)" for c in columns if c.levels],
        "True or false": [c.name for c in columns if c.kind == "flag"],
        f"Features that are {CONSTANT.replace('query', query)}": [
            c.name for c in columns if c.why == CONSTANT
        ],
        "Left out": [*filter(None, [left_out_in_words(columns)])],
    }
    return " ".join(f"{kind}: {', '.join(names)}." for kind, names in by_kind.items() if names)


def doubts(data: RankingData, columns: Columns) -> list[str]:
    """Columns that may be no features, but were not named."""
    found = []
    for name, column in zip(data.feature_names, data.features.T, strict=True):
        if name in columns.named:
            continue
        if name.strip().lower() in WEIGHT_NAMES:
            found.append(
                f"{name} is used as a feature: pass --weight {name} if it weights the rows, or "
                f"--drop {name}."
            )
        elif (
            name not in data.categories
            and column.size > 100
            and _are_integers(column)
            and np.unique(column).size == column.size
        ):
            found.append(
                f"{name} is used as a feature, but has a different whole number in each row: pass "
                f"--drop {name} if it numbers the rows."
            )
        elif name not in data.categories and _are_integers(column) and are_codes(name, column):
            found.append(
                f"{name} is used as a number, but its {np.unique(column).size} whole numbers look "
                f"like codes: --categories {name} makes it a category."
            )
    return found


def _are_integers(values: Floats) -> bool:
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())
