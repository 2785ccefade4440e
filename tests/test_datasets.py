"""The container, the LETOR reader on small and on real files, and the built-in digits set."""

from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lambdaplus.data import Fold, RankingData, digits_queries, read_folds, read_letor
from lambdaplus.data.digits import _draw

SHARED = Path(__file__).parents[2] / "shared" / "data"
SAMPLE = """\
# a comment on a separate line

2 qid:10 1:0.5 3:-1e-3 # docid = GX1 inc = 0.5
0 qid:10 1:0.25 2:7
1 qid:4 # no features: all of them 0
"""
SAMPLE_FEATURES = [[0.5, 0, -1e-3], [0.25, 7, 0], [0, 0, 0]]


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def write_gz(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()))


def write_xz(path: Path, text: str) -> None:
    path.write_bytes(lzma.compress(text.encode()))


@pytest.fixture(scope="module")
def digits() -> list[Fold]:
    pytest.importorskip("sklearn")
    return digits_queries()


@pytest.mark.slow
def test_import_is_light() -> None:
    code = "import sys, lambdaplus.data as d; sys.exit('sklearn' in sys.modules)"
    root = Path(__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


class TestRankingData:
    def test_groups_keep_the_order_of_the_rows(self) -> None:
        data = RankingData(np.ones((5, 2)), np.arange(5.0), np.array([9, 9, 3, 5, 5]))
        assert data.n_queries == 3
        assert data.group.dtype == np.int64
        assert data.group.tolist() == [2, 1, 2]

    def test_converts_to_float64_and_keeps_what_is_right(self) -> None:
        features = np.ones((2, 1))
        data = RankingData(features, np.array([0.0, 1.0], np.float32), np.array(["a", "b"]))
        assert data.features is features
        assert data.labels.dtype == np.float64

    def test_is_frozen(self) -> None:
        data = RankingData(np.ones((1, 1)), np.ones(1), np.ones(1, int))
        with pytest.raises(AttributeError):
            data.name = "other"  # type: ignore[misc]

    @pytest.mark.parametrize("qid", [[7, 8, 7, 7], ["x7", "x8", "x7", "x9"]])
    def test_split_query_is_named(self, qid: list[int] | list[str]) -> None:
        with pytest.raises(ValueError, match=rf"query {qid[0]} are not adjacent .* row 2\): sort"):
            RankingData(np.ones((4, 1)), np.ones(4), np.array(qid))

    @pytest.mark.parametrize(
        ("features", "labels", "qid", "message"),
        [
            (np.ones((2, 1)), [0, 1, 2], [1, 1], r"shape \(2,\) for 3 rows"),
            (np.ones((2, 1)), [0, 1, 2], [1, 1, 1], r"each of the 3 labels, not of shape \(2, 1\)"),
            (np.ones(2), [0, 1], [1, 1], "features must be 2-D"),
            (np.ones((2, 1)), [0, np.nan], [1, 1], "is nan in row 1"),
            (np.ones((0, 1)), [], np.zeros(0, int), "labels is empty"),
            (np.ones((2, 1)), [0, 1], [1.0, 1.5], "qid must be int or str, not float64"),
        ],
    )
    def test_refuses(self, features: object, labels: object, qid: object, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            RankingData(features, labels, qid)  # type: ignore[arg-type]

    def test_parts_of_a_fold_must_be_equally_wide(self) -> None:
        one = RankingData(np.ones((1, 1)), np.ones(1), np.ones(1, int))
        two = RankingData(np.ones((1, 2)), np.ones(1), np.ones(1, int))
        with pytest.raises(ValueError, match="Fold1: train, valid and test have 1, 1 and 2 f"):
            Fold("Fold1", one, one, two)


class TestReadLetor:
    @pytest.mark.parametrize(
        ("name", "write"),
        [("a.txt", write_text), ("a.txt.gz", write_gz), ("a.txt.xz", write_xz)],
    )
    def test_round_trip(
        self, tmp_path: Path, name: str, write: Callable[[Path, str], None]
    ) -> None:
        write(tmp_path / name, SAMPLE)
        data = read_letor(tmp_path / name)
        assert data.name == name
        assert data.features.dtype == data.labels.dtype == np.float64
        assert data.features.tolist() == SAMPLE_FEATURES
        assert data.labels.tolist() == [2, 0, 1]
        assert data.qid.dtype == np.int64
        assert data.qid.tolist() == [10, 10, 4]

    @pytest.mark.parametrize("end", ["\r\n", "\n"])
    @pytest.mark.parametrize("start", ["", "\ufeff"])
    def test_line_ends_and_byte_order_mark(self, tmp_path: Path, end: str, start: str) -> None:
        write_text(tmp_path / "a.txt", start + SAMPLE[SAMPLE.index("2 qid") :].replace("\n", end))
        assert read_letor(str(tmp_path / "a.txt")).features.tolist() == SAMPLE_FEATURES

    def test_random_sparse_file_reads_exactly(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        features = rng.normal(size=(60, 9)) * (rng.random((60, 9)) < 0.6)
        features[:, -1] = 1.0
        labels, qid = rng.integers(0, 5, 60), np.arange(60) // 7
        lines = [
            f"{label} qid:{query} " + " ".join(f"{j + 1}:{row[j]!r}" for j in np.flatnonzero(row))
            for label, query, row in zip(labels, qid, features.tolist(), strict=True)
        ]
        write_text(tmp_path / "a.txt", "\n".join(lines))
        data = read_letor(tmp_path / "a.txt")
        np.testing.assert_array_equal(data.features, features)
        np.testing.assert_array_equal(data.labels, labels)
        np.testing.assert_array_equal(data.qid, qid)

    @pytest.mark.parametrize("ids", [["q1", "q2"], ["7", "007"], ["1", "9" * 30], ["1.0", "1"]])
    def test_ids_that_are_no_integers_stay_text(self, tmp_path: Path, ids: list[str]) -> None:
        write_text(tmp_path / "a.txt", "".join(f"1 qid:{query} 1:1\n" for query in ids))
        assert read_letor(tmp_path / "a.txt").qid.tolist() == ids

    def test_null_is_nan(self, tmp_path: Path) -> None:
        write_text(tmp_path / "a.txt", "1 qid:1 1:NULL 2:3\n0 qid:1 1:1 2:2\n")
        features = read_letor(tmp_path / "a.txt").features
        np.testing.assert_array_equal(features, [[np.nan, 3], [1, 2]])

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("x qid:1 1:2", "'x'"),
            ("1", "qid:ID, not 'nothing'"),
            ("1 1:2", "qid:ID, not '1:2'"),
            ("1 qid: 1:2", "qid:ID, not 'qid:'"),
            ("1 qid:1 1:abc", "'1:abc' is not feature:value"),
            ("1 qid:1 1:2 3", "'3' is not feature:value"),
            ("1 qid:1 1:2:3 4", "'1:2:3' is not feature:value"),
            ("1 qid:1 a:2", "the feature 'a' is not a number from 1"),
            ("1 qid:1 0:2", "the feature '0' is not a number from 1"),
            ("1 qid:1 2:2 2:3", "given twice"),
            ("1 qid:1 " + "9" * 30 + ":1", "from 1 to 2,147,483,647"),
            ("1 qid:1 1:2:NULL", "'1:2:NULL' is not feature:value"),
        ],
    )
    def test_malformed_line_is_named(self, tmp_path: Path, line: str, message: str) -> None:
        file = tmp_path / "bad.txt"
        write_text(file, f"# first\n1 qid:1 1:2 2:3\n{line}\n")
        with pytest.raises(ValueError, match=message) as caught:
            read_letor(file)
        assert str(caught.value).startswith(f"{file}, line 3: ")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("1 qid:7 1:1\n1 qid:8 1:1\n0 qid:7 1:1\n", "query 7 are not adjacent"),
            ("nan qid:7 1:1\n", "labels must be finite"),
            ("# only a comment\n", "labels is empty"),
            ("", "labels is empty"),
            ("\ufeff", "labels is empty"),
        ],
    )
    def test_refused_rows_name_the_file(self, tmp_path: Path, text: str, message: str) -> None:
        write_text(tmp_path / "bad.txt", text)
        with pytest.raises(ValueError, match=rf"bad\.txt: .*{message}"):
            read_letor(tmp_path / "bad.txt")


