"""A cache of text files in binary form: folders of `.npy` arrays, which are memory-mapped.

An entry is used as long as path, size and modification time of the text file are the same, and its
checksums are right. Entries of an earlier state of the file, and those that were not used for 30
days, are deleted when a new one is written. The folder may be deleted at any time; if it cannot be
written to, the text is read each time. `cache_folder` says where it is.
"""

import contextlib
import hashlib
import json
import mmap
import os
import re
import sys
import time
import uuid
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.data.ranking_data import RankingData

_ARRAYS = ("features", "labels", "qid", "weights")
_FIELDS = ("name", "feature_names", "categories", "grouped")
_ABOUT = "about.json"
_VERSION = "5"  # increase this number when the reader or the binary form changes
_MIN_BYTES = 1_000_000  # of a file that is cached
_MIN_AGE = 2.0  # seconds; a file may change again without a new modification time
_MAX_IDLE = 30 * 24 * 3600.0  # seconds after which an entry is deleted
_ENTRY = re.compile(r"(\.)?[0-9a-f]{20}-[0-9a-f]{20}(?(1)-[0-9a-f]{12})")  # dot: being written


def cache_folder() -> Path | None:
    """`$LAMBDAPLUS_CACHE`, None if it is "off", or `lambdaplus` in the user's cache folder."""
    variable = os.environ.get("LAMBDAPLUS_CACHE")
    if variable:
        return None if variable == "off" else Path(variable)
    if sys.platform == "darwin":
        user = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        user = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return user / "lambdaplus"


def cached(file: Path, read: Callable[[Path], RankingData]) -> RankingData:
    """The result of ``read(file)``, from the cache if available."""
    entry = _entry(file)
    if entry is None:
        return read(file)
    try:
        data = replace(read_binary(entry, verify=True), name=file.name)
        # The time of the entry is that of its last use, by which unused ones are found.
        with contextlib.suppress(OSError):
            os.utime(entry)
        return data
    except Exception:  # missing or damaged
        remove_binary(entry)
    data = read(file)
    if entry == _entry(file):  # not if it changed while it was read
        with contextlib.suppress(OSError):  # no space, or no permission
            write_binary(data, entry)
            _sweep(entry)
    return data


def _entry(file: Path) -> Path | None:
    """The entry for the current state of the file; None if the file is not cached."""
    try:
        root = cache_folder()
        now = file.stat()
    except (OSError, RuntimeError):  # no such file (`read` raises the error), or no home folder
        return None
    recent = now.st_mtime >= time.time() - _MIN_AGE
    if root is None or now.st_size < _MIN_BYTES or recent:
        return None
    of_file = _digest(file.resolve())
    return root / "sets" / f"{of_file}-{_digest(_VERSION, now.st_size, now.st_mtime_ns)}"


def _digest(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:20]


def _sweep(new: Path) -> None:
    """Remove entries of earlier states of the file, and those that were not used lately."""
    of_file, long_ago = new.name.partition("-")[0], time.time() - _MAX_IDLE
    for entry in new.parent.iterdir():
        earlier = entry != new and entry.name.startswith(of_file)
        if _ENTRY.fullmatch(entry.name) and (earlier or entry.stat().st_mtime < long_ago):
            remove_binary(entry)


def write_binary(data: RankingData, folder: Path) -> None:
    """Write a data set to a new folder, which only exists once it is complete."""
    partial = folder.parent / f".{folder.name}-{uuid.uuid4().hex[:12]}"
    partial.mkdir(parents=True)  # with the default permissions of folders
    try:
        for name, array in _arrays(data).items():
            np.save(partial / f"{name}.npy", array, allow_pickle=False)
        sums = {path.name: _sum(path) for path in partial.iterdir()}
        about = {**{name: getattr(data, name) for name in _FIELDS}, "sums": sums}
        (partial / _ABOUT).write_text(json.dumps(about))
        try:
            partial.rename(folder)
        except OSError:
            if not folder.exists():  # another process has not written the same data
                raise
    finally:
        remove_binary(partial)


def read_binary(folder: Path, *, verify: bool = False) -> RankingData:
    """Map a data set into memory; with ``verify``, a ValueError is raised if a file has changed."""
    about = json.loads((folder / _ABOUT).read_text())
    for name, expected in about["sums"].items() if verify else ():
        if _sum(folder / name) != expected:
            raise ValueError(f"{folder / name} is damaged")

    # Compiled code needs plain arrays, not numpy.memmap.
    arrays: dict[str, Any] = {
        name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False))
        for name in _ARRAYS
        if f"{name}.npy" in about["sums"]
    }
    others = {name: about[name] for name in _FIELDS if name in about}
    return RankingData(**arrays, **others)


def _arrays(data: RankingData) -> dict[str, Any]:
    arrays = {name: getattr(data, name) for name in _ARRAYS}
    return {name: array for name, array in arrays.items() if array is not None}


def remove_binary(folder: Path) -> None:
    """Remove the files of `write_binary`, and the folder if it contains nothing else."""
    with contextlib.suppress(OSError):
        for name in (*(f"{name}.npy" for name in _ARRAYS), _ABOUT):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def fingerprint(data: RankingData) -> str:
    """A digest of what a data set trains: features, categories, labels, queries and weights."""
    digest = hashlib.sha256()
    if data.categories or not data.grouped:
        places = [data.feature_names.index(name) for name in data.categories]
        digest.update(f"{places} {data.grouped}".encode())
    for name, values in _arrays(data).items():
        array = np.ascontiguousarray(values)
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data if array.dtype.kind != "U" else array.tobytes())
    return digest.hexdigest()[:16]


def _sum(path: Path) -> int:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return zlib.crc32(content)
