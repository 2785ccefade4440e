"""svmlight text: numbers as Python reads them, blocks, sparse data, errors with line numbers."""

from __future__ import annotations

import doctest
import io
import struct
from pathlib import Path

import numpy as np
import pytest
from brute_force import examples
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from lambdaplus.data import RankingData, read_letor, scanner, svmlight, web_search_like
from lambdaplus.data.binary import fingerprint, read_binary, write_binary
from lambdaplus.data.decimal import parse_number


def bits(value: float) -> bytes:
    """Tells -0.0 from 0.0, and one NaN from none."""
    return struct.pack("d", value)


def parsed(text: str) -> tuple[float, int, bool]:
    found: tuple[float, int, bool] = parse_number(np.frombuffer(f"{text}\n".encode(), np.uint8), 0)
    return found


def read(text: str, tmp_path: Path, **options: bool) -> RankingData:
    (tmp_path / "a.txt").write_text(text)
    return read_letor(tmp_path / "a.txt", **options)


def test_docstring_example() -> None:
    result = doctest.testmod(scanner)
    assert result.attempted > 0
    assert result.failed == 0


# Any double in any notation, digits with a point and an exponent anywhere, and what float refuses.
finite = st.floats(allow_nan=False, allow_infinity=False)
notations = st.sampled_from(["{!r}", "{:.16g}", "{:.17e}", "{:.6f}", "{:+.3E}", "{:.25g}"])
digits = st.text("0123456789", max_size=22)
exponents = st.one_of(st.just(""), st.integers(-400, 400).map("e{}".format))
numbers = st.one_of(
    st.builds(str.format, notations, finite),
    st.builds("{}{}.{}{}".format, st.sampled_from(["", "-", "+"]), digits, digits, exponents),
    st.builds("{}{}".format, digits, exponents),
    st.text("0123456789+-.eE_infnaxNUL", min_size=1, max_size=12),
)


@given(numbers)
@example("9007199254740993")  # exactly between two doubles
@example("9007199254740995")
@example("1.79769313486231570E308")  # the greatest double: how Istella writes what is missing
@example("1.7976931348623159e308")  # infinite
@example("2.2250738585072011e-308")  # subnormal
@example("4.9e-324")
@example("8.5e-324")
@example("-0.0")
@example("0e9999")
@example("1" + "0" * 400)
def test_a_number_is_what_float_makes_of_it(text: str) -> None:
    value, end, known = parsed(text)
    if known and end == len(text):
        assert bits(value) == bits(float(text))


@given(st.integers(2**52, 2**53 - 1), st.integers(0, 8), st.sampled_from([-1, 0, 1]))
def test_numbers_next_to_the_middle_of_two_doubles(mantissa: int, shift: int, off: int) -> None:
    text = str((2 * mantissa + 1 << shift) + off)
    value, end, known = parsed(text)
    if known:
        assert end == len(text)
        assert bits(value) == bits(float(text))


@examples(20)
@given(st.integers(0, 2**32))
def test_hardly_a_number_is_left_to_python_and_all_others_are_right(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    found = rng.integers(0, 2**63, 5000).view(np.float64)
    usual = np.abs(found[(np.abs(found) > 1e-290) & (np.abs(found) < 1e290)]).tolist()
    numbers = [parsed(repr(value)) for value in usual]
    assert all(
        bits(one) == bits(v) for v, (one, _, known) in zip(usual, numbers, strict=True) if known
    )
    assert sum(known for _, _, known in numbers) > 0.99 * len(usual)


@given(values=st.lists(numbers, min_size=1, max_size=5), label=numbers)
def test_a_line_reads_as_float_reads_it_or_is_refused(values: list[str], label: str) -> None:
    pairs = " ".join(f"{j}:{value}" for j, value in enumerate(values, start=1))
    text = f"{label} qid:1 {pairs}\n".encode()
    try:
        wanted = [float(label)] + [float("nan" if v == "NULL" else v) for v in values]
    except ValueError:
        with pytest.raises(svmlight.MalformedLineError, match=r"line 1: .* is not "):
            svmlight.parse_rows(text)
    else:
        rows = svmlight.parse_rows(text)
        found = [*rows.labels.tolist(), *rows.values.tolist()]
        assert [*map(bits, found)] == [*map(bits, wanted)]


def test_pieces_of_any_size_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    lines = [
        f"{row % 3} qid:{row // 5} "
        + " ".join(f"{j}:{rng.normal():.9g}" for j in range(1, 12) if rng.random() < 0.7)
        + rng.choice(["", " # qid:3 1:x", "\n", "\n# 1:2", "\t"])
        for row in range(200)
    ]
    whole = read("\n".join(lines), tmp_path)
    assert whole.n_queries == 40
    for size in (1, 37, 1000):
        monkeypatch.setattr(svmlight, "_PIECE", size)
        again = read("\n".join(lines), tmp_path)
        np.testing.assert_array_equal(again.features, whole.features)
        np.testing.assert_array_equal(again.labels, whole.labels)
        np.testing.assert_array_equal(again.qid, whole.qid)


@pytest.mark.parametrize("size", [1, 20, 1000])
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 qid:1 1:2 3", "'3' is not feature:value"),
        ("1 qid:1 1:x", "'1:x' is not feature:value"),
        ("1 qid:1 2:1 1:1 2:0", "a feature is given twice"),
    ],
)
def test_lines_are_counted_over_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, line: str, problem: str
) -> None:
    monkeypatch.setattr(svmlight, "_PIECE", size)
    text = "# head\n1 qid:1 1:1\n\n" * 5 + f"{line}\n" + "1 qid:1 1:1\n" * 5
    with pytest.raises(ValueError, match=rf"a\.txt, line 16: {problem}"):
        read(text, tmp_path)


