"""Kernels work where nothing can be kept on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lambdaplus.compiled import source_of_kernels
from lambdaplus.ranking import _sort as rank_kernel

WITHOUT_A_CACHE = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []  # as in a read-only installation, run without a home
from lambdaplus.compiled import compiled
@compiled
def double(x):
    return 2 * x
assert double(21) == 42 and double.stats.cache_path is None, double.stats
from lambdaplus.ranking import rank
from lambdaplus.queries import Queries
print(rank(Queries([0, 1], group=[2]), [0.5, 0.7]).permutation.tolist())
"""


@pytest.mark.slow
def test_kernels_compile_without_a_cache_folder() -> None:
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_CACHE], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == "[1, 0]"


def test_the_package_loads_nothing_before_it_is_used() -> None:
    heavy = "{'numba', 'scipy', 'sklearn', 'lightgbm', 'xgboost', 'rich', 'matplotlib', 'polars'}"
    code = f"import sys, lambdaplus; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_kept_kernels_are_those_of_the_source_of_all_kernels(tmp_path: Path) -> None:
    """A change in any file with kernels, not only in a kernel's own, has it compiled again."""
    package = tmp_path / "lambdaplus"
    (package / "inner").mkdir(parents=True)
    for name, text in (
        ("a.py", "from lambdaplus.compiled import compiled\n"),
        ("inner/b.py", "import numba\n"),
        ("c.py", "class Record(NamedTuple): ...\n"),
        ("prose.py", "nothing = 1\n"),
    ):
        (package / name).write_text(text)
    digests = [source_of_kernels.__wrapped__(package)]
    for name in ("a.py", "inner/b.py", "c.py", "prose.py"):
        (package / name).write_text((package / name).read_text() + "# changed\n")
        digests.append(source_of_kernels.__wrapped__(package))
    assert len(set(digests[:4])) == 4
    assert digests[4] == digests[3]  # no kernel there
    stamp = rank_kernel._cache._cache_file._source_stamp
    assert stamp[1] == source_of_kernels()
