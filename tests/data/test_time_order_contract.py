"""Dates as text: rows are tested on later ones than they are trained on, or the text is refused."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from contracts import Raises, Rows, contract, hold

from lambdaplus import query_folds
from lambdaplus.data.table_files import TableFile
from lambdaplus.data.time_order import places_and_values

MONTHS = [datetime(year, month, 15, 9, 30) for year in (2023, 2024) for month in range(1, 13)]
WEEKS = [(year, week) for year in (2023, 2024) for week in range(1, 53)]
PLAIN = (
    "%Y-%m %Y%m %Y.%m %Y%m%d %Y%m%d%H %Y%m%d%H%M%S %y%m %Y-%m-%d %Y-%m-%dT%H:%M:%S %Y-%m-%d_%H:%MZ"
)
REFUSED = (
    "%m.%Y %m%Y %m%y %m.%y %d%m%y %m%d%y %d%m%Y %m%d%Y %d%m%Y%H%M %d%m%y%H %y%m%d %j%Y %m%Y.0 "
    "%Y_%m %d.%m.%Y %Ye%m %Y,%m 0x%Y%m"
)


def of(form: str) -> list[str]:
    """The months in a spelling, in which an underscore may be a blank."""
    return [date.strftime(form.replace("d_", "d ")) for date in MONTHS]


def places(order: Any) -> list[int]:
    return [*map(int, places_and_values(order, len(order))[0])]


def spelt(form: str, start: int) -> list[float]:
    """Thirty months in a spelling, as numbers."""
    dates = (datetime(start + k // 12, k % 12 + 1, 1) for k in range(30))
    return [float(date.strftime(form)) for date in dates]


ascending = [*range(24)]
SPELT: Rows = {
    **{f"{form}": (lambda form=form: places(of(form)), ascending) for form in PLAIN.split()},
    **{
        f"{form}": (lambda form=form: places(of(form)), Raises("order has .*2026-11"))
        for form in REFUSED.split()
    },
    **{
        f"{name}": (lambda texts=texts: places(texts), Raises("order has .*2026-11"))
        for name, texts in {
            "2023.1": [f"{one.year}.{one.month}" for one in MONTHS],
            "1.2023": [f"{one.month}.{one.year}" for one in MONTHS],
            "12023": [f"{one.month}{one.year}" for one in MONTHS],
            "20231": [f"{one.year}{one.month}" for one in MONTHS],
            "231": [f"{one.year % 100}{one.month}" for one in MONTHS],
            "123": [f"{one.month}{one.year % 100}" for one in MONTHS],
            "1.23": [f"{one.month}.{one.year % 100}" for one in MONTHS],
            "0152023": [f"{one.month:02d}5{one.year}" for one in MONTHS],
            "15.01": [f"{28 - m}.{m:02d}" for m in range(1, 13)],
            "week 2023.9": [f"{year}.{week}" for year, week in WEEKS],
            "week 20239": [f"{year}{week}" for year, week in WEEKS],
            "week 0923": [f"{week:02d}{year % 100}" for year, week in WEEKS],
            "versions": [f"3.{minor}" for minor in range(6, 15)],
            "dm.Y": ["3001.2022", "0202.2022"],
            "dm.Y of few zeros": ["3001.2022", "1002.2022", "202.2023"],
            "Y.dm": ["2022.3001", "2022.0202"],
            "signed day": ["+30012022", "+02022022"],
            "time and day": ["090030012022", "090002022022"],
            "time and day, no zeros": ["90030012022", "90002022022"],
            "time.day": ["1130.30012022", "930.02022022"],
            "day.time": ["30012022.1200", "10022022.1200"],
            "day and part": ["30012022.25", "10022022.5"],
            "second to year": ["595911300122", "101010020222"],
            "day of year and year": ["36322", "00123"],
            "day of year.year": ["363.22", "1.23"],
            "day of year and year, no zeros": ["36322", "123"],
            "year.month and day": ["2023.924", "2023.1001"],
            "year and month.day": ["202309.5", "202309.12"],
            "few days.months": ["30.9", "1.10", "2.11"],
            "few months.days": ["9.30", "9.5", "10.1"],
            "few months.years": ["12.21", "1.22", "2.22"],
            "few months and years": ["1221", "122", "222"],
            "few days and months": ["3009", "110", "211"],
            "day with exponent": ["3.0012022e7", "2.022022e6"],
            "turn of the century": ["991231", "000101", "010304"],
        }.items()
    },
    **{
        f"{name}": (lambda order=order: places(order), right)
        for name, order, right in (
            ("counters", [*map(str, range(95, 130))], [*range(35)]),
            ("steps", [*map(str, range(100, 1000, 50))], [*range(18)]),
            ("days of spreadsheets", [*map(str, range(40900, 43000, 7))], [*range(300)]),
            ("seconds", [str(17 * 10**8 + 3600 * k) for k in range(40)], [*range(40)]),
            ("decimals", ["0.5", "0.25", "0.125", "1"], [2, 1, 0, 3]),
            ("minus signs", ["-5", "-0.25", "3", "-12.5"], [1, 2, 3, 0]),
            ("seconds since 1970", ["1643500800", "1643414400", "1643587200"], [1, 0, 2]),
            ("milliseconds", [str(1643500800000 + 86400000 * k) for k in range(9)], [*range(9)]),
            ("parts of seconds", ["1643500800.125", "1643500800.5"], [0, 1]),
            ("years", ["2022", "1999", "2021"], [2, 0, 1]),
            ("a century", [str(year) for year in range(1920, 2020)], [*range(100)]),
            ("months of few years", [f"22{m:02d}" for m in range(1, 13)], [*range(12)]),
            ("days of years", ["2021365", "2022001", "2022045"], [0, 1, 2]),
            ("days of few years", ["2021.365", "2022.001", "2022.045"], [0, 1, 2]),
            ("days with times", ["20220105.1200", "20220203.0900"], [0, 1]),
            ("prices", ["12.5", "13.25", "9.99", "100.0"], [1, 2, 0, 3]),
            ("cents", ["19.99", "20.50", "19.05", "21.00"], [1, 2, 0, 3]),
            ("plus sign", ["+3", "-5"], Raises("order has '\\+3', which may be a date")),
            ("exponent", ["1.5e10", "3"], Raises("order has '1.5e10', which may be a date")),
            ("zeros before", ["007", "8000"], Raises("order has '007', which may be a date")),
            ("no digit before the point", [".5", "1"], Raises("order has '.5', which may be a d")),
            ("integers beyond float64", [str(10**20 + k) for k in (2, 1, 0)], [2, 1, 0]),
            ("month and year as numbers", [12023, 12024, 22023], Raises("in this order as numb")),
            ("2023.1 as numbers", [2023.1, 2023.11, 2023.2], Raises("in this order as numbers")),
            ("2023.01 as numbers", [2023.01, 2023.1, 2023.11], [0, 1, 2]),
            *(
                (f"numbers without their zeros, {form}", spelt(form, start), Raises("in this orde"))
                for start in (1990, 1998, 2012, 2019, 2024)
                for form in ("%m%y", "%m.%y", "%m.%Y", "%y%-m")
            ),
            ("weeks as numbers", [w * 100 + y % 100 for y, w in WEEKS], Raises("in this order")),
            ("days of months as numbers", [100 * m + d for m in range(1, 13) for d in range(1, 29)],
             [*range(336)]),
            ("numbers of rows from 100", [*range(100, 1300)], [*range(1200)]),
            ("cents from 1", [k / 100 for k in range(100, 1300)], [*range(1200)]),
            ("steps of 50", [*range(100, 1300, 50)], [*range(24)]),
            ("times as numbers", [100 * h + m for h in range(24) for m in (0, 30)], [*range(48)]),
            ("parts of parts", [100 * a + b for a in range(1, 9) for b in range(1, 4)],
             [*range(24)]),
            ("prices as numbers", [1.18, 2.18, 3.25, 5.49, 11.22, 12.1], [*range(6)]),
            ("one number, two spellings", ["1", "1.0"], Raises("'1' and '1.0', which are the s")),
            ("one date, two spellings", ["2023-01", "2023-01-01"], Raises("which are the same n")),
            ("time zones", ["2023-01-01 00:00+02:00", "2023-01-01 00:00Z"], [0, 1]),
            ("some time zones", ["2023-01-01 00:00", "2023-01-01 00:00Z"], Raises("write all wi")),
            ("today", ["today", "2023-01-01"], Raises("text such as 'today'")),
            ("day and month-year", ["3001-12", "0202-12"], Raises("text such as .0202-12")),
            ("time of a dash", ["2023-01-30 12-10", "2023-01-30 13-05"], Raises("text such as")),
            ("time zone of Postgres", ["2023-01-30 12:10:05-05", "2023-01-30 12:10:05+00"], [1, 0]),
            ("February 30", ["2023-02-28", "2023-02-30"], Raises("text such as '2023-02-30'")),
            ("empty", ["1", " "], Raises("order is missing in row 1")),
        )
    },
}  # fmt: skip


@contract(SPELT)
def test_text_is_sorted_by_time_or_refused(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)


def test_folds_train_on_earlier_rows_in_any_spelling_that_is_taken() -> None:
    for form in PLAIN.split():
        for train, test in query_folds(qid=range(24), order=of(form), n_splits=3):
            assert train.max() < test.min()
    with pytest.raises(ValueError, match=r"format='%m%Y'"):
        query_folds(qid=range(24), order=of("%m%Y"), n_splits=3)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_of_files_are_sorted_like_arrays(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"rows.{kind}"
    days = [datetime(2023, 1, 1) + timedelta(days=k) for k in range(24)]
    columns: dict[str, Any] = {
        "version": [f"{one.year}.{one.month}" for one in MONTHS],
        "month": of("%m%Y"),
        "share": np.arange(24) / 16,
        "day": days,
    }
    getattr(pl.DataFrame(columns), f"write_{kind}")(file)
    table = TableFile.read(file)
    for name in ("version", "month"):
        with pytest.raises(ValueError, match="in this order as numbers"):
            places(table.places(name))
    if kind == "parquet":
        assert places(table.places("share")) == ascending
        assert places(table.places("day")) == ascending