def test_features_may_come_in_any_order(tmp_path: Path) -> None:
    for sparse in (False, True):
        features = read("1 qid:1 3:3 1:1\n0 qid:1 2:2\n", tmp_path, sparse=sparse).features
        dense = features.toarray() if sparse else features
        assert dense.tolist() == [[1, 0, 3], [0, 2, 0]]


@pytest.mark.parametrize("sparse", [False, True])
def test_as_scikit_learn_reads_its_own_file(tmp_path: Path, sparse: bool) -> None:
    rng = np.random.default_rng(2)
    features = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.3)
    features[-1, -1] = 1.0
    labels, qid = rng.integers(0, 5, 300), np.arange(300) // 7
    file = tmp_path / "a.svm"
    dump_svmlight_file(features, labels, str(file), zero_based=False, query_id=qid)
    theirs, their_labels, their_qid = load_svmlight_file(str(file), query_id=True, zero_based=False)
    data = read_letor(file, sparse=sparse)
    found = data.features.toarray() if sparse else data.features  # type: ignore[attr-defined]
    np.testing.assert_array_equal(found, theirs.toarray())
    np.testing.assert_array_equal(data.labels, their_labels)
    np.testing.assert_array_equal(data.qid, their_qid)


class TestSparse:
    text = "2 qid:a 1000000:1 5:NULL\n1 qid:a 1:0\n0 qid:b # none\n"

    def test_keeps_what_is_given(self, tmp_path: Path) -> None:
        data = read(self.text, tmp_path, sparse=True)
        assert data.is_sparse
        assert data.features.shape == (3, 1_000_000)
        features = data.features
        np.testing.assert_array_equal(features.data, [np.nan, 1, 0])  # type: ignore[attr-defined]
        assert data.group.tolist() == [2, 1]

    def test_survives_the_disk_and_taking_queries(self, tmp_path: Path) -> None:
        data = read(self.text, tmp_path, sparse=True)
        write_binary(data, tmp_path / "binary")
        again = read_binary(tmp_path / "binary")
        assert again.is_sparse
        assert fingerprint(again) == fingerprint(data)
        taken = again.take_queries([1])
        assert taken.is_sparse
        assert taken.qid.tolist() == ["b"]
        assert fingerprint(taken) != fingerprint(data)

    def test_lightgbm_makes_the_same_of_both(self, tmp_path: Path) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        made = web_search_like(30, 6, random_state=3)
        lines = [
            f"{label:.0f} qid:{qid} " + " ".join(f"{j + 1}:{row[j]!r}" for j in np.flatnonzero(row))
            for label, qid, row in zip(made.labels, made.qid, made.features.tolist(), strict=True)
        ]
        options = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}
        predictions = []
        for sparse in (False, True):
            data = read("\n".join(lines), tmp_path, sparse=sparse)
            train = lightgbm.Dataset(data.features, label=data.labels, group=data.group)
            model = lightgbm.train(options, train, 5)
            predictions.append(model.predict(data.features))
        np.testing.assert_allclose(predictions[0], predictions[1], rtol=1e-12)


def test_memory_that_there_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(rows: object) -> None:
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(svmlight.Rows, "dense", too_much)
    with pytest.raises(MemoryError, match=r"a\.txt: .* 9 TiB; sparse=True may need less"):
        read("1 qid:1 1:1\n", tmp_path)


def test_identifiers_that_are_no_text_stay_apart() -> None:
    rows = [*svmlight.read_rows(io.BytesIO(b"1 qid:\xff 1:1\n1 qid:\xfe 1:1\n"))]
    assert len(set(rows[0].queries)) == 2
