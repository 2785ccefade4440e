"""One training: a task is trained, its model scores documents, and its fits are stored."""

import copy
import functools
import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.numba_import import numba
from lambdaplus.data import RankingData
from lambdaplus.data.cache import read_binary
from lambdaplus.data.ranking_data import in_memory
from lambdaplus.lists.vectors import numbers
from lambdaplus.study.boosted_trainer import BoostedTrainer, parameters_of
from lambdaplus.study.fits import Fit, save_fits
from lambdaplus.study.methods import Criterion
from lambdaplus.study.tasks import Fitted, Task
from lambdaplus.study.validation import values_of


def train_and_store(file: Path, task: Task, parts: Sequence[RankingData] | Sequence[Path]) -> None:
    """Train, score validation and test documents, and store a fit for each metric of the task.

    Training and each prediction get arrays of their own, which they may change in place.  A
    framework of trees gets those of features for as long as it makes its own form of them.
    """
    train, valid, test = parts
    own = _opened if isinstance(task.method.trainer, BoostedTrainer) else _own
    with_data = replace(task, train=own(train), valid=own(valid))
    fitted, seconds, notes = _trained(with_data)
    has_one_per_metric = not isinstance(fitted, Fitted)
    given = fitted if has_one_per_metric else dict.fromkeys(task.metrics, fitted)
    models: dict[str, Fitted] = {str(metric): model for metric, model in given.items()}
    if lacking := {*map(str, task.metrics)} - models.keys():
        raise ValueError(f"the trainer returned no ranker for {', '.join(sorted(lacking))}")
    parameters = parameters_of(with_data)
    scores = functools.cache(_scores)  # one model may be that of all metrics
    fits = []
    for metric in task.metrics:
        name, model = str(metric), models[str(metric)]
        curve = np.asarray(model.curve, dtype=np.float64)
        of_valid = scores(model, own, valid, "validation")
        of_test = scores(model, own, test, "test")
        if has_one_per_metric and curve.size:
            value = math.nan if np.isnan(curve).all() else float(np.nanmax(curve))
        else:
            value = _value(metric, valid, of_valid)
        progress = int(model.rounds), int(model.every), curve, value
        asked = *task.group, task.trial, name, parameters
        fits.append(Fit(*asked, *progress, of_valid, of_test, seconds, notes))
    save_fits(file, fits)


def train_in_process(file: Path, task: Task, *work: Any) -> None:
    """`train_and_store` in a separate process, with the number of threads of its settings."""
    numba.set_num_threads(min(task.threads, numba.get_num_threads()))
    train_and_store(file, task, *work)


def _trained(task: Task) -> tuple[Any, float, list[str]]:
    """What the trainer returns, the seconds of training, and its warnings, each once."""
    # The time in which numba compiles kernels, or loads compiled ones, is not training time.
    compiling: list[float] = []
    timer = numba.core.event.install_timer("numba:compiler_lock", compiling.append)
    with warnings.catch_warnings(record=True) as caught, timer:
        warnings.simplefilter("always")
        start = time.perf_counter()
        fitted = task.method.trainer(task)
        seconds = time.perf_counter() - start
    notes = dict.fromkeys(str(warning.message) for warning in caught)
    return fitted, max(0.0, seconds - sum(compiling)), [*notes]


def _opened(data: RankingData | Path) -> RankingData:
    """The data, whose features may be rows of others; files are mapped."""
    return data if isinstance(data, RankingData) else read_binary(data)


def _own(data: RankingData | Path) -> RankingData:
    """A copy of the data; files are mapped, and copied where they are changed."""
    return copy.deepcopy(data) if isinstance(data, RankingData) else in_memory(read_binary(data))


def _value(metric: Criterion, data: RankingData | Path, scores: Floats) -> float:
    """The mean of a metric on validation data; what it warns of is told with the results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return values_of([metric], _opened(data), scores)[metric]


def _scores(model: Fitted, own: Any, part: RankingData | Path, name: str) -> Any:
    data = own(part)
    scores = numbers(model.predict(data), f"the scores of {name} documents")
    if scores.shape != data.labels.shape:
        raise ValueError(
            f"it gave scores of shape {scores.shape} for {data.labels.size} {name} documents"
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"it scored {name} documents with NaN or infinity")
    return scores
