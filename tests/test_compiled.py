"""Kernels work where nothing can be kept on disk."""

from __future__ import annotations

import subprocess
import sys

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
