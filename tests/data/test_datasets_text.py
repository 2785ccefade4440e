"""Text files: LETOR, TREC runs and judgements, compressed or not; errors with line numbers."""

import gzip
import lzma
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from lambdaplus.data import (
    RankingData,
    read_data,
    read_folds,
    read_letor,
    read_qrels,
    read_trec_run,
)
from lambdaplus.saved_model import letor_lines

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
@pytest.mark.parametrize(("start", "end"), [("", "\n"), ("", "\r\n"), ("\ufeff", "\n")])
def test_a_small_file(tmp_path: Path, suffix: str, start: str, end: str) -> None:
    file = tmp_path / f"a.txt{suffix}"
    file.write_bytes(COMPRESS[suffix]((start + SAMPLE.replace("\n", end)).encode()))
    data = read_letor(str(file))
    assert (data.name, data.qid.dtype) == (file.name, np.int64)
    assert data.features.dtype == data.labels.dtype == np.float64
    assert data.features.tolist() == SAMPLE_FEATURES
    assert data.labels.tolist() == [2, 0, 1]
    assert data.qid.tolist() == [10, 10, 4]


ODD = {  # texts, and features, labels and queries
    "  1\t qid:-3  1:.5 \v2:5.\f\r\n": ([[0.5, 5]], [1], [-3]),
    "+1 qid:+4 01:+4 +2:-0 3:1E2\n-1.5 qid:007": ([[4, 0, 100], [0, 0, 0]], [1, -1.5], [4, 7]),
    "1e-3 qid:9223372036854775807 3:-Infinity 4:NaN 5:NULL":
        ([[0, 0, -np.inf, np.nan, np.nan]], [1e-3], [2**63 - 1]),
    "0 qid:1 1:1e-400 2:0.1000000000000000055511151231257827 3:123456789.123456789":
        ([[0, 0.1, 123456789.123456789]], [0], [1]),
    "# 1 qid:1 2:9 # 3\n\n1 qid:1 2:5# a:b 7:7\n   \n\r\n": ([[0, 5]], [1], [1]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), ODD.items())
def test_odd_text_is_read_as_by_python(tmp_path: Path, text: str, wanted: Any) -> None:
    data = read(text, tmp_path)
    for found, right in zip((data.features, data.labels, data.qid), wanted, strict=True):
        np.testing.assert_array_equal(found, right)


BEFORE = "# first\n1 qid:1 1:2 2:3\n"
NOT_A_ROW = r"(, line 3: not 'label qid:ID| has 3 rows, but)"
REFUSED = {
    **{
        f"{BEFORE}{line}\n2 qid:2 1:1\n": NOT_A_ROW
        for line in ("x qid:1 1:2", "1 qid:1 1:abc", "1 qid:1 1", "1 qid:q1 1:1", "1 qid:1 2:2 2:3",
                     "1 qid:1\0 1:1", "1 2:3", "1 qid:9999999999999999999 1:1", "1 qid:1 2:",
                     "1 qid:1 2:0.5 1:3", "1 1:1 qid:1", "qid:1 1:1", "nan qid:1 1:1",
                     "-inf qid:1 1:1", "1 qid:1 -1:1", "1 qid:1 1:1:2", "1 qid:1 :1", "1 qid: 1:1",
                     "1:2 qid:1 1:1", "1 qid:1 1.0:1", "1 qid:1 4294967296:1",
                     "x,shop\n1,2", "1 qid:1\xa01:1",
                     # Parts of which NumPy or C read as numbers.
                     "1 qid:1 1:nan(1)", "1 qid:1 1:0x10", "1 qid:1 1:5-3 2:x", "1 qid:1 1:1e",
                     "1 qid:1 1:1d5", "1 qid:1 1:infinit", "1 qid:1 1:2\0",
                     "1 qid:12345678901234567890")
    },
    "1 qid:7 1:1\n1 qid:8 1:1\n0 qid:7 1:1\n": ": .*query 7 are not adjacent",
    "# only a comment\n": ": .*labels is empty",
    "\ufeff": ": .*labels is empty",
    # Python reads these as other numbers.
    "1 qid:1 1:2 # a_b\n0 qid:1 1:1_0\n": ", line 2: '1:1_0': a number with an underscore",
    "1 qid:1 1:2\n0 qid:1_0 1:1\n": ", line 2: 'qid:1_0': a number with an underscore",
    "1 qid:1 1:2\n0 qid:1 1_0:1\n": ", line 2: '1_0:1': a number with an underscore",
    "1 qid:1 1:2 # a_b\n0 qid:1 1:1e400\n": ", line 2: .*is beyond the largest float64",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"a\.txt{message}"):
        read(text, tmp_path)


