"""Files with flipped, truncated, repeated and removed bytes: read correctly, or a clear error.

What a reader takes must be what a plain reading of the same bytes gives, written here once more in
the simplest way; a damaged file never gives a part of itself.
"""

import csv
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import damaged
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from lambdaplus.data import read_columns, read_letor, read_table
from lambdaplus.data.ranking_data import RankingData

LETOR = b"".join(
    b"%d qid:%d 1:%d.25 2:-3e-2 4:%d # doc %d\n" % (i % 3, i // 4, i, i * i, i) for i in range(12)
)
CSV = b"qid,docno,label,score,clicks\n" + b"".join(
    b"%d,d%d,%d,%d.25,%d\n" % (i // 4, i, i % 3, i, i * i) for i in range(12)
)

fuzz = examples(120)


def read(file: Path, content: bytes, reader: Callable[[Path], Any]) -> Any:
    """The result of the reader; None if it raises an error, which must name the file."""
    file.write_bytes(content)
    try:
        return reader(file)
    except (ValueError, MemoryError) as error:
        message = str(error)
    assert str(file) in message
    return None


@fuzz
@given(st.data())
def test_letor(tmp_path: Path, draw: st.DataObject) -> None:
    content = damaged(draw, LETOR)
    found = read(tmp_path / "train.txt", content, read_letor)
    if found is None:
        return
    rows = [line.partition(b"#")[0].split() for line in content.split(b"\n")]
    rows = [row for row in rows if row]
    assert found.labels.tolist() == [float(row[0]) for row in rows]
    assert found.qid.tolist() == [int(row[1].removeprefix(b"qid:")) for row in rows]
    first = 0 if found.feature_names else 1
    for row, values in zip(rows, found.features, strict=True):
        features = {int(key): float(value) for key, value in (pair.split(b":") for pair in row[2:])}
        wanted = [features.get(column, 0.0) for column in range(first, first + len(values))]
        np.testing.assert_array_equal(values, wanted)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
@fuzz
@given(st.data())
def test_compressed_letor(tmp_path: Path, suffix: str, draw: st.DataObject) -> None:
    whole = (gzip.compress if suffix == ".gz" else lzma.compress)(LETOR)
    found = read(tmp_path / f"train.txt{suffix}", damaged(draw, whole), read_letor)
    if found is not None:  # what is not compressed, such as the name and time in gzip's header
        assert len(found.labels) % 12 == 0
        np.testing.assert_array_equal(found.labels[:12], [i % 3 for i in range(12)])


@pytest.mark.parametrize("reader", [read_columns, read_table])
@fuzz
@given(st.data())
def test_csv(tmp_path: Path, reader: Callable[[Path], Any], draw: st.DataObject) -> None:
    pytest.importorskip("polars")
    content = damaged(draw, CSV)
    found = read(tmp_path / "all.csv", content, reader)
    if found is None or b"\r" in content:  # which only one of the two treats as the end of a line
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:  # read as Latin-1, with a warning
        text = content.decode("latin-1")
    header, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    assert len(rows) == len(found.labels)
    assert all(len(row) == len(header) for row in rows)
    qids = [row[header.index("qid")] for row in rows]
    order = sorted(range(len(rows)), key=lambda row: qids.index(qids[row]))
    assert [str(qid) for qid in found.qid.tolist()] == [qids[row] for row in order]
    labels = [float(rows[row][header.index("label")]) for row in order]
    assert found.labels.tolist() == labels
    if isinstance(found, RankingData):
        for j, name in enumerate(found.feature_names):
            cells = [rows[row][header.index(name)].strip() for row in order]
            np.testing.assert_array_equal(found.features[:, j], [*map(as_cell, cells)])
    else:
        assert found.scores.tolist() == [float(rows[row][header.index("score")]) for row in order]


def as_cell(text: str) -> float:
    words = {"": float("nan"), "NULL": float("nan"), "true": 1.0, "false": 0.0}
    return words[text] if text in words else float(text)


@fuzz
@given(st.data())
def test_parquet(tmp_path: Path, draw: st.DataObject) -> None:
    polars = pytest.importorskip("polars")
    stream = io.BytesIO()
    polars.read_csv(CSV).write_parquet(stream)
    found = read(tmp_path / "all.parquet", damaged(draw, stream.getvalue()), read_columns)
    assert found is None or len(found.labels) == 12  # values have no check sum
