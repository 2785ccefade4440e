"""Text files: LETOR, TREC runs and judgements, compressed or not; errors with line numbers."""

import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import examples
from hypothesis import example, given
from hypothesis import strategies as st

from lambdaplus.data import RankingData, read_letor, read_qrels, read_trec_run
from lambdaplus.data.letor import numbered_lines

SAMPLE = """\
# a comment on a separate line

2 qid:10 1:0.5 3:-1e-3 # docid = GX1 inc = 0.5
0 qid:10 1:0.25 2:7
1 qid:4 # no features: all of them 0
"""
SAMPLE_FEATURES = [[0.5, 0, -1e-3], [0.25, 7, 0], [0, 0, 0]]
TEXT = b"".join(b"%d qid:%d 1:%d.5 2:7\n" % (i % 3, i // 5, i) for i in range(500))
COMPRESS: dict[str, Any] = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


def read(text: str | bytes, tmp_path: Path) -> RankingData:
    (tmp_path / "a.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_letor(tmp_path / "a.txt")


# LETOR -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", COMPRESS)
def test_round_trip_of_a_small_file(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a.txt{suffix}"
    file.write_bytes(COMPRESS[suffix](SAMPLE.encode()))
    data = read_letor(str(file))
    assert data.name == file.name
    assert data.features.dtype == data.labels.dtype == np.float64
    assert data.features.tolist() == SAMPLE_FEATURES
    assert data.labels.tolist() == [2, 0, 1]
    assert data.qid.dtype == np.int64
    assert data.qid.tolist() == [10, 10, 4]


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark(tmp_path: Path, end: str, start: str) -> None:
    text = start + SAMPLE[SAMPLE.index("2 qid") :].replace("\n", end)
    assert read(text, tmp_path).features.tolist() == SAMPLE_FEATURES


@pytest.mark.parametrize("ids", [["q1", "q2"], ["7", "007"], ["1", "9" * 30], ["1.0", "1"]])
def test_ids_that_are_no_integers_stay_text(tmp_path: Path, ids: list[str]) -> None:
    assert read("".join(f"1 qid:{query} 1:1\n" for query in ids), tmp_path).qid.tolist() == ids


# Any double in any notation, digits with a point and an exponent anywhere, and what float refuses.
finite = st.floats(allow_nan=False, allow_infinity=False)
notations = st.sampled_from(["{!r}", "{:.16g}", "{:.17e}", "{:.6f}", "{:+.3E}", "{:.25g}"])
digits = st.text("0123456789", max_size=22)
exponents = st.one_of(st.just(""), st.integers(-400, 400).map("e{}".format))
numbers = st.one_of(
    st.builds(str.format, notations, finite),
    st.builds("{}{}.{}{}".format, st.sampled_from(["", "-", "+"]), digits, digits, exponents),
    st.text("0123456789+-.eE_infnaxNUL:", min_size=1, max_size=12),
)


@examples(200)
@given(values=st.lists(numbers, min_size=1, max_size=5), label=numbers)
@example(values=["NULL", "1_0"], label="1")
@example(values=["1e400"], label="1")
@example(values=["inf", "nan", "NULL", "-0.0", "4.9e-324", "1" + "0" * 300], label="1")
def test_a_line_is_read_as_float_reads_it_or_refused(
    tmp_path: Path, values: list[str], label: str
) -> None:
    text = f"{label} qid:1 " + " ".join(f"{j}:{value}" for j, value in enumerate(values, start=1))
    texts = [label, *("nan" if value == "NULL" else value for value in values)]
    try:
        wanted = [float("x" if "_" in text else text) for text in texts]
        beyond = [np.isinf(w) and "i" not in t.lower() for w, t in zip(wanted, texts, strict=True)]
    except ValueError:
        wanted, beyond = [], [True]
    if any(beyond):
        with pytest.raises(ValueError, match=r"a.txt, line 1: .* is (not|beyond)"):
            read(text, tmp_path)
    elif not np.isfinite(wanted[0]):
        with pytest.raises(ValueError, match="labels must be finite"):
            read(text, tmp_path)
    else:
        data = read(text, tmp_path)
        np.testing.assert_array_equal([*data.labels, *data.features[0]], wanted)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"x qid:1 1:2", "the label 'x' is not a number"),
        (b"1", "qid:ID, not 'nothing'"),
        (b"1 1:2", "qid:ID, not '1:2'"),
        (b"1 qid: 1:2", "qid:ID, not 'qid:'"),
        (b"1 qid:1 1:abc", "'1:abc' is not feature:value"),
        (b"1 qid:1 1:2 3", "'3' is not feature:value"),
        (b"1 qid:1 1:2:NULL", "'1:2:NULL' is not feature:value"),
        (b"1 qid:1 a:2", "the feature 'a' is not a number from 1"),
        (b"1 qid:1 0:2", "the feature '0' is not a number from 1"),
        (b"1 qid:1 2147483648:2", "from 1 to 2,147,483,647"),
        (b"1 qid:1 2:2 2:3", "a feature is given twice"),
        (b"1 qid:1\0 1:1", "a NUL character"),
        (b"1 qid:1 1:1e400", "'1:1e400' is not feature:value, '1e400' is beyond the largest"),
        (b"1 qid:1 1:1 # a\r0 qid:1 1:2\r", "a carriage return within a line"),
        ("1 qid:7\N{NO-BREAK SPACE}1:0.5".encode(), r"'7\\xa01:0.5' contains white space"),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, line: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=f"a.txt, line 3: .*{message}"):
        read(b"# first\n1 qid:1 1:2 2:3\n" + line + b"\n", tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:7 1:1\n1 qid:8 1:1\n0 qid:7 1:1\n", "query 7 are not adjacent"),
        ("nan qid:7 1:1\n", "labels must be finite"),
        ("# only a comment\n", "labels is empty"),
        ("\ufeff", "labels is empty"),
    ],
)
def test_files_without_valid_queries_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"a\.txt: .*{message}"):
        read(text, tmp_path)


