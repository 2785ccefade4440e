"""Queries of a file that differ in their spelling alone are kept apart, and warned of."""

import datetime
import warnings
from pathlib import Path

import pytest

from lambdaplus.data import read_columns, read_table
from lambdaplus.lists.spellings import spelled_twice

polars = pytest.importorskip("polars")

TWICE = [
    *(("3", "+3"), ("3", "3."), ("1000", "1e3"), ("1000", "1,000"), ("3.1", "3.10")),
    *(("0", "-0"), ("x", " x"), ("x", "x "), ("x", "x\t"), ("x", "x\u00a0"), ("x", "\ufeffx")),
    *(("x", "x\u200b"), ("a b", "a  b"), ("caf\u00e9", "cafe\u0301"), ("3", "\uff13"), ("3", " 3")),
    *(("x 1", "x\u00a01"), ("1E3", "1e3"), ("-1.50", "-1.5")),
]  # fmt: skip
APART = [
    "x",
    "X",
    "x1",
    "x-1",
    "3",
    "-3",
    "30",
    "3.01",
    "03",
    "1,00",
    "1e",
    "e3",
    "3 3",
    "3-3",
    "0x3",
    "3_0",
]


@pytest.mark.parametrize(("one", "other"), TWICE)
def test_a_query_in_two_spellings_is_warned_of(tmp_path: Path, one: str, other: str) -> None:
    file = tmp_path / "a.csv"
    rows = "".join(f'"{qid}",{i % 2},{i}\n' for i, qid in enumerate([one, one, other, other, "z"]))
    file.write_text("qid,label,score\n" + rows, encoding="utf-8")
    for read in (read_columns, read_table):
        with pytest.warns(UserWarning, match=r"column 'qid' has .* which are different"):
            data = read(file)
        assert data.queries.n_queries == 3


def test_other_identifiers_are_not_warned_of(tmp_path: Path) -> None:
    assert spelled_twice(APART) is None
    file = tmp_path / "a.csv"
    file.write_text("qid,label,score\n" + "".join(f'"{qid}",0,1\n' for qid in APART))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(file).queries.n_queries == len(APART)


def test_durations_are_no_queries(tmp_path: Path) -> None:
    qid = [datetime.timedelta(days=1)] * 2
    polars.DataFrame({"qid": qid, "label": [0, 1], "a": [1, 2]}).write_parquet(
        tmp_path / "a.parquet"
    )
    with pytest.raises(ValueError, match=r"column 'qid': Duration.* is no type of numbers, text"):
        read_columns(tmp_path / "a.parquet")
