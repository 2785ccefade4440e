"""Data sets in binary form: a cache of text files, and files that several processes map.

The cache has an entry for each path, size and modification time of a text file, and for the options
with which it was read.  Entries that were not used for 30 days are deleted when a new one is
written.  The folder may be deleted at any time; if it cannot be written to, the text is read each
time.  Only the user can read an entry, since the text may be private.
"""

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.data.atomic_files import atomic_write
from lambdaplus.data.feature_rows import FeatureRows
from lambdaplus.data.ranking_data import RankingData

_VERSION = "7"  # increase this number when the reader or the binary form changes
_ENTRY = re.compile(r"[0-9a-f]{40}\.npz")
_MIN_BYTES = 1_000_000  # of a file that is cached
_MAX_IDLE = 30 * 24 * 3600.0  # seconds after which an entry is deleted


def cached(file: Path, read: Callable[[Path], RankingData], options: str = "") -> RankingData:
    """The result of ``read(file)`` with these options, from the cache if available."""
    try:
        folder = os.environ.get("LAMBDAPLUS_CACHE") or Path.home() / ".cache" / "lambdaplus"
        state = file.stat()
    except (OSError, RuntimeError):  # no such file (`read` raises the error), or no home folder
        return read(file)
    if folder == "off" or state.st_size < _MIN_BYTES:
        return read(file)
    key = f"{_VERSION} {file.resolve()} {state.st_size} {state.st_mtime_ns} {options}"
    entry = Path(folder) / "sets" / f"{hashlib.sha256(key.encode()).hexdigest()[:40]}.npz"
    try:
        if not entry.is_file():  # a pipe would never end
            raise FileNotFoundError
        with np.load(entry, allow_pickle=False) as kept:  # which compares checksums
            arrays: dict[str, Any] = dict(kept)
        names, grouped = tuple(arrays.pop("feature_names").tolist()), bool(arrays.pop("grouped"))
        with contextlib.suppress(OSError):
            os.utime(entry)  # unused entries are found by this time
        return RankingData(**arrays, name=file.name, feature_names=names, grouped=grouped)
    except Exception:  # missing or damaged
        data = read(file)
    with contextlib.suppress(OSError):  # no space, or no permission
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.parent.chmod(0o700)  # the text may be private
        with atomic_write(entry) as temporary, open(temporary, "xb", opener=_private) as stream:
            np.savez(
                stream, features=data.features, labels=data.labels, qid=data.qid,
                feature_names=np.array(data.feature_names, np.str_), grouped=data.grouped,
            )  # fmt: skip
        for other in entry.parent.iterdir():
            if _ENTRY.fullmatch(other.name) and other.stat().st_mtime < time.time() - _MAX_IDLE:
                other.unlink()
    return data


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def write_binary(data: RankingData, file: Path) -> None:
    """Write a data set to a file, which only exists once it is complete.

    Features that others share are written once, beside it.
    """
    import joblib

    features = data.held_features
    if isinstance(features, FeatureRows):
        features = features.on_disk(file.parent)
    names = [field.name for field in fields(data) if field.init and field.name != "features"]
    content = {"features": features, **{name: getattr(data, name) for name in names}}
    with atomic_write(file) as temporary:
        joblib.dump(content, temporary)


def read_binary(file: Path) -> RankingData:
    """Map a data set into memory; changes are not written to the file."""
    import joblib

    content = joblib.load(file, mmap_mode="c")
    # Compiled code needs plain arrays, not numpy.memmap.
    in_memory: dict[str, Any] = {
        name: np.asarray(value) if isinstance(value, np.ndarray) else value
        for name, value in content.items()
    }
    return RankingData(**in_memory)


def fingerprint(data: RankingData) -> str:
    """A digest of what a data set trains: features, categories, labels, queries and weights."""
    digest = hashlib.sha256()
    if data.categories or not data.grouped:
        places = [data.feature_names.index(name) for name in data.categories]
        digest.update(f"{places} {data.grouped}".encode())
    for name in ("features", "labels", "qid", "weights"):
        values = data.held_features if name == "features" else getattr(data, name)
        if isinstance(values, FeatureRows):
            digest.update(f"{name} {np.dtype(np.float64).str} {values.shape}".encode())
            for block in values.blocks():
                digest.update(block.data)
        elif values is not None:
            array = np.ascontiguousarray(values)
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(array.data if array.dtype.kind != "U" else array.tobytes())
    return digest.hexdigest()[:16]
