"""The plan of a study: each method, with each set of its parameters, on each fold and seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from lambdaplus.compute.digests import digest
from lambdaplus.compute.messages import warn
from lambdaplus.data import Fold
from lambdaplus.data.cache import fingerprint
from lambdaplus.evaluation import Convention
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.metric_arrays import has_values
from lambdaplus.study.config import Config
from lambdaplus.study.estimator_trainer import find_class, train_estimator
from lambdaplus.study.methods import Criterion, Method, Parameters, criterion_of
from lambdaplus.study.search_spaces import draw
from lambdaplus.study.tasks import Group, Task


@dataclass(eq=False)
class Plan:
    """All tasks of a study, which grow by seeds alone."""

    folds: Sequence[Fold]
    methods: Sequence[Method]
    metrics: Sequence[RankingMetric]
    config: Config
    threads: int
    added: list[Task] = field(default_factory=list, init=False)

    @cached_property
    def first(self) -> list[Task]:
        """Those of the seeds of the configuration."""
        return tasks_of(self.folds, self.methods, self.metrics, self.config, self.threads)

    @property
    def tasks(self) -> list[Task]:
        """All, in the order in which they are trained."""
        return self.first + self.added

    def add_seeds(self, seeds: tuple[int, ...]) -> list[Task]:
        """Plan more trainings of the methods that seeds change."""
        random = [method for method in self.methods if method.random]
        config = replace(self.config, seeds=seeds)
        new = tasks_of(self.folds, random, self.metrics, config, self.threads)
        self.added += new
        return new


def groups_of(tasks: Iterable[Task]) -> dict[Group, list[Task]]:
    """The tasks by group, among whose trials, in their order, validation data selects."""
    groups: dict[Group, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(task)
    return groups


def tasks_of(
    folds: Sequence[Fold], methods: Sequence[Method], metrics: Sequence[RankingMetric],
    config: Config, threads: int,
) -> list[Task]:  # fmt: skip
    """The trainings of a study, fold by fold; parameters that are drawn again are tried once."""
    criteria = [
        tuple(dict.fromkeys(criterion_of(method, metric, config) for metric in metrics))
        for method in methods
    ]
    identities = [_identity(*pair) for pair in zip(methods, criteria, strict=True)]
    tasks: list[Task] = []
    for fold in folds:
        data = [fingerprint(part) for part in fold.parts]
        for method, criterion, identity in zip(methods, criteria, identities, strict=True):
            for seed in config.seeds if method.random else config.seeds[:1]:
                # Names of folds do not change a fit.
                tried = {
                    digest([data, identity, parameters, config.of_training, seed]): parameters
                    for parameters in _tried(method, config, seed)
                }
                tasks += [
                    Task(method, parameters, fold.train, fold.valid, config, seed, criterion,
                         fold.name, trial, key, threads)
                    for trial, (key, parameters) in enumerate(tried.items())
                ]  # fmt: skip
    return tasks


def _tried(method: Method, config: Config, seed: int) -> Iterable[Parameters]:
    if not method.is_searched(config):
        return method.points
    return (draw(method.searched, seed, trial) for trial in range(config.trials))


def _identity(method: Method, metrics: Sequence[Criterion]) -> str:
    """A digest of the method, including its class and the content of its objective."""
    target = find_class(method.target) if method.trainer is train_estimator else method.target
    asked = [method.name, method.trainer, target, method.criterion, dict(method.fixed)]
    return digest([asked, metrics])


def refuse_repeated_names(**named: Sequence[Any]) -> None:
    """Raise a ValueError if there are no folds, for example, or two of one name."""
    for what, names in named.items():
        if not names:
            raise ValueError(f"{what} is empty: a study needs at least one")
        if twice := [str(name) for name, n in Counter(names).items() if n > 1]:
            raise ValueError(
                f"{what}: {', '.join(twice)} is given more than once, but results are "
                "identified by name: use different names"
            )


def refuse_folds_without_values(
    folds: Sequence[Fold], metrics: Sequence[RankingMetric], convention: Convention
) -> None:
    """A fold on whose test queries no metric is defined is an error; for some, a warning.

    A mean over folds needs all of them.
    """
    for fold in folds:
        undefined = [
            str(metric)
            for metric in map(convention.metric, metrics)
            if convention.rule(metric).empty == "skip" and not has_values(metric, fold.test.queries)
        ]
        if not undefined:
            continue
        message = (
            f"no test query of {fold.name} has a value of {', '.join(undefined)}, for lack of "
            "relevant documents or others, so means over folds have none either: leave this "
            "fold out, or split the queries in another way"
        )
        if len(undefined) == len(metrics):
            raise ValueError(message)
        warn(message)