def test_data_beyond_memory_is_refused_by_name(tmp_path: Path) -> None:
    for number in (2147483647, 4294967295):
        text = "1 qid:1 1:1\n" * 50_000 + f"1 qid:1 {number}:1\n"
        with pytest.raises(MemoryError, match=r"a.txt: Unable to allocate"):
            read(text, tmp_path)


def test_the_missing_values_of_istella_and_letor_are_missing(tmp_path: Path) -> None:
    text = "1 qid:1 1:1.79769313486e+308 2:1.7e308 3:inf\n0 qid:1 1:1.7976931348623157e308 2:NULL\n"
    expected = [[np.nan, 1.7e308, np.inf], [np.nan, np.nan, 0.0]]
    np.testing.assert_array_equal(read(text, tmp_path).features, expected)


@pytest.mark.parametrize("first", [0, 1])
def test_features_may_be_numbered_from_0(tmp_path: Path, first: int) -> None:
    file = tmp_path / "a.txt"
    wanted = np.random.default_rng(0).integers(0, 3, (20, 4)).astype(float)
    wanted[:, 3] = 1.0
    labels, qid = np.arange(20) % 3, np.arange(20) // 5
    dump_svmlight_file(wanted, labels, str(file), zero_based=first == 0, query_id=qid)
    data = read_letor(file)
    assert (
        data.features.tolist()
        == wanted.tolist()
        == load_svmlight_file(str(file))[0].toarray().tolist()
    )
    assert data.feature_names == (() if first else ("0", "1", "2", "3"))


# Batches of about three lines, a feature 0 in the second one, and a new feature in the last one.
BLOCKS = """\
# first
2 qid:10 1:0.5 3:-1e-3
1 qid:10 2:7 # a comment
0 qid:11 1:4 3:2

1 qid:11 0:8 2:7
0 qid:11
1 qid:12 3:5 6:9
"""
BLOCK_FEATURES = [
    [0, 0.5, 0, -1e-3, 0, 0, 0], [0, 0, 7, 0, 0, 0, 0], [0, 4, 0, 2, 0, 0, 0],
    [8, 0, 7, 0, 0, 0, 0], [0] * 7, [0, 0, 0, 5, 0, 0, 9],
]  # fmt: skip


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lambdaplus.saved_model.letor_lines.LETOR_BATCH", 60)


