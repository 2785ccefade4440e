"""A task, which is one training of a study, and what its trainer returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from lambdaplus.study.config import Config
from lambdaplus.study.methods import Criterion, Method, Parameters

Group = tuple[str, str, int]
"""A method, a fold and a seed, among whose trials validation data selects."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained ranker.

    Attributes
    ----------
    predict : callable
        Scores of the documents of a `~lambdaplus.data.RankingData`, (n,) float64.
    rounds : int
        Number of boosting rounds or passes of the final model; 0 if not applicable.
    curve : sequence of float
        Validation metric after every ``every`` rounds, if it was evaluated during training.
    every : int
        Number of rounds between the values of ``curve``.

    Examples
    --------
    >>> from lambdaplus.study import Fitted
    >>> Fitted(predict=lambda data: data.features[:, 0], rounds=10).rounds
    10
    """

    predict: Callable[[RankingData], Floats]
    rounds: int = 0
    curve: Sequence[float] | Floats = ()
    every: int = 1


@dataclass(frozen=True, eq=False)
class Task:
    """One training of a study: a method with one set of parameters on one fold.

    Attributes
    ----------
    method : Method
    parameters : dict
        The fixed ones of the method, and the set to try.
    train, valid : RankingData
    config : Config
        Its rounds, patience and parameters of trees are used.
    seed : int
    metrics : tuple of RankingMetric or WeightedSum
        Those whose validation values choose the number of rounds.
    fold : str
        Name of the fold.
    trial : int
        The number of the parameters among those tried on this fold with this seed.
    key : str
        Name of the stored fit.
    threads : int

    Examples
    --------
    >>> from lambdaplus.study import Config, study_of
    >>> [task] = study_of(Config(methods=("feature:best",), folds="1")).run()
    >>> task.method.name, task.fold, task.seed
    ('feature:best', 'Fold1', 0)
    """

    method: Method
    parameters: Parameters
    train: RankingData
    valid: RankingData
    config: Config
    seed: int
    metrics: tuple[Criterion, ...]
    fold: str = ""
    trial: int = 0
    key: str = ""
    threads: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", {**self.method.fixed, **self.parameters})

    @property
    def group(self) -> Group:
        return self.method.name, self.fold, self.seed


Trainer = Callable[[Task], Fitted | Mapping[Criterion, Fitted]]
"""A function that fits one set of parameters: one ranker, or one for each metric of the task."""
