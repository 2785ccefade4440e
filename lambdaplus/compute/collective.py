"""Sums and extremes over the workers of a training, and errors that all of them raise.

Each worker has its own rows.  The reductions `Workers.sum`, `smallest` and `largest` return exactly
the same on each of them.  Workers wait for each other in a reduction, so all must call the same
reductions in the same order: whether one is called may only depend on earlier results.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class LostWorkerError(RuntimeError):
    """The connection to another worker was lost."""


class FailedWorkerError(RuntimeError):
    """Another worker raised an error; the message contains it."""


class Workers:
    """The workers of a training, of which this is one; the base class is a single machine."""

    size = 1  # number of workers
    number = 0  # of this one, from 0
    connected = True  # whether reductions are possible

    def sum(self, values: Array) -> Array:
        """The elementwise sum of arrays of the same shape and type."""
        return self._reduce(values, "SUM")

    def largest(self, values: Array) -> Array:
        """The elementwise maximum of arrays of the same shape and type."""
        return self._reduce(values, "MAX")

    def smallest(self, values: Array) -> Array:
        """The elementwise minimum of arrays of the same shape and type."""
        return self._reduce(values, "MIN")

    def concatenate(self, values: Array) -> Array:
        """The vectors of all workers, in the order of their numbers."""
        sizes = np.zeros(self.size, np.int64)
        sizes[self.number] = values.size
        ends = np.cumsum(self.sum(sizes))
        padded = np.zeros(ends[-1], values.dtype)
        padded[ends[self.number] - values.size : ends[self.number]] = values
        return self.sum(padded)

    def together(self, what: object = None) -> AbstractContextManager[None]:
        """A context in which an error of one worker is a FailedWorkerError of the others.

        So it is if they compute different things: the text of ``what`` must be the same.
        """
        return nullcontext()

    def _reduce(self, values: Array, operation: str) -> Array:
        return values


ONE_MACHINE = Workers()
