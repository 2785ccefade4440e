"""Evaluation of a training on validation data, which ends it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.data import RankingData
from lambdaplus.metrics.means import mean_values
from lambdaplus.metrics.progress import Progress
from lambdaplus.study.methods import Criterion


def values_of(
    metrics: Sequence[Criterion], data: RankingData, scores: ArrayLike
) -> dict[Criterion, float]:
    """Means of metrics, or of sums of metrics, over queries; NaN if no query has a value."""
    means = mean_values(metrics, data.queries, scores)
    return {metric: means[str(metric)] for metric in metrics}


class Validation:
    """Evaluates a training every few rounds, and ends it when no metric improves any more.

    A metric whose patience has run out is not evaluated again while others keep the training alive,
    so that its best round is the same alone and beside other metrics.
    """

    def __init__(
        self,
        data: RankingData,
        metrics: Sequence[Criterion],
        patience: int | None,
        every: int | None = 1,
    ) -> None:
        self.data = data
        self.every = every or 1
        self.progress = {metric: Progress(patience) for metric in metrics}
        self._round = 0

    def see(self, scores: ArrayLike) -> bool:
        """Evaluate validation scores after one more round; return whether training may stop."""
        self._round += 1
        if self._round % self.every:
            return False
        alive = [metric for metric, one in self.progress.items() if not one.over]
        values = values_of(alive, self.data, scores)
        if self._round == self.every and np.isnan(list(values.values())).all():
            raise ValueError(
                f"no validation query has a value of {', '.join(map(str, values))}, since none "
                "has both relevant and other documents, or labels that differ"
            )
        for metric, value in values.items():
            self.progress[metric].add(self._round, value)
        return all(one.over for one in self.progress.values())

    def best_round(self, metric: Criterion) -> int:
        """The first round with the best value of a metric; the last round if it has no value."""
        return self.progress[metric].best_round or self.progress[metric].rounds[-1]
