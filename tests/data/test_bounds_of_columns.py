"""Bounds of what a column may be: one on each side of them, of which a guess takes one."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lambdaplus.data.column_guesses import doubts
from lambdaplus.data.column_kinds import are_codes, tells_rows_apart
from lambdaplus.data.column_names import Columns
from lambdaplus.data.table_columns import TableData, read_table_data
from lambdaplus.data.table_files import TableFile

RANDOM = np.random.default_rng(0)
WITHOUT_QUERIES = Columns(qid="none")


def table(column: Any, name: str = "x") -> TableFile:
    """A table of a column, a feature and labels."""
    n = len(column)
    frame = pl.DataFrame({name: column, "feature": np.arange(n) / 7, "label": np.arange(n) % 2})
    return TableFile(Path("a.csv"), frame)


def read(column: Any, name: str = "x", **options: Any) -> TableData:
    return read_table_data(table(column, name), Columns(qid="none", **options))


def kind(column: Any, name: str = "x", **options: Any) -> str:
    return read(column, name, **options).columns[0].kind


# Names and values of codes and items --------------------------------------------------------------


def shuffled(different: Any, times: int = 10) -> Any:
    return RANDOM.permutation(np.tile(np.asarray(different, float), times))


@pytest.mark.parametrize(
    ("values", "right"),
    [
        (shuffled(range(10)), True),
        (shuffled(range(9)), False),
        (shuffled(range(1000)), True),
        (shuffled(range(1001)), False),
        (shuffled(range(10))[1:], False),  # ten rows for each value
    ],
)
def test_codes_by_name_are_ten_to_a_thousand_that_recur(values: Any, right: bool) -> None:
    assert are_codes("code", values) == right


@pytest.mark.parametrize(
    ("different", "right"),
    [
        ([*range(100, 119), 200], True),  # a fifth of the numbers between them
        ([*range(100, 119), 199], False),
        ([99, *range(100, 118), 200], False),  # from 100
        ([*range(900, 918), 1000, 1001], True),  # nine tenths with as many digits
        ([*range(900, 917), 1000, 1001, 1002], False),
        ([*range(100, 138, 2), 240], False),  # steps of two
    ],
)
def test_codes_by_value_are_sparse_and_of_one_length(different: Any, right: bool) -> None:
    assert are_codes("x", shuffled(different)) == right


@pytest.mark.parametrize(
    ("codes", "rows_of_a_query", "right"),
    [
        (np.arange(100) % 50, 4, True),
        (np.arange(100) % 49, 4, False),  # fewer values
        (np.arange(99) % 50, 4, False),  # fewer rows than four of each query
        (np.repeat(np.arange(200), 1 + (np.arange(200) < 2))[:200], 4, True),
        (np.repeat(np.arange(200), 1 + (np.arange(200) < 3))[:200], 4, False),  # above 1 % twice
    ],
)
def test_names_of_items_differ_in_a_query(codes: Any, rows_of_a_query: int, right: bool) -> None:
    query = np.arange(codes.size) // rows_of_a_query
    assert tells_rows_apart(codes, query) == right


# Text ---------------------------------------------------------------------------------------------


def words(n: int, rows: int) -> list[str]:
    return [f"word {place % n}" for place in range(rows)]


@pytest.mark.parametrize(
    ("n", "rows", "right"),
    [
        (11, 110, "category"),
        (11, 109, "left out"),  # ten rows for each on average
        (1000, 10_000, "category"),
        (1001, 10_010, "left out"),
    ],
)
def test_text_that_recurs_is_a_category(n: int, rows: int, right: str) -> None:
    assert kind(words(n, rows)) == right


def test_text_that_is_named_is_one_with_two_rows_for_each() -> None:
    assert kind(words(50, 100), features=("+x",)) == "category"
    with pytest.raises(ValueError, match="text with 51 different values"):
        kind(words(51, 101), features=("+x",))


@pytest.mark.parametrize(
    ("n", "rows", "right"), [(1, 4, False), (2, 4, True), (3, 6, True), (3, 5, False)]
)
def test_queries_and_labels_by_name_recur(n: int, rows: int, right: bool) -> None:
    assert table(words(n, rows)).repeats("x") == right


# Numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "right"),
    [
        (RANDOM.permutation(101), "left out"),
        (RANDOM.permutation(100), "number"),  # few rows
        (RANDOM.permutation(np.minimum(np.arange(200), 179)), "left out"),  # nine tenths
        (RANDOM.permutation(np.minimum(np.arange(200), 178)), "number"),
        (RANDOM.permutation([*range(199), 400]), "left out"),  # a half of the numbers between them
        (RANDOM.permutation([*range(199), 401]), "number"),
        (np.arange(200) * 9, "left out"),  # or ascending
    ],
)
def test_a_number_for_nearly_every_row_is_left_out(numbers: Any, right: str) -> None:
    assert kind(numbers) == right


def test_identifiers_by_name_have_more_than_two_values() -> None:
    assert kind(np.arange(90) % 2 + 5, "item_id") == "number"
    assert kind(np.arange(90) % 3 + 5, "item_id") == "left out"


@pytest.mark.parametrize(
    ("first", "right"), [(19000101, "left out"), (18991231, "number"), (20991230, "left out")]
)
def test_dates_as_numbers_are_of_two_centuries(first: int, right: str) -> None:
    assert kind([first, first + 1, first, first + 1] * 5) == right


def test_a_different_number_in_each_of_many_rows_is_doubted() -> None:
    for n, doubted in ((101, True), (100, False)):
        data = read(RANDOM.permutation(n) * 100).data
        assert [line.partition(" is used")[0] for line in doubts(data, WITHOUT_QUERIES)] == (
            ["x"] if doubted else []
        )
