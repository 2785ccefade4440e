"""One copy of the data for all folds and processes, and the memory that a study needs."""

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lambdaplus.data import Fold, RankingData, cross_validation
from lambdaplus.data.cache import fingerprint
from lambdaplus.data.feature_rows import FeatureRows
from lambdaplus.data.ranking_data import rows_of_data
from lambdaplus.study import Config, Fitted, Method, Study, Task, find_methods, study_of
from lambdaplus.study.boosted_trainer import BoostedTrainer
from lambdaplus.study.boosters import fit_lightgbm
from lambdaplus.study.folds import read_study_data
from lambdaplus.study.memory import Memory
from lambdaplus.study.runner import laid_out

FEATURES = np.random.default_rng(0).normal(size=(120, 3)).round(3)
LABELS = np.arange(120) % 3
QUERIES = np.repeat(np.arange(20), 6)


def _lines(subset: int) -> str:
    return "".join(
        f"{LABELS[i]} qid:{QUERIES[i]} " + " ".join(f"{j}:{v}" for j, v in enumerate(row, 1)) + "\n"
        for i, row in enumerate(FEATURES)
        if QUERIES[i] % 5 == subset
    )


@pytest.fixture
def letor(tmp_path: Path) -> Path:
    """Folds as LETOR has them: each query is in a part of each of them."""
    for fold in range(5):
        parts = [_lines((fold + place) % 5) for place in range(5)]
        folder = tmp_path / "letor" / f"Fold{fold + 1}"
        folder.mkdir(parents=True)
        for part, text in ("train", "".join(parts[:3])), ("vali", parts[3]), ("test", parts[4]):
            (folder / f"{part}.txt").write_text(text)
    return tmp_path / "letor"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [
        f"{q},{y},{','.join(map(str, row))}"
        for q, y, row in zip(QUERIES, LABELS, FEATURES, strict=True)
    ]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(["qid,label,a,b,c", *rows]))
    return file


def _rows_in_matrices(folds: Sequence[Fold]) -> int:
    matrices = {id(m): m for f in folds for p in f.parts for m in p.held_features.matrices}
    return sum(map(len, matrices.values()))


def test_folders_share_the_features_of_each_query(letor: Path) -> None:
    folds = read_study_data(Config(data=str(letor))).folds
    assert _rows_in_matrices(folds) == 120
    for place, fold in enumerate(folds):
        for part, subsets in zip(fold.parts, ([0, 1, 2], [3], [4]), strict=True):
            rows = [np.flatnonzero((place + s) % 5 == QUERIES % 5) for s in subsets]
            np.testing.assert_array_equal(part.features, FEATURES[np.concatenate(rows)])


def test_only_chosen_folds_are_read(letor: Path) -> None:
    (letor / "Fold1" / "train.txt").write_text("damaged\n")
    folds = read_study_data(Config(data=str(letor), folds="2,3")).folds
    assert [fold.name for fold in folds] == ["Fold2", "Fold3"]
    with pytest.raises(ValueError, match="damaged"):
        read_study_data(Config(data=str(letor)))


def test_folds_of_a_file_share_its_features(table: Path) -> None:
    read = read_study_data(Config(data=str(table)))
    assert _rows_in_matrices(read.folds) == 120
    copied = cross_validation(read.all_rows)
    for fold, other in zip(read.folds, copied, strict=True):
        for shared, copy in zip(fold.parts, other.parts, strict=True):
            assert isinstance(shared.held_features, FeatureRows)
            np.testing.assert_array_equal(shared.features, copy.features)
            assert fingerprint(shared) == fingerprint(copy)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("shared", [False, True])
