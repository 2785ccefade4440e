"""Ranking data in binary form: a folder of .npy files, which are read without copying."""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import uuid
import zlib
from pathlib import Path

import numpy as np

from lambdaplus.data.ranking_data import RankingData

_ARRAYS = ("features", "labels", "qid")
_ABOUT = "about.json"
_FILES = (*(f"{name}.npy" for name in _ARRAYS), _ABOUT)


def write_binary(data: RankingData, folder: Path) -> None:
    """Write a data set into a new folder: completely or, if interrupted, not at all.

    Until the data is complete, it is in a hidden folder next to this one.
    """
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

    The arrays are writable; changes are made in memory, not on disk.  With ``verify``, checksums
    are compared, which takes a few seconds for ten gigabytes.

    Raises
    ------
    FileNotFoundError, ValueError
        If a file does not exist, is truncated or, with `verify`, has changed.
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
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def fingerprint(data: RankingData) -> str:
    """A digest of the content of a data set, without its name: 16 hexadecimal digits."""
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
