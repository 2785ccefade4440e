"""The source of lambdaplus, whose digest names what was compiled or computed with it."""

import functools
import hashlib
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


@functools.cache
def source_of(package: Path) -> str:
    """A digest of the source of a package."""
    code = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        code.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    return code.hexdigest()