class TestReadFolds:
    @staticmethod
    def write_triple(folder: Path, names: list[str], value: int = 1) -> None:
        for width, name in enumerate(names, start=1):
            write_text(folder / name, f"1 qid:{value} {width}:{value}\n")

    def test_folds_in_order_of_number_and_equally_wide(self, tmp_path: Path) -> None:
        for number in (10, 2, 1):
            self.write_triple(
                tmp_path / f"Fold{number}", ["train.txt", "vali.txt", "test.txt"], number
            )
        write_text(tmp_path / "readme.txt", "not a part")
        folds = read_folds(tmp_path)
        assert [fold.name for fold in folds] == ["Fold1", "Fold2", "Fold10"]
        assert folds[2].train.features.tolist() == [[10, 0, 0]]
        assert folds[2].valid.features.tolist() == [[0, 10, 0]]
        assert folds[2].test.features.tolist() == [[0, 0, 10]]
        assert folds[2].test.name == "Fold10 test"

    @pytest.mark.parametrize(
        "names",
        [
            ["train.txt", "vali.txt", "test.txt"],
            ["Train.txt", "VALID.TXT", "tEst.txt"],
            ["trainingset.txt", "validationset.txt", "testset.txt"],
            ["train.txt", "validation.txt", "test.txt"],
        ],
    )
    def test_single_triple_is_named_by_the_folder(self, tmp_path: Path, names: list[str]) -> None:
        self.write_triple(tmp_path / "mine", names)
        [fold] = read_folds(tmp_path / "mine")
        assert fold.name == "mine"
        assert fold.valid.features.tolist() == [[0, 1, 0]]

    def test_prefixes_are_folds(self, tmp_path: Path) -> None:
        for number in (2, 1):
            parts = [f"set{number}.{part}.txt" for part in ("train", "valid", "test")]
            self.write_triple(tmp_path, parts, number)
        folds = read_folds(tmp_path)
        assert [(fold.name, fold.test.features[0, 2]) for fold in folds] == [
            ("set1", 1),
            ("set2", 2),
        ]

    def test_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"no folder .*none; expected train\.txt"):
            read_folds(tmp_path / "none")

    def test_missing_part_says_what_was_found(self, tmp_path: Path) -> None:
        self.write_triple(tmp_path / "Fold1", ["train.txt", "test.txt"])
        with pytest.raises(FileNotFoundError, match=r"Fold1 holds test\.txt, train\.txt, and no v"):
            read_folds(tmp_path)
        (tmp_path / "Fold1" / "test.txt").unlink()
        with pytest.raises(FileNotFoundError, match=r"Fold1 holds train\.txt; expected"):
            read_folds(tmp_path)

    def test_empty_folder(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="holds nothing; expected"):
            read_folds(tmp_path)

    @pytest.mark.parametrize("name", ["istella-s-letor/sample", "OHSUMED/QueryLevelNorm"])
    def test_a_single_set_is_found_below(self, tmp_path: Path, name: str) -> None:
        write_text(tmp_path / "readme" / "license.txt", "")
        folder = tmp_path / name / ("Fold1" if "OHSUMED" in name else ".")
        self.write_triple(folder, ["train.txt", "vali.txt", "test.txt"])
        [fold] = read_folds(tmp_path)
        assert fold.name == folder.resolve().name

    def test_several_sets_are_listed(self, tmp_path: Path) -> None:
        for name in ("2003_np_dataset", "2003_hp_dataset"):
            self.write_triple(tmp_path / "Gov" / name / "Fold1", ["train.txt"])
        with pytest.raises(
            ValueError, match="sets: Gov/2003_hp_dataset, Gov/2003_np_dataset; pass"
        ):
            read_folds(tmp_path)

    @pytest.mark.parametrize("sparse", [False, True])
    def test_training_queries_stand_in_for_validation(self, tmp_path: Path, sparse: bool) -> None:
        lines = [f"{i % 2} qid:{i // 4} 1:{i} {1 + i // 4}:1\n" for i in range(4, 44)]
        write_text(tmp_path / "full" / "train.txt", "".join(lines))
        write_text(tmp_path / "full" / "test.txt", "1 qid:99 1:5\n")
        [fold] = read_folds(tmp_path / "full", valid=0.3, sparse=sparse)
        assert (fold.train.n_queries, fold.valid.n_queries, fold.test.n_queries) == (7, 3, 1)
        assert sorted({*fold.train.qid, *fold.valid.qid}) == list(range(1, 11))
        assert [part.name for part in (fold.train, fold.valid)] == ["full train", "full vali"]
        assert {part.is_sparse for part in (fold.train, fold.valid, fold.test)} == {sparse}
        assert fold.test.features.shape == (1, 11)
        with pytest.raises(ValueError, match="0 of 10 queries cannot be set aside"):
            read_folds(tmp_path / "full", valid=0.05)

    def test_one_part_twice(self, tmp_path: Path) -> None:
        self.write_triple(tmp_path, ["train.txt", "vali.txt", "test.txt"])
        write_gz(tmp_path / "test.txt.gz", "1 qid:1 1:1\n")
        with pytest.raises(ValueError, match=r"test\.txt and .*test\.txt\.gz are the same part"):
            read_folds(tmp_path)

    def test_mq2008(self, tmp_path: Path) -> None:
        if not (SHARED / "mq2008").is_dir():
            pytest.skip(f"the real sets are not at {SHARED}")
        command = [sys.executable, str(SHARED / "folds.py"), "mq2008", str(tmp_path / "mq2008")]
        subprocess.run(command, check=True)
        folds = read_folds(tmp_path / "mq2008")
        assert [fold.name for fold in folds] == [f"Fold{i}" for i in range(1, 6)]
        # The five test parts make up the whole set; the counts are those of the data's README.
        tests = [fold.test for fold in folds]
        labels = np.concatenate([test.labels for test in tests])
        assert sum(test.n_queries for test in tests) == 784
        assert np.unique(labels, return_counts=True)[1].tolist() == [12_279, 2_001, 931]
        assert {test.features.shape[1] for test in tests} == {46}
        for fold in folds:
            assert sum(len(p.labels) for p in (fold.train, fold.valid, fold.test)) == 15_211
            assert not set(fold.train.qid) & set(fold.test.qid)


