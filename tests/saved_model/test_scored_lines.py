"""Lines in the LETOR format to score, read in batches as in training."""

import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scored_files import both, expected

from lambdaplus.data import read_letor
from lambdaplus.saved_model.features import numbered_features

LETOR = {
    "LETOR": "2 qid:10 1:0.5 2:-3e-2 3:7 # doc a:b\n0 qid:10 1:1 3:.25\n",
    "blank lines and comments": "# made\n\n1 qid:1 2:5\n   \n# 1 qid:1 2:9\n0 qid:1 # none\n",
    "missing values": "1 qid:1 1:NULL 2:1.79769313486e+308 3:nan\n0 qid:1 1:inf\n",
    "without queries, and more features": "1 1:4 3:1 9:8\n-1.5\t2:1\r\n",
    "no end of line, and a mark": "\ufeff0 qid:-3 1:1 2:2 3:3",
    "signs and zeros": "+1 qid:1 01:+4 2:-0 3:1E2\n0 qid:1\n",
}


@pytest.mark.parametrize("text", LETOR.values(), ids=LETOR)
def test_batches_of_lines_change_no_feature(text: str, tmp_path: Path) -> None:
    (file := tmp_path / "a.txt").write_text(text, encoding="utf-8")
    read = read_letor(file, grouped=False).features
    names = [str(j) for j in range(1, 10)]
    for size in (np.inf, 5, 72, 150):
        found = np.concatenate([*numbered_features(file, names, size)])
        np.testing.assert_array_equal(found[:, : read.shape[1]], read)
        assert not found[:, read.shape[1] :].any()


def test_svmlight_with_a_feature_0_is_read_as_in_training(tmp_path: Path) -> None:
    (file := tmp_path / "a.txt").write_text("1 qid:1 0:4 2:5\n0 qid:1 1:7\n")
    read = read_letor(file)
    [found] = numbered_features(file, read.feature_names)
    np.testing.assert_array_equal(found, read.features)


@pytest.mark.parametrize("name", ["a.svm", "a.txt.xz"])
def test_numbered_features_are_found_in_any_file(
    models: dict[str, Path], name: str, tmp_path: Path, capsys: Any
) -> None:
    """A CSV file whose columns are named by numbers was read as svmlight: all scores the same."""
    text = b"1 qid:1 1:0.5 3:2\n\n# none\n0 qid:1 2:1 # a\n"
    (file := tmp_path / name).write_bytes(lzma.compress(text) if name.endswith("xz") else text)
    right = expected(models["numbered"], np.array([[0.5, 0, 2], [0, 1, 0]]))
    assert both(models["numbered"], file, capsys)[0] == right.tolist()
    (table := tmp_path / "a.csv").write_text("3,label,1,2\n2,0,0.5,0\n0,1,0,1\n")
    assert both(models["numbered"], table, capsys)[0] == right.tolist()
    assert np.ptp(right) > 0


def test_features_that_count_from_another_number_are_refused(tmp_path: Path) -> None:
    (file := tmp_path / "a.txt").write_text("1 1:1 3:3\n0 2:1\n")
    with pytest.raises(ValueError, match=r"features 1 to 3, .* 0 to 2: the two count from"):
        [*numbered_features(file, "012")]
    [features] = numbered_features(file, "0123")
    assert features.tolist() == [[0.0, 1.0, 0.0, 3.0], [0.0, 0.0, 1.0, 0.0]]
