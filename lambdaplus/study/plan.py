"""The plan of a study: each method, with each set of its parameters, on each fold and seed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lambdaplus.compute.digests import digest
from lambdaplus.compute.messages import warn
from lambdaplus.data import Fold
from lambdaplus.data.cache import fingerprint
from lambdaplus.evaluation import Convention
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.declared_arrays import has_values
from lambdaplus.study.config import Config
from lambdaplus.study.estimator_trainer import find_class, train_estimator
from lambdaplus.study.methods import Criterion, Method, Parameters, Task, parse_criterion
from lambdaplus.study.search_spaces import draw

Group = tuple[str, str, int]  # method, fold and seed


def group_of(task: Task) -> Group:
    return task.method.name, task.fold, task.seed


@dataclass(frozen=True, eq=False)
class Plan:
    """The tasks of a study, and what selects among them."""

    folds: Sequence[Fold]
    methods: Sequence[Method]
    metrics: Sequence[RankingMetric]  # of test queries
    config: Config
    threads: int

    @cached_property
    def tasks(self) -> list[Task]:
        """All fits, fold by fold."""
        identities = [_identity(method, self._criteria(method)) for method in self.methods]
        tasks: list[Task] = []
        for fold in self.folds:
            data = [fingerprint(part) for part in fold.parts]
            for method, identity in zip(self.methods, identities, strict=True):
                for seed in self.config.seeds if method.random else self.config.seeds[:1]:
                    tasks += self._tasks(fold, method, seed, [data, identity])
        return tasks

    def _tasks(self, fold: Fold, method: Method, seed: int, trained: Any) -> Iterator[Task]:
        """One for each set of parameters; those that are drawn again are not tried twice."""
        config = self.config
        # Names of folds do not change a fit.
        tried = {
            digest([trained, parameters, config.of_training, seed]): parameters
            for parameters in self._parameters(method, seed)
        }
        for trial, (key, parameters) in enumerate(tried.items()):
            yield Task(
                method, parameters, fold.train, fold.valid, config, seed, self._criteria(method),
                fold.name, trial, key, self.threads,
            )  # fmt: skip

    def _parameters(self, method: Method, seed: int) -> Iterable[Parameters]:
        if not self.searches(method):
            return method.points
        return (draw(method.searched, seed, trial) for trial in range(self.config.trials))

    def searches(self, method: Method) -> bool:
        """Whether the method's parameters are drawn at random."""
        return self.config.trials > 0 and bool(method.space)

    def selects(self, method: Method) -> dict[RankingMetric, Criterion]:
        """For each evaluated metric, the validation metric that selects its model."""
        if criterion := self.config.select or method.criterion:
            return dict.fromkeys(self.metrics, parse_criterion(criterion))
        return {metric: metric for metric in self.metrics}

    def _criteria(self, method: Method) -> tuple[Criterion, ...]:
        return tuple(dict.fromkeys(self.selects(method).values()))

    @cached_property
    def groups(self) -> dict[Group, list[Task]]:
        """The tasks among which validation data selects."""
        groups: dict[Group, list[Task]] = {}
        for task in self.tasks:
            groups.setdefault(group_of(task), []).append(task)
        return groups


def _identity(method: Method, metrics: Sequence[Criterion]) -> str:
    """A digest of the method, including its class and the content of its objective."""
    target = find_class(method.target) if method.trainer is train_estimator else method.target
    asked = [method.name, method.trainer, target, method.criterion, dict(method.fixed)]
    return digest([asked, metrics])


def refuse_repeated_names(named: Mapping[str, Sequence[Any]]) -> None:
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
