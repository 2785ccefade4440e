"""Writing of files, each of which is either complete or not written at all.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.data.whole_files import written_whole
>>> with tempfile.TemporaryDirectory() as folder:
...     file = pathlib.Path(folder, "a.txt")
...     with written_whole(file) as part:
...         _ = part.write_text("complete")
...     file.read_text(), [path.name for path in file.parent.iterdir()]
('complete', ['a.txt'])
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lambdaplus.data.arrays import number_of


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Write to a temporary file that replaces ``path`` when the block ends.

    ``path`` does not change before that, nor if the block raises an error or the process is
    killed.  The permissions of the new file follow the user's umask, as usual.

    Parameters
    ----------
    path : Path
        Its folder is created if it does not exist.

    Yields
    ------
    Path
        A file in the same folder as ``path`` whose name ends in ``.part``.

    Raises
    ------
    OSError
        If it cannot be written, for example on a full disk; the message names ``path``.
    """
    part = path.with_name(f".{path.name[:50]}.{uuid.uuid4().hex[:12]}.part")  # 255 bytes at most
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise type(error)(error.errno, f"could not write: {error.strerror}", str(path)) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def csv_row(values: Iterable[Any]) -> list[Any]:
    """A row of a CSV file, with an apostrophe before text that spreadsheets take for a formula."""
    return [f"'{value}" if _is_formula(value) else value for value in values]


def _is_formula(value: Any) -> bool:
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return False
    try:
        number_of(value)
    except ValueError:
        return True
    return False
