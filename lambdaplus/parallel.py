"""Run a compiled kernel over the queries, on as many threads as numba is allowed.

The kernels release the GIL and every query's result depends on that query alone, so plain threads
do: results are the same for any number of them, nothing runs in OpenMP (where a fork hangs and
threads that call at the same time may abort the process), and kernels compile without numba's slow
parallel transform.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numba
import numpy as np

from lambdaplus.queries import Ints

WORTH_A_THREAD = 2_500  # documents; below, handing work over costs more than it saves


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads of this process; a forked child has none of its parent's, so it makes its own."""
    return ThreadPoolExecutor(max(1, os.cpu_count() or 1))


def over_queries(kernel: Callable[..., None], boundaries: Ints, *arguments: Any) -> None:
    """Call ``kernel(first_query, last_query, *arguments)`` on ranges that cover all queries."""
    n_documents = int(boundaries[-1])
    n_queries = boundaries.size - 1
    if n_documents < WORTH_A_THREAD or n_queries == 1:
        kernel(0, n_queries, *arguments)
        return
    n_threads = min(numba.get_num_threads(), 1 + n_documents // WORTH_A_THREAD)
    # Cut by documents, not by queries: one query may be as large as a hundred others.
    cuts = np.searchsorted(boundaries, np.linspace(0, n_documents, n_threads + 1)[1:-1])
    edges = [0, *cuts.tolist(), n_queries]
    pool = _pool(os.getpid())
    ranges = [(a, b) for a, b in itertools.pairwise(edges) if b > a]
    tasks = [pool.submit(kernel, a, b, *arguments) for a, b in ranges[1:]]
    kernel(*ranges[0], *arguments)  # this thread works too
    for task in tasks:
        task.result()
