"""From tasks to fits on disk: training and prediction, here or in processes."""

import contextlib
import copy
import functools
import importlib
import math
import multiprocessing
import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.numba_import import numba
from lambdaplus.compute.processes import run_here, run_in_processes, working_folder
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.cache import fingerprint, read_binary, write_binary
from lambdaplus.data.ranking_data import in_memory
from lambdaplus.lists.vectors import numbers
from lambdaplus.study.fits import Fit, save_fits
from lambdaplus.study.methods import Criterion, Fitted, Task
from lambdaplus.study.trainers import parameters_of
from lambdaplus.study.validation import values_of

PRELOADED = "lambdaplus.study.preload"


def run_tasks(
    tasks: Sequence[Task],
    folds: Sequence[Fold],
    jobs: int,
    file_of: Callable[[Task], Path],
    beaten: Callable[[Task], Mapping[str, float]],
) -> Generator[tuple[Task, str]]:
    """Fit and store; yield each task and its error, if any, when it ends."""
    # A daemonic process, such as a worker of multiprocessing.Pool, cannot start processes.
    parallel = jobs > 1 and not multiprocessing.current_process().daemon
    fitted = {task.fold for task in tasks}
    parts: dict[str, Sequence[Any]] = {fold.name: fold.parts for fold in folds}
    nothing: Any = None  # in place of data, which each fit copies or reads from files
    with working_folder() if parallel else contextlib.nullcontext() as folder:
        if folder is not None:
            parts = {name: [laid_out(part, folder) for part in parts[name]] for name in fitted}
        calls = (
            (file_of(task), replace(task, train=nothing, valid=nothing), beaten(task),
             parts[task.fold])
            for task in tasks
        )  # fmt: skip
        if parallel:
            ended = run_in_processes(fit_from_disk, calls, jobs, PRELOADED)
        else:
            importlib.import_module(PRELOADED)  # no part of training times
            ended = run_here(fit_and_save, calls)
        with contextlib.closing(ended):
            yield from ((tasks[place], error) for place, error in ended)


def fit_and_save(
    file: Path,
    task: Task,
    beaten: Mapping[str, float],
    parts: Sequence[RankingData] | Sequence[Path],
) -> None:
    """Train, score validation and test documents, and store a record for each metric of the task.

    Scores are omitted for trials that are not better than ``beaten``, the best earlier values.
    Training and each prediction get arrays of their own, which they may change in place.
    """
    train, valid, test = parts
    with_data = replace(task, train=_own(train), valid=_own(valid))
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
        if has_one_per_metric and curve.size:
            value = math.nan if np.isnan(curve).all() else float(np.nanmax(curve))
        else:
            value = _value(metric, valid, scores(model, valid, "validation"))
        of_parts = np.zeros(0), np.zeros(0)
        # The first of equal trials is chosen, so that a later one has to be better.
        if name not in beaten or value > beaten[name]:
            of_parts = scores(model, valid, "validation"), scores(model, test, "test")
        progress = int(model.rounds), int(model.every), curve, value
        asked = *task.group, task.trial, name, parameters
        fits.append(Fit(*asked, *progress, *of_parts, seconds, notes))
    save_fits(file, fits)


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


def fit_from_disk(file: Path, task: Task, *work: Any) -> None:
    """`fit_and_save` in a separate process, with the number of threads of its settings."""
    numba.set_num_threads(min(task.threads, numba.get_num_threads()))
    fit_and_save(file, task, *work)


def laid_out(data: RankingData, root: Path) -> Path:
    """Write the data to a folder from which processes read it."""
    folder = root / fingerprint(data)
    if not folder.exists():
        try:
            write_binary(data, folder)
        except OSError as error:
            raise OSError(
                error.errno,
                f"could not write the folds for parallel fits ({error.strerror}): set TMPDIR to a "
                "folder with more space, or use one job, which needs none",
                str(root),
            ) from error
    return folder


def _own(data: RankingData | Path) -> RankingData:
    """A copy of the data; files are mapped, and copied where they are changed."""
    return copy.deepcopy(data) if isinstance(data, RankingData) else in_memory(read_binary(data))


def _value(metric: Criterion, data: RankingData | Path, scores: Floats) -> float:
    """The mean of a metric on validation data; what it warns of is told with the results."""
    opened = data if isinstance(data, RankingData) else read_binary(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return values_of([metric], opened, scores)[metric]


def _scores(model: Fitted, data: RankingData | Path, name: str) -> Any:
    own = _own(data)
    scores = numbers(model.predict(own), f"the scores of {name} documents")
    if scores.shape != own.labels.shape:
        raise ValueError(
            f"it gave scores of shape {scores.shape} for {own.labels.size} {name} documents"
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"it scored {name} documents with NaN or infinity")
    return scores
