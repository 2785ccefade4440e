"""Where the fits of finished trainings are stored: a file for each task, named by its key.

The key is a digest of what trains a task, by `~lambdaplus.compute.digests`, so the file of a task
is that of any study with this task.  What has no digest is trained again.

A training stores its scores, whatever becomes of other trainings.  Of a random search, scores of
trials that an earlier one equals or beats are dropped when both are stored: they can be chosen by
no search that has both, and of 30 trials about four remain.  What remains does not depend on the
order in which trials end.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compute.messages import warn
from lambdaplus.data import Fold
from lambdaplus.data.output_folder import refuse_link
from lambdaplus.study.fits import Fit, load_fits, save_fits
from lambdaplus.study.tasks import Task


class Stored(NamedTuple):
    """What is known of a stored training without reading its file again."""

    values: Mapping[str, float]  # on validation data, by metric
    scored: frozenset[str]  # metrics of the fits with scores


class Store:
    """The fits of a study in its folder, or in a temporary one."""

    def __init__(self, folder: Path | None) -> None:
        self._given = folder

    @cached_property
    def folder(self) -> Path:
        """The folder of the files; a FileExistsError if it is a link."""
        given = self._given
        if given is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="lambdaplus-")
            given = Path(self._temporary.name)
        folder = Path(given) / "fits"
        refuse_link(folder)
        return folder

    def file_of(self, task: Task) -> Path:
        """Where a training is stored when it is finished."""
        return self.folder / f"{task.key}.npz"

    def keys(self) -> set[str]:
        """The keys of all trainings in the folder, also of other studies."""
        return {path.stem for path in self.folder.glob("*.npz")}

    def fits_of(self, task: Task) -> list[Fit]:
        """The fits of a stored training; an OSError or ValueError if it is gone or damaged."""
        # The file may be that of the same data under another name, or of another search.
        fits = load_fits(self.file_of(task))
        return [replace(fit, fold=task.fold, trial=task.trial) for fit in fits]

    def find(self, task: Task, fold: Fold) -> Stored | None:
        """What is stored of a task; None if it has to be trained, with a warning if damaged."""
        if not self.file_of(task).is_file():  # a pipe with its name would never end
            return None
        try:
            fits = self.fits_of(task)
            sizes = fold.valid.labels.size, fold.test.labels.size
            if any((fit.validation.size, fit.test.size) not in (sizes, (0, 0)) for fit in fits):
                raise ValueError(
                    f"{self.file_of(task)} has not as many scores as the data has rows: remove it"
                )
        except ValueError as damaged:
            warn(f"{damaged}; it is being fitted again")
            return None
        scored = frozenset(fit.metric for fit in fits if fit.test.size)
        return Stored({fit.metric: fit.value for fit in fits}, scored)

    def find_all(self, trials: Sequence[Task], fold: Fold) -> dict[Task, Stored]:
        """Those of a group that need no training.

        A trial without scores needs one unless an earlier trial beats it: another search may have
        had one that did.
        """
        found: dict[Task, Stored] = {}
        for task in trials:
            stored = self.find(task, fold)
            if stored is None:
                continue
            *_, beaten = beaten_by_earlier([*(one.values for one in found.values()), stored.values])
            if stored.values.keys() - stored.scored <= beaten:
                found[task] = stored
        return found

    def drop_scores_of_beaten(
        self, trials: Iterable[Task], stored: Mapping[Task, Stored]
    ) -> dict[Task, Stored]:
        """Drop the scores of trials of a search that earlier ones beat; what is stored of these."""
        ended = {task: stored[task] for task in trials if task in stored}
        beaten = beaten_by_earlier(one.values for one in ended.values())
        dropped = {}
        for (task, known), metrics in zip(ended.items(), beaten, strict=True):
            searched = task.method.is_searched(task.config)
            if searched and not metrics.isdisjoint(known.scored):
                fits = load_fits(self.file_of(task))
                none: dict[str, Any] = {"validation": np.zeros(0), "test": np.zeros(0)}
                shorter = [replace(fit, **none) if fit.metric in metrics else fit for fit in fits]
                save_fits(self.file_of(task), shorter)
                dropped[task] = known._replace(scored=known.scored - metrics)
        return dropped


def beaten_by_earlier(trials: Iterable[Mapping[str, float]]) -> Iterator[set[str]]:
    """By the values of each trial, the metrics by which an earlier one is as good; NaN is worst."""
    best: dict[str, float] = {}
    for values in trials:
        ranked = {name: -math.inf if math.isnan(v) else v for name, v in values.items()}
        yield {name for name, value in ranked.items() if name in best and value <= best[name]}
        best |= {name: max(value, best.get(name, value)) for name, value in ranked.items()}