class TestDigits:
    def test_size(self, digits: list[Fold]) -> None:
        assert [fold.name for fold in digits] == [f"Fold{i}" for i in range(1, 6)]
        for fold in digits:
            parts = (fold.train, fold.valid, fold.test)
            assert [part.n_queries for part in parts] == [150, 50, 50]
            for part in parts:
                assert part.features.shape == (len(part.labels), 29)
                assert np.isfinite(part.features).all()
                assert set(part.labels) == {0.0, 1.0}
                assert 60 <= part.group.min() <= part.group.max() <= 100
                starts = np.cumsum(part.group) - part.group
                relevant = np.add.reduceat(part.labels, starts)
                assert 4 <= relevant.min() <= relevant.max() <= 12

    @pytest.mark.parametrize("n_folds", [3, 5, 12])
    def test_parts_share_no_image(self, n_folds: int) -> None:
        datasets = pytest.importorskip("sklearn.datasets")
        digits = datasets.load_digits().target
        parts = _draw(digits, n_folds, seed=0)
        images = [set(queries) | set(documents) for queries, documents in parts]
        assert sum(map(len, images)) == len(set.union(*images))
        for queries, documents in parts:
            assert not set(queries) & set(documents)

    def test_folds_rotate_over_the_parts(self, digits: list[Fold]) -> None:
        tested = [set(fold.test.qid) for fold in digits]
        for i, fold in enumerate(digits):
            assert set(fold.valid.qid) == tested[i - 1]
            assert set(fold.train.qid) == set.union(*(tested[i - step] for step in (2, 3, 4)))
        assert len(set.union(*tested)) == 250

    def test_first_columns_are_pixel_distances(self, digits: list[Fold]) -> None:
        datasets = pytest.importorskip("sklearn.datasets")
        pixels, classes = datasets.load_digits(return_X_y=True)
        queries, documents = _draw(classes, 5, seed=0)[4]
        apart = (pixels[queries] - pixels[documents]) / 16
        test = digits[0].test
        np.testing.assert_array_equal(test.qid, queries)
        np.testing.assert_array_equal(test.labels, classes[queries] == classes[documents])
        np.testing.assert_allclose(test.features[:, 0], np.linalg.norm(apart, axis=1))
        np.testing.assert_allclose(test.features[:, 1], np.abs(apart).sum(axis=1))

    def test_is_deterministic(self, digits: list[Fold]) -> None:
        other, again = digits_queries(seed=1), digits_queries(seed=0)  # only the last one is kept
        for fold, same in zip(digits, again, strict=True):
            np.testing.assert_array_equal(fold.train.features, same.train.features)
            np.testing.assert_array_equal(fold.test.qid, same.test.qid)
        assert set(other[0].test.qid) != set(digits[0].test.qid)

    def test_what_is_done_to_folds_changes_no_others(self) -> None:
        first, second = digits_queries()[0], digits_queries()[0]
        for part in ("train", "valid", "test"):
            one, other = getattr(first, part), getattr(second, part)
            for name in ("features", "labels", "qid"):
                assert not np.shares_memory(getattr(one, name), getattr(other, name))

    def test_pixel_distance_is_a_fair_start_and_no_more(self, digits: list[Fold]) -> None:
        metrics = pytest.importorskip("sklearn.metrics")
        precisions = []
        for fold in digits:
            ends = np.cumsum(fold.test.group)[:-1]
            labels = np.split(fold.test.labels, ends)
            scores = np.split(-fold.test.features[:, 0], ends)
            precisions += [*map(metrics.average_precision_score, labels, scores)]
        assert 0.65 < np.mean(precisions) < 0.75

    def test_order_of_rows_gives_nothing_away(self, digits: list[Fold]) -> None:
        test = digits[0].test
        within = np.concatenate([np.arange(size) / size for size in test.group])
        assert abs(np.corrcoef(within, test.labels)[0, 1]) < 0.05

    @pytest.mark.parametrize("n_folds", [2, 13])
    def test_refuses_too_few_and_too_many_folds(self, n_folds: int) -> None:
        with pytest.raises(ValueError, match=f"from 3 to 12, not {n_folds}"):
            digits_queries(n_folds)