def test_some_rows_are_read_without_a_copy_of_all(layout: Any, shared: bool) -> None:
    matrix = layout(np.random.default_rng(0).normal(size=(100_000, 8)))
    data = RankingData(matrix, np.zeros(100_000), np.arange(100_000) // 10)
    chosen = np.arange(50, 90)
    tracemalloc.start()
    features = rows_of_data(data, chosen, shared=shared).features
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < matrix.nbytes / 10
    np.testing.assert_array_equal(features, matrix[chosen])


def test_processes_map_one_file(table: Path, tmp_path: Path) -> None:
    folds = read_study_data(Config(data=str(table))).folds
    folder = tmp_path / "parts"
    folder.mkdir()
    for fold in folds:
        for part in fold.parts:
            laid_out(part, folder)
    assert [file.stat().st_size // (8 * 3) for file in folder.glob("*.npy")] == [125]  # and header


def test_a_study_that_needs_more_than_there_is_says_what_helps(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(Config(data=str(table), methods=("feature:best",), metrics=("map",)), jobs=2)
    need = [study.memory.needed(jobs) for jobs in (1, 2)]
    assert need[0] < need[1]
    monkeypatch.setattr("lambdaplus.study.memory.memory_limit", lambda: sum(need) / 2)
    with pytest.raises(ValueError, match=r"120 rows x 3 features.*use --jobs 1"):
        study_of(study.config, jobs=2).finish()
    monkeypatch.setattr("lambdaplus.study.memory.memory_limit", lambda: need[0] / 2)
    with pytest.raises(ValueError, match="leave out features"):
        study_of(study.config).finish()


def test_the_need_is_that_of_the_data_once_and_of_each_fit() -> None:
    data = RankingData(np.zeros((1000, 50)), np.arange(1000) % 2, np.arange(1000) // 10)
    folds = cross_validation(data)
    lightgbm = find_methods("lightgbm:lambda_map")
    one = Memory.of(folds, lightgbm, 1)
    # 600 rows are trained on, and 200 validate: 8 bytes of a row until there are bins of one byte,
    # for which LightGBM looks at values of 20 bytes.
    assert one.of_fit == 50 * (600 * 8 + 800 + 600 * 20)
    assert one.held == 5 * 1000 * (50 * 8 + 40)  # folds of the user have copies
    assert one.needed(2) - one.needed(1) == pytest.approx(one.of_fit + 2 * 0.2e9)
    assert not one.is_large
    assert "1,000 rows x 50 features" in one.in_words


@pytest.mark.parametrize(
    ("fixed", "categories", "of_train", "of_valid"),
    [
        ({}, (), 6, 6),
        ({"max_bin": 8}, (), 6, 6),
        ({}, ("a",), 6, 10),  # validation rows may have categories that have no bins
        ({"tree_method": "hist"}, (), 6, 6),
        ({"tree_method": "approx"}, (), 10, 10),
        ({"booster": "dart"}, (), 10, 10),
    ],
)
def test_the_need_of_xgboost_is_that_of_its_matrix(
    fixed: dict[str, Any], categories: tuple[str, ...], of_train: int, of_valid: int
) -> None:
    numbers, labels, qid = np.zeros((1000, 1)), np.arange(1000) % 2, np.arange(1000) // 10
    folds = cross_validation(RankingData(numbers, labels, qid, "", ("a",), categories=categories))
    [method] = find_methods("xgboost:lambda_map")
    need = Memory.of(folds, [replace(method, fixed=fixed)], 1)
    assert need.of_fit == 600 * 8 + 600 * of_train + 200 * of_valid
    searched = replace(method, grid={name: [value, value] for name, value in fixed.items()})
    assert Memory.of(folds, [searched], 1).of_fit >= need.of_fit


def test_trees_copy_rows_while_they_make_bins(table: Path) -> None:
    held: list[type] = []

    def train(*given: Any, **options: Any) -> Any:
        held.extend(type(data.held_features) for data in given[2:4])
        return fit_lightgbm(*given, **options)

    [method] = find_methods("lightgbm:lambda_map")
    spied = replace(method, trainer=BoostedTrainer("lightgbm", train))
    folds = read_study_data(Config(data=str(table))).folds
    Study(folds[:1], [spied], ["map"], Config(rounds=2)).finish()
    assert held == [FeatureRows, FeatureRows]


def test_a_method_may_change_what_it_gets(table: Path) -> None:
    def spoil(task: Task) -> Fitted:
        task.train.features[:] = 0.0
        return Fitted(lambda data: data.features[:, 0])

    folds = read_study_data(Config(data=str(table))).folds
    before = fingerprint(folds[0].train)
    Study(folds[:1], [Method("spoils", spoil, random=False)], ["map"]).finish()
    assert fingerprint(folds[0].train) == before
