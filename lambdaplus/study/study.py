"""A study, which joins its plan, the runner of its tasks, the store of their fits, and results."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

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
from lambdaplus.study.fits import Fit
from lambdaplus.study.memory import Memory
from lambdaplus.study.methods import Method, criterion_of, parse_criterion
from lambdaplus.study.number_range import refuse_too_large
from lambdaplus.study.plan import (
    Plan,
    groups_of,
    refuse_folds_without_values,
    refuse_repeated_names,
)
from lambdaplus.study.results import Results
from lambdaplus.study.runner import Runner
from lambdaplus.study.seeds import FIRST_PASS, more_seeds, seeds_needed
from lambdaplus.study.selection import best_of, by_metric, results_of
from lambdaplus.study.store import Store
from lambdaplus.study.summary import Summary
from lambdaplus.study.tasks import Task


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
    seeds: tuple[int, ...] = field(default=(), init=False)
    _results: tuple[Any, Results] | None = field(default=None, init=False, repr=False)
    """Those after a number of tasks of a run have ended."""

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
            folds=[fold.name for fold in self.folds], methods=names,
            metrics=[*map(str, self._evaluated)], seeds=self.config.seeds,
        )  # fmt: skip
        if (baseline := self.config.baseline) and baseline not in names:
            raise ValueError(f"baseline {baseline!r} is not one of the methods compared")
        whole_number("jobs", self.jobs, least=1)
        whole_number("threads", self.threads, least=1)
        refuse_folds_without_values(self.folds, self._evaluated, self._convention)
        refuse_too_large(self.folds, self.methods)
        self._store = Store(self.folder)
        self._runner = Runner(self.folds, self._store, self.jobs)

    @cached_property
    def _plan(self) -> Plan:
        return Plan(self.folds, self.methods, self._evaluated, self.config, self.threads)

    @property
    def tasks(self) -> list[Task]:
        """All trainings, fold by fold."""
        return self._plan.tasks

    def __len__(self) -> int:
        """Number of trainings."""
        return len(self.tasks)

    @cached_property
    def memory(self) -> Memory:
        """What the fits need."""
        return Memory.of(self.folds, self.methods, self.jobs)

    def file_of(self, task: Task) -> Path:
        """Where a training is stored when it is finished."""
        return self._store.file_of(task)

    @property
    def unused(self) -> int:
        """Number of stored fits if none is of this study: those of another study or version."""
        stored = self._store.keys()
        return len(stored) if stored.isdisjoint(task.key for task in self.tasks) else 0

    @property
    def kept(self) -> int:
        """Number of fits that were stored already when `run` began."""
        return self._runner.kept

    @property
    def finished(self) -> set[str]:
        """Keys of the stored fits."""
        return {task.key for task in self._runner.stored}

    @property
    def errors(self) -> dict[str, str]:
        """First error of each method that failed."""
        errors: dict[str, str] = {}
        for task, error in self._runner.failed.items():
            errors.setdefault(task.method.name, f"{task.fold}: {error}")
        return errors

    @property
    def fits(self) -> list[Fit]:
        """The records of all trainings that have ended, in the order of the plan."""
        stored = (task for task in self.tasks if task in self._runner.stored)
        failed = self._runner.failed.items()
        return [
            *itertools.chain(*map(self._store.fits_of, stored)),
            *(Fit(*task.group, task.trial, error=error) for task, error in failed),
        ]

    def chosen(self, method: str, metric: Metric) -> list[Fit]:
        """The fits on which a metric is evaluated, of each fold and seed that is finished."""
        [found] = [one for one in self.methods if one.name == method]
        by = str(criterion_of(found, metric, self.config))
        return [best_of(by_metric(fits)[by]) for fits in self._finished_groups(method)]

    def task_of(self, fit: Fit) -> Task:
        """The training of a record."""
        return groups_of(self.tasks)[fit.group][fit.trial]

    def _finished_groups(self, method: str) -> Iterator[list[Fit]]:
        """The fits of each fold and seed, if all are finished."""
        for group, tasks in groups_of(self.tasks).items():
            if group[0] == method and all(task in self._runner.stored for task in tasks):
                yield [*itertools.chain(*map(self._store.fits_of, tasks))]

    def run(self) -> Iterator[Task]:
        """Run all fits that are not stored yet, and yield each task when it finishes or fails.

        With ``see``, seeds are added after those of the configuration, so that the number of
        trainings grows once.  The iteration can be stopped at any time, since finished fits are
        stored.
        """
        # Another one than before, since files may be gone or damaged.
        self._runner = Runner(self.folds, self._store, self.jobs)
        yield from self._runner.run(self.tasks, self.memory)
        if self.config.see is None or self._runner.failed or self.seeds != self.config.seeds:
            return
        self.seeds = more_seeds(self.seeds, seeds_needed(Summary(self.results), self.jobs))
        added = self._plan.add_seeds(self.seeds[len(self.config.seeds) :])
        yield from self._runner.run(added, self.memory)

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

    @property
    def results(self) -> Results:
        """Results of each method, fold and seed whose fits are all finished."""
        ended = self._runner, self._runner.ended
        if self._results is None or self._results[0] != ended:
            self._results = ended, self._make_results()
        return self._results[1]

    def _make_results(self) -> Results:
        names = [method.name for method in self.methods]
        groups = itertools.chain.from_iterable(map(self._finished_groups, names))
        config = replace(self.config, seeds=self.seeds)
        return results_of(
            groups, self.folds, self.methods, self._evaluated, config, errors=self.errors,
            planned=len(self), finished=len(self._runner.stored), notes=self.notes,
        )  # fmt: skip
