"""Writing of files, each of which is either complete or not written at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary file in the folder of ``path``, which it replaces when the block ends.

    ``path`` does not change before that, nor if the block raises an error or the process is
    killed.  Its folder is created if it does not exist; an OSError names ``path``.
    """
    part = path.with_name(f".{path.name[:50]}.{uuid.uuid4().hex[:12]}.part")  # 255 bytes at most
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        os.replace(part, path)
    except OSError as error:
        raise type(error)(error.errno, f"could not write: {error.strerror}", str(path)) from error
    finally:
        part.unlink(missing_ok=True)
