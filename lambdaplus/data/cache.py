"""Data sets in binary form, folders of `.npy` arrays that are read without copying, and a cache.

A text file of a megabyte or more is read from the cache as long as its path, size and modification
time are the same. Damaged entries are detected by checksums: the text is read again.

The cache folder is `$LAMBDAPLUS_CACHE` if set, otherwise `lambdaplus` in the user's cache folder:
`~/.cache` (`$XDG_CACHE_HOME`), `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows.
`LAMBDAPLUS_CACHE=off` disables the cache. The folder may be deleted at any time. If it is not
writable, the text is read each time. Entries of an earlier state of a file, and those that were
not used for 30 days, are deleted when another one is written; other content is not touched.
"""

from __future__ import annotations

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

import numpy as np

from lambdaplus.data.ranking_data import RankingData

_ARRAYS = ("features", "labels", "qid")
_ABOUT = "about.json"
_VERSION = "4"  # increase this number when the reader or the binary form changes
_WORTH_IT = 1_000_000  # minimum number of bytes of the source
_SETTLED = 2.0  # seconds; changes within the resolution of the clock are not visible
_UNUSED = 30 * 24 * 3600.0  # seconds after which an entry is deleted
_ENTRY = re.compile(r"(\.)?[0-9a-f]{20}-[0-9a-f]{20}(?(1)-[0-9a-f]{12})")  # a half has a dot


def cache_folder() -> Path | None:
    """The folder of cached data sets; None if the cache is off."""
    chosen = os.environ.get("LAMBDAPLUS_CACHE")
    if chosen:
        return None if chosen == "off" else Path(chosen)
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
        with contextlib.suppress(OSError):
            os.utime(entry)
        return data
    except Exception:  # missing, or damaged in any way
        remove_binary(entry)
    data = read(file)
    if entry == _entry(file):  # not if it changed while it was read
        with contextlib.suppress(OSError):  # no space or no permission: work without a cache
            write_binary(data, entry)
            _sweep(entry)
    return data


def _entry(file: Path) -> Path | None:
    """The cache folder for the current state of the file; None if it is not to be cached."""
    try:
        root = cache_folder()
        now = file.stat()
    except (OSError, RuntimeError):  # no home folder, or no such file (reported by `read`)
        return None
    settled = now.st_mtime < time.time() - _SETTLED
    if root is None or now.st_size < _WORTH_IT or not settled:
        return None
    of_file = _digest(file.resolve())
    return root / "sets" / f"{of_file}-{_digest(_VERSION, now.st_size, now.st_mtime_ns)}"


def _digest(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:20]


def _sweep(new: Path) -> None:
    """Remove entries of earlier states of the file, and those that were not used for long."""
    of_file, long_ago = new.name.partition("-")[0], time.time() - _UNUSED
    for entry in new.parent.iterdir():
        earlier = entry != new and entry.name.startswith(of_file)
        if _ENTRY.fullmatch(entry.name) and (earlier or entry.stat().st_mtime < long_ago):
            remove_binary(entry)


def write_binary(data: RankingData, folder: Path) -> None:
    """Write a data set into a new folder: completely or, if interrupted, not at all."""
    half = folder.parent / f".{folder.name}-{uuid.uuid4().hex[:12]}"
    half.mkdir(parents=True)  # with the default permissions of folders
    try:
        for name in _ARRAYS:
            np.save(half / f"{name}.npy", getattr(data, name), allow_pickle=False)
        sums = {path.name: _sum(path) for path in half.iterdir()}
        about = {"name": data.name, "feature_names": data.feature_names, "sums": sums}
        (half / _ABOUT).write_text(json.dumps(about))
        try:
            half.rename(folder)
        except OSError:
            if not folder.exists():  # otherwise another process has written the same data
                raise
    finally:
        remove_binary(half)


def read_binary(folder: Path, *, verify: bool = False) -> RankingData:
    """Read a data set; features are only read from disk when they are used.

    The arrays are writable; changes are made in memory, not on disk.  With ``verify``, a ValueError
    is raised if a file has changed, which takes a few seconds for ten gigabytes.
    """
    about = json.loads((folder / _ABOUT).read_text())
    for name, expected in about["sums"].items() if verify else ():
        if _sum(folder / name) != expected:
            raise ValueError(f"{folder / name} is damaged")

    # asarray returns plain arrays on the memory maps, as compiled code needs them.
    features, labels, qid = (
        np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False))
        for name in _ARRAYS
    )
    return RankingData(features, labels, qid, about["name"], tuple(about["feature_names"]))


def remove_binary(folder: Path) -> None:
    """Remove the files of `write_binary`, and the folder if it contains nothing else."""
    with contextlib.suppress(OSError):
        for name in (*(f"{name}.npy" for name in _ARRAYS), _ABOUT):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def fingerprint(data: RankingData) -> str:
    """A digest of the content of a data set, without its name."""
    digest = hashlib.sha256()
    for name in _ARRAYS:
        array = np.ascontiguousarray(getattr(data, name))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data if array.dtype.kind != "U" else array.tobytes())
    return digest.hexdigest()[:16]


def _sum(path: Path) -> int:
    """CRC-32 of a file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return zlib.crc32(content)
