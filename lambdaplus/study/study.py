"""A study: its plan, its fits, which are kept, and their results."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from lambdaplus.compute.arguments import whole_number
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.model_folder import model_folder
from lambdaplus.data.ranking_data import joined
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.metrics import Metric, parse_metric
from lambdaplus.metrics.names import listed
from lambdaplus.saved_model.columns import Column
from lambdaplus.study.config import Config
from lambdaplus.study.final_model import FinalModel, saveable, train_final, write_final
from lambdaplus.study.fits import Fit, fits_folder, load_fits, stored_values
from lambdaplus.study.fitting import run_tasks
from lambdaplus.study.memory import Memory
from lambdaplus.study.methods import Group, Method, Task, criterion_of, parse_criterion
from lambdaplus.study.plan import refuse_folds_without_values, refuse_repeated_names, tasks_of
from lambdaplus.study.results import Results
from lambdaplus.study.seeds import FIRST_PASS, more_seeds, seeds_needed
from lambdaplus.study.selection import best_of, by_metric, results_of
from lambdaplus.study.summary import Summary


@dataclass(eq=False)
class Study:
    """Train methods on folds, select parameters on validation data, and evaluate on test data.

    Parameters
    ----------
    folds : list of Fold
    methods : list of Method
        See `find_methods`.  Names of folds and methods must be unique.
    metrics : list of str, RankingMetric or Declaration
        Metrics to evaluate on test queries.
    config : Config
        Seeds, selection, convention and training; what says where folds, methods and metrics come
        from is not used.
    folder : path, optional
        Where finished fits are stored; by default in a temporary folder.
    jobs, threads : int
        Number of parallel fits, each in its own process, and of threads of each fit; one job fits
        in this process.  A script that uses more has to run the study under
        ``if __name__ == "__main__":``, since every process imports the script.
    notes : tuple of str
        Sentences about rows, queries and columns of the data, for the report.
    all_rows : RankingData, optional
        The data that a saved model is trained on; by default, all parts of the last fold.
    columns : sequence of Column
        What the columns of a table are used as, and the values of categories, for saved models.

    Attributes
    ----------
    kept : int
        Number of fits that were stored already when `run` began.
    seeds : tuple of int
        Those of the configuration and, with ``see``, those that were added.

    Raises
    ------
    ValueError
        If an argument is empty, two have the same name, a metric, convention, baseline or number is
        invalid, or no metric has a value on the test queries of a fold.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> from lambdaplus.study import Study, find_methods
    >>> study = Study(digits_queries()[:1], find_methods("feature:best"), ["map"])
    >>> study.finish()
    >>> len(study), study.errors
    (1, {})
    """

    folds: Sequence[Fold]
    methods: Sequence[Method]
    metrics: Sequence[Metric]
    config: Config = field(default_factory=Config)
    folder: Path | None = None
    jobs: int = 1
    threads: int = 1
    notes: tuple[str, ...] = ()
    all_rows: RankingData | None = None
    columns: Sequence[Column] = ()
    kept: int = field(default=0, init=False)
    seeds: tuple[int, ...] = field(default=(), init=False)
    _values: dict[Task, dict[str, float]] = field(default_factory=dict, init=False, repr=False)
    _failed: dict[Task, Fit] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._evaluated = [parse_metric(metric) for metric in listed(self.metrics)]
        self._convention = find_convention(self.config.convention)
        grouped = not self.folds or self.folds[0].test.grouped
        self.config = self.config.with_defaults(grouped=grouped)
        if self.config.select:
            self.config = replace(self.config, select=str(parse_criterion(self.config.select)))
        if self.config.see is not None and len(self.config.seeds) < FIRST_PASS:
            self.config = replace(self.config, seeds=more_seeds(self.config.seeds, FIRST_PASS))
        self.seeds = self.config.seeds
        names = [method.name for method in self.methods]
        refuse_repeated_names(
            {
                "folds": [fold.name for fold in self.folds],
                "methods": names,
                "metrics": [*map(str, self._evaluated)],
                "seeds": self.config.seeds,
            }
        )
        if (baseline := self.config.baseline) and baseline not in names:
            raise ValueError(f"baseline {baseline!r} is not one of the methods compared")
        whole_number("jobs", self.jobs, least=1)
        whole_number("threads", self.threads, least=1)
        refuse_folds_without_values(self.folds, self._evaluated, self._convention)

    @cached_property
    def tasks(self) -> list[Task]:
        """All trainings, fold by fold."""
        return tasks_of(self.folds, self.methods, self._evaluated, self.config, self.threads)

    def __len__(self) -> int:
        """Number of trainings."""
        return len(self.tasks)

    @cached_property
    def memory(self) -> Memory:
        """What the fits need."""
        return Memory.of(self.folds, self.methods, self.jobs)

    @cached_property
    def _groups(self) -> dict[Group, list[Task]]:
        groups: dict[Group, list[Task]] = {}
        for task in self.tasks:
            groups.setdefault(task.group, []).append(task)
        return groups

    @cached_property
    def _store(self) -> Path:
        folder = self.folder
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="lambdaplus-")
            folder = Path(self._temporary.name)
        return fits_folder(Path(folder))

    def file_of(self, task: Task) -> Path:
        """Where a training is stored when it is finished."""
        return self._store / f"{task.key}.npz"

    @property
    def unused(self) -> int:
        """Number of stored fits if none is of this study: those of another study or version."""
        names = {path.stem for path in self._store.glob("*.npz")}
        return 0 if names & {task.key for task in self.tasks} else len(names)

    @property
    def finished(self) -> set[str]:
        """Keys of the stored fits."""
        return {task.key for task in self._values}

    @property
    def errors(self) -> dict[str, str]:
        """First error of each method that failed."""
        errors: dict[str, str] = {}
        for fit in self._failed.values():
            errors.setdefault(fit.method, f"{fit.fold}: {fit.error}")
        return errors

    @property
    def fits(self) -> list[Fit]:
        """The records of all trainings that have ended, in the order of the plan."""
        stored = [task for task in self.tasks if task in self._values]
        return [*itertools.chain(*map(self._fits_of, stored)), *self._failed.values()]

    def chosen(self, method: str, metric: Metric) -> list[Fit]:
        """The fits on which a metric is evaluated, of each fold and seed that is finished."""
        [found] = [one for one in self.methods if one.name == method]
        by = str(criterion_of(found, metric, self.config))
        return [best_of(by_metric(fits)[by]) for fits in self._finished_groups(method)]

    def task_of(self, fit: Fit) -> Task:
        """The training of a record."""
        return self._groups[fit.group][fit.trial]

    def _finished_groups(self, method: str) -> Iterator[list[Fit]]:
        """The fits of each fold and seed, if all are finished."""
        for group, tasks in self._groups.items():
            if group[0] == method and all(task in self._values for task in tasks):
                yield [fit for task in tasks for fit in self._fits_of(task)]

    def _fits_of(self, task: Task) -> list[Fit]:
        # The file may be that of the same data under another name, or of another search.
        fits = load_fits(self.file_of(task))
        return [replace(fit, fold=task.fold, trial=task.trial) for fit in fits]

    def _is_stored(self, task: Task) -> bool:
        [fold] = [fold for fold in self.folds if fold.name == task.fold]
        if values := stored_values(self.file_of(task), fold, self._beaten(task)):
            self._values[task] = values
        return bool(values)

    def _beaten(self, task: Task) -> dict[str, float]:
        """The best validation value of the finished earlier trials of a search, by metric."""
        # Later trials may have ended before, but of equal ones the first is chosen.
        trials = self._groups[task.group][: task.trial]
        searched = task.method.is_searched(self.config)
        earlier = [self._values[t] for t in trials if searched and t in self._values]
        names = map(str, task.metrics if earlier else ())
        return {m: float(np.nanmax([-np.inf, *(values[m] for values in earlier)])) for m in names}

    def run(self) -> Iterator[Task]:
        """Run all fits that are not stored yet, and yield each task when it finishes or fails.

        With ``see``, seeds are added after those of the configuration, so that the number of
        trainings grows once.  The iteration can be stopped at any time, since finished fits are
        stored.
        """
        self._values.clear()  # files may be gone or damaged since the last run
        self._failed.clear()
        self.kept = 0
        yield from self._run(self.tasks)
        if self.config.see is not None and not self._failed and self.seeds == self.config.seeds:
            yield from self._run(self._add_seeds(seeds_needed(Summary(self.results), self.jobs)))

    def _add_seeds(self, number: int) -> list[Task]:
        """Plan more trainings of the methods that seeds change, up to so many seeds."""
        self.seeds = more_seeds(self.seeds, number)
        added = replace(self.config, seeds=self.seeds[len(self.config.seeds) :])
        random = [method for method in self.methods if method.random]
        tasks = tasks_of(self.folds, random, self._evaluated, added, self.threads)
        self.tasks.extend(tasks)
        self.__dict__.pop("_groups", None)
        return tasks

    def _run(self, tasks: Sequence[Task]) -> Iterator[Task]:
        stored = [task for task in tasks if self._is_stored(task)]
        self.kept += len(stored)
        self.__dict__.pop("results", None)  # computed from fewer fits
        yield from stored
        missing = [task for task in tasks if task not in self._values]
        if missing:
            self.memory.refuse_too_little()
        running = run_tasks(missing, self.folds, self.jobs, self.file_of, self._beaten)
        with contextlib.closing(running):
            for task, error in running:
                self.__dict__.pop("results", None)
                if not error and not self._is_stored(task):
                    error = "it ended without a result"
                if error:
                    self._failed[task] = Fit(*task.group, task.trial, error=error)
                yield task

    def finish(self, watch: Callable[[int], None] = lambda finished: None) -> None:
        """Run all fits; after each, call ``watch`` with the number of fits so far.

        Raises
        ------
        RuntimeError
            If a method failed; the finished fits are stored.
        """
        for finished, _ in enumerate(self.run(), start=1):
            watch(finished)
        if self.errors:
            errors = "; ".join(f"{name}: {error}" for name, error in self.errors.items())
            raise RuntimeError(f"some fits failed; the finished ones are stored: {errors}")

    def save_model(self, folder: Path, method: str = "", metric: str = "") -> FinalModel:
        """Train the best method again on all queries, and save the model.

        No query is held out: the number of rounds is the mean of those of the folds.  With 4/5 of
        the queries of digits and OHSUMED, three objectives and two seeds, this was better by .0046
        of the metric, in the mean over these six cases, than early stopping on a fifth of them
        (from .0013 to .0096), since the model is trained on more queries.

        Parameters
        ----------
        folder : path
            Where ``about.json`` is written, with the method, all its parameters, the columns in
            order, with their kinds and the values of categories, the columns that were left out
            and why, the metric with its expected value and interval, and, of labels 0 and 1, how
            scores become probabilities, and how good these are; the model in the
            framework's own format; and ``predict.pyz``, which scores the rows of a file without
            lambdaplus.  Files that an earlier call wrote are replaced.
        method : str, optional
            By default, the one that the conclusion favours, if it is of LightGBM or XGBoost, or
            else the best of these on validation data.
        metric : str, optional
            The metric that says which is best; by default ``select``, if it is evaluated, or else
            the first of the study.

        Returns
        -------
        FinalModel

        Raises
        ------
        ValueError
            If no method can be saved, the named one is none of these or has not finished, features
            are scaled, or the values of categories are unknown.
        FileExistsError
            If a file of the user would be overwritten.
        """
        self.saveable(method)  # before the folder is made
        with model_folder(Path(folder)) as made:
            final = self.train_final(method, metric)
            write_final(made, final, self.config, self.columns)
        return final

    def train_final(self, method: str = "", metric: str = "") -> FinalModel:
        """Train as `save_model` does, without saving."""
        names = self.saveable(method)
        data = joined(self.folds[-1]) if self.all_rows is None else self.all_rows
        threads = self.threads * self.jobs  # nothing else runs now
        return train_final(
            self.results, self.tasks, names, metric, data, threads, self.folds, self.chosen
        )

    def saveable(self, method: str = "") -> list[str]:
        """The methods that can be saved; a ValueError if there is none, or not the one named."""
        return saveable(self.methods, self.config, self.folds, self.columns, method)

    @cached_property
    def results(self) -> Results:
        """Results of each method, fold and seed whose fits are all finished."""
        names = [method.name for method in self.methods]
        groups = itertools.chain.from_iterable(map(self._finished_groups, names))
        config = replace(self.config, seeds=self.seeds)
        return results_of(
            groups, self.folds, self.methods, self._evaluated, config, errors=self.errors,
            planned=len(self), finished=len(self._values), notes=self.notes,
        )  # fmt: skip
