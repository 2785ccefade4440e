"""Scores of the rows of a file by a saved model: python predict.py [--probabilities] FILE

It prints a number for each row, in their order, and on stderr what these numbers are.  This module
of lambdaplus is copied beside each model that is saved.  It needs numpy, polars and the framework
of the model, and nothing else.
lambdaplus reads the tables that it trains on by the same functions.
"""

# Not `from __future__ import annotations`, which would import a file of that name in this folder.
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # this folder, of which a numpy.py or json.py would be imported

import csv
import difflib
import gzip
import inspect
import io
import json
import lzma
import os
import re
import reprlib
import warnings
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

ABOUT = "about.json"
MODELS = {"lightgbm": "model.txt", "xgboost": "model.json"}
OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
EXPANSION, EXPANDED_BYTES = 200, 2**28  # most of a compressed file; rankings expand up to 20 times
TABLES = (".csv", ".tsv", ".parquet")
KINDS = ".csv, .tsv or .parquet"
MISSING = 1.79769313486e308  # Istella's missing value, the largest double as text
LONGEST = 200  # characters of a name that is compared with others
MOST_WORDS = 1000  # characters of a sentence of about.json
MOST_COLUMNS = 500_000  # each takes two kilobytes of memory before its first row
BATCH = 2**25  # bytes of a file, or of its numbers, that are read at once
LETOR_BATCH = 2**21
LONGEST_LINE = 2**26  # bytes
FLAGS = {"true": 1.0, "false": 0.0}
LEFT_OUT = "left out"
OF_MODEL = "The model was trained with these columns"
SCORES = "scores for ranking: a higher one is first, and they have no unit"
PROBABILITIES = "--probabilities"
_COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")  # how gzip, xz and zstd begin
_SEPARATORS = b",;\t"
_BLANK = ord(" ")
_IS_BLANK = bytes(byte in b" \t\n\r\v\f" for byte in range(256))  # as in bytes.split
# Commas are decimal points in some files.  Exponents, as in 1.2345678901234567e+16, are those of
# rounded numbers.
_INTEGER = "^([+-]?[0-9]+)([.,]0*)?$"


class Column(NamedTuple):
    """What a column of a table is, and why.

    Attributes
    ----------
    kind : str
        number, flag (true or false), category, or "left out".
    levels : sequence of str
        The values of a category, in the order of their codes 0, 1, ...
    """

    name: str
    kind: str = "number"
    why: str = ""
    levels: Sequence[str] = ()


class About(NamedTuple):
    """What ``about.json`` says of a model.

    Attributes
    ----------
    scores : str
        What its raw scores are.
    logistic : (float, float), optional
        Numbers a and b: the probability of a label is 1 / (1 + exp(-(a s + b))) for the score s.
    pos_label : str
        This label.
    why_not : str
        Why there are no probabilities.
    """

    framework: str
    columns: list[Column]
    scores: str = SCORES
    logistic: tuple[float, float] | None = None
    pos_label: str = ""
    why_not: str = ""

    def in_words(self, probabilities: bool) -> str:
        """What the numbers are that scoring prints."""
        of_label = f"probabilities of the label {self.pos_label}"
        if probabilities:
            return of_label
        return self.scores + (f"; {PROBABILITIES} prints {of_label}" if self.logistic else "")

    def probability(self, folder: Path) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """The probabilities of scores; a ValueError if there are none."""
        if self.logistic is None:
            raise ValueError(
                f"the model in {folder} has no probabilities: {self.why_not or 'none were saved'}. "
                f"Leave out {PROBABILITIES}: its numbers are {self.scores}"
            )
        a, b = self.logistic
        return lambda s: np.asarray(np.exp(-np.logaddexp(0.0, -(a * s + b))))  # without overflow


# Tables ------------------------------------------------------------------------------------------


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


class _Decompressed(io.RawIOBase):
    """A compressed file, which gives an error when it expands too much."""

    def __init__(self, stream: Any, file: Path) -> None:
        self._stream, self._file = stream, file
        self._left = max(EXPANDED_BYTES, EXPANSION * file.stat().st_size)

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


def table_kind(file: Path) -> str:
    """.csv, .tsv or .parquet, also below .gz or .xz; empty for a file that is no table."""
    suffix = Path(file.stem if file.suffix.lower() in OPENERS else file).suffix.lower()
    return suffix if suffix in TABLES else ""


