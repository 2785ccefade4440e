"""Guesses of what the columns of a table are, by their names and values."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.data.column_kinds import (
    IDENTIFIERS,
    are_codes,
    are_places,
    is_position,
    names_items,
    tells_rows_apart,
)
from lambdaplus.data.column_names import Columns
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.splits import are_real
from lambdaplus.data.table_files import DATES_AS_NUMBERS, NO_QID, WEIGHT_NAMES, TableFile
from lambdaplus.data.time_in_words import moment
from lambdaplus.data.times_as_numbers import unit_of_times
from lambdaplus.lists.keys import codes
from lambdaplus.saved_model.columns import Column

QUERY_NAMES = (
    "query", "query_id", "queryid", "q_id", "session", "session_id", "search_id", "srch_id",
    "impression_id", "request_id", "group", "group_id", "user", "user_id", "customer",
    "customer_id", "day", "date",
)  # fmt: skip
LABEL_NAMES = (
    "labels", "relevance", "rel", "grade", "rating", "target", "y", "class", "clicked", "click",
    "purchased", "is_fraud", "fraud", "forward_return", "return",
)  # fmt: skip


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


def why_no_feature(
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
        elif name not in data.categories and (times := unit_of_times(name, column)):
            unit, seconds = times
            first, last = seconds.min().astype("M8[s]"), seconds.max().astype("M8[s]")
            found.append(
                f"{name} is used as a number, but looks like {unit}, from {moment(first, True)} to "
                f"{moment(last, True)}, and new rows are later than all of them: --drop {name} "
                f"leaves it out, and --order {name} tests on later rows."
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
