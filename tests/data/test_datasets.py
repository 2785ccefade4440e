"""`RankingData`, data sets in folders of folds, and the built-in digits."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

from lambdaplus.data import Fold, RankingData, digits_queries, read_folds
from lambdaplus.data.digits import _draw

PARTS = ["train.txt", "vali.txt", "test.txt"]


# RankingData and Fold ----------------------------------------------------------------------------


def test_groups_keep_the_order_of_the_rows_and_features_are_not_copied() -> None:
    features = np.ones((5, 2))
    data = RankingData(features, np.arange(5, dtype=np.float32), np.array([9, 9, 3, 5, 5]))
    assert data.features is features
    assert data.labels.dtype == np.float64
    assert (data.n_queries, data.group.tolist()) == (3, [2, 1, 2])
    with pytest.raises(AttributeError):
        data.name = "other"  # type: ignore[misc]


ONE = np.ones((1, 2))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((np.ones((2, 1)), [0, 1, 2], [1, 1]), r"shape \(2,\) for 3 rows"),
        ((np.ones((2, 1)), [0, 1, 2], [1, 1, 1]), r"each of the 3 labels, not of shape \(2, 1\)"),
        ((np.ones(2), [0, 1], [1, 1]), "features must be 2-D"),
        ((csr_matrix(np.ones((2, 1))), [0, 1], [1, 1]), r"pass features.toarray\(\)"),
        ((np.ones((2, 1)), [0, np.nan], [1, 1]), "is nan in row 1"),
        ((np.ones((0, 1)), [], np.zeros(0, int)), "labels is empty"),
        ((np.ones((2, 1)), [0, 1], [1.0, 1.5]), "qid must be int or str, not float64"),
        ((np.ones((3, 1)), [0, 1, 1], [*"xyx"]), r"query x are not adjacent .* row 2\): sort"),
        ((ONE, [1], [1], "", ("a",)), "1 feature_names for 2 features"),
        ((ONE, [1], [7], "", ("x", "x")), "two features have the same name: x, x"),
    ],
)
def test_invalid_rows_are_refused(arrays: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RankingData(*arrays)


@pytest.mark.parametrize("queries", [[True, False], [0.5], ["0"], [[0]], [None], [2], [-1]])
def test_queries_are_taken_by_index(queries: Any) -> None:
    """NumPy reads a mask as indices, 0.5 as 0, and -1 as the last query."""
    data = RankingData(np.ones((2, 1)), [1, 1], [7, 8])
    assert data.take_queries(np.array([1])).qid.tolist() == [8]
    with pytest.raises(ValueError, match="queries must be a list of indices from 0"):
        data.take_queries(queries)


def test_parts_with_other_features_are_no_fold() -> None:
    one = RankingData([[1, 2]], [1], [1], feature_names=("a", "b"))
    other = RankingData([[1, 2]], [1], [2], feature_names=("b", "a"))
    narrow = RankingData([[1]], [1], [1])
    with pytest.raises(ValueError, match=r"same features .*: x's train has a, b, and x's valid"):
        Fold("x", one, other, one)
    with pytest.raises(ValueError, match="Fold1's train has 2 features, and Fold1's test has 1"):
        Fold("Fold1", one, one, narrow)


# Folders of folds --------------------------------------------------------------------------------


def write_parts(folder: Path, names: list[str] = PARTS, value: int = 1) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for width, name in enumerate(names, start=1):
        (folder / name).write_text(f"1 qid:{value} {width}:{value}\n")


def test_folds_are_in_order_of_number_and_equally_wide(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        write_parts(tmp_path / f"Fold{number}", value=number)
    (tmp_path / "readme.txt").write_text("not a part")
    folds = read_folds(tmp_path)
    assert [fold.name for fold in folds] == ["Fold1", "Fold2", "Fold10"]
    assert [[*part.features[0]] for part in folds[2].parts] == [[10, 0, 0], [0, 10, 0], [0, 0, 10]]
    assert folds[2].test.name == "Fold10 test"


def test_names_of_parts_and_prefixes_of_files(tmp_path: Path) -> None:
    for folder, names in enumerate((
        ["Train.txt", "VALID.TXT", "tEst.txt"],
        ["trainingset.txt", "validationset.txt", "testset.txt"],
    )):  # fmt: skip
        write_parts(tmp_path / f"mine{folder}", names)
        [fold] = read_folds(tmp_path / f"mine{folder}")
        assert (fold.name, fold.valid.features.tolist()) == (f"mine{folder}", [[0, 1, 0]])
    for n in (2, 1):
        write_parts(tmp_path / "set", [f"set{n}.{p}.txt" for p in ("train", "valid", "test")], n)
    found = [(fold.name, fold.test.features[0, 2]) for fold in read_folds(tmp_path / "set")]
    assert found == [("set1", 1), ("set2", 2)]


def test_missing_and_ambiguous_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_parts(tmp_path / "two" / "Fold1", ["train.txt", "test.txt"])
    write_parts(tmp_path / "one" / "Fold1", ["train.txt"])
    write_parts(tmp_path / "twice")
    (tmp_path / "twice" / "test.txt.gz").write_bytes(gzip.compress(b"1 qid:1 1:1\n"))
    for name, error, message in (
        ("none", FileNotFoundError, r"no folder .*none; expected train\.txt"),
        ("empty", FileNotFoundError, "contains nothing; expected"),
        ("two", FileNotFoundError, r"Fold1 contains test\.txt, train\.txt, and no v"),
        ("one", FileNotFoundError, r"Fold1 contains train\.txt; expected"),
        ("twice", ValueError, r"test\.txt and .*test\.txt\.gz are the same part"),
    ):
        with pytest.raises(error, match=message):
            read_folds(tmp_path / name)


def test_validation_queries_can_be_set_aside(tmp_path: Path) -> None:
    lines = [f"{i % 2} qid:{i // 4} 1:{i} {1 + i // 4}:1\n" for i in range(4, 44)]
    folder = tmp_path / "full"
    write_parts(folder, ["train.txt", "test.txt"], 99)
    (folder / "train.txt").write_text("".join(lines))
    [fold] = read_folds(folder, valid=0.3)
    assert [part.n_queries for part in fold.parts] == [7, 3, 1]
    assert sorted({*fold.train.qid, *fold.valid.qid}) == list(range(1, 11))
    assert [part.name for part in fold.parts] == ["full train", "full vali", "full test"]
    assert fold.test.features.shape == (1, 11)
    with pytest.raises(ValueError, match="0 of 10 queries cannot be set aside"):
        read_folds(folder, valid=0.05)


# The digits --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits() -> list[Fold]:
    return digits_queries()


def test_size_and_folds_of_the_digits(digits: list[Fold]) -> None:
    images = [{*queries} | {*documents} for queries, documents in _draw(load_digits().target)]
    assert sum(map(len, images)) == len(set.union(*images))  # parts share none
    tested = [set(fold.test.qid) for fold in digits]
    assert len(set.union(*tested)) == 250
    for i, fold in enumerate(digits):
        assert fold.name == f"Fold{i + 1}"
        assert set(fold.valid.qid) == tested[i - 1]
        assert set(fold.train.qid) == set.union(*(tested[i - step] for step in (2, 3, 4)))
        for part, n_queries in ((fold.train, 150), (fold.valid, 50), (fold.test, 50)):
            assert part.n_queries == n_queries
            assert part.features.shape == (len(part.labels), 29)
            assert np.isfinite(part.features).all()
            assert set(part.labels) == {0.0, 1.0}
            assert 60 <= part.group.min() <= part.group.max() <= 100
            relevant = np.add.reduceat(part.labels, part.queries.boundaries[:-1])
            assert 4 <= relevant.min() <= relevant.max() <= 12


def test_first_columns_of_the_digits_are_pixel_distances(digits: list[Fold]) -> None:
    pixels, classes = load_digits(return_X_y=True)
    queries, documents = _draw(classes)[4]
    apart = (pixels[queries] - pixels[documents]) / 16
    test = digits[0].test
    np.testing.assert_array_equal(test.qid, queries)
    np.testing.assert_array_equal(test.labels, classes[queries] == classes[documents])
    np.testing.assert_allclose(test.features[:, 0], np.linalg.norm(apart, axis=1))
    np.testing.assert_allclose(test.features[:, 1], np.abs(apart).sum(axis=1))
