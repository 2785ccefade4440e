"""Words of errors and warnings: cells, names of columns, and those that are similar."""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

LONGEST = 200  # characters of a cell or name that is shown, or compared with others


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


def shown(cell: str) -> str:
    """A cell of a table, or its beginning and its end, for a message."""
    return cell if len(cell) <= LONGEST else f"{cell[: LONGEST // 2]}...{cell[-LONGEST // 2 :]}"


def warn(message: str) -> None:
    """Warn at the line that led here, outside of this program or package."""
    level, frame, package = 1, inspect.currentframe(), __name__.partition(".")[0]
    while frame and package == str(frame.f_globals.get("__name__")).partition(".")[0]:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
