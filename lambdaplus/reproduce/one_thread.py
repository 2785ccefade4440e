"""Time is measured on one thread: fair to all, and next to the same on a busy machine.

Examples
--------
>>> import numba
>>> from lambdaplus.reproduce.one_thread import one_thread
>>> before = numba.get_num_threads()
>>> with one_thread():
...     numba.get_num_threads()
1
>>> numba.get_num_threads() == before
True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for what runs over queries, while the block lasts."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)
