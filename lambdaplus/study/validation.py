"""Validation values of one training by round, and early stopping.

Examples
--------
>>> from lambdaplus.study.validation import Validation
>>> from lambdaplus.data import RankingData
>>> data = RankingData([[0.0], [1.0]], labels=[0, 1], qid=[1, 1])
>>> validation = Validation(data, ["mrr"], patience=2)
>>> for scores in ([1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]):
...     validation.see(scores)
>>> validation.curves["mrr"], validation.best_round("mrr"), validation.over
([0.5, 1.0, 1.0, 1.0], 2, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.data import RankingData
from lambdaplus.data.queries import Floats
from lambdaplus.evaluation import eval_metric, evaluate
from lambdaplus.metrics.weighted_sum import parts_of, value_of


class Validation:
    """Evaluates a training on its validation queries.

    Parameters
    ----------
    data : RankingData
    metrics : sequence of str
        Metrics, or sums of metrics, which are all evaluated.
    patience : int
        Number of rounds without improvement of any metric after which the training stops.
    every : int, default=1
        Number of rounds between evaluations.
    hopeless : callable, optional
        Called with the round and the best value of each metric so far, (n_metrics,) float64; the
        training stops if it returns True.

    Attributes
    ----------
    curves : dict of str to list of float
        Values of each metric for each round in ``looks``; NaN if it has no value.
    looks : list of int
        Rounds that were evaluated, counted from 1.
    pruned : bool
        Whether the training was stopped by ``hopeless``.
    """

    def __init__(
        self,
        data: RankingData,
        metrics: Sequence[str],
        patience: int,
        every: int = 1,
        hopeless: Callable[[int, Floats], bool] | None = None,
    ) -> None:
        self.data = data
        self._group = data.group
        [*parsed] = eval_metric(*metrics).metrics
        self._metrics = dict(zip(metrics, parsed, strict=True))
        self._parts = list(dict.fromkeys(part for m in parsed for part, _ in parts_of(m)))
        self._patience = patience
        self._every = every
        self._hopeless = hopeless
        self._round = self._last_gain = 0
        self._best = np.full(len(metrics), -math.inf)
        self.curves: dict[str, list[float]] = {name: [] for name in metrics}
        self.looks: list[int] = []
        self.pruned = False

    def see(self, scores: ArrayLike) -> None:
        """Evaluate the scores of the validation documents after one more round, (n,) float64.

        Raises
        ------
        ValueError
            If no metric has a value on any of the queries.
        """
        self._round += 1
        if self._round % self._every:
            return
        values = self.values(scores)
        if np.isnan(values).all():
            raise ValueError(
                f"no validation query has a value of {', '.join(self.curves)}, since none has both "
                "relevant and other documents"
            )
        self.looks.append(self._round)
        for curve, value in zip(self.curves.values(), values.tolist(), strict=True):
            curve.append(value)
        if (values > self._best).any():
            self._last_gain = self._round
            self._best = np.fmax(values, self._best)
        if self._hopeless is not None and not self.pruned:
            self.pruned = self._hopeless(self._round, self._best)

    def values(self, scores: ArrayLike) -> Floats:
        """Value of each metric for scores of the validation documents, (n_metrics,) float64."""
        found: Any = evaluate(self.data.labels, scores, group=self._group, metrics=self._parts).mean
        return np.array([value_of(metric, found) for metric in self._metrics.values()])

    @property
    def latest(self) -> float:
        """The value of the first metric at the last evaluation; NaN before the first."""
        return next(iter(self.curves.values()), [])[-1] if self.looks else math.nan

    @property
    def over(self) -> bool:
        """Whether the training may stop."""
        return self.pruned or self._round - self._last_gain >= self._patience

    def best_round(self, metric: str) -> int:
        """The first round with the best value of a metric; the last round if it has no value."""
        values = np.array(self.curves[metric])
        return self.looks[-1 if np.isnan(values).all() else int(np.nanargmax(values))]