@pytest.mark.usefixtures("blocks")
def test_a_file_of_several_blocks(tmp_path: Path) -> None:
    data = read(BLOCKS, tmp_path)
    assert data.features.tolist() == BLOCK_FEATURES
    assert data.feature_names == tuple("0123456")
    assert data.labels.tolist() == [2, 1, 0, 1, 0, 1]
    assert data.qid.tolist() == [10, 10, 11, 11, 11, 12]
    data = read(BLOCKS.replace("0:8 ", ""), tmp_path)
    assert data.features.tolist() == [[*row[1:]] for row in BLOCK_FEATURES]
    assert data.feature_names == ()


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("6:9", "6:x", ", line 8: not 'label qid:ID"),
        ("6:9", "6:1_0", ", line 8: '6:1_0': a number with an underscore"),
        ("6:9", "6:9007199254740993", ", line 8: '6:9007199254740993' contains 9007"),
        ("qid:12", "qid:x", ", line 8: not 'label qid:ID"),
        ("qid:12", "", " has 6 rows, but only 5 have qid:ID"),
        ("qid:12", "qid:10", ": .*query 10 are not adjacent"),
    ],
)
def test_what_is_wrong_in_a_later_block_is_named(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(ValueError, match=rf"a\.txt{message}"):
        read(BLOCKS.replace(old, new), tmp_path)


def test_a_large_file_is_parsed_once_into_one_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In time and memory that are linear in its size."""
    monkeypatch.setenv("LAMBDAPLUS_CACHE", "off")
    monkeypatch.setattr(letor_lines, "LETOR_BATCH", 2**15)
    row = " ".join(f"{j}:{j / 7:.3f}" for j in range(1, 101))
    text = "".join(f"{i % 3} qid:{i // 10} {row}\n" for i in range(2_000)).encode()
    parsed: list[int] = []
    parse = letor_lines._parsed

    def noted(text: bytes) -> Any:
        parsed.append(len(text))
        return parse(text)

    monkeypatch.setattr(letor_lines, "_parsed", noted)
    tracemalloc.start()
    try:
        data = read(text, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.features.shape == (2_000, 100)
    assert sum(parsed) == len(text)
    assert max(parsed) < 2**16
    assert peak < 2 * data.features.nbytes + 40 * max(parsed)


def lightgbms_files(folder: Path, part: str, seed: int, width: int) -> tuple[Path, Any]:
    """As of LightGBM's example of lambdarank: no qid, and sizes and weights in other files."""
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(30, width)).round(3), random.integers(0, 3, 30)
    file = folder / f"rank.{part}"
    dump_svmlight_file(X, y, str(file), zero_based=True)
    sizes, weights = [5, 10, 15], random.uniform(0.5, 2, 30).round(3)
    (folder / f"rank.{part}.query").write_text("".join(f"{size}\n" for size in sizes))
    (folder / f"rank.{part}.weight").write_text("".join(f"{weight}\n" for weight in weights))
    return file, (X, y, sizes, weights)


def test_files_of_lightgbm_with_sizes_and_weights_beside_them(tmp_path: Path) -> None:
    file, (X, y, sizes, weights) = lightgbms_files(tmp_path, "train", 0, 4)
    data = read_letor(file)
    stored = pytest.importorskip("lightgbm").Dataset(str(file), params={"verbose": -1}).construct()
    assert stored.get_group().tolist() == data.group.tolist() == sizes
    assert stored.get_label().tolist() == data.labels.tolist() == y.tolist()
    np.testing.assert_allclose(stored.get_weight(), weights, rtol=1e-6)
    np.testing.assert_array_equal(data.weights, weights)
    assert data.features.tolist() == X.tolist()
    whole = read_letor(file, grouped=False)
    assert not whole.grouped
    assert whole.n_queries == 1

    (tmp_path / "rank.train.weight").write_text("2\n1\n3\n")  # XGBoost's, of queries
    np.testing.assert_array_equal(read_letor(file).weights, np.repeat([2, 1, 3], sizes))
    (tmp_path / "rank.train.init").write_text("0\n" * 30)
    with pytest.warns(UserWarning, match="rank.train.init: initial scores are not read"):
        read_letor(file)
    (tmp_path / "rank.train.init").unlink()
    for suffix, text, message in (
        ("weight", "1\n2\n", "rank.train.weight: 2 weights for 30 rows"),
        ("weight", "1\nx\n", "rank.train.weight: could not convert string 'x'"),
        ("query", "5\n5\n", "rank.train.query: group sizes add up to 10, but there are 30 rows"),
    ):
        (tmp_path / f"rank.train.{suffix}").write_text(text)
        with pytest.raises(ValueError, match=message):
            read_letor(file)
        (tmp_path / f"rank.train.{suffix}").unlink()


@pytest.mark.filterwarnings("error")
def test_a_folder_of_lightgbms_files_is_a_fold(tmp_path: Path) -> None:
    wanted = [
        lightgbms_files(tmp_path, part, seed, width)[1]
        for part, seed, width in (("train", 0, 4), ("vali", 1, 3), ("test", 2, 4))
    ]
    [fold] = read_folds(tmp_path)
    assert fold.name == "rank"
    for data, (X, _, _, weights) in zip(fold.parts, wanted, strict=True):
        padded = np.pad(X, ((0, 0), (0, 4 - X.shape[1])))
        np.testing.assert_array_equal(data.features, padded)
        np.testing.assert_array_equal(data.weights, weights)
    assert not {*fold.train.qid} & {*fold.test.qid}
    (tmp_path / "rank.test").write_text("1 1:0.5\n" * 30)  # not from 0
    with pytest.raises(ValueError, match=r"only one of .* has the feature '0', '1'"):
        read_folds(tmp_path)


