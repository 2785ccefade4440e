"""Training time, excluding the compilation of kernels.

numba compiles a kernel when it is first called, which takes seconds, once per machine.  It emits
events at the start and end of compiling a kernel, or of loading a compiled one.

Examples
--------
>>> from lambdaplus.study.clock import Stopwatch
>>> with Stopwatch() as watch:
...     total = sum(range(1000))
>>> 0 <= watch.seconds < 1
True
"""

from __future__ import annotations

import time
from typing import Any

import numba.core.event

_events: Any = numba.core.event
_COMPILES = "numba:compiler_lock"  # held while a kernel is compiled, or loaded from disk


class Stopwatch:
    """A context manager that measures its block.

    Attributes
    ----------
    seconds : float
        Time of the block, excluding the time in which numba compiled or loaded kernels.
    """

    def __enter__(self) -> Stopwatch:
        self._compiling = _events.TimingListener()
        _events.register(_COMPILES, self._compiling)
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: Any) -> None:
        self.seconds = time.perf_counter() - self._start
        _events.unregister(_COMPILES, self._compiling)
        if self._compiling.done:
            self.seconds = max(0.0, self.seconds - self._compiling.duration)
