"""Sums and extremes over the workers of a training, and errors that all of them raise.

Each worker has its own rows.  The reductions `Workers.sum`, `smallest` and `largest` return exactly
the same on each of them.  Workers wait for each other in a reduction, so all must call the same
reductions in the same order: whether one is called may only depend on earlier results.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
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

    def together(self) -> AbstractContextManager[None]:
        """A context in which an error of one worker is a FailedWorkerError of the others."""
        return nullcontext()

    def _reduce(self, values: Array, operation: str) -> Array:
        return values


ONE_MACHINE = Workers()


class XGBoostWorkers(Workers):
    """Workers that XGBoost's collective connects.

    Before each reduction, workers exchange whether they failed and what they are about to reduce.
    """

    def __init__(self, collective: Any) -> None:
        self.size, self.number = collective.get_world_size(), collective.get_rank()
        self._collective = collective

    @contextmanager
    def together(self) -> Iterator[None]:
        try:
            yield
        except (LostWorkerError, FailedWorkerError):  # raised on the other workers, too
            raise
        except BaseException as error:
            with suppress(LostWorkerError, FailedWorkerError):
                self._announce(f"{type(error).__name__}: {error}")
            raise
        self._announce(None)

    def _reduce(self, values: Array, operation: str) -> Array:
        kind = ord(values.dtype.kind) * 64 + values.dtype.itemsize
        what = (values.size * 2**14 + kind) * 8 + self._collective.Op[operation]
        self._announce(None, 1 + what)
        return self._allreduce(values, operation)

    def _announce(self, failure: str | None, what: int = 0) -> None:
        """Tell the others whether this worker failed, and what it reduces next, if anything."""
        state = np.array([-1 if failure is None else self.number, what, -what], np.int64)
        failed, most, least = self._allreduce(state, "MAX").tolist()
        if failed >= 0:
            reason = self._call("broadcast", failure if failed == self.number else None, failed)
            raise FailedWorkerError(f"rank {failed} of {self.size} workers stopped with {reason}")
        if most != -least:
            raise FailedWorkerError(
                f"the {self.size} workers do not compute the same: all must call the same "
                "objectives and metrics in the same order, with data of the same kind; for a value "
                "on one worker only, use lambdaplus.evaluate"
            )

    def _allreduce(self, values: Array, operation: str) -> Array:
        if not values.size:
            return values
        reduced = self._call(
            "allreduce", np.ascontiguousarray(values), self._collective.Op[operation]
        )
        return np.reshape(reduced, values.shape)

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._collective, name)(*arguments)
        except Exception as error:
            raise LostWorkerError(
                f"rank {self.number} of {self.size} workers lost the connection to another, which "
                "was stopped or killed: see the log of that worker"
            ) from error


class LightGBMWorkers(Workers):
    """Workers that LightGBM connects, with a connection that Python code cannot use."""

    connected = False

    def __init__(self, size: int) -> None:
        self.size = size

    def _reduce(self, values: Array, operation: str) -> Array:
        raise ValueError(
            f"LightGBM trains on {self.size} machines, and Python code on one of them cannot read "
            "the rows of the others. Objectives of data without queries need all rows: train with "
            "XGBoost. Metrics need them, too, or each machine would have another value and stop in "
            "another round: train with XGBoost, or evaluate the model after the training"
        )
