"""The cache of data sets: when it is used, when it must not be used, and failures."""

from __future__ import annotations

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

from lambdaplus.data import RankingData, cache, letor, read_letor
from lambdaplus.data.cache import fingerprint

TEXT = "2 qid:x 1:0.5 3:-1e-3\n0 qid:x 1:0.25\n1 qid:y 2:7\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of a test, in which small files are kept, too."""
    monkeypatch.setenv("LAMBDAPLUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_MIN_BYTES", 0)
    return tmp_path / "cache" / "sets"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read from their text."""
    files: list[Path] = []
    read = letor._read

    def counting(file: Path) -> RankingData:
        files.append(file)
        return read(file)

    monkeypatch.setattr(letor, "_read", counting)
    return files


def write(path: Path, text: str = TEXT, age: float = 60.0) -> Path:
    path.write_text(text)
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_the_second_read_is_from_the_cache_and_may_be_changed(
    tmp_path: Path, folder: Path, reads: list[Path]
) -> None:
    file = write(tmp_path / "a.txt")
    first = fingerprint(read_letor(file))
    for _ in range(2):
        data = read_letor(file)
        assert fingerprint(data) == first
        assert (data.name, data.qid.tolist()) == ("a.txt", ["x", "x", "y"])
        data.features[0, 0] = 9.0
    assert reads == [file]
    assert len(entries(folder)) == 1


@pytest.mark.parametrize("change", ["size", "time", "path"])
def test_a_changed_file_is_read_again(
    tmp_path: Path, folder: Path, reads: list[Path], change: str
) -> None:
    file = write(tmp_path / "a.txt")
    read_letor(file)
    if change == "size":
        when = file.stat().st_mtime_ns
        file.write_text(TEXT.replace("2:7", "2:9.0"))
        os.utime(file, ns=(when, when))
    else:
        other = tmp_path / "b.txt" if change == "path" else file
        file = write(other, TEXT.replace("2:7", "2:9"), age=50)
    for _ in range(2):
        assert read_letor(file).features[2, 1] == 9
    assert len(reads) == 2
    # The entry of the earlier state of the same file is gone.
    assert len(entries(folder)) == (2 if change == "path" else 1)


def test_new_and_small_files_are_not_cached_and_off_is_off(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.txt"
    for value in (1.0, 2.0, 3.0):
        file.write_text(f"1 qid:1 1:{value}\n")
        assert read_letor(file).features.tolist() == [[value]]
    monkeypatch.setattr(cache, "_MIN_BYTES", len(TEXT) + 1)
    read_letor(write(file))
    monkeypatch.setattr(cache, "_MIN_BYTES", 0)
    monkeypatch.setenv("LAMBDAPLUS_CACHE", "off")
    monkeypatch.chdir(tmp_path)
    read_letor(file)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_that_changes_while_it_is_read_is_not_cached(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "a.txt")
    read = letor._read

    def slow(path: Path) -> RankingData:
        data = read(path)
        write(path, TEXT.replace("2:7", "2:9"), age=30)
        return data

    monkeypatch.setattr(letor, "_read", slow)
    assert read_letor(file).features[2, 1] == 7
    monkeypatch.setattr(letor, "_read", read)
    assert read_letor(file).features[2, 1] == 9


@examples(60)
@given(st.data())
def test_damage_of_any_kind_is_noticed(tmp_path: Path, folder: Path, draw: st.DataObject) -> None:
    """Bytes replaced, cut, doubled: the text is read again, and the entry is replaced."""
    file = write(tmp_path / "a.txt")
    wanted = fingerprint(read_letor(file))
    [entry] = [path for path in folder.iterdir() if len(path.name) == 41]
    victim = draw.draw(st.sampled_from(sorted(entry.iterdir())))
    victim.write_bytes(damaged(draw, victim.read_bytes()))
    assert fingerprint(read_letor(file)) == wanted
    assert fingerprint(read_letor(file)) == wanted


@pytest.mark.parametrize("trouble", ["a file", "full", "no home"])
def test_files_are_read_without_a_cache_that_cannot_be_written(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    def fail(error: Exception) -> Any:
        raise error

    file = write(tmp_path / "a.txt")
    if trouble == "a file":  # as with no permission, which root always has
        (tmp_path / "cache").write_text("in the way")
    elif trouble == "full":
        monkeypatch.setattr(cache.np, "save", lambda *_, **__: fail(OSError(28, "No space left")))
    else:
        for name in ("LAMBDAPLUS_CACHE", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", lambda: fail(RuntimeError("no home directory")))
    assert read_letor(file).features[2, 1] == 7
    assert entries(folder) == []


def test_unused_and_incomplete_entries_are_deleted(tmp_path: Path, folder: Path) -> None:
    read_letor(write(tmp_path / "a.txt"))
    read_letor(write(tmp_path / "b.txt"))
    half = folder / f".{0:020}-{0:020}-{0:012}"
    half.mkdir()
    (half / "labels.npy").write_bytes(b"half an ar")
    month_ago = time.time() - 31 * 24 * 3600
    for entry in folder.iterdir():
        os.utime(entry, (month_ago, month_ago))
    read_letor(tmp_path / "a.txt")
    read_letor(write(tmp_path / "c.txt"))
    assert len(entries(folder)) == 2
    assert not half.exists()


def test_other_files_in_the_cache_folder_are_kept(tmp_path: Path, folder: Path) -> None:
    """LAMBDAPLUS_CACHE may name a folder that has long been there, and used for much else."""
    names = "my-thesis/about.json", ".new-idea/labels.npy", "0123-4567/features.npy", "notes.txt"
    theirs = [folder / name for name in names]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        os.utime(path, (0, 0))
        os.utime(path.parent, (0, 0))
    file = write(tmp_path / "a.txt")
    read_letor(file)
    [entry] = [path for path in folder.iterdir() if len(path.name) == 41]
    theirs.append(entry / "my_notes.txt")
    theirs[-1].write_text("mine")
    read_letor(write(file, age=50))  # the entry is outdated now
    assert not (entry / "features.npy").exists()
    assert all(path.read_text() == "mine" for path in theirs)


def test_entries_have_the_usual_permissions(tmp_path: Path, folder: Path) -> None:
    before = os.umask(0o022)
    try:
        read_letor(write(tmp_path / "a.txt"))
    finally:
        os.umask(before)
    [entry] = folder.iterdir()
    assert entry.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in entry.iterdir()} == {0o644}


def _read_often(file: str, root: str, n: int) -> set[str]:
    os.environ["LAMBDAPLUS_CACHE"] = root
    cache._MIN_BYTES = 0
    fingerprints = set()
    for i in range(n):
        fingerprints.add(fingerprint(read_letor(file)))
        if i % 3 == 0:
            shutil.rmtree(root, ignore_errors=True)  # as the user may at any time
    return fingerprints


@pytest.mark.slow
def test_writers_and_readers_at_the_same_time(tmp_path: Path) -> None:
    text = "".join(f"{i % 3} qid:{i // 9} 1:{i} 2:{i / 7!r}\n" for i in range(500))
    file = write(tmp_path / "a.txt", text)
    wanted = fingerprint(letor._read(file))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        root = str(tmp_path / "cache")
        tasks = [pool.submit(_read_often, str(file), root, 15) for _ in range(2)]
        assert [task.result() for task in tasks] == [{wanted}] * 2
