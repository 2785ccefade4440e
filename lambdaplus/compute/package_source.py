"""The source of lambdaplus, whose digest names what was compiled or computed with it."""

import functools
import hashlib
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
WITHOUT_KERNELS = frozenset(
    {"cli", "data", "estimators", "evaluation", "frameworks", "saved_model", "study"}
)
"""Folders that neither hold kernels nor anything that kernels are made of."""


@functools.cache
def source_of(package: Path, without: frozenset[str] = frozenset()) -> str:
    """A digest of the source of a package, without some of its folders."""
    code = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if name.parts[0] not in without:
            code.update(f"{name.as_posix()}\n".encode() + path.read_bytes())
    return code.hexdigest()


def source_of_kernels() -> str:
    """A digest of all that compiled kernels may be made of."""
    return source_of(PACKAGE, WITHOUT_KERNELS)
