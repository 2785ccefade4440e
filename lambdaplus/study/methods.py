"""The methods of a comparison: rankers with grids of parameters.

A `Method` consists of a name, a criterion, the parameters that are tried, and the trainer that fits
it.  Trainers are defined in `boosting` and `estimators`; `registry` lists the methods.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from lambdaplus.data import RankingData
from lambdaplus.data.queries import Floats
from lambdaplus.study.search_space import Draw, OneOf

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Settings:
    """Settings for all methods of a study.

    Attributes
    ----------
    rounds, patience : int
        Maximum number of boosting rounds, and the number of rounds without an improvement on
        validation data after which training stops.
    leaves, learning_rate, documents_in_leaf
        Parameters of trees.  XGBoost does not have a minimum number of documents in a leaf; its
        ``min_child_weight`` is 1.
    threads : int
        Number of threads of each fit.
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
            f"{self.documents_in_leaf} documents per leaf (XGBoost: min_child_weight 1), at most "
            f"{self.rounds} rounds, stopped after {self.patience} without improvement on "
            "validation data"
        )


@dataclass(frozen=True)
class Fitted:
    """A trained ranker.

    Attributes
    ----------
    predict : callable
        Scores of the documents of a `~lambdaplus.data.RankingData`, (n,) float64.
    rounds : int
        Number of boosting rounds or passes of the final model; 0 if not applicable.
    curve : tuple of float
        Validation metric by round, if it was evaluated during training.
    """

    predict: Callable[[RankingData], Floats]
    rounds: int = 0
    curve: tuple[float, ...] = ()


class Trainer(Protocol):
    """A function that fits one set of parameters."""

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
        For example ``svm:map``; the part before the colon is the family.
    trainer : Trainer
    target : object
        The target of the trainer: an objective, or the class of the estimator as ``module:Class``.
    criterion : str
        Metric that the method optimises.  It is also used for early stopping and selection unless
        the study sets another one.
    fixed : dict
        Parameters that are not tried.
    grid : dict of str to sequence
        Values to try for each parameter, in all combinations.
    random : bool
        Whether the method depends on the seed.
    space : dict of str to Draw
        Distribution of each parameter in a random search; empty for methods without a search.
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
        """The distributions of a random search, with values of the grid in place of ranges."""
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
            If a package that it needs is not installed.
        """
        return self.trainer(self, {**self.fixed, **parameters}, train, valid, settings, seed)
