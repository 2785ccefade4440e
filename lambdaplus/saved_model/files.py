"""Files of any kind: which one, decompressed, and in pieces of whole lines."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
TABLES = (".csv", ".tsv", ".parquet")
KINDS = ".csv, .tsv or .parquet"
EXPANSION, EXPANDED_BYTES = 200, 2**28  # most of a compressed file; rankings expand up to 20 times
LONGEST_LINE = 2**26  # bytes


def table_kind(file: Path) -> str:
    """.csv, .tsv or .parquet, also below .gz or .xz; empty for a file that is no table."""
    suffix = Path(file.stem if file.suffix.lower() in OPENERS else file).suffix.lower()
    return suffix if suffix in TABLES else ""


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressed if its name ends in .gz or .xz.

    A ValueError is raised if it is damaged, and if its text is so much larger that it would only
    fill the memory.
    """
    opener = OPENERS.get(file.suffix.lower())
    if opener is None:
        with open(file, "rb") as stream:
            yield stream
        return
    try:
        with opener(file, "rb") as packed:
            yield io.BufferedReader(_Decompressed(packed, file))
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"{file} is cut short or damaged, and cannot be decompressed: {error}"
        ) from None


def expanded_at_most(file: Path) -> int:
    """The bytes to which a file may expand in memory."""
    return max(EXPANDED_BYTES, EXPANSION * file.stat().st_size)


class _Decompressed(io.RawIOBase):
    """A compressed file, which gives an error when it expands too much."""

    def __init__(self, stream: Any, file: Path) -> None:
        self._stream, self._file = stream, file
        self._left = expanded_at_most(file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size: int = self._stream.readinto(buffer)
        self._left -= size
        if self._left < 0:
            raise ValueError(
                f"{self._file} expands to more than {EXPANSION} times its size: decompress it, and "
                "pass the result if that is what it should hold"
            )
        return size


def pieces(file: Path, stream: BinaryIO, size: float, quotes: bool = False) -> Iterator[bytes]:
    """Pieces of about this size that end where a line ends, but not within quotes.

    A ValueError is raised for text in which no ends of lines can be found.
    """
    if np.isinf(size):
        content = stream.read()
        _refuse_other_text(file, content)
        yield content
        return
    rest, checked = b"", False
    while piece := stream.read(int(size)):
        if not checked:
            _refuse_other_text(file, piece)
            checked = True
        rest += piece
        end = rest.rfind(b"\n")
        odd = quotes and rest.count(b'"', 0, max(end, 0)) % 2
        while end > 0 and odd:
            last, end = end, rest.rfind(b"\n", 0, end)
            odd = (odd + rest.count(b'"', max(end, 0), last)) % 2
        # A header needs a row below it.  Without a header, a quotation mark is like other letters.
        if end >= (first_line(rest) if quotes else 0):
            yield rest[: end + 1]
            rest = rest[end + 1 :]
        if len(rest) > LONGEST_LINE:
            raise ValueError(f"{file} has a line of more than {LONGEST_LINE:,} bytes")
    if rest:
        yield rest


def _refuse_other_text(file: Path, start: bytes) -> None:
    """Raise a ValueError for text of two or four bytes a letter, or whose lines end in CR alone."""
    letters = start[:1000]
    halves = letters[::2], letters[1::2]
    if letters.startswith((b"\xff\xfe", b"\xfe\xff")) or (
        len(letters) > 3 and any(half.strip(b"\0") == b"" for half in halves)
    ):
        raise ValueError(
            f"{file} is UTF-16 or UTF-32: save it as UTF-8, as by iconv -f UTF-16 -t UTF-8"
        )
    if b"\r" in start and b"\n" not in start:
        raise ValueError(
            f"{file} has lines that end in a carriage return alone: save it with line feeds, as by "
            "tr '\\r' '\\n'"
        )


def first_line(content: bytes) -> int:
    """The length of the first line, whose end is not within quotes."""
    quotes, start = 0, 0
    while end := content.find(b"\n", start) + 1:
        quotes += content.count(b'"', start, end)
        if quotes % 2 == 0:
            return end
        start = end
    return len(content)
