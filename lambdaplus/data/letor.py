"""Reader of files in the LETOR format, also called svmlight, and of files beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.messages import warn
from lambdaplus.data.cache import cached
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.lists.keys import numbered
from lambdaplus.saved_model.letor_lines import LetorRows, letor_rows

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
    data = cached(file, partial(_read, grouped=grouped), f"grouped={grouped}")
    if beside(file, "init"):
        warn(f"{beside(file, 'init')}: initial scores are not read, and training starts at 0")
    sizes, weights = (_numbers_beside(file, *suffixes) for suffixes in (SIZES, ("weight",)))
    if grouped and not data.grouped:
        if sizes is None:
            raise ValueError(
                f"{file} has no queries: after the label there must be qid:ID, or the sizes of the "
                f"queries must be in {file}.query. If all rows are one ranking, pass grouped=False "
                "(lambdaplus compare --qid none)"
            )
        with naming(beside(file, *SIZES)):
            query = numbered(sizes, data.labels.size)
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


def _read(file: Path, *, grouped: bool) -> RankingData:
    """Read the text in batches, whose features take their places in one array."""
    features, labels, queries = _Features(), [np.zeros(0)], [np.zeros(0, np.int64)]
    for rows in letor_rows(file):
        with naming(file):
            features.append(rows)
        labels.append(rows.labels)
        queries.append(rows.queries)
    label, query = np.concatenate(labels), np.concatenate(queries)
    grouped = grouped and query.size > 0
    if grouped and query.size < label.size:
        raise ValueError(f"{file} has {label.size} rows, but only {query.size} have qid:ID")
    query = query if grouped else np.zeros(label.size, np.int64)
    with naming(file):
        values, names = features.all()
        return RankingData(values, label, query, file.name, names, grouped=grouped)


class _Features:
    """Features of all rows; batches of rows are appended in linear time, without a second copy."""

    def __init__(self) -> None:
        self._values, self._rows = np.zeros((0, 0)), 0
        self._first = 1  # the number of the feature in the first column

    def append(self, rows: LetorRows) -> None:
        """Append rows."""
        left = self._first - int(self._first and rows.numbers.all())  # a column of the feature 0
        self._first -= left
        before, end = self._values.shape[1], self._rows + rows.labels.size
        width = max(left + before, int(rows.numbers.max(initial=0)) + 1 - self._first)
        if width > before:
            values = np.zeros((max(end, len(self._values)), width))
            values[: self._rows, left : left + before] = self._values[: self._rows]
            self._values = values
        elif end > len(self._values):
            self._values.resize((max(end, len(self._values) * 5 // 4), width), refcheck=False)
        self._values[self._rows + rows.rows, rows.numbers - self._first] = rows.values
        self._rows = end

    def all(self) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        """The features, and their names if there is a feature 0."""
        width = self._values.shape[1]
        self._values.resize((self._rows, width), refcheck=False)
        return self._values, () if self._first else tuple(map(str, range(width)))
