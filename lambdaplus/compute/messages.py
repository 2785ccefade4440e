"""Messages: warnings, similar names, and no control characters."""

import difflib
import inspect
import re
import warnings
from collections.abc import Collection
from pathlib import Path

_CALLED = ("lambdaplus", "lightgbm", "xgboost", "sklearn", "joblib")


def warn(message: str, kind: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user that led here, outside of this package and what calls it."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] in _CALLED:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)


def hint(name: str, names: Collection[str]) -> str:
    """The most similar known name, as the end of an error message; empty if there is none."""
    close = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


# Control characters, ends of lines, and marks that reverse the direction of what follows.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text on one line, with characters that a terminal would obey as escapes such as \\x1b.

    Names of columns, files, folds and methods may hold any of them.
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_lines(text: str) -> str:
    """The same for text of several lines."""
    return "\n".join(map(printable, text.split("\n")))


def refuse_missing(path: Path) -> None:
    """Raise a FileNotFoundError for a path that does not exist, with a similar name if any."""
    if path.exists():
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}, so no {path}")
    names = sorted(entry.name for entry in path.parent.iterdir())
    raise FileNotFoundError(f"there is no file or folder {path}{hint(path.name, names)}")