def test_data_beyond_memory_is_refused_by_name(tmp_path: Path) -> None:
    text = "1 qid:1 1:1\n" * 50_000 + "1 qid:1 2147483647:1\n"
    with pytest.raises(MemoryError, match=r"a.txt: Unable to allocate .*; scikit-learn's load"):
        read(text, tmp_path)


# Compressed files and TREC -----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_compressed_file_has_all_of_its_parts_or_is_damaged(tmp_path: Path, suffix: str) -> None:
    file, part = tmp_path / f"a{suffix}", COMPRESS[suffix](TEXT)
    file.write_bytes(part + part)
    assert b"".join(line for _, line in numbered_lines(file)) == TEXT + TEXT
    file.write_bytes(part + part[:20])
    with pytest.raises(ValueError, match="cut short or damaged"):
        list(numbered_lines(file))


def test_scores_that_would_be_rounded_are_named_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 d 1 9007199254740992 t\nq Q0 e 2 9007199254740993 t\n")
    with pytest.raises(ValueError, match="run, line 2: the score contains 9007199254740993, which"):
        read_trec_run(tmp_path / "run", {"q": {"d": 1.0}})


@pytest.mark.parametrize("label", ["1", None, float("nan")])
def test_judgements_by_hand_must_be_numbers(tmp_path: Path, label: Any) -> None:
    (tmp_path / "run").write_text("q Q0 d 1 2 t\n")
    with pytest.raises(ValueError, match=rf"the label of d in q is {label!r}, not a finite number"):
        read_trec_run(tmp_path / "run", {"q": {"d": label}})


def test_identifiers_that_are_no_utf8_stay_apart(tmp_path: Path) -> None:
    assert read(b"1 qid:\xff 1:1\n1 qid:\xfe 1:1\n", tmp_path).n_queries == 2
    (tmp_path / "qrels").write_bytes(b"q1 0 d\xff 1\nq1 0 d\xfe 0\n")
    assert list(read_qrels(tmp_path / "qrels")["q1"].values()) == [1, 0]
    (tmp_path / "run").write_bytes(b"q1 Q0 d\xff 1 2 t\nq1 Q0 d\0 1 2 t\n")
    with pytest.raises(ValueError, match="run, line 2: a NUL character"):
        read_trec_run(tmp_path / "run", {"q1": {"d": 1.0}})
