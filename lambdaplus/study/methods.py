"""A method of a study, and what selects its parameters."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lambdaplus.evaluation import eval_metric
from lambdaplus.metrics import Metric, RankingMetric
from lambdaplus.metrics.weighted_sum import WeightedSum, parts_of
from lambdaplus.study.boosters import ranks_queries
from lambdaplus.study.config import Config
from lambdaplus.study.search_spaces import Draw

if TYPE_CHECKING:
    from lambdaplus.study.tasks import Trainer

Criterion = RankingMetric | WeightedSum
"""What selects on validation data."""

Parameters = Mapping[str, Any]


def parse_criterion(name: Metric | WeightedSum) -> Criterion:
    """A metric, or a weighted sum of metrics such as ``ndcg@10+0.5*map``."""
    [criterion] = eval_metric(name).metrics
    return criterion


def criterion_of(method: Method, metric: Metric, config: Config) -> Criterion:
    """What selects on validation data the model on which a metric is evaluated."""
    return parse_criterion(config.select or method.criterion or metric)


@dataclass(frozen=True)
class Method:
    """A ranker with the parameters to try.

    Attributes
    ----------
    name : str
        For example ``svm:map``; the part before the colon is the family.
    trainer : callable
        Takes a `Task`, and returns a `Fitted`, or one for each metric of the task.
    target : object
        What the trainer trains: an objective, or the class of an estimator, which may be given as
        ``module:Class``.
    criterion : RankingMetric or WeightedSum, optional
        A metric, or its name, that selects rounds and parameters of this method for all columns,
        unless the study has a ``select``.  By default, each column's metric selects its own.
    fixed : dict
        Parameters with a single value.
    grid : dict of str to sequence
        Values to try for each parameter, in all combinations.
    random : bool
        Whether the method depends on the seed.
    space : dict of str to Range or sequence
        What a random search draws each parameter from; empty for methods without a search.

    Raises
    ------
    ValueError
        For an unknown criterion, and if the values of a parameter in the grid are not a list, or an
        empty one.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> from lambdaplus.study import Fitted, Study
    >>> def by_first_feature(task):
    ...     return Fitted(lambda data: data.features[:, 0])
    >>> method = Method("first feature", by_first_feature, random=False)
    >>> study = Study(digits_queries()[:1], [method], ["ndcg@10"])
    >>> study.finish()
    >>> study.results.mean("first feature", "ndcg@10") < 0.5
    True
    """

    name: str
    trainer: Trainer
    target: Any = None
    criterion: Any = None
    fixed: Parameters = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    random: bool = True
    space: Mapping[str, Draw] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.criterion is not None:
            object.__setattr__(self, "criterion", parse_criterion(self.criterion))
        for name, values in self.grid.items():
            if isinstance(values, str) or not np.iterable(values) or not len(values):
                raise ValueError(
                    f"{self.name}: {name} = {values!r} should be a list of the values to try"
                )

    @property
    def family(self) -> str:
        return self.name.partition(":")[0]

    @property
    def origin(self) -> str:
        """Who wrote the objective or ranker: lambdaplus, LightGBM, XGBoost, or yours."""
        frameworks = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
        if isinstance(self.target, str) and self.family in frameworks:
            return frameworks[self.family]
        target = self.target if isinstance(self.target, type) else type(self.target)
        module = self.target if isinstance(self.target, str) else target.__module__
        return "lambdaplus" if module.startswith("lambdaplus.") else "yours"

    @property
    def ranks_rows(self) -> bool:
        """Whether the method can rank all rows of a table that has no queries."""
        if self.origin == "yours":
            return True
        if isinstance(self.target, str) and self.family in ("lightgbm", "xgboost"):
            return not ranks_queries(self.target) and "labels" not in self.fixed
        optimised = getattr(self.target, "metric", None)
        return optimised is not None and all(
            metric.weighs_rows for metric, _ in parts_of(optimised)
        )

    @property
    def points(self) -> list[dict[str, Any]]:
        """The parameters tried: the product of the grid."""
        return [
            dict(zip(self.grid, values, strict=True))
            for values in itertools.product(*self.grid.values())
        ]

    @property
    def searched(self) -> dict[str, Draw]:
        """The distributions of a random search, with values of the grid in place of ranges."""
        return {**self.space, **self.grid}

    def is_searched(self, config: Config) -> bool:
        """Whether the parameters are drawn at random."""
        return config.trials > 0 and bool(self.space)
