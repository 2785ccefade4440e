"""Sums and extremes over the workers of a training, and errors that all of them raise.

Each worker has rows of its own.  What concerns all rows is reduced: `Workers.sum`, `smallest` and
`largest` return the same on each of them, bit for bit.  Workers wait for each other in each
reduction, so all of them have to take part in all, in the same order: what decides about the next
one may only depend on what was reduced before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class LostWorkerError(RuntimeError):
    """The connection to another worker broke."""


class FailedWorkerError(RuntimeError):
    """Another worker raised an error, which the message repeats."""


class Workers:
    """The workers of a training, on one of them; this class itself is a single machine."""

    size = 1  # number of workers
    rank = 0  # number of this one
    connected = True  # whether anything can be reduced over them

    def sum(self, values: Array, most: float = np.inf) -> Array:
        """Sum arrays of the same shape and type; integers travel in 4 bytes if ``most`` fits."""
        if self.size > 1 and values.dtype == np.int64 and most < 2**31:
            return self._reduce(values.astype(np.int32), "SUM").astype(np.int64)
        return self._reduce(values, "SUM")

    def largest(self, values: Array) -> Array:
        """The largest of each element of arrays of the same shape and type."""
        return self._reduce(values, "MAX")

    def smallest(self, values: Array) -> Array:
        """The smallest of each element of arrays of the same shape and type."""
        return self._reduce(values, "MIN")

    def concatenate(self, values: Array) -> Array:
        """The vectors of all workers, in the order of their ranks."""
        sizes = np.zeros(self.size, np.int64)
        sizes[self.rank] = values.size
        ends = np.cumsum(self.sum(sizes))
        everyone = np.zeros(ends[-1], values.dtype)
        everyone[ends[self.rank] - values.size : ends[self.rank]] = values
        return self.sum(everyone)

    def together(self) -> AbstractContextManager[None]:
        """An error on one worker within this context is raised on all of them.

        The others raise a FailedWorkerError, or a LostWorkerError if this one was stopped.
        """
        return nullcontext()

    def _reduce(self, values: Array, operation: str) -> Array:
        return values


ONE_MACHINE = Workers()


class XGBoostWorkers(Workers):
    """Workers that are connected by XGBoost's collective, whichever launcher started them.

    Each reduction begins with one of three numbers, by which workers say whether they failed, and
    what they are about to reduce: if that differs, the result would be meaningless.
    """

    def __init__(self, collective: Any) -> None:
        self.size, self.rank = collective.get_world_size(), collective.get_rank()
        self._collective = collective

    @contextmanager
    def together(self) -> Iterator[None]:
        try:
            yield
        except (LostWorkerError, FailedWorkerError):  # the others know
            raise
        except BaseException as error:
            with suppress(LostWorkerError, FailedWorkerError):
                self._announce(f"{type(error).__name__}: {error}")
            raise
        self._announce(None)

    def _reduce(self, values: Array, operation: str) -> Array:
        kind = ord(values.dtype.kind) * 64 + values.dtype.itemsize
        code = (values.size * 2**14 + kind) * 8 + self._collective.Op[operation]
        self._announce(None, 1 + code)
        return self._allreduce(values, operation)

    def _announce(self, failure: str | None, what: int = 0) -> None:
        """Tell the others whether this worker failed, and what it reduces next, if anything."""
        said = np.array([-1 if failure is None else self.rank, what, -what], np.int64)
        failed, most, least = self._allreduce(said, "MAX").tolist()
        if failed >= 0:
            reason = self._call("broadcast", failure if failed == self.rank else None, failed)
            raise FailedWorkerError(f"rank {failed} of {self.size} workers stopped with {reason}")
        if most != -least:
            raise FailedWorkerError(
                f"the {self.size} workers do not compute the same: all have to call the same "
                "objectives and metrics in the same order, with data of the same kind (use "
                "lambdaplus.evaluate for a value on one worker)"
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
                f"rank {self.rank} of {self.size} workers lost the connection to another, which "
                "was stopped or killed: its own log says why"
            ) from error


class LightGBMWorkers(Workers):
    """Workers that LightGBM connects, whose connection Python code cannot use."""

    connected = False

    def __init__(self, size: int) -> None:
        self.size = size

    def _reduce(self, values: Array, operation: str) -> Array:
        raise ValueError(
            f"LightGBM trains on {self.size} machines, and does not let Python code on one of them "
            "know of the rows of the others. An objective of data without queries needs them: "
            "train with XGBoost, which lets it. So does a metric: LightGBM would report each "
            "machine's own value, and early stopping could end one machine while the others wait; "
            "use XGBoost, or evaluate the model after the training"
        )
