"""What a training is given and gives back, in no framework's words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from lambdaplus.queries import Floats, Ints, Queries

Curves = dict[str, dict[str, list[float]]]
"""Values by evaluation set, metric and round."""

Span = tuple[int, int] | None
"""Rounds from the first to before the second, counted from 0; None for all."""

BINARY = {"rank:map", "YetiRank:mode=MAP", "YetiRank:mode=MRR"}
"""Native objectives that take labels 0 and 1 only."""


def training_labels(objective: Any, labels: Floats) -> Floats:
    """The labels that an objective is trained on, (n,) float64.

    For a native objective that takes 0 and 1 only, 1 is what MAP and MRR call relevant: a label of
    at least 1.
    """
    binary = isinstance(objective, str) and objective in BINARY
    return (labels >= 1).astype(np.float64) if binary else labels


class Documents(NamedTuple):
    """Features and what is known of the queries, the rows of each query adjacent.

    Attributes
    ----------
    X : (n, d) float array, CSR matrix, or pandas frame if it has categorical columns
    queries : Queries
    """

    X: Any
    queries: Queries

    @property
    def group(self) -> Ints | None:
        """Sizes of the queries; None without queries."""
        return self.queries.sizes if self.queries.grouped else None

    def rows(self, rows: Ints) -> Documents:
        """Some rows, of documents without queries."""
        queries = self.queries
        weights = None if queries.weights is None else queries.weights[rows]
        return Documents(
            _safe_indexing(self.X, rows), Queries(queries.labels[rows], weight=weights)
        )


@dataclass(frozen=True)
class Training:
    """What is to be trained.

    Attributes
    ----------
    objective : str or callable
        The name of a native objective, or one that is called.
    params : dict
        The framework's other parameters; None leaves its default.
    rounds : int
        Boosting rounds, at most.
    metric : callable, optional
        Called with scores and the framework's data of each evaluation set after each round;
        returns what the framework asks of a custom metric, as an
        `~lambdaplus.evaluation.EvalMetric` does.
    over : callable, optional
        Called with the booster and the curves after each round; True ends the training.
    seed : int, optional
    threads : int
        0 for all cores.
    feature_names : list of str, optional
        The framework's own names without it.
    categorical : sequence of int
        Columns of an array that hold categories; those of a frame have their dtype.
    callbacks : sequence
        The framework's.
    init_model : optional
        A model of the same framework to continue from.
    """

    objective: str | Callable[..., Any]
    params: Mapping[str, Any]
    rounds: int
    metric: Callable[..., Any] | None = None
    over: Callable[[Any, Curves], bool] | None = None
    seed: int | None = None
    threads: int = 0
    feature_names: list[str] | None = None
    categorical: Sequence[int] = ()
    callbacks: Sequence[Any] = ()
    init_model: Any = None

    def ends(self, booster: Any, curves: Curves) -> bool:
        """Whether the training is over after a round."""
        return self.over is not None and self.over(booster, curves)


class Model(NamedTuple):
    """A trained model.

    Attributes
    ----------
    booster
        The framework's, with all rounds.
    curves : dict
        Values of ``metric`` by evaluation set and round.
    lengths : sequence of int
        Rounds in the booster after each round of this training.  Those of ``init_model`` count;
        rounds in which LightGBM found no split do not, since it keeps no tree of them.
    chosen : int, optional
        Rounds that an early-stopping callback of the framework chose.
    """

    booster: Any
    curves: Curves
    lengths: Sequence[int]
    chosen: int | None = None


class Framework(ABC):
    """LightGBM, XGBoost or CatBoost; holds nothing and imports the framework when it is used.

    Attributes
    ----------
    ranking : dict of str to str
        Native objectives of rankings, and the metric of each.
    """

    ranking: ClassVar[Mapping[str, str]]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @abstractmethod
    def train(
        self, training: Training, train: Documents, held_out: Mapping[str, Documents]
    ) -> Model:
        """Train.

        Parameters
        ----------
        training : Training
        train : Documents
        held_out : dict of str to Documents
            Evaluation sets.

        Raises
        ------
        ImportError
            If the framework is not installed.
        """

    @abstractmethod
    def scores(self, booster: Any, X: Any, rounds: Span = None, threads: int = 0) -> Floats:
        """Raw scores by all rounds of a booster, or from one to before another, (n,) float64."""