class TableRows(NamedTuple):
    """Rows of a CSV, TSV or Parquet file; the columns of a CSV file are text."""

    file: Path
    frame: "polars.DataFrame"
    decimal_commas: bool = False
    first: int = 1  # the number of the first row below the header

    def place(self, name: str, row: int | None = None) -> str:
        """A column, or a cell of it, in words."""
        where = "" if row is None else f", row {self.first + row} below the header"
        return f"{self.file}, column {name!r}{where}"

    def parsed(self, name: str) -> "tuple[polars.Series | None, int]":
        """A column as float64, null where it is no number, and its first row of text, or -1.

        True and false, in any case, are 1 and 0.  None stands for a column of other types: polars
        would cast dates, durations and categories.
        """
        import polars as pl

        cells = self.frame[name]
        if cells.dtype != pl.String:
            known = cells.dtype.is_numeric() or cells.dtype in (pl.Boolean, pl.Null)
            return cells.cast(pl.Float64) if known else None, -1
        text = cells.str.strip_chars()
        decimal = text.str.replace(",", ".", literal=True) if self.decimal_commas else text
        numbers = decimal.cast(pl.Float64, strict=False)
        if numbers.null_count() == cells.null_count():
            return numbers, -1
        # pandas writes True and False, spreadsheets TRUE and FALSE.
        flags = text.str.to_lowercase().replace_strict(FLAGS, default=None, return_dtype=pl.Float64)
        numbers = numbers.zip_with(numbers.is_not_null(), flags)
        is_text = numbers.is_null() & cells.is_not_null() & (text != "")
        return numbers, int(is_text.arg_max() or 0) if is_text.any() else -1

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column, (n,), NaN where a cell is empty; a ValueError for other cells."""
        numbers, text = self.parsed(name)
        if numbers is None:
            raise ValueError(f"{self.place(name)} is not numeric, but {self.frame[name].dtype}")
        if text >= 0:
            cell = self.frame[name][text]
            raise ValueError(f"{self.place(name, text)}: {shown(cell)!r} is not a number")
        return self.unrounded(name, numbers)

    def unrounded(self, name: str, numbers: "polars.Series") -> NDArray[np.float64]:
        """The numbers of a column; a ValueError for cells that float64 changes."""
        import polars as pl

        cells = self.frame[name]
        exact = cells.dtype.is_integer() or cells.dtype == pl.Decimal
        if exact or cells.dtype == pl.String:
            for row in (numbers.abs() >= 2.0**53).fill_null(False).arg_true():
                if why := changed(str(cells[row]).strip(), numbers[row]):
                    raise ValueError(f"{self.place(name, row)}{why}")
        return numbers.to_numpy()

    def words(self, name: str, whole_numbers: bool = False) -> "polars.Series | None":
        """A column of text, or of whole numbers if wanted, as text, null where a cell is empty.

        None stands for a column of other types.
        """
        import polars as pl

        cells = self.frame[name]
        if whole_numbers and cells.dtype.is_float():  # as pandas has them beside empty cells
            known = cells.fill_nan(None)
            integers = known.cast(pl.Int64, strict=False)
            cells = integers if integers.cast(cells.dtype).equals(known) else cells
        is_text = cells.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)
        if not is_text and not (whole_numbers and cells.dtype.is_integer()):
            return None
        text = cells.cast(pl.String)
        if whole_numbers:
            text = text.str.replace(r"^(-?[0-9]+)\.0+$", "$1")
        return text.set(text.str.strip_chars() == "", None)

    def codes(self, column: Column, unseen: dict[str, Counter[str]]) -> NDArray[np.float64]:
        """A category as the places of its levels, (n,), NaN for empty cells and other values.

        The other values are added to ``unseen``.
        """
        import polars as pl

        words = self.words(column.name, are_whole_numbers(column.levels))
        if words is None:
            kind = self.frame[column.name].dtype
            raise ValueError(f"{self.place(column.name)} is no text, as in training, but {kind}")
        levels = pl.Series(column.levels, dtype=pl.String)
        places = pl.Series(range(len(column.levels)), dtype=pl.Float64)
        codes = words.replace_strict(levels, places, default=None, return_dtype=pl.Float64)
        if codes.null_count() > words.null_count():
            other = words.filter(codes.is_null() & words.is_not_null())
            unseen.setdefault(column.name, Counter()).update(other)
        return codes.to_numpy()


def are_whole_numbers(levels: Sequence[str]) -> bool:
    """Whether there are levels, all of them texts of whole numbers, so that 1.0 is 1."""
    return bool(levels) and all(re.fullmatch("-?[0-9]+", level) for level in levels)


def require(file: Path, have: Sequence[str], names: Iterable[str], advice: str) -> None:
    """Raise a ValueError for those of these columns that a table does not have."""
    known = {*have}
    words = [f"{name!r}{like(name, have)}" for name in names if name not in known]
    if words:
        raise ValueError(
            f"{file} has no column {' and no '.join(words)}; it has: {', '.join(have)}. {advice}"
        )


def like(name: str, names: Sequence[str]) -> str:
    """The most similar known name, as the end of an error message; empty if there is none."""
    known = [other for other in names if len(other) <= LONGEST]  # the time is that of the square
    close = difflib.get_close_matches(name, known, n=1) if len(name) <= LONGEST else []
    return f" (did you mean {close[0]!r}?)" if close else ""


def changed(text: str, number: float) -> str:
    """What to say of a cell whose number a float64 does not hold; empty if it does."""
    integer = re.fullmatch(_INTEGER, text)
    # Python reads at most 4300 digits, and those of a finite number are fewer, but for zeros.
    without_zeros = re.sub("^([+-]?)0+(?=.)", r"\1", integer[1]) if integer else ""
    if integer and (np.isinf(number) or int(without_zeros) != number):
        return (
            f" contains {reprlib.repr(text)[1:-1]}, which a float64 cannot represent: integers "
            "beyond 2**53 would become equal to others; subtract an offset, or pass ranks"
        )
    if np.isinf(number) and re.search("[0-9]", text):
        return f": {text!r} is beyond the largest float64, 1.8e308"
    return ""


def _warn(message: str) -> None:
    """Warn at the line that led here, outside of this program or package."""
    level, frame, package = 1, inspect.currentframe(), __name__.partition(".")[0]
    while frame and package == str(frame.f_globals.get("__name__")).partition(".")[0]:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def tables(file: Path, size: float = np.inf, columns: Sequence[str] = ()) -> Iterator[TableRows]:
    """The rows of a file in batches of about this many bytes; by default, all in one.

    A ValueError names the file, and a damaged line, or one of these columns that is missing.
    """
    import polars as pl

    errors = (pl.exceptions.PolarsError, pl.exceptions.PanicException, csv.Error)
    read = _parquet if table_kind(file) == ".parquet" else _csv
    rows = 0
    try:
        with opened(file) as stream:  # polars would interpret a path as a pattern or a URL
            for table in read(file, stream, size, columns):
                yield table._replace(first=rows + 1)
                rows += table.frame.height
    except errors as error:
        # Advice of polars follows the message.
        message = " ".join(str(error).partition("\n\n")[0].split()) or type(error).__name__
        raise ValueError(f"{file}: {message}") from None
    if not rows:
        raise ValueError(f"{file} has no rows below its header")


def _parquet(
    file: Path, stream: BinaryIO, size: float, columns: Sequence[str]
) -> Iterator[TableRows]:
    import polars as pl

    packed = file.suffix.lower() in OPENERS
    scan = pl.scan_parquet(io.BytesIO(stream.read()) if packed else stream)
    names = scan.collect_schema().names()
    require(file, names, columns, OF_MODEL)
    scan = scan.select(columns or names)
    rows = max(1, int(min(size, 2**34)) // (8 * len(columns or names) or 8))
    first = 0
    while True:
        frame = (scan if np.isinf(size) else scan.slice(first, rows)).collect()
        _refuse_expanded_text(file, frame)
        if frame.height or not first:
            yield TableRows(file, frame)
        if frame.height != rows or np.isinf(size):
            return
        first += rows


def _refuse_expanded_text(file: Path, frame: "polars.DataFrame") -> None:
    """Raise a ValueError for repeated text that is so much larger in memory than in the file."""
    import polars as pl

    texts = [cells for cells in frame if cells.dtype in (pl.String, pl.Categorical, pl.Enum)]
    size = sum(int(cells.cast(pl.String).str.len_bytes().sum() or 0) for cells in texts)
    if size > max(EXPANDED_BYTES, EXPANSION * file.stat().st_size):
        raise ValueError(f"{file}: its text expands to more than {EXPANSION} times its size")


def _csv(file: Path, stream: BinaryIO, size: float, columns: Sequence[str]) -> Iterator[TableRows]:
    header, lines_before, latin = b"", 0, False
    for piece in pieces(file, stream, size, quotes=True):
        if piece.startswith(_COMPRESSED):  # polars would decompress it, or try to
            raise ValueError(f"{file} is compressed: its name must end in .gz or .xz")
        content = header + piece
        header = header or piece[: _first_line(piece)]
        if not latin:
            latin = _is_latin(file, content, lines_before)
        text = content.decode("latin-1").encode() if latin else content
        table = _csv_table(file, text, lines_before)
        require(file, table.frame.columns, columns, OF_MODEL)
        yield table
        lines_before += content.count(b"\n") - header.count(b"\n")


def pieces(file: Path, stream: BinaryIO, size: float, quotes: bool = False) -> Iterator[bytes]:
    """Pieces of about this size that end where a line ends, but not within quotes."""
    if np.isinf(size):
        yield stream.read()
        return
    rest = b""
    while piece := stream.read(int(size)):
        rest += piece
        end = rest.rfind(b"\n")
        odd = quotes and rest.count(b'"', 0, max(end, 0)) % 2
        while end > 0 and odd:
            last, end = end, rest.rfind(b"\n", 0, end)
            odd = (odd + rest.count(b'"', max(end, 0), last)) % 2
        # A header needs a row below it.  Without a header, a quotation mark is like other letters.
        if end >= (_first_line(rest) if quotes else 0):
            yield rest[: end + 1]
            rest = rest[end + 1 :]
        if len(rest) > LONGEST_LINE:
            raise ValueError(f"{file} has a line of more than {LONGEST_LINE:,} bytes")
    if rest:
        yield rest


def _first_line(content: bytes) -> int:
    """The length of the first line, whose end is not within quotes."""
    quotes, start = 0, 0
    while end := content.find(b"\n", start) + 1:
        quotes += content.count(b'"', start, end)
        if quotes % 2 == 0:
            return end
        start = end
    return len(content)


def _is_latin(file: Path, content: bytes, lines_before: int) -> bool:
    """Whether text is not UTF-8, with a warning if so."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1 + lines_before
        _warn(
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


# LETOR -------------------------------------------------------------------------------------------


class LetorRows(NamedTuple):
    """Rows of a file in the LETOR format, also called svmlight.

    Attributes
    ----------
    labels : (n,) float64
    queries : (m,) int64
        Of the rows that have a query.
    rows, numbers, values : (k,) int64, int64 and float64
        The features that are written: the row of each, from 0, its number, which ascends within a
        row, and its value.  NULL and Istella's missing value are NaN.
    """

    labels: NDArray[np.float64]
    queries: NDArray[np.int64]
    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]
    values: NDArray[np.float64]


