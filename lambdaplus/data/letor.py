"""Reader of files in the LETOR format, also called svmlight, and of compressed files."""

from __future__ import annotations

import io
import os
import warnings
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arrays import number_of, refuse_rounded
from lambdaplus.data.cache import cached
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.scoring import MISSING, opened
from lambdaplus.ranking.queries import Queries

SIZES = ("query", "group")  # suffixes of LightGBM's and XGBoost's files with sizes of queries


def read_letor(path: str | os.PathLike[str], *, grouped: bool = True) -> RankingData:
    r"""Read one file in the LETOR format, also called svmlight: a document on each line.

    A line is ``label qid:ID 1:value 2:value``, with features in ascending order and an optional
    comment behind ``#``, as `~sklearn.datasets.load_svmlight_file` reads it.  In files of LightGBM
    and XGBoost, no line has a ``qid:ID``, and the sizes of the queries are in a second
    file, ``train.txt.query`` or ``train.txt.group``, one per line.

    Parameters
    ----------
    path : str or path-like
        Plain text, or compressed with a name that ends in `.xz` or `.gz`. A file of a megabyte or
        more is cached in `~/.cache/lambdaplus`, or in `$LAMBDAPLUS_CACHE` (a folder, or `off`).
    grouped : bool, default=True
        False: all rows are one ranking, and queries in the files are ignored.

    Returns
    -------
    RankingData
        Named after the file. Column `j` of `features`, (n, f) float64, is feature `j + 1` of the
        file; if some line has a feature 0, it is feature `j`, and `feature_names` are the numbers.
        A feature that is absent in a line is 0; the values `NULL` of LETOR 4 and
        1.79769313486e+308 of Istella, which mark missing values, are NaN. `labels` is (n,)
        float64, `qid` (n,) int64. `weights` are in ``train.txt.weight``, one per row or query, if
        it exists.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file does not exist or is damaged, a line is malformed (the message gives its
        number), a number is beyond float64 or an integer beyond 2**53 that it would round, there
        are no queries, or the rows of a query are not adjacent.
    MemoryError
        If the features do not fit into memory.

    Warns
    -----
    UserWarning
        If there are initial scores, ``train.txt.init``, which are not read.

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
    file = Path(path)
    data = cached(file, _read)
    if beside(file, "init"):
        warnings.warn(
            f"{beside(file, 'init')}: initial scores are not read, and training starts at 0",
            stacklevel=2,
        )
    sizes, weights = (_numbers_beside(file, *suffixes) for suffixes in (SIZES, ("weight",)))
    if not grouped:
        data = replace(data, qid=np.zeros(data.labels.size, np.int64), grouped=False)
    elif not data.grouped:
        if sizes is None:
            raise ValueError(
                f"{file} has no queries: after the label there must be qid:ID, or the sizes of the "
                f"queries must be in {file}.query. If all rows are one ranking, pass grouped=False "
                "(lambdaplus compare --qid none)"
            )
        with naming(beside(file, *SIZES)):
            query = Queries(data.labels, group=sizes).query_of_row
        # Queries of other files, whose numbers are the same, are other queries.
        data = replace(
            data, qid=np.char.add(f"{file.name}:", (query + 1).astype(str)), grouped=True
        )
    if weights is None:
        return data
    if data.grouped and weights.size == data.n_queries:  # as XGBoost has them
        weights = np.repeat(weights, data.group)
    with naming(beside(file, "weight")):
        return replace(data, weights=weights)


@contextmanager
def naming(file: Path | None) -> Iterator[None]:
    """Begin the message of a ValueError or MemoryError with the name of the file."""
    try:
        yield
    except (ValueError, MemoryError) as error:
        kind = MemoryError if isinstance(error, MemoryError) else ValueError
        raise kind(f"{file}: {error}") from None


def beside(file: Path, *suffixes: str) -> Path | None:
    """The file whose name adds one of these suffixes, as in ``rank.train.query``, if it exists."""
    names = (file.with_name(f"{file.name}.{suffix}") for suffix in suffixes)
    return next((other for other in names if other.is_file()), None)


def _numbers_beside(file: Path, *suffixes: str) -> NDArray[np.float64] | None:
    """The numbers of a file beside this one, one on each line; None without such a file."""
    other = beside(file, *suffixes)
    with naming(other):
        return None if other is None else np.loadtxt(other, ndmin=1)


def _read(file: Path) -> RankingData:
    with opened(file) as stream:
        content = stream.read().removeprefix(b"\xef\xbb\xbf").replace(b":NULL", b":nan")
    try:
        matrix, labels, qid = _parsed(content)
    except (ValueError, OverflowError) as error:
        lines = io.BytesIO(content).readlines()
        number = bisect_left(range(1, len(lines) + 1), True, key=lambda n: _fails(lines[:n])) + 1
        raise ValueError(
            f"{file}, line {number}: not 'label qid:ID 1:value 2:value', with a whole number as ID "
            f"and features in ascending order: {error}"
        ) from None
    # Python reads 1_0 as 10 and 1e400 as infinity, and rounds integers beyond 2**53.
    missing = (matrix.data >= MISSING) & (matrix.data < np.inf)
    numbers = np.abs(np.concatenate([matrix.data[~missing], labels]))
    if (numbers >= 2.0**53).any() or b"_" in content:
        _refuse_changed(content, file)
    grouped = qid.size > 0
    if grouped and qid.size < labels.size:
        raise ValueError(f"{file} has {labels.size} rows, but only {qid.size} have qid:ID")
    matrix.data[missing] = np.nan
    first = int(not (matrix.indices == 0).any())  # the number of the first feature
    names = () if first else tuple(map(str, range(matrix.shape[1])))
    qid = qid if grouped else np.zeros(labels.size, np.int64)
    with naming(file):
        features = matrix[:, first:].toarray()
        return RankingData(features, labels, qid, file.name, names, grouped=grouped)


def _parsed(content: bytes) -> Any:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(io.BytesIO(content), query_id=True, zero_based=True)


def _refuse_changed(content: bytes, file: Path) -> None:
    """Raise a ValueError for a label or feature that float64 changes."""
    for number, line in enumerate(io.BytesIO(content), 1):
        for field in line.partition(b"#")[0].split():
            name, _, text = field.decode().rpartition(":")
            try:
                if b"_" in field:
                    raise ValueError("a number with an underscore")
                if name != "qid" and abs(number_of(text)) >= 2.0**53:
                    refuse_rounded(text, "it")
            except ValueError as error:
                raise ValueError(f"{file}, line {number}: {field.decode()!r}: {error}") from None


def _fails(lines: list[bytes]) -> bool:
    try:
        _parsed(b"".join(lines))
    except (ValueError, OverflowError):
        return True
    return False


def numbered_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number and text of each line, decompressed if the name of the file ends in .gz or .xz.

    A ValueError is raised for a damaged file, and for a NUL character or a carriage return within a
    line, which could hide a second row.
    """
    with opened(file) as lines:
        for number, line in enumerate(lines, 1):
            if b"\0" in line:
                raise ValueError(f"{file}, line {number}: a NUL character")
            if b"\r" in line.rstrip(b"\r\n"):
                raise ValueError(f"{file}, line {number}: a carriage return within a line")
            yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
