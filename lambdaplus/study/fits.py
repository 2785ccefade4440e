"""Finished fits on disk, so that they are not repeated.

A fit is one file of arrays, which is written completely or not at all.  Its name is a digest of
what trains it, by `~lambdaplus.compute.digests`; what has no digest is fitted again.

The file contains scores but no test metrics, so that a study can be evaluated with other metrics
without fitting again.  Nothing is pickled.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.messages import warn
from lambdaplus.data.atomic_files import atomic_write
from lambdaplus.data.output_folder import refuse_link
from lambdaplus.study.methods import Task
from lambdaplus.study.plan import Plan, group_of

_ARRAYS = ("validation", "test", "curve")


@dataclass(frozen=True, eq=False)
class Fit:
    """What is kept of a ranker: one set of parameters fitted on one fold."""

    rounds: int  # as in `Fitted`, like the next two
    every: int
    curve: Floats
    validation: Floats  # scores of validation and test documents; empty if an earlier trial was
    test: Floats  # better
    seconds: float  # of training, without prediction
    warnings: Sequence[str] = ()  # each once

    @property
    def best(self) -> float:
        """Best value of the metric that chose the rounds; NaN if it never had a value."""
        return float("nan") if np.isnan(self.curve).all() else float(np.nanmax(self.curve))


def save_fits(file: Path, fits: Mapping[str, Fit]) -> None:
    """Write the fits of one training by the metric that chose rounds, "" if none."""
    arrays: dict[str, Any] = {}
    numbers: dict[str, dict[str, Any]] = {}
    for place, (metric, fit) in enumerate(fits.items()):
        numbers[metric] = {k: v for k, v in vars(fit).items() if k not in _ARRAYS}
        arrays |= {f"{place} {kind}": getattr(fit, kind) for kind in _ARRAYS}
    text = json.dumps({"fits": numbers, "key": file.stem})
    with atomic_write(file) as temporary, temporary.open("wb") as stream:
        np.savez(stream, about=np.array(text), **arrays)


def load_fits(file: Path) -> Mapping[str, Fit]:
    """Load a finished training; a FileNotFoundError if it is gone, a ValueError if damaged."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            if about["key"] != file.stem:
                raise ValueError(f"it is the fit {about['key']}")
            found = {
                metric: Fit(**numbers, **{kind: arrays[f"{place} {kind}"] for kind in _ARRAYS})
                for place, (metric, numbers) in enumerate(about["fits"].items())
            }
            if not found or not all(map(_is_sound, found.values())):
                raise ValueError("it has other numbers than lambdaplus writes")
            return found
    except FileNotFoundError:
        raise FileNotFoundError(f"{file} was removed during the run") from None
    except Exception as error:  # a damaged zip file can raise many types of errors
        raise ValueError(
            f"{file} is damaged or not this fit ({type(error).__name__}: {error}): remove it "
            "to have it fitted again"
        ) from None


def _is_sound(fit: Fit) -> bool:
    """Whether the fit is one that lambdaplus has written, whoever wrote the file."""
    arrays = (fit.curve, fit.validation, fit.test)
    whole = all(type(number) is int and 0 <= number < 2**31 for number in (fit.rounds, fit.every))
    said = isinstance(fit.warnings, list) and all(isinstance(text, str) for text in fit.warnings)
    listed = all(array.ndim == 1 and array.dtype == np.float64 for array in arrays)
    finite = listed and np.isfinite(fit.validation).all() and np.isfinite(fit.test).all()
    return bool(whole and said and finite and isinstance(fit.seconds, float))


class KeptFits:
    """The finished fits of a plan, each in a file of a folder, by default a temporary one.

    Attributes
    ----------
    best : dict of str to dict of str to float
        By the key of a task and by metric: the best validation values of the fits found so far.
    """

    def __init__(self, plan: Plan, folder: Path | None) -> None:
        self.plan = plan
        self.best: dict[str, Mapping[str, float]] = {}
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="lambdaplus-")
            folder = Path(self._temporary.name)
        self._folder = Path(folder) / "fits"
        refuse_link(self._folder)

    @property
    def unused(self) -> int:
        """Number of stored fits if the plan has none of them: those of another study or version."""
        names = {path.stem for path in self._folder.glob("*.npz")}
        return 0 if names & {task.key for task in self.plan.tasks} else len(names)

    def file_of(self, task: Task) -> Path:
        """Where the fit is stored when it is finished."""
        return self._folder / f"{task.key}.npz"

    def found(self, task: Task) -> bool:
        """Whether the fit is stored; a damaged file causes a warning and is fitted again."""
        file = self.file_of(task)
        if not file.is_file():  # a pipe with its name would never end
            return False
        try:
            fits = load_fits(file)
            [fold] = [fold for fold in self.plan.folds if fold.name == task.fold]
            sizes = [part.labels.size for part in (fold.valid, fold.test)]
            if any(
                [one.validation.size, one.test.size] not in (sizes, [0, 0]) for one in fits.values()
            ):
                raise ValueError(f"{file} has not as many scores as the data has rows: remove it")
        except ValueError as damaged:
            warn(f"{damaged}; it is being fitted again")
            return False
        # Scores are left out of trials that an earlier one beats, perhaps in another search.
        beaten = self.beaten(task)
        for metric, fit in fits.items():
            best = np.nan_to_num(fit.best, nan=-np.inf)
            if not fit.validation.size and best > beaten.get(metric, -np.inf):
                return False
        self.best[task.key] = {metric: fit.best for metric, fit in fits.items()}
        return True

    def beaten(self, task: Task) -> dict[str, float]:
        """The best validation value of the finished earlier trials, by metric."""
        if not self.plan.searches(task.method):
            return {}
        # Later trials may have ended before, but of equal ones the first is chosen.
        trials = self.plan.groups[group_of(task)][: task.trial]
        earlier = [self.best[one.key] for one in trials if one.key in self.best]
        return {
            metric: float(np.nanmax([values[metric] for values in earlier] + [-np.inf]))
            for metric in map(str, task.metrics)
            if earlier and metric in earlier[0]
        }
