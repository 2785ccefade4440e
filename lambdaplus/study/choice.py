"""Selection of parameters on the validation data of a fold, and evaluation on its test data.

One metric selects the model that all metrics are evaluated on; in a search, each metric is
evaluated on the model that it selected, unless one metric selects for all.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lambdaplus.data import Fold, RankingData
from lambdaplus.data.queries import Floats
from lambdaplus.evaluation import Convention, Evaluation, evaluate
from lambdaplus.metrics import RankingMetric
from lambdaplus.study.methods import Criterion, Fitted, Method, Task
from lambdaplus.study.store import Fit
from lambdaplus.study.validation import values_of

_KINDS = ("per_query", "mean", "undefined", "conventions")


@dataclass(frozen=True, eq=False)
class Choice:
    """The parameters selected on validation data for a method on a fold with a seed."""

    tasks: Sequence[Task]
    fits: Sequence[Fit]
    fold: Fold
    values: Mapping[Criterion, Floats]  # of each fit on validation data, by selecting metric
    selects: Mapping[RankingMetric, Criterion]  # the selecting metric of each evaluated metric
    convention: Convention

    @property
    def method(self) -> Method:
        return self.tasks[0].method

    @property
    def seed(self) -> int:
        return self.tasks[0].seed

    @property
    def by(self) -> Criterion:
        """The metric whose selection represents the method: its criterion if it selects."""
        return main_of(self.method, self.values)

    def place(self, by: Criterion) -> int:
        """The number of the best fit, the first among equals; 0 if none has a value."""
        values = self.values[by]
        return 0 if np.isnan(values).all() else int(np.nanargmax(values))

    def model(self, by: Criterion) -> Fitted:
        """The ranker selected by a metric."""
        fit = self.fits[self.place(by)]
        return fit.models[_name(fit, by)]

    def test_scores(self, by: Criterion) -> Floats:
        """Scores of the test documents by the ranker that a metric selected."""
        fit = self.fits[self.place(by)]
        return fit.scores[_name(fit, by)][1]

    @cached_property
    def evaluation(self) -> Evaluation:
        """Evaluation of each metric on the test queries of the fold, by the study's convention."""
        test = self.fold.test
        metrics_of: dict[int, list[RankingMetric]] = {}
        for metric, by in self.selects.items():
            metrics_of.setdefault(id(self.model(by)), []).append(metric)
        merged: dict[str, Any] = {kind: dict.fromkeys(map(str, self.selects)) for kind in _KINDS}
        for metrics in metrics_of.values():
            theirs = {metric: self.convention.metric(metric) for metric in metrics}
            scores = self.test_scores(self.selects[metrics[0]])
            of_model = evaluate(
                test.labels, scores, qid=test.qid, metrics={*theirs.values()},
                convention=self.convention,
            )  # fmt: skip
            for metric, its in theirs.items():
                for kind in _KINDS:
                    merged[kind][str(metric)] = getattr(of_model, kind)[str(its)]
        return replace(of_model, **merged, metrics={})

    def fit_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of ``Results.fits``."""
        for by, values in self.values.items():
            for task, fit, value in zip(self.tasks, self.fits, values.tolist(), strict=True):
                yield {
                    "method": task.method.name,
                    "fold": task.fold,
                    "seed": task.seed,
                    "trial": task.trial,
                    "metric": str(by),
                    "validation": value,
                    "round": fit.models[_name(fit, by)].rounds,
                    "seconds": fit.seconds,
                    "chosen": task.trial == self.place(by),
                    "parameters": json.dumps(task.parameters, default=str),
                    "warnings": "\n".join(fit.warnings),
                }

    def curves(self) -> dict[Criterion, Fitted]:
        """The models selected by each metric that chose rounds, or by `by` alone."""
        if str(self.by) in self.fits[0].models:
            return {by: self.model(by) for by in self.values if str(by) in self.fits[0].models}
        return {self.method.criterion: self.model(self.by)}


def choose(
    tasks: Sequence[Task],
    fits: Sequence[Fit],
    fold: Fold,
    selects: Mapping[RankingMetric, Criterion],
    convention: Convention,
) -> Choice:
    """Evaluate all fits on validation data."""
    values = {
        by: np.array([_value(fit, by, fold.valid) for fit in fits])
        for by in dict.fromkeys(selects.values())
    }
    return Choice(tasks, fits, fold, values, selects, convention)


def main_of(method: Method, metrics: Collection[Criterion]) -> Criterion:
    """The criterion of the method if it is among the metrics, otherwise the first of them."""
    criterion: Criterion = method.criterion
    return criterion if criterion in metrics else next(iter(metrics))


def _name(fit: Fit, by: Criterion) -> str:
    """The name in a fit of the ranker whose rounds a metric chose, or else of its first."""
    return str(by) if str(by) in fit.models else next(iter(fit.models))


def _value(fit: Fit, by: Criterion, valid: RankingData) -> float:
    if str(by) in fit.models:
        return fit.best(str(by))
    return values_of([by], valid, fit.scores[_name(fit, by)][0])[by]
