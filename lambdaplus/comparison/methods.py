"""What a comparison trains: a ranker with a grid of parameters.

A `Method` is data: how it is called, what it optimises, which parameters are tried, and which
trainer fits it.  Trainers live in `boosting` and `estimators`; `registry` lists the methods.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from lambdaplus.comparison.search_space import Draw, OneOf
from lambdaplus.datasets import RankingData
from lambdaplus.queries import Floats

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Settings:
    """What holds for every method of a study.

    Attributes
    ----------
    rounds, patience : int
        Most boosting rounds, and how many without gain on validation data end the training.
    leaves, learning_rate, documents_in_leaf
        Of trees.  XGBoost has no least number of documents in a leaf; its ``min_child_weight``
        stays at 1.
    threads : int
        Of each fit.
    """

    rounds: int = 200
    patience: int = 30
    leaves: int = 15
    learning_rate: float = 0.1
    documents_in_leaf: int = 20
    threads: int = 1

    def __str__(self) -> str:
        return (
            f"Trees: {self.leaves} leaves, learning rate {self.learning_rate:g}, at least "
            f"{self.documents_in_leaf} documents a leaf (XGBoost: min_child_weight 1), at most "
            f"{self.rounds} rounds, stopped after {self.patience} without gain on validation data"
        )


@dataclass(frozen=True)
class Fitted:
    """A trained ranker.

    Attributes
    ----------
    predict : callable
        Scores of the documents of a `~lambdaplus.datasets.RankingData`, (n,) float64.
    rounds : int
        Boosting rounds or passes that it kept; 0 where that means nothing.
    curve : tuple of float
        Validation metric by round, where training followed it.
    """

    predict: Callable[[RankingData], Floats]
    rounds: int = 0
    curve: tuple[float, ...] = ()


class Trainer(Protocol):
    """Fits one set of parameters."""

    def __call__(
        self,
        method: Method,
        parameters: Parameters,
        train: RankingData,
        valid: RankingData,
        settings: Settings,
        seed: int,
    ) -> Fitted: ...


@dataclass(frozen=True)
class Method:
    """A ranker with the parameters that are tried.

    Attributes
    ----------
    name : str
        Such as ``svm:map``; the part before the colon is its family.
    trainer : Trainer
    target : object
        What the trainer makes of it: an objective, or the estimator's class as ``module:Class``.
    criterion : str
        Metric that it optimises, on which it also stops and is selected, unless the study says
        otherwise.
    fixed : dict
        Parameters that are not tried.
    grid : dict of str to sequence
        Values tried of each parameter, in all combinations.
    random : bool
        Whether seeds matter.
    space : dict of str to Draw
        Where a random search draws each parameter from; none for methods that are not searched.
    """

    name: str
    trainer: Trainer
    target: Any
    criterion: str
    fixed: Parameters = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    random: bool = True
    space: Mapping[str, Draw] = field(default_factory=dict)

    @property
    def family(self) -> str:
        return self.name.partition(":")[0]

    @property
    def points(self) -> list[dict[str, Any]]:
        """The parameters tried: the product of the grid."""
        return [
            dict(zip(self.grid, values, strict=True))
            for values in itertools.product(*self.grid.values())
        ]

    @property
    def searched(self) -> dict[str, Draw]:
        """What a random search draws from: the space, with the grid's values in its place."""
        return {**self.space, **{name: OneOf(tuple(v)) for name, v in self.grid.items()}}

    def fit(
        self,
        parameters: Parameters,
        train: RankingData,
        valid: RankingData,
        settings: Settings,
        seed: int,
    ) -> Fitted:
        """Train with one set of parameters.

        Raises
        ------
        ImportError
            If what it trains with is not installed.
        """
        return self.trainer(self, {**self.fixed, **parameters}, train, valid, settings, seed)
