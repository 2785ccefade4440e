"""Time to start: import, first gradient with kernels from the cache, compiling them all.

    python benchmarks/start.py

Each in a process of its own, the best of three (compiling: once); wall seconds, except compiling,
which is processor time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from tables import Section, show

IMPORT = "import lambdaplus"
FIRST = """
import numpy as np
import lambdaplus as lp
lp.lambda_ndcg(np.array([0, 1, 2, 0]), np.zeros(4), None, np.array([4]))
"""
ALL = """
import numpy as np
import lambdaplus as lp
labels, scores, group = np.arange(40) % 3, np.arange(40.0), np.array([40])
for name in ("ndcg", "map", "err"):
    lp.lambda_objective(name)(labels, scores, None, group)
    lp.evaluate(labels, scores, group=group, metrics=[name])
lp.lambda_map(labels > 0, scores, np.ones(40))
"""
NUMBA = "import numba"


def measured(code: str, clock: str, folder: str) -> float:
    timed = f"import time\nstart = time.{clock}()\n{code}\nprint(time.{clock}() - start)"
    given = {**os.environ, "NUMBA_CACHE_DIR": folder}
    found = subprocess.run(
        [sys.executable, "-c", timed], env=given, capture_output=True, text=True, check=True
    )
    return float(found.stdout)


def sections() -> list[Section]:
    with tempfile.TemporaryDirectory() as folder:
        cold = measured(ALL, "process_time", folder)
        best = {
            "import lambdaplus": IMPORT,
            "first gradient, import included": FIRST,
            "of that, import numba": NUMBA,
        }
        rows = []
        for name, code in best.items():
            seconds = min(measured(code, "perf_counter", folder) for _ in range(3))
            rows.append([name, f"{seconds:.3f}"])
    rows.append(["compiling every kernel of objectives and metrics", f"{cold:.1f}"])
    return [Section("Start", ["", "seconds"], rows)]


if __name__ == "__main__":
    show(sections())
