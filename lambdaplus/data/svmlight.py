"""A fast reader of the svmlight format, `label qid:ID 1:value 2:value ... # comment` per line.

The file is read in blocks of whole lines, and compiled code parses them on all cores while the next
block is read. Values that are not plain decimal numbers, such as `inf`, are passed to Python's
`float`, so every value is the result of `float`. (It would read 1_0 as 10, which is an error here.)
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.arrays import number_of
from lambdaplus.data.scanner import MOST_COLUMNS, fill, scan

_PIECE = 1 << 23  # bytes
# With carriage returns alone, as on old Macs, all rows after a comment would be part of it.
_NUL, _LONE_CR = re.compile(rb"\0"), re.compile(rb"\r(?![\r\n])")


class MalformedLineError(ValueError):
    """A line that cannot be read, with its number."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line, self.problem = line, problem


@dataclass(frozen=True, eq=False)
class Rows:
    """Some lines of a file.

    Attributes
    ----------
    labels : ndarray of shape (n,), float64
    queries : list of str
        Identifiers of the runs of rows with the same identifier.
    group : ndarray of shape (n_runs,), int64
        Number of rows of each run.
    values, columns, ends
        Features in the file, row by row, and the index after the last one of each row.
    n_lines : int
    """

    labels: NDArray[np.float64]
    queries: list[str]
    group: NDArray[np.int64]
    values: NDArray[np.float64]
    columns: NDArray[np.int32]
    ends: NDArray[np.int64]
    n_lines: int

    @property
    def width(self) -> int:
        return int(self.columns.max(initial=-1)) + 1

    def dense(self) -> NDArray[np.float64]:
        """Features, (n, width); absent features are 0."""
        features = np.zeros((len(self.labels), self.width))
        fill(features, self.values, self.columns, self.ends)
        return features


def read_rows(file: BinaryIO, finish: Any = lambda rows: rows) -> Iterator[Any]:
    """Read a file piece by piece.

    Parameters
    ----------
    file : binary file
    finish : callable
        Applied to the `Rows` of each block, on its thread.

    Yields
    ------
    object
        `finish(rows)`, in the order of the file.

    Raises
    ------
    MalformedLineError
        At the first invalid line.
    """
    n_threads = os.cpu_count() or 1

    def parse(text: bytes) -> tuple[Any, int]:
        rows = parse_rows(text)
        return finish(rows), rows.n_lines

    with ThreadPoolExecutor(n_threads) as pool:
        pending: deque[Any] = deque()
        lines_before = 0
        text = file.read(_PIECE).removeprefix(b"\xef\xbb\xbf") or b"\n"  # a byte order mark
        while text or pending:
            if text:
                text += file.readline()
                pending.append(pool.submit(parse, text))
                text = file.read(_PIECE)
            if len(pending) > n_threads or not text:
                try:
                    found, n_lines = pending.popleft().result()
                except MalformedLineError as error:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise MalformedLineError(lines_before + error.line, error.problem) from None
                lines_before += n_lines
                yield found


def parse_rows(text: bytes) -> Rows:
    """Parse whole lines.

    Raises
    ------
    MalformedLineError
    """
    if not text.endswith(b"\n"):
        text += b"\n"
    for odd, problem in ((_NUL, "a NUL character"), (_LONE_CR, "a carriage return within a line")):
        if found := odd.search(text):
            at = found.start()
            parse_rows(text[: text.rfind(b"\n", 0, at) + 1])  # raises errors of lines before it
            raise MalformedLineError(text.count(b"\n", 0, at) + 1, problem)
    n_lines, n_colons = text.count(b"\n"), text.count(b":")
    # Allocate for the largest possible number; memory that is not written to is not used.
    labels, ends = np.empty(n_lines), np.empty(n_lines, np.int64)
    runs, oddities = np.empty((n_lines, 3), np.int64), np.empty((n_lines + n_colons, 3), np.int64)
    unsorted = np.empty(n_lines, np.int64)
    values, columns = np.empty(n_colons), np.empty(n_colons, np.int32)
    n, n_values, n_runs, n_odd, n_unsorted, bad = scan(
        np.frombuffer(text, np.uint8), labels, runs, values, columns, ends, unsorted, oddities
    )
    problems = [] if bad < 0 else [_malformed(text, bad)]
    for entry, start, end in oddities[:n_odd].tolist():
        try:
            number = number_of(text[start:end].decode(errors="replace"))
        except ValueError:
            problems.append(_malformed(text, text.rfind(b"\n", 0, start) + 1))
            break
        if entry < 0:
            labels[-1 - entry] = number
        else:
            values[entry] = number
    for row in unsorted[:n_unsorted].tolist():
        given = columns[ends[row - 1] if row else 0 : ends[row]]
        if len(np.unique(given)) < len(given):
            line = _line_of_row(text, row)
            problems.append(MalformedLineError(line, "a feature is given twice"))
            break
    queries = []
    for _, start, end in runs[:n_runs].tolist():
        query = text[start:end].decode(errors="backslashreplace")
        if len(query.split()) > 1 or query.strip() != query:  # a no-break space, for example
            line, problem = (
                text.count(b"\n", 0, start) + 1,
                f"a blank that is no space in {query!r}",
            )
            problems.append(MalformedLineError(line, problem))
            break
        queries.append(query)
    if problems:
        raise min(problems, key=lambda problem: problem.line)
    return Rows(
        labels[:n].copy(),
        queries,
        np.diff(runs[:n_runs, 0], append=n),
        values[:n_values],
        columns[:n_values],
        ends[:n].copy(),
        n_lines,
    )


def _line_of_row(text: bytes, row: int) -> int:
    data = (i for i, line in enumerate(text.split(b"\n"), 1) if line.partition(b"#")[0].strip())
    return next(line for k, line in enumerate(data) if k == row)


def _malformed(text: bytes, start: int) -> MalformedLineError:
    line = text[start : text.index(b"\n", start)].decode(errors="replace")
    return MalformedLineError(text.count(b"\n", 0, start) + 1, _problem(line))


def _problem(line: str) -> str:
    """What is wrong with a line."""
    label, *rest = re.split(r"[ \t\r\v\f]+", line.partition("#")[0].strip(" \t\r\v\f"))
    if fault := _fault(label):
        return f"the label {fault}"
    qid, *pairs = rest or ["nothing"]
    if not qid.startswith("qid:") or qid == "qid:":
        return f"after the label must come qid:ID, not {qid!r}"
    for pair in pairs:
        key, _, value = pair.partition(":")
        if not re.fullmatch("[0-9]+", key):
            return f"{pair!r} is not feature:value"
        if value != "NULL" and (fault := _fault(value)):
            return f"{pair!r} is not feature:value, {fault}"
        if not 1 <= int(key) <= MOST_COLUMNS:
            return f"{pair!r}: features count from 1 to {MOST_COLUMNS:,}"
    return "it is not of the format: label qid:ID feature:value ..."


def _fault(text: str) -> str:
    """Why the text is not a number; empty if it is one."""
    try:
        number_of(text)
    except ValueError as error:
        return str(error)
    return ""
