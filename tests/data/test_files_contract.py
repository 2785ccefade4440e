"""What the readers of files promise; test_datasets_*.py and test_runs.py have what they read."""

import gzip
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars
from contracts import Raises, Rows, Warns, contract, hold

from lambdaplus.data import RankingData, read_columns, read_letor, read_scores, read_table


def table(folder: Path, text: str, name: str = "a.csv", encoding: str = "utf-8") -> Any:
    """The features of a table."""
    (folder / name).write_bytes(text.encode(encoding))
    return read_columns(folder / name).features


def parquet(folder: Path, cells: Any) -> Any:
    frame = polars.DataFrame({"qid": [1, 1], "label": [0, 1], "x": cells})
    frame.write_parquet(folder / "a.parquet")
    return read_columns(folder / "a.parquet").features.ravel()


def scores(folder: Path, cells: Any, kind: str = "parquet") -> Any:
    """The scores of a table of one query; cells of a CSV file are text."""
    frame = polars.DataFrame({"qid": [1, 1], "label": [0, 1], "score": cells})
    (frame.write_csv if kind == "csv" else frame.write_parquet)(folder / f"a.{kind}")
    return read_table(folder / f"a.{kind}").scores


def feature(folder: Path, *cells: str) -> Any:
    """Cells of a CSV file, below a 2 if there is one."""
    cells = cells if len(cells) > 1 else ("2", *cells)
    rows = "".join(f"1,{i % 2},{cell}\n" for i, cell in enumerate(cells))
    return table(folder, f"qid,label,x\n{rows}").ravel()


def written(folder: Path, text: str | bytes, name: str = "a.txt") -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


INF, NAN, PLACE = float("inf"), float("nan"), "a.csv, column 'x', row 2 below the header"
TABLES: Rows = {
    "1e400": (lambda d: feature(d, "1e400"), Raises(f"{PLACE}: '1e400' is beyond the largest")),
    "-1e400": (lambda d: feature(d, "-1e400"), Raises("'-1e400' is beyond the largest float64")),
    "9 x 400": (lambda d: feature(d, "9" * 400), Raises(f"{PLACE} contains .*cannot represent")),
    "1e400 as a label":
        (lambda d: table(d, "qid,label,x\n1,1e400,2\n"), Raises("column 'label', row 1 .*1e400")),
    **{
        f"{cell!r} after {n} rows": (
            lambda d, cell=cell, n=n: feature(d, *["0.5"] * n, cell)[[0, -1]], [0.5, number]
        )
        for cell, number in (
            ("nan", NAN), (" 2 ", 2.0), (str(2**60), 2.0**60), ("Infinity", INF), ("NULL", NAN),
            ("inf", INF), ("-Infinity", -INF), ("1.7e308", 1.7e308),
        )
        for n in (1, 3000)
    },
    **{
        f"flags {cells}": (lambda d, cells=cells: feature(d, *cells), numbers)
        for cells, numbers in (
            (("True", "False"), [1.0, 0.0]), (("TRUE", ""), [1.0, NAN]),
            (("", "false"), [NAN, 0.0]), ((" true", "False "), [1.0, 0.0]),
        )
    },
    "2^53 + 1": (lambda d: feature(d, str(2**53 + 1)), Raises(f"{PLACE} contains 900719925474099")),
    "2^53 + 1 with .0":
        (lambda d: feature(d, f"{2**53 + 1}.0"), Raises(f"{PLACE} contains 900719925474099")),
    "2^53 + 1 with a decimal comma":
        (lambda d: table(d, f"qid;label;x\n1;0;2\n1;1;{2**53 + 1},0\n"), Raises(f"{PLACE} cont")),
    "digits of a rounded number":
        (lambda d: feature(d, "1.2345678901234567e+16"), [2.0, 12345678901234568.0]),
    "9007199254740993.5": (lambda d: feature(d, "9007199254740993.5"), [2.0, 9007199254740994.0]),
    "a compressed file of another name": (
        lambda d: read_columns(written(d, gzip.compress(b"qid,label,x\n1,1,2\n"), "a.csv")),
        Raises("a.csv is compressed: its name must end in .gz"),
    ),
    "2^53 + 1 in Parquet":
        (lambda d: parquet(d, [1, 2**53 + 1]), Raises("a.parquet, column 'x', row 2 .* 9007199")),
    "-2^53 - 1 in Parquet": (lambda d: parquet(d, [-(2**53) - 1, None]), Raises("row 1 .*cannot")),
    **{
        f"{cells} as scores in Parquet": (
            lambda d, cells=cells: scores(d, cells), Raises(f"a.parquet, column 'score'{why}")
        )
        for cells, why in (
            ((2**53 + 1, 2**53 + 2), ", row 1 below the header contains 9007199254740993, which a"),
            ((-(2**53) - 1, None), ", row 1 below the header contains -9007199254740993, which a "),
            ((timedelta(1), timedelta(1)), " is not numeric, but Duration"),
            ((date(2020, 1, 1), date(2020, 1, 1)), " is not numeric, but Date"),
            (polars.Series(["7", "9"], dtype=polars.Categorical), " is not numeric, but Categor"),
        )
    },
    **{
        f"{cell} as a score in CSV": (
            lambda d, cell=cell: scores(d, ["1", cell], "csv"),
            Raises("a.csv, column 'score', row 2 below the header contains .* cannot represent"),
        )
        for cell in ("9007199254740993", "+9007199254740993", "-98765432109876543211")
    },
    "2^60 in Parquet": (lambda d: parquet(d, [2**60, 1]), [2.0**60, 1.0]),
    "2^53 + 1 as a decimal":
        (lambda d: parquet(d, [Decimal(2**53 + 1), Decimal(1)]), Raises("row 1 .* 9007199254740")),
    "fractions as decimals": (lambda d: parquet(d, [Decimal("0.5"), Decimal(1)]), [0.5, 1.0]),
    "inf in Parquet": (lambda d: parquet(d, [INF, 1.0]), [INF, 1.0]),
    "1e400 with decimal commas":
        (lambda d: table(d, "qid;label;x\n1;0;1,5\n1;1;1e400\n"), Raises(f"{PLACE}: '1e400'")),
    "Latin-1 names":
        (lambda d: table(d, "qid,label,é\n1,0,2\n", encoding="latin-1"),
         Warns("a.csv, line 1: not UTF-8, so the file is read as Latin-1")),
    "Latin-1 in a cell":
        (lambda d: table(d, "qid,label,x\né,0,2\nè,1,3\n", encoding="latin-1"),
         Warns("a.csv, line 2: not UTF-8")),
    **{
        f"queries {' '.join(ids)}": (
            lambda d, ids=ids: read_columns(
                written(d, "qid,label,x\n" + "".join(f"{one},0,2\n" for one in ids), "a.csv")
            ).qid, right,
        )
        for ids, right in (
            (("3", "3.0", "4"), [3, 3, 4]), (("3.0", "-4.00"), [3, -4]),
            (("007", "7"), ["007", "7"]),
            (("007", "7.0"), ["007", "7"]), (("3", "3.5", "x"), ["3", "3.5", "x"]),
            (("3", "3.0", "x"), Warns("has '3' and '3.0', which are different, since others are")),
            (("3", "3.0", "3.5"), Warns("has '3' and '3.0', which are different, since others")),
        )
    },
    "true, false and other text are text": (
        lambda d: table(d, "qid,label,x,y\n1,0,true,1\n1,1,false,2\n1,0,unknown,3\n"),
        Warns("left out: x .text"),
    ),
    "a number, true and other text are mixed": (
        lambda d: table(d, "qid,label,x,y\n1,0,true,1\n1,1,7,2\n1,0,unknown,3\n"),
        Raises("column 'x' mixes numbers and text; the first text is 'unknown' in row 3"),
    ),
    "a long cell": (
        lambda d: table(d, f"qid,label,x\n1,{'z' * 3_000_000},2\n"),
        Raises("column 'label', row 1 below the header: '.{203}' is not a number"),
    ),
    "UTF-8 with a mark": (lambda d: table(d, "\ufeffqid,label,é\n1,0,2\n"), [[2.0]]),
}  # fmt: skip


