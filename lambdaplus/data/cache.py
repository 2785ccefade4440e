"""A cache of data sets in binary form, for faster reading.

When a text file of a megabyte or more is read for the first time, a folder of `.npy` arrays is
written to the cache folder. It is used for this file as long as path, size and modification time of
the file are the same, and is opened as a memory map, so that only features in use are in memory.
Damaged entries are detected by checksums, in which case the text is read again.

The cache folder is `$LAMBDAPLUS_CACHE` if set, otherwise `lambdaplus` in the user's cache folder:
`~/.cache` (`$XDG_CACHE_HOME`), `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows.
`LAMBDAPLUS_CACHE=off` disables the cache. The folder may be deleted at any time. If it is not
writable, the text is read each time. Entries of an earlier state of a file, and those that were
not used for 30 days, are deleted when another one is written; other content is not touched.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lambdaplus.data.binary import read_binary, remove_binary, write_binary
from lambdaplus.data.ranking_data import RankingData

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
