"""Times of a zone are shown in UTC, and it is said."""

import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from lambdaplus.study.config import Config
from lambdaplus.study.folds import read_study_data

N = 140
HOURS = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=row) for row in range(N)]
BERLIN = [one.replace(tzinfo=ZoneInfo("Europe/Berlin")) for one in HOURS]
TIMES: dict[str, tuple[Any, bool]] = {  # and whether it is said
    "text with an offset": ([one.isoformat() for one in BERLIN], True),
    "text with an offset of four digits": ([f"{one}+0530" for one in HOURS], True),
    "text in UTC": ([f"{one.isoformat()}Z" for one in HOURS], False),
    "text with the offset of UTC": ([f"{one}+00:00" for one in HOURS], False),
    "text without a zone": ([str(one) for one in HOURS], False),
    "a zone in Parquet": (BERLIN, True),
    "UTC in Parquet": ([one.replace(tzinfo=datetime.UTC) for one in HOURS], False),
}


@pytest.mark.parametrize(("times", "told"), TIMES.values(), ids=TIMES)
def test_times_in_utc_are_told(times: Any, told: bool, tmp_path: Path) -> None:
    frame = pl.DataFrame({"at": times, "x": range(N), "label": [0, 1] * (N // 2)})
    frame = frame.with_columns(x=pl.col("x").shuffle(seed=0) / 3)
    file = tmp_path / f"t.{'csv' if isinstance(times[0], str) else 'parquet'}"
    (frame.write_csv if file.suffix == ".csv" else frame.write_parquet)(file)
    notes = read_study_data(Config(data=str(file), qid="none", order="at"))[1]
    said = "Times of at are shown in UTC, and days are those of UTC." in notes
    assert said == told
    [first] = [line for line in notes if line.startswith("Fold1")]
    if told:
        start = "18:30" if "+0530" in str(times[0]) else "23:00"
        assert f"training 2023-12-31 {start}" in first
