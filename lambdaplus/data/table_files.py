"""Reader of CSV, TSV and Parquet files, which converts no value silently."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arrays import TEXT_OF_INTEGER, refuse_rounded, refuse_rounding
from lambdaplus.compute.extras import installation
from lambdaplus.compute.identifiers import identifiers, int_or_text
from lambdaplus.compute.messages import hint
from lambdaplus.data.letor import OPENERS, opened

if TYPE_CHECKING:
    import polars

_SUFFIXES = (".csv", ".tsv", ".parquet")
KINDS = ".csv, .tsv or .parquet"
_SEPARATORS = b",;\t"
NO_QUERIES = "none"  # instead of the name of a column: all rows are one ranking
WEIGHT_NAMES = ("weight", "weights", "sample_weight", "query_weight", "w")
INDEX = re.compile("|Unnamed: 0|__index_level_0__")
_COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")  # how gzip, xz and zstd begin


def table_kind(file: Path) -> str:
    """.csv, .tsv or .parquet, also below .gz or .xz; empty for a file that is no table."""
    suffix = Path(file.stem if file.suffix.lower() in OPENERS else file).suffix.lower()
    return suffix if suffix in _SUFFIXES else ""


class TableFile:
    """Columns of a CSV, TSV or Parquet file; a ValueError names the file and the column."""

    def __init__(self, file: Path) -> None:
        try:
            import polars
        except ImportError:
            raise ImportError(
                f"CSV and Parquet files need polars: {installation('dataframe')}"
            ) from None
        self.file, kind = file, table_kind(file)
        if not kind:
            raise ValueError(f"{file} is not {KINDS}")
        self._decimal_commas = False
        errors = (polars.exceptions.PolarsError, polars.exceptions.PanicException, csv.Error)
        try:
            with opened(file) as stream:  # polars would interpret a path as a pattern or a URL
                self._frame = (
                    polars.read_parquet(stream) if kind == ".parquet" else self._read_text(stream)
                )
        except errors as error:
            # Advice of polars follows the message.
            message = " ".join(str(error).partition("\n\n")[0].split()) or type(error).__name__
            raise ValueError(f"{file}: {message}") from None
        self.names = self._frame.columns
        if not self._frame.height:
            raise ValueError(f"{file} has no rows below its header")

    def require(self, names: Iterable[str], advice: str) -> None:
        """Raise a ValueError for those of these columns that the table does not have."""
        if missing := [name for name in names if name not in self.names]:
            words = " and no ".join(f"{name!r}{hint(name, self.names)}" for name in missing)
            raise ValueError(
                f"{self.file} has no column {words}; it has: {', '.join(self.names)}. {advice}"
            )

    def _read_text(self, stream: BinaryIO) -> polars.DataFrame:
        """Read columns of true and false as Booleans, all others as text."""
        import polars

        content = stream.read()
        if content.startswith(_COMPRESSED):  # polars would decompress it, or try to
            raise ValueError(f"{self.file} is compressed: its name must end in .gz or .xz")
        if content and not content.endswith(b"\n"):
            content += b"\n"  # without it, polars drops one empty field too many in the last line
        unquoted = re.sub(rb'"[^"]*"', b"", content.partition(b"\n")[0])
        separator = chr(max(_SEPARATORS, key=unquoted.count))  # a comma if there is none
        self._decimal_commas = separator == ";"
        # The header is read as a row, because polars renames a repeated column.
        options: dict[str, Any] = {"has_header": False, "infer_schema_length": 0}
        options |= {"null_values": ["NULL"], "separator": separator}
        try:
            frame = polars.read_csv(content, **options)
        except polars.exceptions.ComputeError as error:
            self._refuse_ragged(content, separator)
            if "utf-8" not in str(error):
                raise
            content = self._in_utf8(content)
            frame = polars.read_csv(content, **options)
        names = ["" if name is None else name for name in frame.row(0)]
        if twice := sorted(name for name, times in Counter(names).items() if times > 1):
            raise ValueError(
                f"{self.file}, line 1: the header contains {', '.join(map(repr, twice))} twice"
            )
        if frame[:, -1].null_count():  # polars fills short and blank lines with empty cells
            self._refuse_ragged(content, separator)
            frame = frame.filter(~polars.all_horizontal(polars.all().is_null()))
        frame = frame[1:].rename(dict(zip(frame.columns, names, strict=True)))
        # pandas writes True and False, spreadsheets TRUE and FALSE.
        lower = polars.all().str.strip_chars().str.to_lowercase()
        is_flag = frame.select(lower.drop_nulls().is_in(["true", "false"]).all()).row(0)
        flags = [name for name, yes in zip(names, is_flag, strict=True) if yes]
        return frame.with_columns(*frame[flags].select(lower == "true")) if flags else frame

    def _refuse_ragged(self, content: bytes, separator: str) -> None:
        """Raise a ValueError for the first line with more or fewer fields than the header."""
        text = io.StringIO(content.decode("utf-8-sig", "replace"), "")
        reader = csv.reader(text, delimiter=separator)
        rows = filter(None, reader)  # without blank lines
        width = len(next(rows, []))
        for fields in rows:
            if len(fields) != width:
                raise ValueError(
                    f"{self.file}, line {reader.line_num}: {len(fields)} fields for {width} columns"
                )

    def _in_utf8(self, content: bytes) -> bytes:
        """The text in UTF-8, with a warning if it is not in it already."""
        try:
            content.decode()
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            warnings.warn(
                f"{self.file}, line {line}: not UTF-8, so the file is read as Latin-1: convert it "
                "if names or queries look wrong",
                stacklevel=5,
            )
            return content.decode("latin-1").encode()
        return content

    def _as_numbers(self, name: str) -> tuple[polars.Series | None, int]:
        """A column as float64, null where it is no number, and its first row of text, or -1.

        None stands for a column of other types: polars would cast dates, durations and categories.
        """
        import polars

        column = self._frame[name]
        if column.dtype != polars.String:
            known = column.dtype.is_numeric() or column.dtype in (polars.Boolean, polars.Null)
            return column.cast(polars.Float64) if known else None, -1
        text = column.str.strip_chars()
        if self._decimal_commas:
            text = text.str.replace(",", ".", literal=True)
        numbers = text.cast(polars.Float64, strict=False)
        if numbers.null_count() == column.null_count():
            return numbers, -1
        is_text = numbers.is_null() & column.is_not_null() & (text != "")
        return numbers, int(is_text.arg_max() or 0) if is_text.any() else -1

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as finite numbers, (n,), without rounding."""
        where = f"{self.file}, column {name!r}"
        column, text = self._as_numbers(name)
        if column is None:
            raise ValueError(f"{where} is not numeric, but {self._frame[name].dtype}")
        if text >= 0:
            raise ValueError(
                f"{where}: {self._frame[name][text]!r} in row {text + 1} below the header is not a "
                "number"
            )
        numbers = self._unchanged(name, column)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            raise ValueError(
                f"{where}: {bad.size} cells are not finite numbers, the first is in row "
                f"{bad[0] + 1} below the header"
            )
        return numbers

    def _unchanged(self, name: str, numbers: polars.Series) -> NDArray[np.float64]:
        """The numbers of a column; a ValueError for cells that float64 changes."""
        import polars

        column = self._frame[name]
        exact = column.dtype.is_integer() or column.dtype == polars.Decimal
        odd = numbers.abs() >= 2.0**53
        if column.dtype == polars.String:
            text = column.str.strip_chars()
            infinite = numbers.is_infinite() & text.str.contains("[0-9]")
            odd = odd & (infinite | text.str.contains(TEXT_OF_INTEGER))
        elif not exact:
            return numbers.to_numpy()
        for row in odd.fill_null(False).arg_true():
            where = f"{self.file}, column {name!r}, row {row + 1} below the header"
            if exact:
                refuse_rounding([int(column[row])], where)
                continue
            refuse_rounded(cell := column[row].strip(), where)
            if np.isinf(numbers[row]):
                raise ValueError(f"{where}: {cell!r} is beyond the largest float64, 1.8e308")
        return numbers.to_numpy()

    def feature(self, name: str) -> NDArray[np.float64] | None:
        """A column as a feature, (n,), NaN where a cell is empty; None for text or dates."""
        column, text = self._as_numbers(name)
        if column is None or text < 0:
            return None if column is None else self._unchanged(name, column)
        if not column.is_finite().any():
            return None
        raise ValueError(
            f"{self.file}, column {name!r} mixes numbers and text; the first text is "
            f"{self._frame[name][text]!r} in row {text + 1} below the header"
        )

    def codes(self, name: str) -> tuple[NDArray[np.float64] | None, list[str]]:
        """A column of text as codes of its sorted values, (n,), and these values.

        Codes are 0, 1, ..., and NaN where a cell is empty; None for dates and other types.
        """
        import polars

        column = self._frame[name]
        if column.dtype not in (polars.String, polars.Categorical, polars.Enum):
            return None, []
        text = column.cast(polars.String)
        text = text.set(text.str.strip_chars() == "", None)
        codes = text.rank("dense").cast(polars.Float64) - 1.0
        return codes.to_numpy(), text.drop_nulls().unique().sort().to_list()

    def repeats(self, name: str) -> bool:
        """Whether a column has at least two values, on two rows or more on average."""
        return 2 <= self._frame[name].n_unique() <= self._frame.height / 2

    def type_in_words(self, name: str) -> str:
        kind = self._frame[name].dtype
        return "dates" if kind.is_temporal() else str(kind).replace("String", "text")

    def places(self, name: str) -> NDArray[Any]:
        """A column of numbers or dates, (n,), by which rows can be sorted, or text of these."""
        column = self._frame[name]
        if column.dtype.is_temporal() and not column.null_count():
            return column.to_physical().to_numpy()
        return self.identifiers(name)

    def identifiers(self, name: str) -> NDArray[Any]:
        """A column as (n,) int64, or as str if a conversion to int64 would lose information."""
        import polars

        column = self._frame[name]
        try:
            if column.dtype.is_nested() or column.dtype == polars.Binary:
                raise ValueError(f"{column.dtype} is no type of numbers, text or dates")
            if column.null_count():
                row = int(column.is_null().arg_max() or 0)
                raise ValueError(
                    f"{column.null_count()} cells are empty, the first is in row {row + 1} below "
                    "the header"
                )
            if column.dtype.is_float():
                numbers = identifiers(column.to_numpy())
                whole = numbers.astype(np.int64)
                return whole if np.array_equal(whole, numbers) else numbers.astype(np.str_)
            words = column.cast(str).to_list()
            row = next((row for row, word in enumerate(words) if word.lower() == "nan"), -1)
            if row >= 0:
                raise ValueError(f"{words[row]!r} in row {row + 1} below the header is no value")
            return int_or_text(words)
        except ValueError as error:
            raise ValueError(f"{self.file}, column {name!r}: {error}") from None