def letor_rows(file: Path, size: float = np.inf) -> Iterator[LetorRows]:
    """The rows of a LETOR file, in batches of at most about this many bytes of text.

    A ValueError names the file, and the first line that is malformed or has a number that float64
    changes.
    """
    lines_before = 0
    with opened(file) as stream:
        for piece in pieces(file, stream, min(size, LETOR_BATCH)):
            text = piece if lines_before else piece.removeprefix(b"\xef\xbb\xbf")
            text = re.sub(b"#[^\n]*", b"", text) if b"#" in text else text
            text = text.replace(b":NULL", b":nan")
            try:
                rows = _parsed(text)
            except ValueError:
                lines = text.split(b"\n")
                ends = range(1, len(lines) + 1)
                wrong = bisect_left(ends, True, key=lambda end: _why_not(lines[:end]) != "")
                why = _why_not(lines[wrong : wrong + 1])
                raise ValueError(f"{file}, line {lines_before + wrong + 1}: {why}") from None
            yield rows
            lines_before += text.count(b"\n")


def _why_not(lines: Sequence[bytes]) -> str:
    """Why a line, or one of several, cannot be read; empty if all can."""
    try:
        _parsed(b"\n".join(lines))
    except ValueError as error:
        line = lines[0].decode("latin-1")
        odd = [field for field in line.split() if re.search("[0-9]_[0-9]", field)]
        return str(error) or (
            f"{odd[0]!r}: a number with an underscore"
            if odd
            else "not 'label qid:ID 1:value 2:value', with a finite number as label, a whole "
            f"number as ID and features in ascending order: {line.strip()[:80]!r}"
        )
    return ""


