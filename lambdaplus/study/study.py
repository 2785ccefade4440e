"""A comparison: every method, with every set of its parameters, on every fold.

Parameters are selected on validation data; the labels of test data are used once for each selected
model.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lambdaplus.data import Fold
from lambdaplus.data.binary import fingerprint
from lambdaplus.evaluation import Evaluation
from lambdaplus.evaluation.result import join_evaluations, mean_by_query
from lambdaplus.metrics import RankingMetric
from lambdaplus.objectives import LambdaObjective
from lambdaplus.study.boosting import Boosting
from lambdaplus.study.checks import check_study
from lambdaplus.study.choice import Choice, choose_fit, choose_trial, main_of
from lambdaplus.study.estimator_trainer import find_class, train_estimator
from lambdaplus.study.identity import digest
from lambdaplus.study.methods import Method, Parameters, Settings
from lambdaplus.study.results import ALL_QUERIES, CURVES, FITS, VALUES, Results
from lambdaplus.study.search_space import draw
from lambdaplus.study.store import Fit, Store, key_of, versions_in_words
from lambdaplus.study.tasks import Task, fit_and_save, fit_from_disk, in_turn, laid_out
from lambdaplus.study.trials import fit_trial
from lambdaplus.study.workers import (
    PRELOADED,
    first_line,
    run_in_processes,
    working_folder,
)

PARTS = ("train", "valid", "test")


@dataclass(eq=False)
class Study:
    """A comparison, which may be finished or not.

    Attributes
    ----------
    folds, methods, metrics, settings
        The data, the methods, the metrics and the settings; names must be unique.
    seeds : tuple of int
        Methods that use random numbers are fitted with each seed, and their values are averaged.
    select : str, optional
        Validation metric, or sum of metrics, for parameter selection.  By default, the criterion of
        each method; with trials, each metric selects separately.
    trials : int
        Number of trials of a random search for the parameters of each boosted method, on each fold
        with each seed; 0 for no search.
    repeated : bool
        Whether the folds are repeated splits of the same queries, in which case the value of a
        query is its mean over the splits that test on it.
    folder : path, optional
        Where finished fits are stored; by default in a temporary folder.
    jobs : int
        Number of parallel fits, each in its own process; 1 fits in this process.
    finished : set of str
        Keys of the stored fits.
    errors : dict of str to str
        First error of each method that failed.

    Raises
    ------
    ValueError
        If there is nothing to fit, two have the same name, or a setting, a criterion or a parameter
        of a grid is invalid.
    """

    folds: list[Fold]
    methods: list[Method]
    metrics: list[RankingMetric]
    settings: Settings = field(default_factory=Settings)
    seeds: tuple[int, ...] = (0,)
    select: str | None = None
    repeated: bool = False
    folder: Path | None = None
    jobs: int = 1
    trials: int = 0
    finished: set[str] = field(default_factory=set, init=False)
    errors: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        check_study(self)

    @cached_property
    def store(self) -> Store:
        if self.folder is not None:
            return Store(self.folder)
        self._temporary = tempfile.TemporaryDirectory(prefix="lambdaplus-")
        return Store(self._temporary.name)

    @cached_property
    def tasks(self) -> list[Task]:
        """All fits, fold by fold."""
        identities = [_identity(method) for method in self.methods]
        settings = asdict(replace(self.settings, threads=1))
        found = []
        for fold in self.folds:
            data = [fingerprint(getattr(fold, part)) for part in PARTS]
            for method, identity in zip(self.methods, identities, strict=True):
                for seed in self.seeds if method.random else self.seeds[:1]:
                    earlier: tuple[tuple[str, Parameters], ...] = ()
                    for parameters in self._tried(method, seed):
                        follows = {"metrics": self._watched(method), "after": earlier[-1:]}
                        key = key_of(
                            data=data,
                            method=identity,
                            parameters=parameters,
                            settings=settings,
                            seed=seed,
                            **(follows if self.searches(method) else {}),
                        )
                        found.append(Task(method, fold, parameters, seed, key, earlier))
                        if self.searches(method):
                            earlier = (*earlier, (key, parameters))
        return found

    def searches(self, method: Method) -> bool:
        """Whether the method's parameters are drawn at random."""
        return self.trials > 0 and isinstance(method.trainer, Boosting)

    def _tried(self, method: Method, seed: int) -> list[dict[str, Any]]:
        if not self.searches(method):
            return method.points
        return [draw(method.searched, seed, trial) for trial in range(self.trials)]

    def chooses(self, method: Method) -> dict[str, str]:
        """For each evaluated metric, the validation metric that selects its model."""
        names = [str(metric) for metric in self.metrics]
        if self.select or not self.trials:
            return dict.fromkeys(names, self.select or method.criterion)
        return dict(zip(names, names, strict=True))

    def _watched(self, method: Method) -> list[str]:
        return list(dict.fromkeys(self.chooses(method).values()))

    def _work(self, task: Task, parts: Any) -> tuple[Any, ...]:
        """The function to call for a task, and its arguments."""
        search = self.searches(task.method)
        trial = [self._watched(task.method), task.earlier] if search else []
        return (fit_trial if search else fit_and_save, self.store, task.key, task.method,
                task.parameters, parts, self.settings, task.seed, task.fold.name,
                *trial)  # fmt: skip

    def __len__(self) -> int:
        """Number of fits."""
        return len(self.tasks)

    def run(self) -> Iterator[Task]:
        """Run all fits that are not stored yet, and yield each task when it finishes or fails.

        Iteration can be stopped at any time: finished fits are stored.
        """
        missing = []
        for task in self.tasks:
            if self._kept(task):
                self.finished.add(task.key)
                yield task
            else:
                missing.append(task)
        if not missing:
            return
        # A daemonic process, such as a worker of multiprocessing.Pool, may not start others.
        apart = self.jobs > 1 and not multiprocessing.current_process().daemon
        for task, error in self._in_processes(missing) if apart else self._here(missing):
            if not error and not self.store.path(task.key).exists():
                error = "it ended without a result"
            if error:
                self.errors.setdefault(task.method.name, f"{task.fold.name}: {error}")
            else:
                self.finished.add(task.key)
            yield task

    def finish(self, watch: Callable[[int], None] = lambda finished: None) -> None:
        """Run all fits; ``watch`` is called with the number of finished ones after each.

        Raises
        ------
        RuntimeError
            If a method failed; the other fits are kept.
        """
        for finished, _ in enumerate(self.run(), start=1):
            watch(finished)
        if self.errors:
            said = "; ".join(f"{name}: {error}" for name, error in self.errors.items())
            raise RuntimeError(f"failed, the finished fits are kept: {said}")

    def _kept(self, task: Task) -> bool:
        """Whether the fit is stored; for a damaged file there is a warning, and it is repeated."""
        try:
            return self.store.load(task.key) is not None
        except ValueError as damaged:
            warnings.warn(f"{damaged}; it is being fitted again", stacklevel=3)
            return False

    def _here(self, tasks: list[Task]) -> Iterator[tuple[Task, str]]:
        importlib.import_module(PRELOADED)  # exclude the import of frameworks from training times
        for task in tasks:
            error = ""
            try:
                parts = [getattr(task.fold, part) for part in PARTS]
                fit, *work = self._work(task, parts)
                fit(*work)
            except Exception as problem:  # any error of a framework only ends this fit
                error = first_line(problem)
            yield task, error

    def _in_processes(self, tasks: list[Task]) -> Iterator[tuple[Task, str]]:
        with working_folder() as data:
            folders = {
                fold.name: [laid_out(getattr(fold, part), data) for part in PARTS]
                for fold in {task.fold.name: task.fold for task in tasks}.values()
            }
            ended: set[str] = set()
            started: list[Task] = []

            def ready() -> Iterator[tuple[Any, ...] | None]:
                for task in in_turn(tasks, ended):
                    if task is not None:
                        started.append(task)
                    yield task and self._work(task, folders[task.fold.name])

            running = run_in_processes(fit_from_disk, ready(), self.jobs)
            with contextlib.closing(running):
                for number, error in running:
                    ended.add(started[number].key)
                    yield started[number], error

    def choices(self, method: Method) -> list[Choice]:
        """Selected parameters for each fold and seed whose fits are all finished."""
        found = []
        for fold in self.folds:
            for seed in self.seeds:
                mine = [
                    task
                    for task in self.tasks
                    if (task.method, task.fold, task.seed) == (method, fold, seed)
                ]
                if mine and all(task.key in self.finished for task in mine):
                    found.append(self._choose(mine))
        return found

    def _choose(self, tasks: list[Task]) -> Choice:
        method, fold, _, seed, *_ = tasks[0]
        choose = choose_trial if self.searches(method) else choose_fit
        fits = [self._load(task) for task in tasks]
        tried = [task.parameters for task in tasks]
        return choose(method, fold, seed, tried, fits, self.chooses(method))

    def _load(self, task: Task) -> Fit:
        fit = self.store.load(task.key)
        if fit is None:
            raise FileNotFoundError(f"{self.store.path(task.key)} was removed during the run")
        return fit

    @cached_property
    def chosen(self) -> dict[str, list[Choice]]:
        """Choices by method, once the study has run."""
        return {method.name: self.choices(method) for method in self.methods}

    @cached_property
    def results(self) -> Both:
        """What was measured, once the study has run."""
        return measured(self)

    def fold_means(self, method: Method, metric: RankingMetric) -> dict[str, float]:
        """Mean over seeds of the test value on each fold that the method finished."""
        by_fold: dict[str, list[float]] = {}
        for choice in self.chosen[method.name]:
            by_fold.setdefault(choice.fold.name, []).append(choice.evaluation[metric])
        return {name: float(np.mean(values)) for name, values in by_fold.items()}

    def mean(self, method: Method, metric: RankingMetric) -> float:
        """Mean of the fold means; NaN unless the method finished every fold."""
        means = list(self.fold_means(method, metric).values())
        return float(np.mean(means)) if len(means) == len(self.folds) else float("nan")

    def seconds(self, method: Method) -> float:
        """Training time over all folds, seeds and parameters."""
        return sum(choice.seconds for choice in self.chosen[method.name])

    def evaluation(self, method: Method) -> Evaluation | None:
        """Values of all test queries, averaged over seeds and repetitions; None if unfinished."""
        by_seed: dict[int, dict[str, Evaluation]] = {}
        for choice in self.chosen[method.name]:
            by_seed.setdefault(choice.seed, {})[choice.fold.name] = choice.evaluation
        whole = [parts for parts in by_seed.values() if len(parts) == len(self.folds)]
        if not whole:
            return None
        found = join_evaluations(whole)
        if not self.repeated:
            return found
        tests = [fold.test for fold in self.folds]
        # The rows of a query are adjacent, so its first row represents it.
        starts = [np.cumsum(test.group) - test.group for test in tests]
        return mean_by_query(
            found,
            np.concatenate([test.qid[at] for test, at in zip(tests, starts, strict=True)]),
            np.concatenate(
                [
                    np.maximum.reduceat(t.labels, at) >= 1
                    for t, at in zip(tests, starts, strict=True)
                ]
            ),
        )


