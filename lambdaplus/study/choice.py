"""Selection of parameters on the validation data of a fold, and evaluation on its test data.

One metric selects the model that all metrics are evaluated on; in a search, each metric is
evaluated on the model that it selected, unless one metric selects for all.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import Fold
from lambdaplus.evaluation import Convention, Evaluation, evaluate
from lambdaplus.metrics import RankingMetric
from lambdaplus.study.methods import Criterion, Method, Task
from lambdaplus.study.store import Fit, Fits
from lambdaplus.study.validation import values_of

_KINDS = ("per_query", "mean", "undefined", "conventions", "rows")


@dataclass(frozen=True, eq=False)
class Choice:
    """The parameters selected on validation data for a method on a fold with a seed."""

    tasks: Sequence[Task]
    fits: Sequence[Fits]  # of each task
    fold: Fold
    selects: Mapping[RankingMetric, Criterion]  # the selecting metric of each evaluated metric
    convention: Convention

    @property
    def method(self) -> Method:
        return self.tasks[0].method

    @property
    def seed(self) -> int:
        return self.tasks[0].seed

    @cached_property
    def values(self) -> dict[Criterion, Floats]:
        """Values of all fits on validation data, by selecting metric."""

        def value(fits: Fits, by: Criterion) -> float:
            if str(by) in fits:
                return fits[str(by)].best
            return values_of([by], self.fold.valid, _fit_by(fits, by).validation)[by]

        return {by: np.array([value(fits, by) for fits in self.fits])
                for by in dict.fromkeys(self.selects.values())}  # fmt: skip

    @property
    def by(self) -> Criterion:
        """The metric whose selection represents the method: its criterion if it selects."""
        own: Criterion = self.method.criterion
        return own if own in self.values else next(iter(self.values))

    def place(self, by: Criterion) -> int:
        """The number of the best fit, the first among equals; 0 if none has a value."""
        values = self.values[by]
        return 0 if np.isnan(values).all() else int(np.nanargmax(values))

    def chosen(self, by: Criterion) -> Fit:
        """The fit selected by a metric."""
        return _fit_by(self.fits[self.place(by)], by)

    @cached_property
    def evaluation(self) -> Evaluation:
        """Evaluation of each metric on the test queries of the fold, by the study's convention."""
        test = self.fold.test
        # Metrics that selected the same fit share a ranking of the documents.
        metrics_of: dict[Fit, list[RankingMetric]] = {}
        for metric, by in self.selects.items():
            metrics_of.setdefault(self.chosen(by), []).append(metric)
        merged: dict[str, Any] = {kind: dict.fromkeys(map(str, self.selects)) for kind in _KINDS}
        # Test queries count equally, whatever the weights of their rows.
        lists: dict[str, Any] = {"qid": test.qid} if test.grouped else {"weight": test.weights}
        for fit, metrics in metrics_of.items():
            by_rules = {metric: self.convention.metric(metric) for metric in metrics}
            found = evaluate(
                test.labels, fit.test, metrics={*by_rules.values()}, convention=self.convention,
                **lists,
            )  # fmt: skip
            for metric, evaluated in by_rules.items():
                for kind in _KINDS:
                    merged[kind][str(metric)] = getattr(found, kind).get(str(evaluated), ())
        return replace(found, **merged, metrics={})

    @cached_property
    def validation(self) -> dict[RankingMetric, float]:
        """Validation value of each evaluated metric, of the model that it is evaluated on."""
        return {
            metric: values_of([metric], self.fold.valid, self.chosen(by).validation)[metric]
            for metric, by in self.selects.items()
        }

    def fit_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of ``Results.fits``."""
        for by, values in self.values.items():
            for task, fits, value in zip(self.tasks, self.fits, values.tolist(), strict=True):
                fit = _fit_by(fits, by)
                yield {
                    "method": task.method.name,
                    "fold": task.fold,
                    "seed": task.seed,
                    "trial": task.trial,
                    "metric": str(by),
                    "validation": value,
                    "round": fit.rounds,
                    "seconds": fit.seconds,
                    "chosen": task.trial == self.place(by),
                    "parameters": json.dumps(task.parameters, default=str),
                    "warnings": "\n".join(fit.warnings),
                }

    def curves(self) -> dict[Criterion, Fit]:
        """The fits selected by each metric that chose rounds, or by `by` alone."""
        chose_rounds = [by for by in self.values if str(by) in self.fits[0]]
        return {by: self.chosen(by) for by in chose_rounds} or {
            self.method.criterion: self.chosen(self.by)
        }


def _fit_by(fits: Fits, by: Criterion) -> Fit:
    """The fit whose rounds a metric chose, or else the first."""
    return fits.get(str(by)) or next(iter(fits.values()))
