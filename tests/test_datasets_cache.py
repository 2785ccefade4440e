"""The cache of data sets: when it is used, when it must not be used, and failures."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from brute_force import examples
from damage import damaged
from hypothesis import given
from hypothesis import strategies as st

from lambdaplus.data import RankingData, binary, cache, letor, read_folds, read_letor
from lambdaplus.data.binary import fingerprint

TEXT = "2 qid:x 1:0.5 3:-1e-3\n0 qid:x 1:0.25\n1 qid:y 2:7\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of a test, in which small files are kept, too."""
    monkeypatch.setenv("LAMBDAPLUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_WORTH_IT", 0)
    return tmp_path / "cache" / "sets"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read from their text."""
    found: list[Path] = []
    read = letor._read

    def counting(file: Path, sparse: bool) -> RankingData:
        found.append(file)
        return read(file, sparse)

    monkeypatch.setattr(letor, "_read", counting)
    return found


def write(path: Path, text: str = TEXT, age: float = 60.0) -> Path:
    path.write_text(text)
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def entries(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("sparse", [False, True])
def test_the_second_read_is_from_the_cache_and_the_same(
    tmp_path: Path, folder: Path, reads: list[Path], sparse: bool
) -> None:
    file = write(tmp_path / "a.txt")
    first = read_letor(file, sparse=sparse)
    second = read_letor(file, sparse=sparse)
    assert reads == [file]
    assert fingerprint(first) == fingerprint(second)
    assert (second.name, second.is_sparse) == ("a.txt", sparse)
    assert second.qid.tolist() == ["x", "x", "y"]
    assert len(entries(folder)) == 1


def test_dense_and_sparse_have_entries_of_their_own(tmp_path: Path, folder: Path) -> None:
    file = write(tmp_path / "a.txt")
    kinds = False, True, False
    assert tuple(read_letor(file, sparse=sparse).is_sparse for sparse in kinds) == kinds
    assert len(entries(folder)) == 2


def test_what_was_read_may_be_changed_and_the_cache_stays(
    tmp_path: Path, folder: Path, reads: list[Path]
) -> None:
    file = write(tmp_path / "a.txt")
    for _ in range(3):
        data = read_letor(file)
        assert data.features[0, 0] == 0.5
        data.features[0, 0] = 9.0
    assert reads == [file]


@pytest.mark.parametrize("change", ["size", "time", "path"])
def test_another_file_is_read_again(
    tmp_path: Path, folder: Path, reads: list[Path], change: str
) -> None:
    file = write(tmp_path / "a.txt")
    read_letor(file)
    if change == "size":
        when = file.stat().st_mtime_ns
        file.write_text(TEXT.replace("qid:y 2:7", "qid:y 2:77"))
        os.utime(file, ns=(when, when))
    elif change == "time":
        write(file, TEXT.replace("2:7", "2:9"), age=50)
    else:
        file = write(tmp_path / "b.txt", TEXT.replace("2:7", "2:9"))
    value = 77.0 if change == "size" else 9.0
    for _ in range(2):
        assert read_letor(file).features[2, 1] == value
    assert len(reads) == 2
    # What stood for the old state of the same file is gone.
    assert len(entries(folder)) == (2 if change == "path" else 1)


def test_new_and_small_files_are_not_cached(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.txt"
    for value in (1.0, 2.0, 3.0):
        file.write_text(f"1 qid:1 1:{value}\n")
        assert read_letor(file).features.tolist() == [[value]]
    monkeypatch.setattr(cache, "_WORTH_IT", len(TEXT) + 1)
    read_letor(write(file))
    assert entries(folder) == []


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "a.txt")
    read = letor._read

    def slow(path: Path, sparse: bool) -> RankingData:
        found = read(path, sparse)
        write(path, TEXT.replace("2:7", "2:9"), age=30)
        return found

    monkeypatch.setattr(letor, "_read", slow)
    assert read_letor(file).features[2, 1] == 7
    monkeypatch.setattr(letor, "_read", read)
    assert read_letor(file).features[2, 1] == 9


def test_off(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMBDAPLUS_CACHE", "off")
    monkeypatch.chdir(tmp_path)
    read_letor(write(tmp_path / "a.txt"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt"]


@pytest.mark.parametrize("damage", ["gone", "pickle"])
def test_a_damaged_entry_is_replaced(
    tmp_path: Path, folder: Path, reads: list[Path], damage: str
) -> None:
    file = write(tmp_path / "a.txt")
    read_letor(file)
    [entry] = folder.iterdir()
    (entry / "features.npy").unlink()
    if damage == "pickle":
        np.save(entry / "features.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    for _ in range(2):
        assert read_letor(file).features[2, 1] == 7
    assert len(reads) == 2


@pytest.mark.parametrize("trouble", ["a file", "full", "no home"])
def test_trouble_costs_the_cache_and_not_the_read(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    file = write(tmp_path / "a.txt")
    if trouble == "a file":  # as with no permission, which root always has
        (tmp_path / "cache").write_text("in the way")
    elif trouble == "full":

        def no_room(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(binary.np, "save", no_room)
    else:
        monkeypatch.delenv("LAMBDAPLUS_CACHE")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

        def no_home() -> Path:
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.setattr(Path, "home", no_home)
    assert read_letor(file).features[2, 1] == 7
    assert entries(folder) == []


def test_entries_that_were_long_not_used_and_halves_are_deleted(
    tmp_path: Path, folder: Path
) -> None:
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


def test_a_cache_folder_with_other_things_in_it_keeps_them(tmp_path: Path, folder: Path) -> None:
    """LAMBDAPLUS_CACHE may name a folder that has long been there, and used for much else."""
    theirs = [folder / "my-thesis" / "about.json", folder / ".new-idea" / "labels.npy",
              folder / "0123-4567" / "features.npy", folder / "notes-2025.txt"]  # fmt: skip
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        os.utime(path, (0, 0))
        os.utime(path.parent, (0, 0))
    file = write(tmp_path / "a.txt")
    read_letor(file)
    [entry] = [path for path in folder.iterdir() if len(path.name) == 41]
    (entry / "my_notes.txt").write_text("mine")
    read_letor(write(file, age=50))  # the entry is outdated now
    assert (entry / "my_notes.txt").read_text() == "mine"
    assert not (entry / "features.npy").exists()
    assert all(path.read_text() == "mine" for path in theirs)


def test_entries_can_be_read_by_whom_any_file_can_be(tmp_path: Path, folder: Path) -> None:
    before = os.umask(0o022)
    try:
        read_letor(write(tmp_path / "a.txt"))
    finally:
        os.umask(before)
    [entry] = folder.iterdir()
    assert entry.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in entry.iterdir()} == {0o644}


@examples(60)
@given(st.data())
def test_damage_of_any_kind_is_noticed(tmp_path: Path, folder: Path, draw: st.DataObject) -> None:
    """Bytes flipped, cut, doubled: what is read is what the text says, as if there were none."""
    file = write(tmp_path / "a.txt")
    wanted = fingerprint(read_letor(file))
    [entry] = [path for path in folder.iterdir() if len(path.name) == 41]
    victim = draw.draw(st.sampled_from(sorted(entry.iterdir())))
    victim.write_bytes(damaged(draw, victim.read_bytes()))
    assert fingerprint(read_letor(file)) == wanted
    assert fingerprint(read_letor(file)) == wanted


def test_folds_are_served_by_their_own_names(
    tmp_path: Path, folder: Path, reads: list[Path]
) -> None:
    for part in ("train", "vali", "test"):
        write(tmp_path / f"set1.{part}.txt")
    for _ in range(2):
        [fold] = read_folds(tmp_path)
        assert fold.valid.name == "set1 vali"
    assert len(reads) == 3


def _read_often(file: str, root: str, n: int) -> set[str]:
    os.environ["LAMBDAPLUS_CACHE"] = root
    cache._WORTH_IT = 0
    found = set()
    for i in range(n):
        found.add(fingerprint(read_letor(file)))
        if i % 3 == 0:
            shutil.rmtree(root, ignore_errors=True)  # as the user may at any time
    return found


@pytest.mark.slow
def test_writers_and_readers_at_the_same_time(tmp_path: Path) -> None:
    text = "".join(f"{i % 3} qid:{i // 9} 1:{i} 2:{i / 7!r}\n" for i in range(2000))
    file = write(tmp_path / "a.txt", text)
    root = str(tmp_path / "cache")
    wanted = fingerprint(letor._read(file, False))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        tasks = [pool.submit(_read_often, str(file), root, 30) for _ in range(2)]
        assert [task.result() for task in tasks] == [{wanted}] * 2
