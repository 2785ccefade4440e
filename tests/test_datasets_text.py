"""LETOR text: numbers as Python reads them, sparse data, errors with line numbers."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from brute_force import examples
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from lambdaplus.data import RankingData, memory, read_letor, web_search_like
from lambdaplus.data.binary import fingerprint, read_binary, write_binary


def bits(value: float) -> bytes:
    """Tells one NaN from none."""
    return struct.pack("d", value + 0.0)


def read(text: str, tmp_path: Path, **options: bool) -> RankingData:
    (tmp_path / "a.txt").write_text(text)
    return read_letor(tmp_path / "a.txt", **options)


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
@example(values=["inf", "nan", "-0.0", "4.9e-324", "1" + "0" * 300], label="1")
def test_a_line_reads_as_float_reads_it_or_is_refused(
    tmp_path: Path, values: list[str], label: str
) -> None:
    pairs = " ".join(f"{j}:{value}" for j, value in enumerate(values, start=1))
    texts = [label, *("nan" if value == "NULL" else value for value in values)]
    try:
        wanted = [float("x" if "_" in text else text) for text in texts]
        beyond = [np.isinf(w) and "i" not in t.lower() for w, t in zip(wanted, texts, strict=True)]
    except ValueError:
        wanted, beyond = [], [True]
    if any(beyond):
        with pytest.raises(ValueError, match=r"a.txt, line 1: .* is (not|beyond)"):
            read(f"{label} qid:1 {pairs}\n", tmp_path)
    elif not np.isfinite(wanted[0]):
        with pytest.raises(ValueError, match="labels must be finite"):
            read(f"{label} qid:1 {pairs}\n", tmp_path)
    else:
        data = read(f"{label} qid:1 {pairs}\n", tmp_path)
        found = [*data.labels.tolist(), *data.features[0].tolist()]
        assert [*map(bits, found)] == [*map(bits, wanted)]


@pytest.mark.parametrize("sparse", [False, True])
def test_features_may_come_in_any_order(tmp_path: Path, sparse: bool) -> None:
    data = read("1 qid:1 3:3 1:1\n0 qid:1 2:2\n", tmp_path, sparse=sparse)
    assert data.dense_features.tolist() == [[1, 0, 3], [0, 2, 0]]


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
    np.testing.assert_array_equal(data.dense_features, theirs.toarray())
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


def test_what_does_not_fit_into_memory_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "memory_in_bytes", lambda: 1e6)
    text = "1 qid:1 1:1\n1 qid:1 2147483647:1\n"
    with pytest.raises(MemoryError, match=r"a.txt: an array of 2 rows x 2,147,483,647 features ta"):
        read(text, tmp_path)
    assert read(text, tmp_path, sparse=True).features.shape == (2, 2**31 - 1)
    with pytest.raises(
        MemoryError, match="9 queries of about 120 documents with 999 features take"
    ):
        web_search_like(9, 999)


def test_identifiers_that_are_no_text_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"1 qid:\xff 1:1\n1 qid:\xfe 1:1\n")
    assert read_letor(tmp_path / "a.txt").n_queries == 2
