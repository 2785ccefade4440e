"""Columns of numbers that look like times are used, and told."""

from typing import Any

import numpy as np
import pytest

from lambdaplus.data.column_guesses import doubts
from lambdaplus.data.column_names import Columns
from lambdaplus.data.ranking_data import RankingData

N = 120
random = np.random.default_rng(0)
TIMES = np.datetime64("2023-05-01") + random.integers(0, 300, N).astype("m8[D]")
TIMES[:2] = np.datetime64("2023-05-01"), np.datetime64("2024-02-24")


def since(unit: str, start: str = "1970-01-01") -> Any:
    return (TIMES - np.datetime64(start)) / np.timedelta64(1, unit)


def said(name: str, values: Any, **named: Any) -> str:
    data = RankingData(
        np.column_stack([values]), np.arange(N) % 2, np.arange(N) // 10, "t", (name,)
    )
    return " ".join(doubts(data, Columns(**named)))


@pytest.mark.parametrize(
    ("name", "values", "unit"),
    [
        ("epoch", since("s"), "seconds since 1970"),
        ("event_time", since("s") + 0.25, "seconds since 1970"),
        ("event_ts", since("ms"), "milliseconds since 1970"),
        ("x", since("us"), "microseconds since 1970"),
        ("x", since("ns"), "nanoseconds since 1970"),
        ("time, or no", np.where(np.arange(N) == 5, np.nan, since("s")), "seconds since 1970"),
        ("orderDate", since("D", "1899-12-30"), "days since 1900, as in spreadsheets"),
        ("created_at", since("D", "1899-12-30"), "days since 1900, as in spreadsheets"),
        ("updated", since("D"), "days since 1970"),
    ],
)
def test_times_as_numbers_are_told_with_their_dates(name: str, values: Any, unit: str) -> None:
    found = said(name, values)
    assert f"looks like {unit}, from 2023-05-01 to 2024-02-24" in found
    assert f"--drop {name} " in found
    assert not said(name, values, features=(f"+{name}",))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("price", since("D", "1899-12-30")),  # 45,047 to 45,346
        ("amount", since("D")),
        ("views", random.integers(0, 2**31, N)),
        ("ratio", random.normal(size=N)),
        ("hash", random.integers(0, 2**53, N)),
        ("date", np.full(N, 45_000.0)),
        ("seconds of a minute", 1.7e9 + np.arange(N) % 60),
        ("empty", np.full(N, np.nan)),
        ("day", np.arange(N) % 31),
        ("price_date", since("D") + 0.5),  # no whole numbers
        *(
            (name, since("D", start))
            for start in ("1970-01-01", "1899-12-30")
            for name in (
                "views_on_page",
                "day_sales",
                "sales_per_day",
                "day",
                "delivery_time",
                "updated_count",
                "modified_rows",
                "elevation_at_site",
                "created_files",
            )
        ),
        *((name, since("s")) for name in ("revenue", "bytes", "population", "part_no", "x")),
    ],
)
def test_other_numbers_are_not(name: str, values: Any) -> None:
    assert "looks like" not in said(name, values)
