"""Shared fixtures: newly compiled kernels, and the location of real data."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


def drop_stale_kernels() -> None:
    """Delete compiled kernels older than any source file.

    numba recompiles a function when its own file changes, not when a function that it calls does.
    """
    package = ROOT / "lambdaplus"
    newest = max(path.stat().st_mtime for path in package.rglob("*.py"))
    for compiled in package.rglob("*.nb[ci]"):
        if compiled.stat().st_mtime < newest:
            compiled.unlink()


drop_stale_kernels()


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sets that tests read are not left in the user's cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMBDAPLUS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def data_folder() -> pathlib.Path:
    """The folder of real data sets next to the project."""
    if not DATA.is_dir():
        pytest.skip(f"the real data sets are not at {DATA}")
    return DATA
