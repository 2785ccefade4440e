"""Read one file in the LETOR text format: `label qid:ID 1:value 2:value ... # comment` a line.

Also called svmlight; MSLR-WEB, Yahoo's and Istella's sets use it too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.arguments import check_flag
from lambdaplus.data.arrays import int_or_text
from lambdaplus.data.cache import cached
from lambdaplus.data.memory import refuse_beyond_memory
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.svmlight import MalformedLineError, Rows, read_rows
from lambdaplus.data.text_files import open_binary

_Floats = NDArray[np.float64]


def read_letor(path: str | os.PathLike[str], *, sparse: bool = False) -> RankingData:
    r"""Read one file in the LETOR format.

    A file of a megabyte or more is also cached in binary form, from which it is read faster the
    next time; see ``lambdaplus.data.cache``.

    Parameters
    ----------
    path : str or path-like
        Plain text, or compressed with a name that ends in `.xz` or `.gz`.
    sparse : bool, default=False
        Whether to return features as a SciPy CSR matrix, for data with many features and few values
        per row. LightGBM supports it; XGBoost treats absent values as missing, not as 0.

    Returns
    -------
    RankingData
        Named after the file. Column `j` of `features`, (n, f) float64, is feature `j + 1` of the
        file. A feature that is absent in a line is 0; the value `NULL`, which marks missing values
        in LETOR 4, is NaN. `labels` is (n,) float64, `qid` (n,) int64 or, if an ID is not an
        integer, str.

    Raises
    ------
    ValueError
        If a line is malformed (the message gives file, line number and what is wrong), or
        `RankingData` refuses the rows.
    MemoryError
        If the features do not fit into memory.
    FileNotFoundError
        If the file does not exist.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "train.txt")
    ...     _ = path.write_text("2 qid:7 1:0.5 3:1 # a page\n0 qid:7 2:0.25\n")
    ...     data = read_letor(path)
    >>> data.features.tolist(), data.labels.tolist(), data.qid.tolist()
    ([[0.5, 0.0, 1.0], [0.0, 0.25, 0.0]], [2.0, 0.0], [7, 7])
    """
    check_flag(sparse=sparse)
    kind = "sparse" if sparse else "dense"
    return cached(Path(path), kind, lambda file: _read(file, sparse))


def _read(file: Path, sparse: bool) -> RankingData:
    try:
        with open_binary(file) as binary:
            pieces = [*read_rows(binary, _sparse if sparse else _dense)]
        labels, queries, group, features = (list(found) for found in zip(*pieces, strict=True))
        stacked = _stacked_sparse(features) if sparse else _stacked(features)
    except MalformedLineError as error:
        raise ValueError(f"{file}, {error}") from None
    except MemoryError as error:
        raise MemoryError(f"{file}: {error}; sparse=True may need less") from None
    try:
        names = int_or_text([name for part in queries for name in part])
        qid = np.repeat(names, np.concatenate(group))
        return RankingData(stacked, np.concatenate(labels), qid, file.name)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _dense(rows: Rows) -> tuple[Any, ...]:
    _refuse_too_wide(len(rows.labels), rows.width)
    return rows.labels, rows.queries, rows.group, rows.dense()


def _sparse(rows: Rows) -> tuple[Any, ...]:
    from scipy.sparse import csr_matrix

    ends = np.concatenate([[0], rows.ends])
    shape = (len(rows.labels), rows.width)
    # Copy the arrays, which are the first part of larger ones.
    features = csr_matrix((rows.values.copy(), rows.columns.copy(), ends), shape=shape)
    features.sort_indices()
    return rows.labels, rows.queries, rows.group, features


def _refuse_too_wide(rows: int, columns: int) -> None:
    refuse_beyond_memory(8.0 * rows * columns, f"an array of {rows:,} rows x {columns:,} features")


def _stacked(parts: list[_Floats]) -> _Floats:
    """Concatenate all rows, removing parts from the list so that they are in memory only once."""
    width = max(part.shape[1] for part in parts)
    if len(parts) == 1:
        return parts[0]
    _refuse_too_wide(sum(map(len, parts)), width)
    features = np.zeros((sum(map(len, parts)), width))
    start = 0
    while parts:
        part = parts.pop(0)
        features[start : start + len(part), : part.shape[1]] = part
        start += len(part)
    return features


def _stacked_sparse(parts: list[Any]) -> Any:
    from scipy.sparse import vstack

    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize(part.shape[0], width)
    return vstack(parts, format="csr")
