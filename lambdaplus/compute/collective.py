"""Sums and extremes over the workers of a training, and errors that all of them raise.

A training on several machines has one worker on each, with rows of its own.  What concerns all rows
is reduced over the workers: `Workers.sum`, `smallest` and `largest` return the same on each of
them, bit for bit.  The base class is the one machine of every other training, where all is returned
as it is, so that callers need not distinguish.

Workers wait for each other in each reduction.  So that none waits for ever, all of them have to
take part in all reductions, in the same order: what decides about the next one may only depend on
what was reduced before.  If a worker raises an error instead (`Workers.together`), the others learn
this at their next reduction, and raise one with its reason.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.compute.collective import ONE_MACHINE
>>> ONE_MACHINE.sum(np.array([1.0, 2.0]))
array([1., 2.])
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

_Array = TypeVar("_Array", bound=NDArray[Any])
_NOTHING = nullcontext()


class LostWorkerError(RuntimeError):
    """The connection to another worker broke."""


class FailedWorkerError(RuntimeError):
    """Another worker raised an error, which the message repeats."""


class Workers:
    """The workers of a training, on one of them; this class itself is a single machine.

    Attributes
    ----------
    size : int
        Number of workers.
    rank : int
        Number of this one.
    connected : bool
        Whether anything can be reduced over them.
    """

    size = 1
    rank = 0
    connected = True

    def sum(self, values: _Array, most: float = np.inf) -> _Array:
        """Sum arrays of the same shape and type over the workers.

        Parameters
        ----------
        values : array
        most : float
            What no sum exceeds.  Integers travel in 4 bytes if the sums fit into them.
        """
        return values

    def largest(self, values: _Array) -> _Array:
        """The largest of each element of arrays of the same shape and type."""
        return values

    def smallest(self, values: _Array) -> _Array:
        return values

    def concatenate(self, values: _Array) -> _Array:
        """The vectors of all workers, in the order of their ranks."""
        return values

    def together(self) -> AbstractContextManager[None]:
        """An error on one worker within this context is raised on all of them.

        Raises
        ------
        FailedWorkerError
            If another worker raised an error.
        LostWorkerError
            If another worker was stopped.
        """
        return _NOTHING


ONE_MACHINE = Workers()


class XGBoostWorkers(Workers):
    """Workers that are connected by XGBoost's collective, whichever launcher started them.

    Each reduction begins with one of three numbers, by which workers say whether they failed, and
    what they are about to reduce: if that differs, the result would be meaningless.
    """

    def __init__(self, collective: Any) -> None:
        self.size, self.rank = collective.get_world_size(), collective.get_rank()
        self._collective = collective

    def sum(self, values: _Array, most: float = np.inf) -> _Array:
        if values.dtype == np.int64 and most < 2**31:
            return self._reduced(values.astype(np.int32), "SUM").astype(np.int64)  # type: ignore[return-value]
        return self._reduced(values, "SUM")

    def largest(self, values: _Array) -> _Array:
        return self._reduced(values, "MAX")

    def smallest(self, values: _Array) -> _Array:
        return self._reduced(values, "MIN")

    def concatenate(self, values: _Array) -> _Array:
        sizes = np.zeros(self.size, np.int64)
        sizes[self.rank] = values.size
        sizes = self.sum(sizes)
        everyone, first = np.zeros(int(sizes.sum()), values.dtype), int(sizes[: self.rank].sum())
        everyone[first : first + values.size] = values
        return self.sum(everyone)  # type: ignore[return-value]

    @contextmanager
    def together(self) -> Iterator[None]:
        try:
            yield
        except (LostWorkerError, FailedWorkerError):  # the others know
            raise
        except BaseException as error:
            with suppress(LostWorkerError, FailedWorkerError):
                self._say(f"{type(error).__name__}: {error}")
            raise
        self._say(None)

    def _reduced(self, values: _Array, by: str) -> _Array:
        kind = ord(values.dtype.kind) * 64 + values.dtype.itemsize
        self._say(None, 1 + (values.size * 2**14 + kind) * 8 + self._collective.Op[by])
        return self._allreduce(values, by)

    def _say(self, failure: str | None, what: int = 0) -> None:
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

    def _allreduce(self, values: _Array, by: str) -> _Array:
        if not values.size:
            return values
        values = np.ascontiguousarray(values)  # type: ignore[assignment]
        found = self._call("allreduce", values, self._collective.Op[by])
        return found.reshape(values.shape)  # type: ignore[no-any-return]

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

    def _refuse(self) -> NoReturn:
        raise ValueError(
            f"LightGBM trains on {self.size} machines, and does not let Python code on one of them "
            "know of the rows of the others. An objective of data without queries needs them: "
            "train with XGBoost, which lets it. So does a metric: LightGBM would report each "
            "machine's own value, and early stopping could end one machine while the others wait; "
            "use XGBoost, or evaluate the model after the training"
        )

    def sum(self, values: _Array, most: float = np.inf) -> _Array:
        self._refuse()

    def largest(self, values: _Array) -> _Array:
        self._refuse()

    def smallest(self, values: _Array) -> _Array:
        self._refuse()

    def concatenate(self, values: _Array) -> _Array:
        self._refuse()


def xgboost_workers() -> Workers:
    """The workers that XGBoost connects with this thread."""
    collective = sys.modules.get("xgboost.collective")
    if collective is None or collective.get_world_size() == 1:
        return ONE_MACHINE
    return XGBoostWorkers(collective)


_NUMBER_OF_MACHINES = ("num_machines", "num_machine")
_LISTS_OF_MACHINES = ("machines", "workers", "nodes")
_LEARNERS = ("tree_learner", "tree", "tree_type", "tree_learner_type")


def lightgbm_workers(params: dict[str, Any]) -> Workers:
    """The workers of a LightGBM training with these parameters, each of which has rows of its own.

    With ``tree_learner="serial"`` each machine trains a model of its own; with "feature", all have
    all rows.
    """
    learner = next((params[name] for name in _LEARNERS if name in params), "serial")
    if not str(learner).startswith(("data", "voting")):
        return ONE_MACHINE
    size = next((int(params[name]) for name in _NUMBER_OF_MACHINES if name in params), 1)
    if size == 1:
        machines = next((params[name] for name in _LISTS_OF_MACHINES if name in params), "")
        size = len(machines.split(",") if isinstance(machines, str) else machines)
    return LightGBMWorkers(size) if size > 1 else ONE_MACHINE
