"""Kernels work if nothing can be cached on disk."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

from lambdaplus.compute import package_source

WITHOUT_A_CACHE = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []  # as in a read-only installation, run without a home
from lambdaplus.compute.compiled import compiled
@compiled
def double(x):
    return 2 * x
assert double(21) == 42 and double.stats.cache_path is None, double.stats
from lambdaplus.ranking.sort import rank
from lambdaplus.lists.queries import Queries
print(rank(Queries([0, 1], group=[2]), [0.5, 0.7]).row.tolist())
"""


@pytest.mark.slow
def test_kernels_compile_without_a_cache_folder() -> None:
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_CACHE], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == "[1, 0]"


HEADER = """from pathlib import Path
from lambdaplus.compute import package_source
package_source.PACKAGE = Path(__file__).parent  # as if these files were the package
from lambdaplus.compute.compiled import compiled
"""


def test_a_kernel_is_compiled_again_if_any_file_of_the_package_has_changed(tmp_path: Path) -> None:
    """A kernel that it calls, which another file imports in turn."""
    files = {
        "inner": f"{HEADER}@compiled\ndef inner(x):\n    return x + 1\n",
        "middle": f"{HEADER}from inner import inner\n"
        "@compiled\ndef middle(x):\n    return inner(x)\n",
        "outer": f"{HEADER}from middle import middle\n"
        "@compiled\ndef outer(x):\n    return 10 * middle(x)\n"
        "print(outer(4), sum(outer.stats.cache_hits.values()))\n",
    }
    assert _output(tmp_path, "outer.py", files) == "50 0"
    assert _output(tmp_path, "outer.py", {}) == "50 1"
    changed = files["inner"].replace("x + 1", "x + 2")
    assert _output(tmp_path, "outer.py", {"inner": changed}) == "60 0"


def test_kernels_are_not_compiled_again_for_what_they_are_not_made_of() -> None:
    """Folders without kernels, which folders with kernels do not import (see the layers)."""
    held = {
        path.relative_to(package_source.PACKAGE).parts[0]
        for path in package_source.PACKAGE.rglob("*.py")
        if "\n@compiled" in path.read_text(encoding="utf-8")
    }
    assert {"engine", "ranking", "metrics", "baselines"} <= held
    assert held.isdisjoint(package_source.WITHOUT_KERNELS)
    sources = [
        path.read_text(encoding="utf-8")
        for folder in held
        for path in (package_source.PACKAGE / folder).rglob("*.py")
    ]
    for without in package_source.WITHOUT_KERNELS:
        assert not any(f"\nfrom lambdaplus.{without}" in source for source in sources), without


def test_a_kernel_is_compiled_again_if_the_fields_of_an_argument_have_changed(
    tmp_path: Path,
) -> None:
    """As by an update of a clone: numba would read the first field where the second one is."""
    pair = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    x: float\n    y: float\n"
    kernel = (
        f"{HEADER}from pair import Pair\n"
        "@compiled\ndef x_of(pair):\n    return pair.x\nprint(x_of(Pair(x=1.0, y=2.0)))\n"
    )
    assert _output(tmp_path, "kernel.py", {"kernel": kernel, "pair": pair}) == "1.0"
    swapped = pair.replace("    x: float\n    y: float\n", "    y: float\n    x: float\n")
    assert _output(tmp_path, "kernel.py", {"pair": swapped}) == "1.0"


def test_a_kernel_is_compiled_again_if_the_class_of_an_argument_has_moved(tmp_path: Path) -> None:
    """As in an update: files in the cache contain the name of the module of the class."""
    for module in ("here", "there"):
        kernel = (
            f"{HEADER}from {module} import Pair\n"
            "@compiled\ndef double(pair):\n    return 2 * pair.x\nprint(double(Pair(4)))\n"
        )
        pair = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    x: float\n"
        assert _output(tmp_path, "kernel.py", {"kernel": kernel, module: pair}) == "8"
        (tmp_path / f"{module}.py").unlink()


def _output(folder: Path, run: str, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment["PYTHONPATH"] = str(ROOT)
    given: dict[str, Any] = {"cwd": folder, "env": environment, "check": True}
    command = [sys.executable, "-B", run]
    return subprocess.run(command, capture_output=True, text=True, **given).stdout.strip()
