"""Reader of files in the LETOR format, also called svmlight, and of lines of compressed files."""

from __future__ import annotations

import gzip
import lzma
import math
import os
import zlib
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.compute.arguments import int_or_text, number_of
from lambdaplus.data.cache import cached
from lambdaplus.data.ranking_data import RankingData

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
_MOST_COLUMNS = 2**31 - 1  # the limit of a SciPy matrix with 32-bit indices


def read_letor(path: str | os.PathLike[str]) -> RankingData:
    r"""Read one file in the LETOR format, which has a document on each line.

    A line is ``label qid:ID 1:value 2:value`` with an optional comment behind ``#``.

    Parameters
    ----------
    path : str or path-like
        Plain text, or compressed with a name that ends in `.xz` or `.gz`. A file of a megabyte or
        more is cached in `~/.cache/lambdaplus`, or in `$LAMBDAPLUS_CACHE` (a folder, or `off`).

    Returns
    -------
    RankingData
        Named after the file. Column `j` of `features`, (n, f) float64, is feature `j + 1` of the
        file. A feature that is absent in a line is 0; the value `NULL`, which marks missing values
        in LETOR 4, is NaN. `labels` is (n,) float64, `qid` (n,) int64 or, if an ID is not an
        integer, str.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file does not exist or is damaged, a line is malformed (the message gives its
        number), or the rows of a query are not adjacent.
    MemoryError
        If the features do not fit into memory.

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
    return cached(Path(path), _read)


def _read(file: Path) -> RankingData:
    from scipy.sparse import csr_matrix

    # Arrays of numbers: lists of Python objects would need several times the memory.
    labels, values, columns, ends = array("d"), array("d"), array("i"), array("q", [0])
    queries, numbers = array("q"), dict[bytes, int]()
    width = 0
    for number, line in numbered_lines(file):
        fields = line.partition(b"#")[0].split()
        if not fields:
            continue
        try:
            labels.append(_number(fields[0], "the label"))
            query, *pairs = fields[1:] or [b"nothing"]
            queries.append(numbers.setdefault(_query(query), len(numbers)))
            parts = [pair.partition(b":") for pair in pairs]
            values.extend(_values(pairs, [text for _, _, text in parts]))
            of_line, end = _columns(tuple(key for key, _, _ in parts))
        except ValueError as error:
            raise ValueError(f"{file}, line {number}: {error}") from None
        columns.extend(of_line)
        ends.append(len(values))
        width = max(width, end)
    try:
        matrix = csr_matrix(
            tuple(map(np.asarray, (values, columns, ends))), shape=(len(labels), width)
        )
        ids = int_or_text([query.decode(errors="backslashreplace") for query in numbers])
        qid = ids[np.asarray(queries)]
        return RankingData(matrix.toarray(), np.asarray(labels), qid, file.name)
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
def _columns(keys: tuple[bytes, ...]) -> tuple[array[int], int]:
    """Columns of features, from 0, and the number of columns that they need."""
    columns = array("i")
    for key in keys:
        if not key.isdigit() or len(key) > 10 or not 1 <= int(key) <= _MOST_COLUMNS:
            raise ValueError(
                f"the feature {_shown(key)} is not a number from 1 to {_MOST_COLUMNS:,}"
            )
        columns.append(int(key) - 1)
    if len(set(columns)) < len(columns):
        raise ValueError("a feature is given twice")
    return columns, max(columns, default=-1) + 1


def _shown(text: bytes) -> str:
    return repr(text.decode(errors="replace"))


def numbered_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number and text of each line, decompressed if the name of the file ends in .gz or .xz.

    A ValueError is raised for a damaged file, and for a NUL character or a carriage return within a
    line, which could hide a second row.
    """
    try:
        with _OPENERS.get(file.suffix.lower(), open)(file, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if b"\0" in line:
                    raise ValueError(f"{file}, line {number}: a NUL character")
                if b"\r" in line.rstrip(b"\r\n"):
                    raise ValueError(f"{file}, line {number}: a carriage return within a line")
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"{file} is cut short or damaged, and cannot be decompressed: {error}"
        ) from None