def test_lines_without_queries_are_one_ranking_if_that_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a.txt has no queries: .* --qid none"):
        read("1 1:0.5\n0 2:3\n", tmp_path)
    data = read_letor(tmp_path / "a.txt", grouped=False)
    assert (data.features.tolist(), data.grouped) == ([[0.5, 0], [0, 3]], False)
    # Queries in the file are ignored, wherever they are.
    (tmp_path / "a.txt").write_text("1 qid:7 1:0.5\n0 qid:8 2:3\n2 qid:7\n0 1:4\n")
    data = read_letor(tmp_path / "a.txt", grouped=False)
    assert (data.qid.tolist(), data.labels.tolist()) == ([0] * 4, [1, 0, 2, 0])


# Compressed files and TREC -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.txt.gz", "a.txt.xz", "a.csv.gz", "a.parquet.xz", "qrels.gz"])
def test_a_file_that_expands_without_end_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Before it fills the memory."""
    monkeypatch.setattr("lambdaplus.saved_model.files.EXPANDED_BYTES", 2**20)
    file = tmp_path / name
    file.write_bytes(COMPRESS[file.suffix](b"0" * 2**21))
    reader: Any = read_qrels if name.startswith("qrels") else read_data
    with pytest.raises(ValueError, match=rf"{name} expands to more than 200 times its size"):
        reader(file)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "qrels"])
def test_a_line_without_end_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Before it fills the memory, also in a file that is not compressed."""
    monkeypatch.setattr("lambdaplus.saved_model.letor_lines.LETOR_BATCH", 2**12)
    for module in ("saved_model.files", "data.text_fields"):
        monkeypatch.setattr(f"lambdaplus.{module}.LONGEST_LINE", 2**14)
    file = tmp_path / name
    file.write_bytes(COMPRESS.get(file.suffix, bytes)(b" 1" * 2**22))
    reader: Any = read_qrels if name == "qrels" else read_letor
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"{name}.* 16,384 bytes"):
            reader(file)
        assert tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()


def test_blank_lines_without_end_take_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMBDAPLUS_CACHE", "off")
    monkeypatch.setattr("lambdaplus.saved_model.letor_lines.LETOR_BATCH", 2**14)
    text = b"\n \r\n" * 2**20 + b"1 qid:1 1:1\n"
    tracemalloc.start()
    try:
        data = read(text, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.features.tolist() == [[1.0]]
    assert peak < len(text) / 4


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_compressed_file_has_all_of_its_parts_or_is_damaged(tmp_path: Path, suffix: str) -> None:
    file, lines = tmp_path / f"a{suffix}", TEXT.splitlines(keepends=True)
    first, second = (COMPRESS[suffix](b"".join(part)) for part in (lines[:250], lines[250:]))
    file.write_bytes(first + second)
    assert read_letor(file).labels.tolist() == [i % 3 for i in range(500)]
    file.write_bytes(first + second[:20])
    with pytest.raises(ValueError, match="cut short or damaged"):
        read_letor(file)


def test_identifiers_that_are_no_utf8_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"q1 0 d\xff 1\nq1 0 d\xfe 0\n")
    assert list(read_qrels(tmp_path / "qrels")["q1"].values()) == [1, 0]
    (tmp_path / "run").write_bytes(b"q1 Q0 d\xff 1 2 t\nq1 Q0 d\0 1 2 t\n")
    with pytest.raises(ValueError, match="run, line 2: a NUL character"):
        read_trec_run(tmp_path / "run", {"q1": {"d": 1.0}})


def test_a_quotation_mark_in_a_comment_does_not_hide_the_ends_of_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lambdaplus.saved_model.letor_lines.LETOR_BATCH", 60)
    monkeypatch.setattr("lambdaplus.saved_model.files.LONGEST_LINE", 100)
    file = tmp_path / "train.txt"
    file.write_text('1 qid:1 1:2 # a screen of 21"\n' + "0 qid:1 1:1\n" * 40)
    assert read_letor(file).labels.size == 41