@contract(TABLES)
def test_tables(act: Callable[..., Any], right: Any, tmp_path: Path) -> None:
    hold(act, right, tmp_path)


ONE_ROW = RankingData([[2.0]], [1], [1], "test")
QRELS = {"q": {"a": 1.0, "b": 0.0}}
TEXT: Rows = {
    "inf in LETOR":
        (lambda d: read_letor(written(d, "1 qid:1 1:inf # a_b\n0 qid:1 1:2\n")).features,
         [[INF], [2.0]]),
    **{
        f"{field} in LETOR": (
            lambda d, field=field: read_letor(written(d, f"0 qid:1 1:inf # inf\n{field}\n")),
            Raises(f"a.txt, line 2: .*{why}"),
        )
        for field, why in {
            "1 qid:1 1:1e400": "'1:1e400'.* is beyond the largest float64",
            "1 qid:1 1:9007199254740993": "contains 9007199254740993, which a float64",
            "9007199254740993 qid:1 1:2": "contains 9007199254740993, which a float64",
            "1e400 qid:1 1:2": "'1e400' is beyond the largest float64",
        }.items()
    },
    "2^60 in LETOR": (
        lambda d: read_letor(written(d, f"1 qid:{2**53 + 1} 1:{2**60}\n")).features, [[2.0**60]]
    ),
    "Latin-1 in a comment": (
        lambda d: read_letor(written(d, "1 qid:1 1:2 # é\n".encode("latin-1"))).features, [[2.0]]
    ),
    "1e400 as a score":
        (lambda d: read_scores(written(d, "1e400\n"), ONE_ROW), Raises("a.txt, line 1: .*1e400")),
    "2^53 + 1 as a score":
        (lambda d: read_scores(written(d, f"{2**53 + 1}\n"), ONE_ROW),
         Raises("a.txt, line 1: .*9007199254740993")),
    "2^53 + 1 with .0 as a score":
        (lambda d: read_scores(written(d, f"{2**53 + 1}.0\n"), ONE_ROW), Raises("1: .*740993")),
}  # fmt: skip


@contract(TEXT)
def test_text(act: Callable[..., Any], right: Any, tmp_path: Path) -> None:
    hold(act, right, tmp_path)
