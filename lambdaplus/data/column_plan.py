"""The plan of a table: what each column is used as, or why it is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.data.column_names import Columns
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.table_files import INDEX, SIGNED_NUMBERS, TableFile
from lambdaplus.saved_model.columns import LEFT_OUT, Column, are_whole_numbers

CONSTANT = "the same in all rows of each query"
# Text is taken for a category if it has at most so many values, on so many rows on average.
MOST_VALUES, ROWS_OF_A_VALUE = 1000, 10
MOST_BUCKETS = 20  # Numbers with signs are categories if they have at most so many values.


def column_of(
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
    signed = not declared and name not in columns.named and table.all_match(name, SIGNED_NUMBERS)
    if signed and table.cells(name).n_unique() > MOST_BUCKETS:
        advice = f"; --categories {name} makes it a category" if categories else ""
        why = "numbers with signs or separators: write 12%, $12 or 1,200 as 12, 12 or 1200"
        return [], f"{why}{advice}"
    words = table.words(name, whole_numbers=declared)
    if words is None or not categories:
        dtype = table.cells(name).dtype
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


def with_constants(columns: Sequence[Column], data: RankingData) -> Iterator[Column]:
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


def left_out_in_words(columns: Sequence[Column]) -> str:
    """The columns that are left out, and why."""
    left_out = [column for column in columns if column.kind == LEFT_OUT]
    return ", ".join(f"{one.name or 'a column without a name'} ({one.why})" for one in left_out)
