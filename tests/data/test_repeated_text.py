"""Each text of a data set in folds is read once, with the same result as if each file were read."""

from pathlib import Path

import numpy as np
import pytest

from lambdaplus.data import RankingData, read_letor
from lambdaplus.data.feature_rows import FeatureRows, SharedFeatures
from lambdaplus.data.repeated_text import RepeatedText

FIRST = b"2 qid:1 1:0.5 2:1\n0 qid:1 1:0.1 2:3\n1 qid:2 1:7 2:4\n"
SECOND = b"1 qid:3 1:0.25 2:2\r\n0 qid:3 1:4 2:-1\r\n"
OTHER = b"1 qid:9 1:5 2:6\n"


def files(folder: Path, **texts: bytes) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_bytes(text)
    return [folder / f"{name}.txt" for name in texts]


class Counted:
    """A reader, and the names of the files that it read."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, file: Path) -> RankingData:
        self.names.append(file.stem)
        return read_letor(file)


def assert_same(found: RankingData, expected: RankingData) -> None:
    assert found.feature_names == expected.feature_names
    for name in ("features", "labels", "qid", "group"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def read_all(remembered: list[Path], others: list[Path]) -> list[str]:
    """Which files are read if some are remembered first; all are as if each were read."""
    read = Counted()
    once = RepeatedText(read, SharedFeatures())
    for file in remembered:
        once.remember(file)
    for file in [*remembered, *others]:
        assert_same(once(file), read_letor(file))
    return read.names


def test_a_file_of_other_files_is_not_read(tmp_path: Path) -> None:
    found = files(
        tmp_path, a=FIRST, b=SECOND, again=FIRST, both=FIRST + SECOND, turned=SECOND + FIRST,
    )  # fmt: skip
    assert read_all(found[:3], found[3:]) == ["a", "b"]
    once = RepeatedText(read_letor, SharedFeatures())
    for file in found[:2]:
        once.remember(file)
    rows = [once(file).held_features for file in found]
    assert all(isinstance(each, FeatureRows) for each in rows)
    matrices = {id(matrix): matrix for each in rows for matrix in each.matrices}
    assert sum(map(len, matrices.values())) == 5


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ((FIRST, SECOND), FIRST + OTHER + SECOND),
        ((FIRST, SECOND), FIRST + SECOND[:20]),
        ((FIRST, SECOND), FIRST + SECOND.replace(b"0.25", b"0.26")),
        ((FIRST[:-1], SECOND), FIRST + SECOND),  # the last line has no end
        ((FIRST[:-1], b"5 3:1\n" + SECOND), FIRST[:-1] + b"5 3:1\n" + SECOND),  # 2:45
        ((FIRST, b"1 qid:3 1:1\n"), FIRST + b"1 qid:3 1:1\n"),  # fewer features
        ((FIRST, b"1 qid:3 0:1 1:1\n"), FIRST + b"1 qid:3 0:1 1:1\n"),  # a feature 0
        ((FIRST, b"\xef\xbb\xbf" + SECOND), FIRST + SECOND),
    ],
)
def test_a_file_with_anything_else_is_read(
    tmp_path: Path, parts: tuple[bytes, bytes], whole: bytes
) -> None:
    *remembered, other = files(tmp_path, a=parts[0], b=parts[1], other=whole)
    if parts[1].startswith(b"5 "):
        remembered.pop()  # which alone lacks a query
    assert read_all(remembered, [other])[-1] == "other"


def test_a_query_that_goes_on_in_the_next_part_is_one(tmp_path: Path) -> None:
    more = b"1 qid:2 1:3 2:3\n"
    found = files(tmp_path, a=FIRST, b=more, both=FIRST + more)
    assert read_all(found[:2], found[2:]) == ["a", "b"]
    assert read_letor(found[2]).group.tolist() == [2, 2]


def test_queries_that_come_back_are_an_error_of_the_file(tmp_path: Path) -> None:
    more = b"1 qid:1 1:3 2:3\n"
    found = files(tmp_path, a=FIRST, b=more, both=FIRST + more)
    once = RepeatedText(read_letor, SharedFeatures())
    for file in found[:2]:
        once.remember(file)
    with pytest.raises(ValueError, match=r"both\.txt: .* not adjacent"):
        once(found[2])


@pytest.mark.parametrize("more", ["query", "weight"])
def test_files_with_others_beside_them_are_read(tmp_path: Path, more: str) -> None:
    rows = b"2 1:0.5\n0 1:0.1\n" if more == "query" else FIRST
    found = files(tmp_path, a=rows, b=rows)
    for file, numbers in zip(found, ("1\n1\n", "2\n"), strict=True):
        text = numbers if more == "query" else "1\n2\n3\n"
        Path(f"{file}.{more}").write_text(text)
    assert read_all(found[:1], found[1:]) == ["a", "b"]
