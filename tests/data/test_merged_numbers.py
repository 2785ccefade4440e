"""Scores in files that differ beyond the digits of float64 are refused, since they would tie."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lambdaplus.data import RankingData, read_qrels, read_scores, read_table, read_trec_run

FIRST, SECOND, THIRD = "0.12345678901234567890", "0.12345678901234567891", "0.25"
ROWS = [("q1", "d1", 1, FIRST), ("q1", "d2", 0, THIRD), ("q1", "d3", 0, SECOND)]


def of_table(folder: Path, rows: list[Any], separator: str = ",") -> Any:
    file = folder / "run.csv"
    lines = ["qid", "doc", "label", "score"], *([*map(str, row)] for row in rows)
    file.write_text("\n".join(separator.join(line) for line in lines))
    return read_table(file)


def of_semicolons(folder: Path, rows: list[Any]) -> Any:
    return of_table(folder, [(*row[:3], row[3].replace(".", ",")) for row in rows], ";")


def of_parquet(folder: Path, rows: list[Any]) -> Any:
    scores = pl.Series("score", [Decimal(row[3]) for row in rows], pl.Decimal(30, 22))
    frame = pl.DataFrame({"qid": [1, 1, 1], "label": [row[2] for row in rows]})
    frame.with_columns(scores).write_parquet(folder / "run.parquet")
    return read_table(folder / "run.parquet")


def of_trec(folder: Path, rows: list[Any]) -> Any:
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {label}\n" for q, d, label, _ in rows))
    (folder / "run").write_text("".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, _, s in rows))
    return read_trec_run(folder / "run", read_qrels(folder / "qrels"))


def of_lines(folder: Path, rows: list[Any]) -> Any:
    (folder / "scores.txt").write_text("".join(f"{row[3]}\n" for row in rows))
    data = RankingData([[0.0]] * 3, [1, 0, 0], [row[0] for row in rows])
    return read_scores(folder / "scores.txt", data)


@pytest.mark.parametrize("read", [of_table, of_semicolons, of_parquet, of_trec, of_lines])
def test_scores_that_would_tie(read: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"run|scores.* contains 0\.1234.*0 and 0\.1234.*1, which"):
        read(tmp_path, ROWS)


@pytest.mark.parametrize("read", [of_table, of_semicolons, of_parquet, of_trec, of_lines])
@pytest.mark.parametrize(
    "texts",
    [
        (f"{0.1:.22f}", f"{0.1:.22f}", f"{0.1 + 2e-17:.22f}"),  # of float64, in all digits
        (FIRST, "0.5", "0.50000000000000000000"),
        (FIRST, FIRST + "0", "0.1234567890123457"),
    ],
)
def test_equal_scores_in_many_digits_are_ties(read: Any, texts: Any, tmp_path: Path) -> None:
    rows = [(*row[:3], text) for row, text in zip(ROWS, texts, strict=True)]
    assert sorted(read(tmp_path, rows).scores.tolist()) == sorted(map(float, texts))


@pytest.mark.parametrize("read", [of_trec, of_lines])
def test_scores_of_different_queries_do_not_tie(read: Any, tmp_path: Path) -> None:
    rows = [ROWS[0], ROWS[1], ("q2", *ROWS[2][1:])]
    assert sorted(read(tmp_path, rows).scores) == sorted(float(row[3]) for row in rows)
