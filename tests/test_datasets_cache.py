"""The cache of data sets: when it is used, when it must not be used, and failures."""

import multiprocessing
import os
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from brute_force import examples
from damage import damaged
from hypothesis import given
from hypothesis import strategies as st

from lambdaplus.data import RankingData, read_letor
from lambdaplus.data.cache import cached, fingerprint

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


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_the_second_read_is_from_the_cache_and_may_be_changed(tmp_path: Path, folder: Path) -> None:
    file, read = write(tmp_path / "a.txt"), Reader()
    for _ in range(3):
        data = cached(file, read)
        assert (data.name, data.qid.tolist(), data.features.max()) == ("a.txt", [*"xxy"], 7.0)
        data.features[0, 0] = 9.0
    assert read.files == [file]
    [entry] = entries(folder)
    assert {path.stat().st_mode & 0o777 for path in entry.iterdir()} == {0o666 & ~_umask()}
    assert entry.stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask() -> int:
    """Files in the cache have the usual permissions, since other users may read it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_text_files_are_cached(tmp_path: Path, folder: Path) -> None:
    file = write(tmp_path / "a.txt", text=" qid:1 1:5\n" + LARGE)
    assert read_letor(file).features.tolist() == read_letor(file).features.tolist() == [[5.0]]
    assert len(entries(folder)) == 1


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
    # The entry of the earlier state of the same file is gone.
    assert len(entries(folder)) == (2 if change == "path" else 1)


def test_new_and_small_files_are_not_cached_and_off_is_off(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.txt"
    for number in (1, 2, 3):
        assert value(write(file, number, age=0)) == number
    value(write(file, text=""))
    monkeypatch.setenv("LAMBDAPLUS_CACHE", "off")
    monkeypatch.chdir(tmp_path)
    value(write(file))
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@examples(60)
@given(st.data())
def test_damage_of_any_kind_is_noticed(tmp_path: Path, folder: Path, draw: st.DataObject) -> None:
    """Bytes replaced, cut, doubled: the text is read again, and the entry is replaced."""
    file = write(tmp_path / "a.txt")
    wanted = fingerprint(cached(file, Reader()))
    [entry] = [path for path in folder.iterdir() if len(path.name) == 41]
    victim = draw.draw(st.sampled_from(sorted(entry.iterdir())))
    victim.write_bytes(damaged(draw, victim.read_bytes()))
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
        for name in ("LAMBDAPLUS_CACHE", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", no_home)
    assert value(file) == 7
    assert entries(folder) == []


def test_unused_entries_are_deleted_and_other_files_are_kept(tmp_path: Path, folder: Path) -> None:
    """LAMBDAPLUS_CACHE may name a folder that has long been there, and used for much else."""
    entry_of = {}
    for name in ("unused", "used", "changed"):
        before = entries(folder)
        value(write(tmp_path / name))
        [entry_of[name]] = set(entries(folder)) - {*before}
    names = "my-thesis/about.json", ".new-idea/labels.npy", "0123-4567/features.npy", "notes.txt"
    theirs = [*(folder / name for name in names), entry_of["changed"] / "my_notes.txt"]
    half = folder / f".{0:020}-{0:020}-{0:012}" / "labels.npy"
    for path in (*theirs, half):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))
    value(tmp_path / "used")
    value(write(tmp_path / "changed", 9, age=50))
    assert all(path.read_text() == "mine" for path in theirs)
    assert entry_of["used"].exists()
    assert not (entry_of["changed"] / "features.npy").exists()
    assert not entry_of["unused"].exists()
    assert not half.parent.exists()


def _read_often(file: Path, root: str, n: int) -> set[str]:
    os.environ["LAMBDAPLUS_CACHE"] = root
    fingerprints = set()
    for i in range(n):
        fingerprints.add(fingerprint(cached(file, Reader())))
        if i % 3 == 0:
            shutil.rmtree(root, ignore_errors=True)  # as the user may at any time
    return fingerprints


@pytest.mark.slow
def test_writers_and_readers_at_the_same_time(tmp_path: Path) -> None:
    file = write(tmp_path / "a.txt")
    wanted = fingerprint(Reader()(file))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        root = str(tmp_path / "cache")
        tasks = [pool.submit(_read_often, file, root, 15) for _ in range(2)]
        assert [task.result() for task in tasks] == [{wanted}] * 2
