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
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.datasets.ranking_data import RankingData

_CSR = ("data", "indices", "indptr")


def write_binary(data: RankingData, folder: Path) -> None:
    """Write a set into a new folder: wholly or, if interrupted, not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        for name, array in _arrays(data).items():
            np.save(made / f"{name}.npy", array, allow_pickle=False)
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

    The arrays may be written to, which changes them in memory and not on disk.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    ValueError
        If a file is cut short or none of NumPy's.
    """

    def array(name: str) -> Any:
        # asarray: a plain array over the map, which is what compiled code knows.
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False))

    features: Any
    if (folder / "shape.npy").exists():
        from scipy.sparse import csr_matrix

        shape = tuple(array("shape").tolist())
        features = csr_matrix(tuple(array(name) for name in _CSR), shape=shape)
    else:
        features = array("features")
    name = (folder / "name.txt").read_text()
    return RankingData(features, array("labels"), array("qid"), name)


def fingerprint(data: RankingData) -> str:
    """A digest of what the set holds, whatever its name: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for name, found in _arrays(data).items():
        array = np.ascontiguousarray(found)
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data if array.dtype.kind != "U" else array.tobytes())
    return digest.hexdigest()[:16]


def _arrays(data: RankingData) -> dict[str, Any]:
    """All arrays of a set, by name; those of a sparse matrix in place of the features."""
    features = {"features": data.features}
    if data.is_sparse:
        features = {name: getattr(data.features, name) for name in _CSR}
        features["shape"] = np.array(data.features.shape)
    return {**features, "labels": data.labels, "qid": data.qid}
