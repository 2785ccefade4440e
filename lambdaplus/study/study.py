"""A study: its plan, the fits that are kept, and their results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lambdaplus.compute.arguments import whole_number
from lambdaplus.compute.digests import versions_in_words
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.scoring import Column
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.metrics import Metric, parse_metric
from lambdaplus.metrics.names import listed
from lambdaplus.study.choices import Choice, tables_of
from lambdaplus.study.config import Config
from lambdaplus.study.fits import KeptFits, load_fits
from lambdaplus.study.fitting import run_tasks
from lambdaplus.study.methods import Method, Task, parse_criterion
from lambdaplus.study.plan import Plan, refuse_folds_without_values, refuse_repeated_names
from lambdaplus.study.results import Results

if TYPE_CHECKING:
    from lambdaplus.study.saved_model import Final


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
    finished : set of str
        Keys of the stored fits.
    kept : int
        Number of fits that were stored already when `run` began.
    errors : dict of str to str
        First error of each method that failed.

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
    errors: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._evaluated = [parse_metric(metric) for metric in listed(self.metrics)]
        self._convention = find_convention(self.config.convention)
        grouped = not self.folds or self.folds[0].test.grouped
        self.config = self.config.with_defaults(grouped=grouped)
        if self.config.select:
            self.config = replace(self.config, select=str(parse_criterion(self.config.select)))
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
    def plan(self) -> Plan:
        """The tasks of the study."""
        return Plan(self.folds, self.methods, self._evaluated, self.config, self.threads)

    @cached_property
    def fits(self) -> KeptFits:
        """The finished fits."""
        return KeptFits(self.plan, self.folder)

    @property
    def finished(self) -> set[str]:
        """Keys of the stored fits."""
        return {*self.fits.best}

    @property
    def tasks(self) -> list[Task]:
        """All fits, fold by fold."""
        return self.plan.tasks

    def __len__(self) -> int:
        """Number of fits."""
        return len(self.tasks)

    def run(self) -> Iterator[Task]:
        """Run all fits that are not stored yet, and yield each task when it finishes or fails.

        The iteration can be stopped at any time, since finished fits are stored.
        """
        stored = [task for task in self.tasks if self.fits.found(task)]
        self.kept = len(stored)
        self.__dict__.pop("results", None)  # computed from fewer fits
        yield from stored
        missing = [task for task in self.tasks if task.key not in self.fits.best]
        with contextlib.closing(run_tasks(missing, self.fits, self.folds, self.jobs)) as running:
            for place, error in running:
                task = missing[place]
                self.__dict__.pop("results", None)
                if not error and not self.fits.found(task):
                    error = "it ended without a result"
                if error:
                    self.errors.setdefault(task.method.name, f"{task.fold}: {error}")
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

    def choices(self, method: Method) -> list[Choice]:
        """Selected parameters for each fold and seed whose fits are all finished."""
        folds = {fold.name: fold for fold in self.folds}
        return [
            Choice(
                tasks, [load_fits(self.fits.file_of(task)) for task in tasks], folds[fold],
                self.plan.selects(method), self._convention,
            )
            for (name, fold, _), tasks in self.plan.groups.items()
            if name == method.name and all(task.key in self.fits.best for task in tasks)
        ]  # fmt: skip

    def save_model(self, folder: Path, method: str = "", metric: str = "") -> Final:
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
            and why, and the metric with its expected value and interval; the model in the
            framework's own format; and ``predict.py``, which scores the rows of a file without
            lambdaplus.  Files that an earlier call wrote are replaced.
        method : str, optional
            By default, that of LightGBM or XGBoost that is best on validation data.
        metric : str, optional
            The metric that says which is best; by default ``select``, if it is evaluated, or else
            the first of the study.

        Returns
        -------
        Final

        Raises
        ------
        ValueError
            If no method can be saved, the named one is none of these or has not finished, features
            are scaled, or the values of categories are unknown.
        FileExistsError
            If a file of the user would be overwritten.
        """
        from lambdaplus.study.saved_model import save_model

        return save_model(self, Path(folder), method, metric)

    @cached_property
    def results(self) -> Results:
        """Results of each method, fold and seed whose fits are all finished."""
        choices = [choice for method in self.methods for choice in self.choices(method)]
        tested = choices[0].tested if choices else {}
        tests = [fold.test.queries for fold in self.folds]
        best = [np.maximum.reduceat(test.labels, test.boundaries[:-1]) for test in tests]
        relevant = np.concatenate(best) >= 1
        return Results(
            self.config,
            {method.name: method for method in self.methods},
            [fold.name for fold in self.folds],
            [*map(str, self._evaluated)],
            **tables_of(choices),
            errors=self.errors,
            rows={c.key: {m: tested.rows for m, tested in c.tested.items()} for c in choices},
            rules={metric: values.rules for metric, values in tested.items()},
            versions=versions_in_words(),
            queries=relevant.size,
            without_relevant=int((~relevant).sum()),
            n_rows=sum(test.n_documents for test in tests if test.ranked_as != "queries"),
            planned=len(self),
            finished=len(self.fits.best),
            notes=self.notes,
        )
