"""Bounds of what numbers may be: a value on each side of them, of which a guess takes one."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from contracts import Raises, Rows, contract, hold

from lambdaplus import query_folds
from lambdaplus.data.time_gap import on_a_line, parse_gap
from lambdaplus.data.time_in_words import duration
from lambdaplus.data.time_order import places_and_values

REFUSED = Raises("in this order as numbers")


def places(order: Any) -> list[int]:
    return [*map(int, places_and_values(order, len(order))[0])]


# Of each pair, the first is within the bound, and the second beyond it.
ORDERS: Rows = {
    f"{what}: {order}": (lambda order=order: places(order), right)
    for what, order, right in (
        # Weeks and years would have another order: 1912 is before 2001, and week 19 of 12 after 01.
        ("years from 1900", ["1900", "1912", "2001"], [0, 1, 2]),
        ("years from 1900", ["1899", "1912", "2001"], REFUSED),
        ("years to 2100", ["1912", "2001", "2100"], [0, 1, 2]),
        ("years to 2100", ["1912", "2001", "2101"], REFUSED),
        ("month and year from 1900", [11900, 12050], REFUSED),
        ("month and year from 1900", [11899, 12050], [0, 1]),
        ("month and year to 2100", [11950, 12100], REFUSED),
        ("month and year to 2100", [11950, 12101], [0, 1]),
        ("year from 1900 and month", [19011, 190012], REFUSED),
        ("year from 1900 and month", [19001, 189912], [0, 1]),
        ("year to 2100 and day of it", [21001, 2100100], REFUSED),
        ("year to 2100 and day of it", [21012, 2101100], [0, 1]),
        ("days to 366 and year", [12024, 3662023], REFUSED),
        ("days to 366 and year", [12024, 3672023], [0, 1]),
        ("year.month from 1900", [1900.1, 1900.11, 1900.2], REFUSED),
        ("year.month from 1900", [1899.1, 1899.11, 1899.2], [0, 1, 2]),
        ("year.month to 2100", [2100.1, 2100.11, 2100.2], REFUSED),
        ("year.month to 2100", [2101.1, 2101.11, 2101.2], [0, 1, 2]),
        ("year.week to 53", [2023.53, 2023.6], REFUSED),
        ("year.week to 53", [2023.54, 2023.6], [0, 1]),
        ("day.year from 1901", [1.1902, 366.1901], REFUSED),
        ("day.year from 1901", [1.1902, 366.1899], [0, 1]),
        ("day.year to 2099", [1.2099, 366.2098], REFUSED),
        ("day.year to 2099", [1.2099, 366.2101], [0, 1]),
        ("days to 366.year", [1.2024, 366.2023], REFUSED),
        ("days to 366.year", [1.2024, 367.2023], [0, 1]),
        # 2301 would be week 23 of 2001, before week 22 of 2012.
        ("years a third of months", ["2211", "2212", "2301", "2302", "2303", "2304"], [*range(6)]),
        ("years a third of months", ["2211", "2212", "2301", "2302", "2303"], REFUSED),
        ("versions of which a tenth is there", ["999999.31", "999999.9"], [0, 1]),
        ("versions of which a tenth is there", ["999999.29", "999999.9"], REFUSED),
    )
}  # fmt: skip


@contract(ORDERS)
def test_numbers_are_dates_up_to_a_bound(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)


@pytest.mark.parametrize(
    ("numbers", "right"),
    [
        ([19000101, 19000201], ["1900-01-01", "1900-02-01"]),
        ([18991201, 19000101], None),
        ([20991231, 21001231], ["2099-12-31", "2100-12-31"]),
        ([21001231, 21010101], None),
        ([200001, 204012], ["2000-01-01", "2040-12-01"]),  # 40 years
        ([200001, 204101], None),
        ([1012, 4912], ["2010-12-01", "2049-12-01"]),  # in two digits, years to 49 are of 2000
        ([5001, 8912], ["1950-01-01", "1989-12-01"]),
        ([202151, 202152, 202201], ["2021-12-20", "2021-12-27", "2022-01-03"]),  # weeks
        ([202052, 202053, 202101], ["2020-12-21", "2020-12-28", "2021-01-04"]),
        ([Decimal(-2), Decimal(10**20)], None),
    ],
)
def test_differences_of_numbers_are_times_if_these_are_dates(numbers: Any, right: Any) -> None:
    line = on_a_line(numbers)
    if right is None:
        assert line.dtype.kind in "if"
        assert line.tolist() == [*map(float, numbers)]
    else:
        assert line.astype("M8[D]").astype(str).tolist() == right


@pytest.mark.parametrize(
    ("first", "are_times"),
    [(283_996_800, False), (315_532_800, True), (4_102_444_800, True), (4_260_211_200, False)],
    ids=["1979-01", "1980-01", "2100-01", "2105-01"],
)
@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
def test_seconds_since_1970_are_those_of_a_century(first: int, unit: int, are_times: bool) -> None:
    order = [unit * (first + 86_400 * day) for day in range(30)]
    if not are_times:
        with pytest.raises(ValueError, match="is a duration, and order has numbers"):
            query_folds(qid=range(30), order=order, n_splits=2, gap="2d")
        return
    for train, test in query_folds(qid=range(30), order=order, n_splits=2, gap="2d"):
        assert test.min() - train.max() == 3


def test_a_gap_is_rounded_to_microseconds() -> None:
    assert parse_gap("1.0000009s") == np.timedelta64(1_000_001, "us")
    assert parse_gap("1.0000004s") == np.timedelta64(1_000_000, "us")


def test_a_duration_in_words_is_rounded_up() -> None:
    said = {61: "1.1h", 60: "1h", 66: "1.1h", 67: "1.2h", 24 * 60 + 1: "1.1d"}
    assert {minutes: duration(np.timedelta64(minutes, "m")) for minutes in said} == said
