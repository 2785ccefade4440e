"""Validation values of one training by round, and early stopping."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.data import RankingData
from lambdaplus.evaluation.progress import Progress
from lambdaplus.evaluation.scoring import mean_values
from lambdaplus.metrics.weighted_sum import parts_of, value_of
from lambdaplus.study.methods import Criterion


def values_of(
    metrics: Sequence[Criterion], data: RankingData, scores: ArrayLike
) -> dict[Criterion, float]:
    """Means of metrics, or of sums of metrics, over queries; NaN if no query has a value."""
    parts = dict.fromkeys(part for metric in metrics for part, _ in parts_of(metric))
    means = mean_values(list(parts), data.queries, scores)
    return {metric: value_of(metric, means) for metric in metrics}


class Validation:
    """Evaluates a training every few rounds, and ends it when no metric improves any more."""

    def __init__(
        self, data: RankingData, metrics: Sequence[Criterion], patience: int, every: int = 1
    ) -> None:
        self.data = data
        self.every = every
        self.progress = {metric: Progress(patience) for metric in metrics}
        self._round = 0

    def see(self, scores: ArrayLike) -> None:
        """Evaluate the scores of the validation documents after one more round."""
        self._round += 1
        if self._round % self.every:
            return
        values = values_of(list(self.progress), self.data, scores)
        if np.isnan(list(values.values())).all():
            raise ValueError(
                f"no validation query has a value of {', '.join(map(str, values))}, since none "
                "has both relevant and other documents"
            )
        for metric, value in values.items():
            self.progress[metric].add(self._round, value)

    @property
    def over(self) -> bool:
        """Whether the training may stop."""
        return all(one.over for one in self.progress.values())

    def best_round(self, metric: Criterion) -> int:
        """The first round with the best value of a metric; the last round if it has no value."""
        return self.progress[metric].best_round or self.progress[metric].rounds[-1]