def _parsed(text: bytes) -> LetorRows:
    """The rows of text without comments, by operations on arrays of all of its bytes.

    The ValueError for a malformed line has no message.
    """
    text = b"\n" + text + b"\n"
    is_blank = np.frombuffer(text.translate(_IS_BLANK), np.bool_)
    edges = np.flatnonzero(is_blank[1:] != is_blank[:-1]) + 1
    first, end = edges[::2], edges[1::2]  # of each field
    cells = np.frombuffer(bytearray(text), np.uint8)  # what was read is replaced by blanks
    n_fields = np.diff(np.searchsorted(first, np.flatnonzero(cells == ord("\n"))))
    n_fields = n_fields[n_fields > 0]
    row = np.repeat(np.arange(n_fields.size), n_fields - 1)

    # Each field that is no label has one colon, with something on both sides.
    label = np.cumsum(n_fields) - n_fields
    start, stop = np.delete(first, label), np.delete(end, label)
    colon = np.flatnonzero(cells == ord(":"))
    _refuse(colon.size != start.size or b"(" in text)  # NumPy reads nan(1) as nan
    _refuse((colon <= start) | (colon >= stop - 1))
    cells[colon] = _BLANK

    query = np.flatnonzero((colon == start + 3) & (np.diff(row, prepend=-1) > 0))
    letters = start[query][:, None] + np.arange(3)
    is_query = (cells[letters] == [*b"qid"]).all(axis=1)
    query, letters = query[is_query], letters[is_query]
    cells[letters] = _BLANK
    queries = _whole_numbers(cells, colon[query] + 1, stop[query])
    field = query + row[query] + 1
    first, end = np.delete(first, field), np.delete(end, field)
    start, colon, row = np.delete(start, query), np.delete(colon, query), np.delete(row, query)
    numbers = _whole_numbers(cells, start, colon)
    _refuse((numbers < 0) | (numbers >= 2**32))
    _refuse((np.diff(numbers, prepend=-1) <= 0) & (np.diff(row, prepend=-1) == 0))

    values = _numbers(cells) if first.size else np.zeros(0)
    _refuse(values.size != first.size)
    is_label = np.ones(first.size, np.bool_)
    is_label[np.arange(row.size) + row + 1] = False
    values[~is_label & (values >= MISSING) & (values < np.inf)] = np.nan
    for i in np.flatnonzero(np.abs(values) >= 2.0**53):
        cell = text[first[i] : end[i]].decode("latin-1")
        if why := changed(cell.rpartition(":")[2], float(values[i])):
            raise ValueError(f"{cell!r}{why}")
    _refuse(~np.isfinite(values[is_label]))
    return LetorRows(values[is_label], queries, row, numbers, values[~is_label])


