"""Lines of plain and compressed text files, with an error for incomplete files."""

from __future__ import annotations

import gzip
import lzma
import math
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from lambdaplus.data.arrays import number_of, refuse_rounding

_PIECE = 1 << 15  # number of compressed bytes that are read at a time


def numbered_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1; decompressed if the name of the file ends in .gz or .xz.

    Raises
    ------
    ValueError
        If a compressed file is truncated or damaged, and for a NUL character or a carriage return
        within a line, after which the next row could be taken for a part of this one.
    """
    try:
        with file.open("rb") as binary:
            for number, line in enumerate(_decompressed(binary, file.suffix.lower()), 1):
                if b"\0" in line:
                    raise ValueError(f"{file}, line {number}: a NUL character")
                if b"\r" in line.rstrip(b"\r\n"):
                    raise ValueError(f"{file}, line {number}: a carriage return within a line")
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"{file} is cut short or damaged, and cannot be decompressed: {error}"
        ) from None


def _decompressed(binary: BinaryIO, suffix: str) -> Iterable[bytes]:
    if suffix == ".xz":
        return _lines_of_xz(binary)
    return gzip.GzipFile(fileobj=binary) if suffix == ".gz" else binary


def _lines_of_xz(binary: BinaryIO) -> Iterator[bytes]:
    """Lines of all streams of a file; `lzma.open` would ignore a damaged second stream."""
    stream, text = lzma.LZMADecompressor(lzma.FORMAT_XZ), b""
    while piece := binary.read(_PIECE):
        while piece:
            if stream.eof:
                piece = piece.lstrip(b"\0")  # padding between streams
                stream = lzma.LZMADecompressor(lzma.FORMAT_XZ) if piece else stream
            text += stream.decompress(piece) if piece else b""
            piece = stream.unused_data if piece else b""
        *lines, text = text.split(b"\n")
        yield from (line + b"\n" for line in lines)
    if not stream.eof:
        raise EOFError("it ends before its end-of-stream marker")
    if text:
        yield text


def fields_of_lines(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Fields of each non-blank line, with its line number; see `numbered_lines`."""
    for number, line in numbered_lines(file):
        # Invalid UTF-8 bytes are kept distinct, so that different document numbers stay different.
        if fields := line.decode(errors="backslashreplace").split():
            yield number, fields


def finite_number(text: str, what: str, file: Path, line: int) -> float:
    """Parse a finite number; the ValueError for any other text names the line."""
    try:
        number = number_of(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{file}, line {line}: the {what} {text!r} is not a finite number")
    if re.fullmatch("[+-]?[0-9]{16,}", text):
        refuse_rounding([int(text)], f"{file}, line {line}: the {what}")
    return number
