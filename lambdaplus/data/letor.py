"""Reader of files in the LETOR format, also called svmlight, and of lines of compressed files."""

from __future__ import annotations

import gzip
import lzma
import math
import os
import warnings
import zlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arguments import int_or_text, number_of
from lambdaplus.data.cache import cached
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.ranking.queries import Queries

OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
SIZES = ("query", "group")  # suffixes of LightGBM's and XGBoost's files with sizes of queries
MISSING = 1.79769313486e308  # Istella's missing value, the largest double as text
_MOST_COLUMNS = 2**31 - 1  # the limit of a SciPy matrix with 32-bit indices


def read_letor(path: str | os.PathLike[str], *, grouped: bool = True) -> RankingData:
    r"""Read one file in the LETOR format, also called svmlight: a document on each line.

    A line is ``label qid:ID 1:value 2:value`` with an optional comment behind ``#``.  In files of
    LightGBM and XGBoost, no line has a ``qid:ID``, and the sizes of the queries are in a second
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
        float64, `qid` (n,) int64 or, if an ID is not an integer, str. `weights` are in
        ``train.txt.weight``, one per row or query, if it exists.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file does not exist or is damaged, a line is malformed (the message gives its
        number), there are no queries, or the rows of a query are not adjacent.
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
        try:
            query = Queries(data.labels, group=sizes).query_of_row
        except ValueError as error:
            raise ValueError(f"{beside(file, *SIZES)}: {error}") from None
        # Queries of other files, whose numbers are the same, are other queries.
        data = replace(
            data, qid=np.char.add(f"{file.name}:", (query + 1).astype(str)), grouped=True
        )
    if weights is None:
        return data
    if data.grouped and weights.size == data.n_queries:  # as XGBoost has them
        weights = np.repeat(weights, data.group)
    try:
        return replace(data, weights=weights)
    except ValueError as error:
        raise ValueError(f"{beside(file, 'weight')}: {error}") from None


def beside(file: Path, *suffixes: str) -> Path | None:
    """The file whose name adds one of these suffixes, as in ``rank.train.query``, if it exists."""
    names = (file.with_name(f"{file.name}.{suffix}") for suffix in suffixes)
    return next((other for other in names if other.is_file()), None)


def _numbers_beside(file: Path, *suffixes: str) -> NDArray[np.float64] | None:
    """The numbers of a file beside this one, one on each line; None without such a file."""
    other = beside(file, *suffixes)
    if other is None:
        return None
    numbers = []
    for number, line in numbered_lines(other):
        if text := line.strip():
            try:
                numbers.append(_number(text, "the line"))
            except ValueError as error:
                raise ValueError(f"{other}, line {number}: {error}") from None
    return np.array(numbers)


def _read(file: Path) -> RankingData:
    from scipy.sparse import csr_matrix

    # Arrays of numbers: lists of Python objects would need several times the memory.
    labels, values, columns, ends = array("d"), array("d"), array("i"), array("q", [0])
    queries, numbers = array("q"), dict[bytes, int]()
    begin, first, width, grouped = 1, 1, 0, True
    for number, line in numbered_lines(file):
        fields = line.partition(b"#")[0].split()
        if not fields:
            continue
        try:
            if not labels:
                begin, grouped = number, any(field.startswith(b"qid:") for field in fields)
            labels.append(_number(fields[0], "the label"))
            pairs = fields[1:]
            if grouped:
                query, *pairs = pairs or [b"nothing"]
                queries.append(numbers.setdefault(_query(query), len(numbers)))
            elif pairs and pairs[0].startswith(b"qid:"):
                other, number = number, begin
                raise ValueError(f"after the label there must be qid:ID, as in line {other}")
            parts = [pair.partition(b":") for pair in pairs]
            values.extend(_values(pairs, [text for _, _, text in parts]))
            of_line, start, end = _columns(tuple(key for key, _, _ in parts))
        except ValueError as error:
            raise ValueError(f"{file}, line {number}: {error}") from None
        columns.extend(of_line)
        ends.append(len(values))
        first, width = min(first, start), max(width, end)
    try:
        cells, indices = np.asarray(values), np.asarray(columns) - first
        cells[(cells >= MISSING) & (cells < np.inf)] = np.nan
        shape = len(labels), max(width - first, 0)
        matrix = csr_matrix((cells, indices, np.asarray(ends)), shape=shape)
        ids = int_or_text([query.decode(errors="backslashreplace") for query in numbers])
        qid = ids[np.asarray(queries)] if grouped else np.zeros(len(labels), np.int64)
        names = () if first else tuple(map(str, range(width)))
        features = matrix.toarray()
        return RankingData(features, np.asarray(labels), qid, file.name, names, grouped=grouped)
    except MemoryError as error:
        raise MemoryError(
            f"{file}: {error}; scikit-learn's load_svmlight_file reads a sparse matrix"
        ) from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _number(text: bytes, what: str) -> float:
    try:
        return number_of(text.decode(errors="replace"))
    except ValueError as error:
        raise ValueError(f"{what} {error}") from None


def _query(field: bytes) -> bytes:
    query = field.removeprefix(b"qid:")
    if query == field or not query:
        raise ValueError(f"after the label there must be qid:ID, not {_shown(field)}")
    text = query.decode(errors="backslashreplace")
    if text.split() != [text]:  # for example, a no-break space before the first feature
        raise ValueError(f"{text!r} contains white space that is neither a blank nor a tab")
    return query


def _values(pairs: Sequence[bytes], texts: Sequence[bytes]) -> list[float]:
    """Values of features.  `float` is fast; `_value` refuses 1_0 and 1e400, and reads NULL."""
    try:
        values = [*map(float, texts)]
        if b"_" not in b"".join(texts) and math.inf not in map(abs, values):
            return values
    except ValueError:
        pass
    return [*map(_value, pairs, texts)]


def _value(pair: bytes, text: bytes) -> float:
    return math.nan if text == b"NULL" else _number(text, f"{_shown(pair)} is not feature:value,")


@lru_cache(maxsize=1)  # in most files, all lines have the same features
def _columns(keys: tuple[bytes, ...]) -> tuple[array[int], int, int]:
    """Numbers of features, the smallest one, and one more than the largest."""
    columns = array("i")
    for key in keys:
        if not key.isdigit() or len(key) > 10 or int(key) > _MOST_COLUMNS:
            raise ValueError(
                f"the feature {_shown(key)} is not a number from 0 to {_MOST_COLUMNS:,}"
            )
        columns.append(int(key))
    if len(set(columns)) < len(columns):
        raise ValueError("a feature is given twice")
    return columns, min(columns, default=1), max(columns, default=0) + 1


def _shown(text: bytes) -> str:
    return repr(text.decode(errors="replace"))


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


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressed if its name ends in .gz or .xz; a ValueError if it is damaged."""
    try:
        with OPENERS.get(file.suffix.lower(), open)(file, "rb") as stream:
            yield stream
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"{file} is cut short or damaged, and cannot be decompressed: {error}"
        ) from None