class Both(Results):
    """Results, which for now have the choices of each method too."""

    chosen: dict[str, list[Choice]]

    def __getitem__(self, method: str) -> list[Choice]:
        return self.chosen[method]


def measured(study: Study) -> Both:
    """The results of a study."""
    values: list[pl.DataFrame] = []
    fits: list[tuple[Any, ...]] = []
    curves: list[pl.DataFrame] = []
    chosen = [choice for mine in study.chosen.values() for choice in mine]
    for choice in chosen:
        key = {"method": choice.method.name, "fold": choice.fold.name, "seed": choice.seed}
        for metric, found in choice.evaluation.per_query.items():
            qid = list(map(str, choice.evaluation.qid.tolist()))
            query = qid if len(found) == len(qid) else [ALL_QUERIES]
            columns = {"metric": metric, "query": query, "value": found}
            values.append(
                _table(VALUES, key | columns).with_columns(pl.col("value").fill_nan(None))
            )
        for metric, curve in choice.curves.items():
            rounds, found = curve
            curves.append(_table(CURVES, key | {"metric": metric, "round": rounds, "value": found}))
        fits += choice.rows
    tests = [fold.test for fold in study.folds]
    relevant: dict[Any, bool] = {}
    for number, test in enumerate(tests):
        starts = np.cumsum(test.group) - test.group
        best = np.maximum.reduceat(test.labels, starts)
        for query, label in zip(test.qid[starts].tolist(), best.tolist(), strict=True):
            relevant[query if study.repeated else (number, query)] = label >= 1
    some = chosen[0].evaluation if chosen else None
    searched = [method for method in study.methods if study.searches(method)]
    about = {
        "settings": str(study.settings),
        "rounds": study.settings.rounds,
        "patience": study.settings.patience,
        "seeds": list(study.seeds),
        "trials": study.trials,
        "repeated": study.repeated,
        "select": study.select,
        "criteria": {method.name: method.criterion for method in study.methods},
        "origins": {method.name: _origin(method) for method in study.methods},
        "selects": {m.name: main_of(m, study._watched(m)) for m in study.methods},
        "tried": {m.name: study.trials if m in searched else len(m.points) for m in study.methods},
        "spaces": {method.name: method.searched for method in searched},
        "convention": "lambdaplus",
        "rules": some.conventions if some is not None else {},
        "versions": versions_in_words(),
        "queries": len(relevant),
        "tested": sum(test.n_queries for test in tests),
        "without_relevant": len(relevant) - sum(relevant.values()),
        "planned": len(study),
        "finished": len(study.finished),
    }
    results = Both(
        list(study.chosen),
        [fold.name for fold in study.folds],
        [str(metric) for metric in study.metrics],
        pl.concat([_table(VALUES, {}), *values]),
        pl.DataFrame(fits, schema=FITS, orient="row"),
        pl.concat([_table(CURVES, {}), *curves]),
        study.errors,
        about,
    )
    object.__setattr__(results, "chosen", study.chosen)
    return results


def _table(schema: pl.Schema, columns: dict[str, Any]) -> pl.DataFrame:
    """A table of columns, among which a single value stands for every row."""
    if not columns:
        return pl.DataFrame(schema=schema)
    lists = {k: v for k, v in columns.items() if np.ndim(v)}
    return pl.DataFrame(lists, schema_overrides={k: schema[k] for k in lists}).select(
        pl.col(name) if name in lists else pl.lit(columns[name], dtype=kind).alias(name)
        for name, kind in schema.items()
    )


def _origin(method: Method) -> str:
    """Who wrote the objective or the ranker: lambdaplus, a framework or the user."""
    target = method.target
    if isinstance(target, LambdaObjective) or str(target).startswith("lambdaplus."):
        return "lambdaplus"
    frameworks = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}
    own = isinstance(method.trainer, Boosting) and isinstance(target, str)
    return frameworks.get(method.family, "yours") if own else "yours"


def _identity(method: Method) -> str:
    """A digest of the method, including its class and the content of its objective."""
    target = find_class(method.target) if method.trainer is train_estimator else method.target
    return digest([method.name, method.trainer, target, method.criterion, dict(method.fixed)])
