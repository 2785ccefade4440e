"""Readers of plain and compressed text files, which raise an error for incomplete files.

Examples
--------
>>> import gzip, pathlib, tempfile
>>> from lambdaplus.data.text_files import fields_of_lines
>>> with tempfile.TemporaryDirectory() as folder:
...     file = pathlib.Path(folder, "run.txt.gz")
...     _ = file.write_bytes(gzip.compress(b"q1 Q0 d1\\n\\nq2 Q0 d2\\n"))
...     list(fields_of_lines(file))
[(1, ['q1', 'Q0', 'd1']), (3, ['q2', 'Q0', 'd2'])]
"""

from __future__ import annotations

import gzip
import io
import lzma
import math
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from lambdaplus.data.arrays import number_of, refuse_rounding

_PIECE = 1 << 15  # number of compressed bytes that are read at a time


@contextmanager
def open_binary(file: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressed if its name ends in .gz or .xz.

    Raises
    ------
    ValueError
        While reading, if a compressed file is truncated or damaged.
    """
    suffix = file.suffix.lower()
    try:
        with file.open("rb") as plain:
            if suffix == ".xz":
                yield io.BufferedReader(_Stream(_decompressed(plain)), _PIECE)
            elif suffix == ".gz":
                with gzip.open(plain) as text:
                    yield cast(BinaryIO, text)
            else:
                yield plain
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"{file} is cut short or damaged, and cannot be decompressed: {error}"
        ) from None


def fields_of_lines(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Fields of each non-blank line, with its line number.

    Raises
    ------
    ValueError
        For a NUL character, which is not valid in text, and like `open_binary`.
    """
    with open_binary(file) as binary:
        # Invalid UTF-8 bytes are kept distinct, so that different document numbers stay different.
        lines = io.TextIOWrapper(binary, encoding="utf-8-sig", errors="backslashreplace")
        for number, line in enumerate(lines, 1):
            if "\0" in line:
                raise ValueError(f"{file}, line {number}: a NUL character")
            fields = line.split()
            if fields:
                yield number, fields


def finite_number(text: str, what: str, file: Path, line: int) -> float:
    """Parse a finite number; the ValueError for any other text names the line."""
    try:
        found = number_of(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{file}, line {line}: the {what} {text!r} is not a finite number")
    if re.fullmatch("[+-]?[0-9]{16,}", text):
        refuse_rounding([int(text)], f"{file}, line {line}: the {what}")
    return found


class _Stream(io.RawIOBase):
    """A file object that reads from an iterator of bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = piece
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


def _decompressed(source: BinaryIO) -> Iterator[bytes]:
    """Contents of an .xz file; `lzma.open` would ignore a damaged second stream."""
    stream, left = lzma.LZMADecompressor(lzma.FORMAT_XZ), b""
    while piece := left or source.read(_PIECE):
        left = b""
        if stream.eof:
            piece = piece.lstrip(b"\0")  # padding between streams
            if not piece:
                continue
            stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        yield stream.decompress(piece)
        left = stream.unused_data
    if not stream.eof:
        raise EOFError("it ends before its end-of-stream marker")
