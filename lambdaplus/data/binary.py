"""Ranking data in binary form: a folder of .npy files, which are read without copying.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.data import RankingData
>>> from lambdaplus.data.binary import read_binary, write_binary
>>> data = RankingData([[0.1], [0.7]], labels=[0, 1], qid=["a", "a"])
>>> with tempfile.TemporaryDirectory() as folder:
...     write_binary(data, pathlib.Path(folder, "part"))
...     read_binary(pathlib.Path(folder, "part")).labels.tolist()
[0.0, 1.0]
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import uuid
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.data.ranking_data import RankingData

_CSR = ("data", "indices", "indptr")
_SUMS = "sums.json"
_ARRAYS = ("features", *_CSR, "shape", "labels", "qid")
_CHUNK = 1 << 20


def write_binary(data: RankingData, folder: Path, notes: Mapping[str, str] | None = None) -> None:
    """Write a data set into a new folder: completely or, if interrupted, not at all.

    Parameters
    ----------
    data : RankingData
    folder : Path
        Created when the data is complete; until then, the data is in a hidden folder next to it.
    notes : dict of str to str, optional
        Names and contents of text files to write next to the arrays.
    """
    made = folder.parent / f".{folder.name}-{uuid.uuid4().hex[:12]}"
    made.mkdir(parents=True)  # with the default permissions of folders
    texts = {"name.txt": data.name, **(notes or {})}
    try:
        for name, array in _arrays(data).items():
            np.save(made / f"{name}.npy", array, allow_pickle=False)
        for name, text in texts.items():
            (made / name).write_text(text, encoding="utf-8")
        sums = {path.name: _sum(path) for path in made.iterdir()}
        (made / _SUMS).write_text(json.dumps(sums))
        try:
            made.rename(folder)
        except OSError:
            if not folder.exists():  # otherwise another process has written the same data
                raise
    finally:
        remove_binary(made, texts)


def remove_binary(folder: Path, notes: Iterable[str] = ()) -> None:
    """Remove the files of `write_binary`, and the folder if it contains nothing else."""
    names = [*(f"{name}.npy" for name in _ARRAYS), "name.txt", _SUMS, *notes]
    with contextlib.suppress(OSError):
        for name in names:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def verify_binary(folder: Path) -> None:
    """Raise a ValueError if a file has changed since it was written.

    Raises
    ------
    FileNotFoundError
        If a file does not exist.
    """
    sums = json.loads((folder / _SUMS).read_text())
    for name, expected in sums.items():
        if _sum(folder / name) != expected:
            raise ValueError(f"{folder / name} is damaged")


def _sum(path: Path) -> int:
    """CRC-32 of a file, which takes a few seconds for ten gigabytes."""
    found = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found = zlib.crc32(chunk, found)
    return found


def read_binary(folder: Path) -> RankingData:
    """Read a data set; features are only read from disk when they are used.

    The arrays are writable; changes are made in memory, not on disk.

    Raises
    ------
    FileNotFoundError
        If it does not exist.
    ValueError
        If a file is truncated or not a NumPy file.  `verify_binary` detects other damage.
    """

    def array(name: str) -> Any:
        # asarray returns a plain array on the memory map, as compiled code needs it.
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False))

    features: Any
    if (folder / "shape.npy").exists():
        from scipy.sparse import csr_matrix

        shape = tuple(array("shape").tolist())
        features = csr_matrix(tuple(array(name) for name in _CSR), shape=shape)
    else:
        features = array("features")
    name = (folder / "name.txt").read_text(encoding="utf-8")
    return RankingData(features, array("labels"), array("qid"), name)


def fingerprint(data: RankingData) -> str:
    """A digest of the content of a data set, without its name: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for name, found in _arrays(data).items():
        array = np.ascontiguousarray(found)
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data if array.dtype.kind != "U" else array.tobytes())
    return digest.hexdigest()[:16]


def _arrays(data: RankingData) -> dict[str, Any]:
    """All arrays of a data set by name; sparse features are replaced by their arrays."""
    features = {"features": data.features}
    if data.is_sparse:
        features = {name: getattr(data.features, name) for name in _CSR}
        features["shape"] = np.array(data.features.shape)
    return {**features, "labels": data.labels, "qid": data.qid}
