"""Dates as text, in any spelling, are no categories; text that recurs, or is something else, is."""

import re
from pathlib import Path

import numpy as np
import pytest

from lambdaplus.data.column_names import Columns
from lambdaplus.data.date_words import DATES
from lambdaplus.data.table_columns import read_table_data
from lambdaplus.data.table_files import TableFile

pd = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

DAYS = pd.date_range("2023-11-20 09:05:30", periods=30, freq="26h")
FORMS = [
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"),
    *("%d/%m/%y", "%m/%d/%y", "%-m/%-d/%y", "%-d.%-m.%Y", "%d.%m.%y", "%d-%m-%y", "%y-%m-%d"),
    *("%d-%b-%Y", "%d-%b-%y", "%d%b%Y", "%d%b%y", "%d %B %Y", "%b %d, %Y", "%B %-d %Y"),
    *("%Y-%b-%d", "%Y %b %d", "%a %d %b %Y", "%A, %d %B %Y", "%a, %d %b %Y %H:%M:%S GMT"),
    *("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H", "%Y-%m-%dT%H:%M:%SZ"),
    *("%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M+01:00", "%Y-%m-%d %H:%M:%S-0500"),
    *("%Y-%m-%d %H:%M CET", "%Y%m%dT%H%M%SZ"),
    *("%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p", "%m/%d/%Y, %I:%M:%S %p", "%Y%m%dT%H%M"),
    *("%Y-%j", "%G-W%V", "%G-W%V-%u", "W%V %G", "%Y年%m月%d日"),
]  # fmt: skip
OF_MONTHS = [
    "%Y-%m",
    "%Y/%m",
    "%m/%Y",
    "%m-%Y",
    "%b %Y",
    "%b-%y",
    "%B %Y",
    "%Y-%b",
    "%YM%m",
    "%Y年%m月",
]
OF_QUARTERS = ["{0}Q{1}", "{0}-Q{1}", "{0} Q{1}", "Q{1} {0}", "Q{1}/{0}"]
NO_DATES = [
    *("Monday", "Mon", "March", "May", "09:30", "9:30 pm", "12", "2024", "1.2.3", "10.0.19"),
    *("192.168.0.1", "market 2020", "may be 20", "maya 21", "2020 Audi", "W12", "Q3", "B2-11"),
    *("1/2", "12/25", "3-1", "80-100", "1200-13", "5-10 km", "+49 30 1234", "summer 2020"),
    *("1.2.10", "2024-13", "2024-400", "2024W54", "2024Q5", "x 2024-01-02", "2024-01-02 x y"),
]  # fmt: skip


def spelled() -> list[tuple[str, list[str]]]:
    months = pd.date_range("2021-01-01", periods=30, freq="MS")
    quarters = [(2018 + i // 4, i % 4 + 1) for i in range(30)]
    return [
        *((form, DAYS.strftime(form).tolist()) for form in FORMS),
        *((form, months.strftime(form).tolist()) for form in OF_MONTHS),
        *((form, [form.format(*one) for one in quarters]) for form in OF_QUARTERS),
    ]


@pytest.mark.parametrize(("form", "texts"), spelled())
def test_dates_are_left_out_in_any_spelling(tmp_path: Path, form: str, texts: list[str]) -> None:
    table = pd.DataFrame({"qid": np.repeat(range(30), 20), "a": np.arange(600) % 7 / 8})
    table["label"], table["day"] = np.arange(600) % 2, np.repeat(texts, 20)
    table.to_csv(tmp_path / "a.csv", index=False)
    read = read_table_data(TableFile.read(tmp_path / "a.csv"), Columns())
    assert read.data.feature_names == ("a",), texts[0]
    [why] = [column.why for column in read.columns if column.name == "day"]
    assert why.startswith("dates")


@pytest.mark.parametrize("text", NO_DATES)
def test_other_text_is_no_date(text: str) -> None:
    assert not re.search(DATES, text)
    assert not polars.Series([text]).str.contains(DATES).item()
