"""Sets that were read once, in binary form, from which they are read again at once.

A text file of a megabyte or more leaves a folder of `.npy` arrays in the cache folder when it is
first read. It stands for that file as long as the file's path, size and time of change are the
same, and is opened by memory map, so features are only held in memory where they are used.
Checksums tell an entry that was damaged: the text is then read again.

The cache folder is `$LAMBDAPLUS_CACHE` if that is set, or else `lambdaplus` in the user's cache
folder: `~/.cache` (`$XDG_CACHE_HOME`), `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows.
`LAMBDAPLUS_CACHE=off` turns the cache off. The folder may be deleted at any time. Where it cannot
be written, sets are read from their text each time. Entries of files that are gone or have changed
are removed; whatever else is in the folder stays.

Examples
--------
>>> import os
>>> from unittest.mock import patch
>>> from lambdaplus.datasets.cache import cache_folder
>>> with patch.dict(os.environ, LAMBDAPLUS_CACHE="/scratch/sets"):
...     str(cache_folder())
'/scratch/sets'
>>> with patch.dict(os.environ, LAMBDAPLUS_CACHE="off"):
...     cache_folder()
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

from lambdaplus.datasets.binary import read_binary, remove_binary, verify_binary, write_binary
from lambdaplus.datasets.ranking_data import RankingData

_FORM = "2"  # count on when the reader or the binary form changes what a file gives
_WORTH_IT = 1_000_000  # bytes of source
_ABANDONED = 3600.0  # seconds after which a half-written entry is one of a process that ended
_ENTRY = re.compile(r"(\.)?[0-9a-f]{20}-[0-9a-f]{20}(?(1)-[0-9a-f]{12})")  # a half has a dot
_SOURCE = "source.txt"  # in an entry: the path of its file
_SETTLED = 2.0  # seconds; a file that changed again within a tick of the clock looks unchanged


def cache_folder() -> Path | None:
    """Where sets that were read once are kept; None if the cache is off."""
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


def cached(file: Path, kind: str, read: Callable[[Path], RankingData]) -> RankingData:
    """What ``read(file)`` gives, from the cache where it is there.

    Parameters
    ----------
    file : path
    kind : str
        Distinguishes the results of different readers for the same file.
    read : callable
        Reads the file; whatever it raises passes.
    """
    entry = _entry(file, kind)
    if entry is None:
        return read(file)
    try:
        verify_binary(entry)
        return replace(read_binary(entry), name=file.name)
    except (OSError, ValueError, EOFError, AttributeError):  # not there, or broken
        remove_binary(entry, [_SOURCE])
    data = read(file)
    if entry == _entry(file, kind):  # not if it changed while it was read
        with contextlib.suppress(
            OSError, ValueError
        ):  # no space or no permission: work without a cache
            write_binary(data, entry, {_SOURCE: str(file.resolve())})
            _sweep(entry)
    return data


def _entry(file: Path, kind: str) -> Path | None:
    """The folder that stands for the file as it is now; None if it is not to be cached."""
    try:
        root = cache_folder()
        found = file.stat()
    except (OSError, RuntimeError):  # no such file, which `read` will say; or no home folder
        return None
    settled = found.st_mtime < time.time() - _SETTLED
    if root is None or found.st_size < _WORTH_IT or not settled:
        return None
    of_file = _digest(str(file.resolve()), kind)
    return root / "sets" / f"{of_file}-{_digest(_FORM, found.st_size, found.st_mtime_ns)}"


def _digest(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:20]


def _sweep(new: Path) -> None:
    """Remove what stood for the file before it changed, for files that are gone, and halves."""
    of_file = new.name.partition("-")[0]
    for entry in new.parent.iterdir():
        if entry == new or not _ENTRY.fullmatch(entry.name):
            continue  # this one, or somebody else's
        if entry.name.startswith("."):
            outdated = entry.stat().st_mtime < time.time() - _ABANDONED
        else:
            outdated = entry.name.startswith(of_file) or _source_is_gone(entry)
        if outdated:
            remove_binary(entry, [_SOURCE])


def _source_is_gone(entry: Path) -> bool:
    try:
        return not Path((entry / _SOURCE).read_text(encoding="utf-8")).exists()
    except (OSError, ValueError):
        return False
