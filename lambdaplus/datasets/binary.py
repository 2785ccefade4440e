"""Ranking data in binary form: one folder of .npy files, read without being copied.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.datasets import RankingData
>>> from lambdaplus.datasets.binary import read_binary, write_binary
>>> data = RankingData([[0.1], [0.7]], labels=[0, 1], qid=["a", "a"])
>>> with tempfile.TemporaryDirectory() as folder:
...     write_binary(data, pathlib.Path(folder, "part"))
...     read_binary(pathlib.Path(folder, "part")).labels.tolist()
[0.0, 1.0]
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from lambdaplus.datasets.ranking_data import RankingData

_ARRAYS = ("features", "labels", "qid")


def write_binary(data: RankingData, folder: Path) -> None:
    """Write a set into a new folder: wholly or, if interrupted, not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        for name in _ARRAYS:
            np.save(made / f"{name}.npy", getattr(data, name), allow_pickle=False)
        (made / "name.txt").write_text(data.name)
        try:
            made.rename(folder)
        except OSError:
            if not folder.exists():  # else another process was first, with the same data
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def read_binary(folder: Path) -> RankingData:
    """Read a set back; features stay on disk until they are used.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    """
    arrays = {
        name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS
    }
    return RankingData(**arrays, name=(folder / "name.txt").read_text())


def fingerprint(data: RankingData) -> str:
    """A digest of what the set holds, whatever its name: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for name in _ARRAYS:
        array = np.ascontiguousarray(getattr(data, name))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data if array.dtype.kind != "U" else array.tobytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where sets that were read once are kept: $LAMBDAPLUS_CACHE, or the user's cache folder."""
    chosen = os.environ.get("LAMBDAPLUS_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lambdaplus"