def _refuse(wrong: Any) -> None:
    if np.any(wrong):
        raise ValueError


def _whole_numbers(
    cells: NDArray[np.uint8], start: NDArray[np.int64], stop: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Numbers in digits, perhaps with a sign, which are replaced by blanks."""
    sign = cells[start]
    is_signed = (sign == ord("-")) | (sign == ord("+"))
    cells[start[is_signed]] = _BLANK
    first = start + is_signed
    length = stop - first
    _refuse((length < 1) | (length > 19))
    number, places = np.zeros(start.size, np.uint64), np.arange(start.size)
    for k in range(int(length.max(initial=0))):
        places = places[length[places] > k]
        at = first[places] + k
        digit = cells[at] - np.uint8(ord("0"))
        _refuse(digit > 9)
        number[places] = number[places] * np.uint64(10) + digit
        cells[at] = _BLANK
    _refuse(number > np.iinfo(np.int64).max)
    return np.where(sign == ord("-"), -1, 1) * number.astype(np.int64)


def _numbers(cells: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The numbers between blanks."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(cells.tobytes(), sep=" ")
        except (ValueError, DeprecationWarning):  # of NumPy since 2.3, and before
            raise ValueError from None


def numbered_features(
    file: Path, names: Sequence[str], size: float = BATCH
) -> Iterator[NDArray[np.float64]]:
    """The features of a LETOR file with these numbers in batches, (n, f) float64.

    A feature that is absent in a line is 0.
    """
    if named := [name for name in names if not re.fullmatch("[0-9]{1,18}", name)]:
        raise ValueError(
            f"{file} is not {KINDS}, so its columns have no names: the model was trained with "
            f"{', '.join(named)}"
        )
    wanted = np.array([min(int(name), 2**63 - 1) for name in names], np.int64)
    columns = np.argsort(wanted)
    ascending = np.append(wanted[columns], -1)  # which is no number of a feature
    batch = max(1, int(min(size, 2**34)) // (8 * wanted.size or 8))  # rows
    n_rows, least, most = 0, np.iinfo(np.int64).max, 0
    for read in letor_rows(file, size):
        least, most = read.numbers.min(initial=least), read.numbers.max(initial=most)
        if least == 0 and 0 not in wanted:
            raise ValueError(
                f"{file} has a feature 0, and the model was trained with features from 1: the two "
                "count from different numbers"
            )
        at = np.searchsorted(ascending[:-1], read.numbers)
        known = np.flatnonzero(ascending[at] == read.numbers)
        rows, at, values = read.rows[known], columns[at[known]], read.values[known]
        for start in range(0, read.labels.size, batch):
            features = np.zeros((min(batch, read.labels.size - start), wanted.size))
            part = slice(*np.searchsorted(rows, (start, start + batch)))
            features[rows[part] - start, at[part]] = values[part]
            yield features
        n_rows += read.labels.size
    if least == 1 and 0 in wanted and most == wanted.size == ascending[-2] + 1:
        raise ValueError(
            f"{file} has features 1 to {most}, and the model was trained with features 0 to "
            f"{most - 1}: the two count from different numbers"
        )
    if not n_rows:
        raise ValueError(f"{file} has no rows")


# Models ------------------------------------------------------------------------------------------


def features_of(
    file: Path, columns: Sequence[Column], unseen: dict[str, Counter[str]], size: float = np.inf
) -> Iterator[Any]:
    """The features of a file in batches, (n, f) float64: the columns of a model, found by name."""
    names = [column.name for column in columns]
    if not table_kind(file):
        yield from numbered_features(file, names, size)
        return
    for table in tables(file, size, names):
        yield np.column_stack([
            table.codes(column, unseen) if column.kind == "category" else table.numbers(column.name)
            for column in columns
        ])  # fmt: skip


def lightgbm_scorer(model: Path) -> Callable[[Any], Any]:
    """The raw scores of features by LightGBM."""
    import lightgbm

    booster = lightgbm.Booster(model_file=str(model))
    return lambda X: booster.predict(X, raw_score=True)


def xgboost_scorer(model: Path) -> Callable[[Any], Any]:
    """The raw scores of features by XGBoost."""
    import xgboost

    booster = xgboost.Booster(model_file=str(model))
    options = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}
    trained = booster.num_features()

    def score(X: NDArray[np.float64]) -> Any:
        if X.shape[1] != trained:  # XGBoost would take columns that lack for missing values
            raise ValueError(f"it has {trained} features, and {X.shape[1]} columns are described")
        data = xgboost.DMatrix(X, enable_categorical=True, **options)
        return booster.predict(data, output_margin=True)

    return score


SCORERS = {"lightgbm": lightgbm_scorer, "xgboost": xgboost_scorer}


def score_file(
    folder: Path, file: Path, size: float = BATCH, probabilities: bool = False
) -> NDArray[np.float64]:
    """The scores of the rows of a file by the model in a folder, (n,), in the order of the rows.

    With ``probabilities``, those of the label that ``about.json`` names.  Values of categories that
    the model was not trained with are missing values, as empty cells are.

    Raises
    ------
    ValueError, OSError
        If the folder has no model, or none with probabilities, or the file is not like those of the
        training.

    Warns
    -----
    UserWarning
        For values that the model was not trained with, and for a file that is not UTF-8.
    """
    about = read_about(folder)
    framework, columns = about.framework, about.columns
    output = about.probability(folder) if probabilities else np.asarray
    if not file.exists():
        beside = sorted(path.name for path in file.parent.glob("*"))
        raise FileNotFoundError(f"there is no file {file}{like(file.name, beside)}")
    model = folder / MODELS[framework]
    if not model.is_file():  # nor is a pipe one, which would never end
        raise ValueError(f"{model} cannot be read: it is no file")
    try:
        scorer = SCORERS[framework](model)
    except Exception as error:  # each framework has errors of its own
        if isinstance(error, ImportError):
            raise
        raise ValueError(f"{model} cannot be read: {error}") from None
    unseen: dict[str, Counter[str]] = {}
    scores, rows = [np.zeros(0)], 0
    for features in features_of(file, columns, unseen, size):
        for row, j in np.argwhere(np.isinf(features))[:1] if framework == "xgboost" else ():
            raise ValueError(
                f"{file}, column {columns[j].name!r}, row {rows + row + 1} is {features[row, j]}, "
                "and XGBoost takes finite numbers: leave the cell empty, or write a large number"
            )
        try:
            scores.append(np.asarray(scorer(features), dtype=np.float64))
        except MemoryError:
            raise
        except Exception as error:  # the framework's own, such as for another number of columns
            raise ValueError(f"{model} does not fit {folder / ABOUT}: {error}") from None
        rows += len(features)
        if rows > len(features) and sys.stderr is not None and sys.stderr.isatty():
            print(f"{rows:,} rows", end="\r", file=sys.stderr, flush=True)
    for name, cells in unseen.items():
        _warn(
            f"{file}, column {name!r}: {cells.total():,} of {rows:,} rows have values that the "
            "model was not trained with, which are taken for missing: "
            f"{', '.join(map(shown, [*cells][:5]))}{', ...' if len(cells) > 5 else ''}"
        )
    return output(np.concatenate(scores))


def shown(cell: str) -> str:
    """A cell of a table, or its beginning and its end, for a message."""
    return cell if len(cell) <= LONGEST else f"{cell[: LONGEST // 2]}...{cell[-LONGEST // 2 :]}"


def read_about(folder: Path) -> About:
    """What a folder says of its model."""
    file = folder / ABOUT
    if not file.is_file():
        raise ValueError(
            f"{folder} has no {ABOUT}: it is no saved model, or the run that saved it was stopped, "
            "and can be repeated"
        )
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        columns = [Column(**column) for column in about["columns"]]
        names = {column.name for column in columns if _is_sound(column)}
        if not isinstance(about["columns"], list) or not 0 < len(columns) == len(names):
            raise ValueError
        framework = str({name: name for name in MODELS}[about["framework"]])
        logistic = None
        if about.get("a") is not None:
            logistic = float(about["a"]), float(about["b"])
            if not np.isfinite(logistic).all():
                raise ValueError
        words = {"scores": SCORES, "pos_label": "", "no_probabilities": ""}
        said = (str(about.get(name, known))[:MOST_WORDS] for name, known in words.items())
        scores, pos_label, why_not = said
        return About(framework, columns, scores, logistic, pos_label, why_not)
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ValueError(f"{file} is damaged, or was written by another program") from None


def _is_sound(column: Column) -> bool:
    """Whether a column is one that lambdaplus has written."""
    words = [column.name, column.kind, *column.levels]
    listed = isinstance(column.levels, list | tuple) and all(isinstance(w, str) for w in words)
    return listed and len({*column.levels}) == len(column.levels)


def main(arguments: Sequence[str]) -> int:
    """Print the scores of a file, or an error and nothing else."""
    files = [argument for argument in arguments if argument != PROBABILITIES]
    probabilities, folder = len(files) < len(arguments), Path(__file__).parent
    if len(files) != 1 or files[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    said, meaning, scores = "", "", np.zeros(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scores = score_file(folder, Path(files[0]), probabilities=probabilities)
            meaning = read_about(folder).in_words(probabilities)
        except (ValueError, OSError, ImportError, MemoryError) as error:
            said = str(error)
    for message in filter(None, [meaning, *(str(warning.message) for warning in caught), said]):
        # What a terminal would obey is printed as escapes.
        shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in message)
        print(f"predict.py: {shown}", file=sys.stderr)
    try:
        sys.stdout.writelines(f"{score!r}\n" for score in scores.tolist())
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has what it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end
    return 2 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
