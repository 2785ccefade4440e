"""Train every method on every fold and evaluate it on the fold's test queries."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lambdaplus.comparison.methods import Method, Settings
from lambdaplus.datasets import Fold
from lambdaplus.evaluation import Evaluation, evaluate
from lambdaplus.metrics import RankingMetric


@dataclass(frozen=True, eq=False)
class Result:
    """One method on one fold: test values, or what went wrong."""

    method: Method
    fold: Fold
    seconds: float
    rounds: int = 0
    evaluation: Evaluation | None = None
    error: str = ""


@dataclass(eq=False)
class Study:
    """A comparison, finished or on its way.

    Attributes
    ----------
    folds, methods, metrics, settings
        What is compared, on what, by what.
    results : list of Result
        What is finished, in the order it was.
    """

    folds: list[Fold]
    methods: list[Method]
    metrics: list[RankingMetric]
    settings: Settings = field(default_factory=Settings)
    results: list[Result] = field(default_factory=list)

    def __len__(self) -> int:
        """Number of fits."""
        return len(self.folds) * len(self.methods)

    def run(self) -> Iterator[Result]:
        """Fit and evaluate, fold by fold; a method that fails is reported and the rest goes on.

        Stop iterating whenever you like: what was finished is in `results`.
        """
        for fold in self.folds:
            for method in self.methods:
                result = self._one(method, fold)
                self.results.append(result)
                yield result

    def _one(self, method: Method, fold: Fold) -> Result:
        start = time.perf_counter()
        try:
            fitted = method.fit(fold.train, fold.valid, self.settings)
            seconds = time.perf_counter() - start
            found = evaluate(
                fold.test.labels,
                fitted.predict(fold.test.features),
                group=fold.test.group,
                metrics=self.metrics,
            )
        except Exception as error:  # whatever a framework raises: it ends this fit, not the study
            message = f"{type(error).__name__}: {error}".splitlines()[0]
            return Result(method, fold, time.perf_counter() - start, error=message)
        return Result(method, fold, seconds, fitted.rounds, found)

    def fold_means(self, method: Method, metric: RankingMetric) -> dict[str, float]:
        """Test mean on each fold that the method finished."""
        return {
            result.fold.name: result.evaluation[metric]
            for result in self.results
            if result.method == method and result.evaluation is not None
        }

    def mean(self, method: Method, metric: RankingMetric) -> float:
        """Mean of the fold means; NaN unless the method finished every fold."""
        means = list(self.fold_means(method, metric).values())
        return float(np.mean(means)) if len(means) == len(self.folds) else float("nan")

    def seconds(self, method: Method) -> float:
        """Training time over all folds."""
        return sum(result.seconds for result in self.results if result.method == method)

    def errors(self) -> dict[str, str]:
        """First error of each method that failed."""
        failed = [result for result in self.results if result.error]
        return {result.method.name: result.error for result in reversed(failed)}
