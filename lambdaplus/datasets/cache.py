"""Sets that were read once, in binary form, from which they are read again at once.

A text file of a megabyte or more leaves a folder of `.npy` arrays in the cache folder when it is
first read. It stands for that file as long as the file's path, size and time of change are the
same, and is opened by memory map, so features are only read from disk where they are used.

The cache folder is `$LAMBDAPLUS_CACHE` if that is set, or else `lambdaplus` in the user's cache
folder: `~/.cache` (`$XDG_CACHE_HOME`), `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows.
`LAMBDAPLUS_CACHE=off` turns the cache off. The folder may be deleted at any time. Where it cannot
be written, sets are read from their text each time.

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
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lambdaplus.datasets.binary import read_binary, write_binary
from lambdaplus.datasets.ranking_data import RankingData

_FORM = "1"  # count on when the reader or the binary form changes what a file gives
_WORTH_IT = 1_000_000  # bytes of source
_ABANDONED = 3600.0  # seconds after which a half-written entry is one of a process that ended
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
        Tells apart what different readers make of the same file.
    read : callable
        Reads the file; whatever it raises passes.
    """
    entry = _entry(file, kind)
    if entry is None:
        return read(file)
    try:
        return replace(read_binary(entry), name=file.name)
    except (OSError, ValueError, EOFError):  # not there, or broken
        if entry.exists():
            shutil.rmtree(entry, ignore_errors=True)
    data = read(file)
    if entry == _entry(file, kind):  # not if it changed while it was read
        with contextlib.suppress(OSError):  # no room, no permission: then without the cache
            write_binary(data, entry)
            (entry / "source.txt").write_text(str(file.resolve()))
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
    for entry in new.parent.glob("*-*"):
        source = entry / "source.txt"
        outdated = entry != new and entry.name.startswith(of_file)
        if outdated or (source.exists() and not Path(source.read_text()).exists()):
            shutil.rmtree(entry, ignore_errors=True)
    for half in new.parent.glob(".new-*"):
        if half.stat().st_mtime < time.time() - _ABANDONED:
            shutil.rmtree(half, ignore_errors=True)
