"""The cache of data sets: when it is used, when it must not be used, and failures."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from damage import damaged
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from lambdaplus.data import RankingData, read_letor
from lambdaplus.data.cache import cached, fingerprint, read_binary, write_binary

LARGE = " " * 1_000_000  # so that a file is worth a cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the entries of a test are."""
    monkeypatch.setenv("LAMBDAPLUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sets"


class Reader:
    """Reads files of one number, and remembers which."""

    def __init__(self) -> None:
        self.files: list[Path] = []

    def __call__(self, file: Path) -> RankingData:
        self.files.append(file)
        return RankingData([[float(file.read_text())]] * 3, [2, 0, 1], ["x", "x", "y"], file.name)


def write(file: Path, number: float = 7, age: float = 60.0, text: str = LARGE) -> Path:
    file.write_text(f"{number}{text}")
    os.utime(file, (time.time() - age, time.time() - age))
    return file


def value(file: Path, read: Any = None) -> float:
    return float(cached(file, read or Reader()).features[0, 0])


def test_the_second_read_is_from_the_cache_and_may_be_changed(tmp_path: Path, folder: Path) -> None:
    file = write(tmp_path / "a.txt", text=" qid:1 0:5 1:2\n" + LARGE)
    for _ in range(3):
        data = read_letor(file)
        assert (data.name, data.qid.tolist(), data.features.tolist()) == ("a.txt", [1], [[5, 2]])
        assert data.feature_names == ("0", "1")
        data.features[0, 0] = 9.0
    assert len([*folder.iterdir()]) == 1


def test_a_file_that_is_read_without_its_queries_has_another_entry(
    tmp_path: Path, folder: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("1 qid:1 1:2\n0 qid:2 1:3\n2 qid:2 1:4\n" + LARGE)
    for _ in range(2):
        assert read_letor(file).qid.tolist() == [1, 2, 2]
        assert read_letor(file, grouped=False).qid.tolist() == [0, 0, 0]
    assert len([*folder.iterdir()]) == 2


@pytest.mark.parametrize("change", ["size", "time", "path"])
def test_a_changed_file_is_read_again(tmp_path: Path, folder: Path, change: str) -> None:
    file, read = write(tmp_path / "a.txt"), Reader()
    value(file, read)
    if change == "size":
        when = file.stat().st_mtime_ns
        file.write_text("9.0" + LARGE)
        os.utime(file, ns=(when, when))
    else:
        file = write(tmp_path / "b.txt" if change == "path" else file, 9, age=50)
    assert value(file, read) == value(file, read) == 9
    assert len(read.files) == 2


def test_small_files_are_not_cached_and_off_is_off(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value(write(tmp_path / "a.txt", text=""))
    monkeypatch.setenv("LAMBDAPLUS_CACHE", "off")
    monkeypatch.chdir(tmp_path)
    value(write(tmp_path / "a.txt"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@examples(40)
@given(st.data())
def test_damage_of_any_kind_is_noticed(tmp_path: Path, folder: Path, draw: st.DataObject) -> None:
    """Bytes replaced, cut, doubled: the text is read again, and the entry is replaced."""
    file = tmp_path / "a.txt"
    if not file.exists():
        write(file)
    wanted = fingerprint(cached(file, Reader()))
    [entry] = folder.iterdir()
    entry.write_bytes(damaged(draw, entry.read_bytes()))
    for _ in range(2):
        assert fingerprint(cached(file, Reader())) == wanted


@pytest.mark.parametrize("trouble", ["a file", "no home"])
def test_files_are_read_without_a_cache_that_cannot_be_written(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    def no_home() -> Path:
        raise RuntimeError("no home directory")

    file = write(tmp_path / "a.txt")
    if trouble == "a file":  # as with no permission, which root always has, or a full disk
        (tmp_path / "cache").write_text("in the way")
    else:
        monkeypatch.delenv("LAMBDAPLUS_CACHE")
        monkeypatch.setattr(Path, "home", no_home)
    assert value(file) == 7
    assert not folder.exists()


def test_unused_entries_are_deleted_and_other_files_are_kept(tmp_path: Path, folder: Path) -> None:
    value(write(tmp_path / "unused"))
    [unused] = folder.iterdir()
    value(write(tmp_path / "used"))
    others = folder / "notes.npz", folder / f"{'my-notes':->40}.npz"  # as long as those of entries
    for other in others:
        other.write_text("mine")
    for path in folder.iterdir():
        os.utime(path, (0, 0))
    value(tmp_path / "used")
    value(write(tmp_path / "new"))
    assert all(other.exists() for other in others)
    assert not unused.exists()
    assert len([*folder.iterdir()]) == 4


def test_nobody_else_can_read_an_entry(tmp_path: Path, folder: Path) -> None:
    """Whoever may read the text: it may be private now, and its folder."""
    folder.mkdir(parents=True)
    folder.chmod(0o755)  # as it was made before
    umask = os.umask(0)
    try:
        value(write(tmp_path / "a.txt"))
    finally:
        os.umask(umask)
    assert [path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())] == [0o700, 0o600]


def test_processes_map_all_that_a_data_set_has(tmp_path: Path) -> None:
    data = RankingData(
        [[1.0, 2.0], [3.0, 0.0]], [1, 0], ["a", "b"], "name", ("x", "y"), [1.0, 2.0], ("y",)
    )
    write_binary(data, tmp_path / "a")
    found = read_binary(tmp_path / "a")
    assert fingerprint(found) == fingerprint(data)
    assert (found.name, found.feature_names) == (data.name, data.feature_names)
    assert type(found.features) is type(data.features)
    found.features[0, 0] = 9.0
    assert read_binary(tmp_path / "a").features[0, 0] == 1.0
