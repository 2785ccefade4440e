"""Atomic writing of files."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary file, which replaces ``path`` if the block ends without an error.

    The folder of ``path`` is created if it does not exist.  An OSError names ``path``.
    """
    # 255 bytes at most.
    temporary = path.with_name(f".{path.name[:50]}.{uuid.uuid4().hex[:12]}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise type(error)(error.errno, f"could not write: {error.strerror}", str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)
