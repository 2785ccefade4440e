"""Kernels work if nothing can be cached on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lambdaplus.compiled import borrowed, compiled, hold, source_of_kernels
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


def test_kept_kernels_are_those_of_the_source_of_all_kernels(tmp_path: Path) -> None:
    """A change in any file with kernels, not only in its own, causes a recompilation."""
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


@compiled
def _sums_of_parts(record, repeats):  # type: ignore[no-untyped-def]
    """What a record's arrays add up to, by way of slices that outlive one another."""
    record = borrowed(record)
    total = 0.0
    for i in range(repeats):
        one, (two, _) = record[0][i:], record[1]
        total += one.sum() + two[: i + 1].sum()
    return total


def test_borrowed_arrays_hold_the_same_values_and_are_not_freed() -> None:
    one, two = np.arange(5.0), np.arange(10.0, 15.0)
    references = sys.getrefcount(one), sys.getrefcount(two)
    expected = sum(one[i:].sum() + two[: i + 1].sum() for i in range(5))
    for _ in range(3):
        assert _sums_of_parts((one, (two, 1.0)), 5) == expected
    assert (sys.getrefcount(one), sys.getrefcount(two)) == references
    assert one.tolist() == [0, 1, 2, 3, 4]
    assert two.tolist() == [10, 11, 12, 13, 14]


@compiled
def _sum_of_an_array_of_its_own(n):  # type: ignore[no-untyped-def]
    """A borrowed array that is held, while others are made that would take its memory."""
    mine = np.ones(n)
    lent = borrowed(mine)
    total = 0.0
    for i in range(n):
        other = np.full(n, 100.0)
        total += lent[i] + 0.0 * other[i]
    hold(mine)
    return total


def test_an_array_that_is_held_is_not_released_while_it_is_borrowed() -> None:
    assert [_sum_of_an_array_of_its_own(n) for n in (10, 100, 1000)] == [10, 100, 1000]
