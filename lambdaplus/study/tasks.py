"""The fits of a study: what each is, in what order they run, and how one is made and stored."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

from lambdaplus.data import Fold, RankingData
from lambdaplus.data.binary import fingerprint, read_binary, write_binary
from lambdaplus.study.clock import Stopwatch
from lambdaplus.study.methods import Method, Parameters, Settings
from lambdaplus.study.store import Fit, Store


class Task(NamedTuple):
    """One fit of a study.

    The trials of a search run one after the other: ``earlier`` has the keys and parameters of the
    previous ones.
    """

    method: Method
    fold: Fold
    parameters: dict[str, Any]
    seed: int
    key: str
    earlier: tuple[tuple[str, Parameters], ...] = ()


def in_turn(tasks: list[Task], ended: Collection[str]) -> Iterator[Task | None]:
    """Tasks whose predecessor has ended; None while there is no such task."""
    waiting = list(tasks)
    unfinished = {task.key for task in tasks}
    while waiting:
        for place, task in enumerate(waiting):
            before = task.earlier[-1][0] if task.earlier else ""
            if before not in unfinished or before in ended:
                yield waiting.pop(place)
                break
        else:
            yield None


def fit_from_disk(fit: Callable[..., None], *work: Any) -> None:
    """The function that is run in a separate process."""
    store, key, method, parameters, folders, settings, *others = work
    numba.set_num_threads(min(settings.threads, numba.get_num_threads()))
    parts = [read_binary(folder) for folder in folders]
    fit(store, key, method, parameters, parts, settings, *others)


def fit_and_save(
    store: Store,
    key: str,
    method: Method,
    parameters: dict[str, Any],
    parts: list[RankingData],
    settings: Settings,
    seed: int,
    fold: str,
) -> None:
    """Train, score validation and test documents, keep the scores."""
    train, valid, test = parts
    with warnings.catch_warnings(record=True) as caught, Stopwatch() as watch:
        warnings.simplefilter("always")
        fitted = method.fit(parameters, train, valid, settings, seed)
    notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    scores = [np.asarray(fitted.predict(part), dtype=np.float64) for part in (valid, test)]
    for name, part, found in zip(("validation", "test"), (valid, test), scores, strict=True):
        if found.shape != part.labels.shape:
            raise ValueError(
                f"it gave scores of shape {found.shape} for {part.labels.size} {name} documents"
            )
        if not np.isfinite(found).all():
            raise ValueError(f"it scored {name} documents with NaN or infinity")
    about = {"method": method.name, "parameters": parameters, "fold": fold, "seed": seed}
    fit = Fit(scores[0], scores[1], watch.seconds, fitted.rounds, np.array(fitted.curve), notes)
    store.save(key, fit, about)


def laid_out(data: RankingData, root: Path) -> Path:
    """The set as a folder that processes read."""
    folder = root / fingerprint(data)
    if not folder.exists():
        try:
            write_binary(data, folder)
        except OSError as error:
            raise OSError(
                error.errno,
                f"could not lay out the folds for the processes ({error.strerror}): let TMPDIR "
                "name a folder with more room, or fit one at a time, which needs none",
                str(root),
            ) from error
    return folder
