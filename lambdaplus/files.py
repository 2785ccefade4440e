"""Files that are there wholly or not at all, whatever happens while they are written.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.files import written_whole
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to write in place of ``path``, which it becomes when the block ends.

    Until then ``path`` is what it was, and stays that if the block raises or the process is
    killed.  The new file may be read by whom the user's umask lets read, as any other.

    Parameters
    ----------
    path : Path
        Its folder is made if it is not there.

    Yields
    ------
    Path
        Beside ``path``; ends in ``.part``.

    Raises
    ------
    OSError
        If it can't be written, as on a full disk; the message names ``path``.
    """
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.part")
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
