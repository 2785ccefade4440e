"""The workers of a training, as LightGBM and XGBoost connect them."""

import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from lambdaplus.compute.collective import (
    ONE_MACHINE,
    Array,
    FailedWorkerError,
    LostWorkerError,
    Workers,
)
from lambdaplus.compute.messages import printable
from lambdaplus.frameworks.data_sets import Framework, framework_of
from lambdaplus.frameworks.internals import lightgbm_parameter, private, private_attribute

LETTERS = 2000  # bytes of an error message that the other workers repeat


def workers_of(framework: Framework, second: Any, booster: Any) -> Workers:
    """The workers of the training of the data set, or of the booster if an estimator calls."""
    owner = framework_of(booster) if framework == "arrays" else framework
    if owner == "xgboost":
        lost = "each worker of a training takes its rows for all"
        collective = private("xgboost", "collective", lost)
        connected = collective is not None and collective.get_world_size() > 1
        return XGBoostWorkers(collective) if connected else ONE_MACHINE
    if owner != "lightgbm":
        return ONE_MACHINE
    # Parameters that are stored with the data set may be of another training.
    holder = booster if framework_of(booster) == "lightgbm" else second
    lost = "each machine of a training takes its rows for all"
    params = private_attribute("lightgbm", holder, ["params"], lost)
    if not params:
        return ONE_MACHINE
    refuse_bagging_by_query(params)  # LightGBM's estimators pass arrays
    return lightgbm_workers(params)


def lightgbm_workers(params: dict[str, Any]) -> Workers:
    """The workers of a LightGBM training, if these parameters distribute the rows."""
    if not str(lightgbm_parameter(params, "tree_learner")).startswith(("data", "voting")):
        return ONE_MACHINE
    machines = lightgbm_parameter(params, "machines", "")
    listed = len(machines.split(",") if isinstance(machines, str) else machines)
    size = max(int(lightgbm_parameter(params, "num_machines", 1)), listed)
    return LightGBMWorkers(size) if size > 1 else ONE_MACHINE


def refuse_bagging_by_query(params: Mapping[str, Any]) -> None:
    """Raise a ValueError if these LightGBM parameters enable bagging by query."""
    if str(params.get("bagging_by_query", False)).strip().lower() in {"true", "+", "1"}:
        raise ValueError(
            "with bagging_by_query=True, LightGBM learns nothing from a custom objective: set it "
            "to False; bagging by rows works"
        )


class XGBoostWorkers(Workers):
    """Workers that XGBoost's collective connects.

    Before each reduction, workers exchange whether they failed and what they are about to reduce.
    """

    def __init__(self, collective: Any) -> None:
        self.size, self.number = collective.get_world_size(), collective.get_rank()
        self._collective = collective

    @contextmanager
    def together(self, what: object = None) -> Iterator[None]:
        try:
            yield
        except (LostWorkerError, FailedWorkerError):  # raised on the other workers, too
            raise
        except BaseException as error:
            with suppress(LostWorkerError, FailedWorkerError):
                self._announce(f"{type(error).__name__}: {error}")
            raise
        # Other metrics may have reductions of the same shapes, whose results would be mixed.  In
        # <> is what each worker has of its own, such as a number of labels.
        text = re.sub("<[^<>]*>", "", repr(what))
        self._announce(None, -1 - zlib.crc32(text.encode(errors="backslashreplace")))

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
            text = failure if failure is not None and failed == self.number else ""
            # As bytes of a fixed length: `broadcast` would unpickle what the other worker sends.
            own = np.frombuffer(
                text.encode(errors="replace")[:LETTERS].ljust(LETTERS, b"\0"), np.uint8
            )
            sent = self._allreduce(own, "MAX").tobytes().rstrip(b"\0").decode(errors="ignore")
            raise FailedWorkerError(
                f"rank {failed} of {self.size} workers stopped with {printable(sent)}"
            )
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
