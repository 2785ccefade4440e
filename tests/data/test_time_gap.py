"""The gap of folds in time: a duration before dates, a number before numbers."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from contracts import Raises, Rows, contract, hold
from strangers import fraud, stocks

from lambdaplus import query_folds
from lambdaplus.data.table_files import TableFile
from lambdaplus.data.time_in_words import folds_in_time
from lambdaplus.study import Config
from lambdaplus.study.folds import read_study_data

N = 40
DAYS = np.datetime64("2025-11-20") + np.arange(N)
SECONDS = 1_764_000_000 + 86_400 * np.arange(N)
PLAIN = np.char.replace(DAYS.astype(str), "-", "").astype(int)  # 20251120
MONTHS = [100 * year + month for year in (2023, 2024, 2025) for month in range(1, 13)]
WEEKS = [100 * year + week for year in (2024, 2025) for week in range(1, 53)]


def left_out(order: Any, gap: Any) -> list[int]:
    """How many places are left out before each of four blocks; the order ascends."""
    folds = query_folds(qid=np.arange(len(order)), order=order, n_splits=4, gap=gap)
    return [int(test[0] - train[-1] - 1) for train, test in folds]


GAPS: Rows = {
    f"{name}, gap {gap!r}": (lambda order=order, gap=gap: left_out(order, gap), right)
    for name, order, gap, right in (
        ("dates", DAYS, "3d", [3] * 4),
        ("dates", DAYS, "72 hours", [3] * 4),
        ("dates", DAYS, "36h", [1] * 4),
        ("dates", DAYS, "1w", [7] * 4),
        ("dates", DAYS, "0.5w", [3] * 4),
        ("dates", DAYS, timedelta(days=3), [3] * 4),
        ("dates", DAYS, pd.Timedelta("3D"), [3] * 4),
        ("dates", DAYS, np.timedelta64(3, "D"), [3] * 4),
        ("dates", DAYS, "0", [0] * 4),
        ("text of dates", [*map(str, DAYS)], "3d", [3] * 4),
        ("times in UTC", [datetime(2025, 11, 20, tzinfo=UTC) + timedelta(k) for k in range(N)],
         "3d", [3] * 4),
        ("trading days", pd.bdate_range("2026-01-05", periods=N), "7d", [5] * 4),
        ("20251120", PLAIN, "3d", [3] * 4),
        ("text of 20251120", [*map(str, PLAIN)], "3d", [3] * 4),
        ("seconds since 1970", SECONDS, "3d", [3] * 4),
        ("seconds since 1970", SECONDS, 3 * 86_400, [3] * 4),
        ("milliseconds since 1970", 1000 * SECONDS, "3d", [3] * 4),
        ("202301", MONTHS, "31d", [1] * 4),
        ("2301", [month - 200_000 for month in MONTHS], "31d", [1] * 4),
        ("weeks 202401", WEEKS, "2w", [2] * 4),
        ("months of one year", MONTHS[:12], 1, [1] * 4),
        ("numbers", range(N), 3, [3] * 4),
        ("numbers", range(0, 10 * N, 10), "30", [3] * 4),
        ("tenths", np.arange(N) / 10, 0.3, [3] * 4),
        ("dates", DAYS, 5,
         Raises("gap = 5 has no unit.* such as 5d or 12h .5d leaves out at least 5 of these")),
        ("trading days", pd.bdate_range("2026-01-05", periods=N), 5,
         Raises("7d leaves out at least 5 of these")),
        ("trading days over weekends", pd.bdate_range("2026-01-05", periods=N), 2,
         Raises("4d leaves out at least 2 of these")),
        ("20251120", PLAIN, 5, Raises("has no unit")),
        ("dates", DAYS, "3m", Raises("'m', which may be minutes or months")),
        ("dates", DAYS, "3 months", Raises("has the unit 'months': pass a duration")),
        ("dates", DAYS, np.timedelta64(1, "M"), Raises("has no fixed length")),
        ("dates", DAYS, "-3d", Raises("gap must be a duration such as 30d")),
        ("dates", DAYS, "", Raises("gap must be a duration such as 30d")),
        ("dates", DAYS, -1, Raises("not negative, got -1")),
        ("dates", DAYS, True, Raises("gap must be a duration")),
        ("dates", DAYS, "12h", Raises("leaves out nothing.*2025-11-20 and 2025-11-21")),
        ("numbers", range(0, 10 * N, 10), 3, Raises("leaves out nothing.*pass it in their unit")),
        ("dates", DAYS, "30d", Raises("nothing is left to train on before 2025-11-28.*gap of 30d")),
        ("numbers", range(N), "3d", Raises("is a duration, and order has numbers, such as 0")),
    )
}  # fmt: skip


@contract(GAPS)
def test_a_gap_leaves_out_that_time_before_each_block(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_thirty_days_of_times_to_the_second_are_thirty_days(kind: str, tmp_path: Path) -> None:
    file, frame = tmp_path / f"fraud.{kind}", fraud(rows=600, days=300)
    getattr(pl.from_pandas(frame), f"write_{kind}")(file)
    options: dict[str, Any] = {"qid": "none", "label": "is_fraud", "order": "time"}
    _, notes, *_ = read_study_data(Config(str(file), **options, gap="30d"))
    # Seven blocks of equally many times; here, pandas counts the rows of the gap of the last fold.
    times = np.sort(frame["time"].to_numpy())
    first = times.size - times.size // 7
    start = times[first - times.size // 7]
    before_test = ((times >= times[first] - np.timedelta64(30, "D")) & (times < times[first])).sum()
    before_valid = ((times >= start - np.timedelta64(30, "D")) & (times < start)).sum()
    [line] = [note for note in notes if note.startswith("Fold5")]
    assert f"test {times[first]!s:.10} to {times[-1]!s:.10} ({times.size - first} rows)" in line
    assert line.endswith(
        f"Left out: 30d before validation ({before_valid} rows) and before test "
        f"({before_test} rows)."
    )


def test_labels_of_training_rows_are_known_before_the_tested_days(tmp_path: Path) -> None:
    """A label that looks five trading days ahead tells of the days after 7 days at most."""
    frame = stocks(names=3, days=60)
    file = tmp_path / "returns.csv"
    frame.to_csv(file, index=False)
    days = np.unique(frame["date"])
    asked: dict[str, Any] = {"qid": "date", "label": "forward_return", "order": "date"}
    folds = read_study_data(Config(str(file), **asked, gap="7d")).folds
    for fold in folds:
        place = [np.searchsorted(days, np.unique(part.qid).astype(str)) for part in fold.parts]
        for before, after in pairwise(place):
            assert before.max() + 5 < after.min()


def test_times_of_files_keep_their_unit(tmp_path: Path) -> None:
    file, start = tmp_path / "times.parquet", datetime(2026, 1, 5, 12)
    times = [start + timedelta(hours=hour) for hour in range(N)]
    zoned = pl.Series(times).dt.replace_time_zone("Europe/Berlin")
    pl.DataFrame({"naive": times, "zoned": zoned, "day": DAYS}).write_parquet(file)
    table = TableFile.read(file)
    assert left_out(table.places("naive"), "3h") == left_out(table.places("zoned"), "3h") == [3] * 4
    assert left_out(table.places("day"), "3d") == [3] * 4
    assert table.places("zoned")[0] == np.datetime64("2026-01-05T11:00")


@pytest.mark.parametrize(
    ("hours", "shown"),
    [
        (1, "validation 2026-01-03 01:00 to 2026-01-05 (48 rows), test 2026-01-05 02:00"),
        (48, "validation 2026-01-05 to"),
    ],
)
def test_parts_that_meet_on_one_day_have_times(hours: int, shown: str) -> None:
    times = np.datetime64("2026-01-01T00", "h") + np.arange(12 * 24)
    cut = 48 + hours
    parts = [(np.arange(49), np.arange(cut, cut + 48), np.arange(cut + 48 + hours, cut + 120))]
    [line] = folds_in_time(times, parts, f"{hours}h")
    assert shown in line
