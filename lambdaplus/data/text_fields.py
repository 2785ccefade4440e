"""Fields of the lines of a text file, with their places for messages."""

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lambdaplus.compute.arguments import number_of
from lambdaplus.saved_model.exact_numbers import changed
from lambdaplus.saved_model.files import LONGEST_LINE, opened


def fields_of_lines(file: Path) -> Iterator[tuple[str, list[str]]]:
    """The place of each line that is not blank, for messages, and its fields.

    A ValueError is raised for a damaged file, and for a NUL character or a carriage return within a
    line, which could hide a second row.
    """
    with opened(file) as stream:
        lines = iter(partial(stream.readline, LONGEST_LINE), b"")
        for number, line in enumerate(lines, 1):
            where = f"{file}, line {number}"
            if len(line) == LONGEST_LINE:
                raise ValueError(f"{where}: {LONGEST_LINE:,} bytes or more")
            if b"\0" in line:
                raise ValueError(f"{where}: a NUL character")
            if b"\r" in line.rstrip(b"\r\n"):
                raise ValueError(f"{where}: a carriage return within a line")
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            # Invalid UTF-8 is escaped, so that different document numbers stay different.
            if fields := text.decode(errors="backslashreplace").split():
                yield where, fields


def finite_number(text: str, what: str) -> float:
    """The number in a field; a ValueError if it has none, or one that float64 changes."""
    try:
        number = number_of(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{what} {text!r} is not a finite number")
    if abs(number) >= 2.0**53 and (why := changed(text, number)):
        raise ValueError(f"{what}{why}")
    return number
