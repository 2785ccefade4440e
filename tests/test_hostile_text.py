"""Truncated, damaged and too large text files: clear errors, and never a part of a file."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lambdaplus.data import read_letor, read_qrels, read_trec_run
from lambdaplus.data.text_files import numbered_lines

TEXT = b"".join(b"%d qid:%d 1:%d.5 2:7\n" % (i % 3, i // 5, i) for i in range(500))
COMPRESS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_download_that_broke_off_is_said_to_be_cut_short(tmp_path: Path, suffix: str) -> None:
    whole = COMPRESS[suffix](TEXT)
    file = tmp_path / f"train.txt{suffix}"
    for left in (1, 5, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:left])
        with pytest.raises(ValueError, match=rf"train.txt{suffix} is cut short or damaged"):
            read_letor(file)
    file.write_bytes(COMPRESS[suffix](b"q1 0 d1 1\n")[:-1])
    with pytest.raises(ValueError, match=rf"train.txt{suffix} is cut short or damaged"):
        read_qrels(file)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_damaged_second_part_of_a_compressed_file_is_not_left_out(
    tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"a{suffix}"
    part = COMPRESS[suffix](TEXT)
    file.write_bytes(part + part)
    assert b"".join(line for _, line in numbered_lines(file)) == TEXT + TEXT
    for damaged in (b"X" + part[1:], b"junk", part[:20]):
        file.write_bytes(part + damaged)
        with pytest.raises(ValueError, match="cut short or damaged"):
            list(numbered_lines(file))


def test_xz_is_read_line_by_line_with_padding(tmp_path: Path) -> None:
    file = tmp_path / "a.xz"
    file.write_bytes(lzma.compress(TEXT) + bytes(8) + lzma.compress(b"end\n") + bytes(4))
    numbers, lines = zip(*numbered_lines(file), strict=True)
    assert (numbers, b"".join(lines)) == (tuple(range(1, 502)), TEXT + b"end\n")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"1 qid:1 1:1_0", "'1:1_0' is not feature:value"),
        (b"1_0 qid:1 1:1", "the label '1_0' is not a number"),
        (b"1 qid:1\0 1:1", "a NUL character"),
        (b"1 qid:1 1:1e400", "'1:1e400' is not feature:value, '1e400' is beyond the largest"),
        (b"1 qid:1 1:1 # a\r0 qid:1 1:2\r", "a carriage return within a line"),
        (b"-1e400 qid:1 1:1", "the label '-1e400' is beyond the largest float64"),
        ("1 qid:7\N{NO-BREAK SPACE}1:0.5".encode(), r"a blank that is no space in '7\\xa01:0.5'"),
    ],
)
def test_what_python_would_read_and_nobody_wrote(tmp_path: Path, line: bytes, problem: str) -> None:
    (tmp_path / "a.txt").write_bytes(b"1 qid:1 1:1\n" + line + b"\n")
    with pytest.raises(ValueError, match=f"a.txt, line 2: {problem}"):
        read_letor(tmp_path / "a.txt")


def test_scores_that_would_be_rounded_are_named_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 d 1 9007199254740992 t\nq Q0 e 2 9007199254740993 t\n")
    with pytest.raises(ValueError, match="run, line 2: the score contains 9007199254740993, which"):
        read_trec_run(tmp_path / "run", {"q": {"d": 1.0}})


@pytest.mark.parametrize("label", ["1", None, float("nan")])
def test_judgements_by_hand_are_numbers(tmp_path: Path, label: Any) -> None:
    (tmp_path / "run").write_text("q Q0 d 1 2 t\n")
    with pytest.raises(ValueError, match=rf"the label of d in q is {label!r}, not a finite number"):
        read_trec_run(tmp_path / "run", {"q": {"d": label}})


def test_document_numbers_that_are_no_utf8_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"q1 0 d\xff 1\nq1 0 d\xfe 0\n")
    assert list(read_qrels(tmp_path / "qrels")["q1"].values()) == [1, 0]
    (tmp_path / "run").write_bytes(b"q1 Q0 d\xff 1 2 t\nq1 Q0 d\0 1 2 t\n")
    with pytest.raises(ValueError, match="run, line 2: a NUL character"):
        read_trec_run(tmp_path / "run", {"q1": {"d": 1.0}})
