"""Tables of text: CSV and TSV, with any separator, and with lines that polars would mend."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .columns import OF_MODEL
from .files import first_line, pieces
from .table_rows import TableRows
from .words import require, warn

MOST_COLUMNS = 500_000  # each takes two kilobytes of memory before its first row
_COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")  # how gzip, xz and zstd begin
_SEPARATORS = b",;\t"


def csv_tables(
    file: Path, stream: BinaryIO, size: float, columns: Sequence[str]
) -> Iterator[TableRows]:
    """The rows of a CSV or TSV file in batches of about this many bytes."""
    header, lines_before, latin = b"", 0, False
    for piece in pieces(file, stream, size, quotes=True):
        if piece.startswith(_COMPRESSED):  # polars would decompress it, or try to
            raise ValueError(f"{file} is compressed: its name must end in .gz or .xz")
        content = header + piece
        header = header or piece[: first_line(piece)]
        if not latin:
            latin = _is_latin(file, content, lines_before)
        text = content.decode("latin-1").encode() if latin else content
        table = _csv_table(file, text, lines_before)
        require(file, table.frame.columns, columns, OF_MODEL)
        yield table
        lines_before += content.count(b"\n") - header.count(b"\n")


def _is_latin(file: Path, content: bytes, lines_before: int) -> bool:
    """Whether text is not UTF-8, with a warning if so."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1 + lines_before
        warn(
            f"{file}, line {line}: not UTF-8, so the file is read as Latin-1: convert it if names "
            "or queries look wrong"
        )
        return True
    return False


def _csv_table(file: Path, content: bytes, lines_before: int) -> TableRows:
    """A table of text, with a header."""
    import polars as pl

    if content and not content.endswith(b"\n"):
        content += b"\n"  # without it, polars drops one empty field too many in the last line
    unquoted = re.sub(rb'"[^"]*"', b"", content.partition(b"\n")[0])
    separator = chr(max(_SEPARATORS, key=unquoted.count))  # a comma if there is none
    if unquoted.count(separator.encode()) > MOST_COLUMNS:
        raise ValueError(f"{file} has more than {MOST_COLUMNS:,} columns")
    # The header is read as a row, because polars renames a repeated column.
    options: dict[str, Any] = {"has_header": False, "infer_schema_length": 0}
    options |= {"null_values": ["NULL"], "separator": separator}
    columns = unquoted.count(separator.encode()) + 1  # or more, if a name has a line break
    text = _without_blank_lines(content) if columns > 1 else content
    if text.count(b"\n") * (columns - 1) > text.count(separator.encode()):
        # Of short lines, polars would make rows of all columns, which take a lot of memory.
        _blank_lines(file, content, separator, lines_before)
    try:
        frame = pl.read_csv(text, **options)
    except pl.exceptions.ComputeError:
        _blank_lines(file, content, separator, lines_before)  # which names a line, if it can
        raise
    names = ["" if name is None else name for name in frame.row(0)]
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise ValueError(f"{file}, line 1: the header contains {', '.join(map(repr, twice))} twice")
    if frame[:, -1].null_count():  # polars fills short and blank lines with empty cells
        blank = _blank_lines(file, content, separator, lines_before)
        if text is not content:
            blank = _blank_lines(file, text, separator, lines_before)
        frame = frame.filter(~np.frombuffer(blank, np.bool_)) if any(blank) else frame
    frame = frame[1:].rename(dict(zip(frame.columns, names, strict=True)))
    return TableRows(file, frame, decimal_commas=separator == ";")


def _without_blank_lines(content: bytes) -> bytes:
    """Text without blank lines that are not within quotes, of which polars makes rows."""
    if b"\n\n" not in content and b"\n\r\n" not in content:
        return content
    parts = content.split(b'"')
    parts[::2] = [re.sub(rb"(?<=\n)(\r?\n)+", b"", part) for part in parts[::2]]
    return b'"'.join(parts)


def _blank_lines(file: Path, content: bytes, separator: str, lines_before: int) -> bytearray:
    """Whether each line is blank; a ValueError for the first with other fields than the header."""
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), ""), delimiter=separator)
    width, blank = 0, bytearray()
    for fields in reader:
        width, line = width or len(fields), reader.line_num + lines_before
        if fields and len(fields) != width:
            raise ValueError(f"{file}, line {line}: {len(fields)} fields for {width} columns")
        if not fields and width == 1:
            raise ValueError(
                f"{file}, line {line} is blank, which may be an empty cell or no row: write NULL, "
                "or remove the line"
            )
        blank.append(not fields)
    return blank
