"""Selection of parameters on the validation data of a fold, and evaluation on its test data.

One metric selects the model that all metrics are evaluated on; in a search, each metric is
evaluated on the model that it selected, unless one metric selects for all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lambdaplus.data import Fold, RankingData
from lambdaplus.data.queries import Floats
from lambdaplus.evaluation import Convention, Evaluation, evaluate
from lambdaplus.study.methods import Method
from lambdaplus.study.store import Fit, Model
from lambdaplus.study.tasks import Task
from lambdaplus.study.validation import values_of

_KINDS = ("per_query", "mean", "undefined", "conventions")


@dataclass(frozen=True, eq=False)
class Choice:
    """The parameters selected on validation data for a method on a fold with a seed."""

    tasks: Sequence[Task]
    fits: Sequence[Fit]
    fold: Fold
    values: Mapping[str, Floats]  # of each fit on validation data, by selecting metric
    selects: Mapping[str, str]  # the selecting metric of each evaluated metric
    convention: Convention

    @property
    def method(self) -> Method:
        return self.tasks[0].method

    @property
    def seed(self) -> int:
        return self.tasks[0].seed

    @property
    def by(self) -> str:
        """The metric whose selection represents the method: its criterion if it selects."""
        return main_of(self.method, self.values)

    @property
    def model(self) -> Model:
        """The model selected by `by`."""
        return self.model_of(self.by)

    def place(self, by: str) -> int:
        """The number of the best fit, the first among equals; 0 if none has a value."""
        values = self.values[by]
        return 0 if np.isnan(values).all() else int(np.nanargmax(values))

    def model_of(self, by: str) -> Model:
        """The model selected by a metric."""
        return _model(self.fits[self.place(by)], by)

    @cached_property
    def evaluation(self) -> Evaluation:
        """Evaluation of each metric on the test queries of the fold, by the study's convention."""
        test = self.fold.test
        metrics_of: dict[int, list[str]] = {}
        for metric, by in self.selects.items():
            metrics_of.setdefault(id(self.model_of(by)), []).append(metric)
        merged: dict[str, Any] = {kind: dict.fromkeys(self.selects) for kind in _KINDS}
        for metrics in metrics_of.values():
            names = [str(self.convention.metric(metric)) for metric in metrics]
            scores = self.model_of(self.selects[metrics[0]]).test_scores
            found = evaluate(
                test.labels, scores, qid=test.qid, metrics=[*{*names}], convention=self.convention
            )
            for metric, name in zip(metrics, names, strict=True):
                for kind in _KINDS:
                    merged[kind][metric] = getattr(found, kind)[name]
        return replace(found, **merged, metrics={})

    def fit_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of ``Results.fits``."""
        for by, values in self.values.items():
            for task, fit, value in zip(self.tasks, self.fits, values.tolist(), strict=True):
                yield {
                    "method": task.method.name,
                    "fold": task.fold,
                    "seed": task.seed,
                    "trial": task.trial,
                    "metric": by,
                    "validation": value,
                    "round": _model(fit, by).rounds,
                    "seconds": fit.seconds,
                    "chosen": task.trial == self.place(by),
                    "parameters": json.dumps(task.parameters, default=str),
                    "warnings": "\n".join(fit.warnings),
                }

    def curves(self) -> dict[str, Model]:
        """The models selected by each metric that chose rounds, or by `by` alone."""
        if self.by in self.fits[0].models:
            return {by: self.model_of(by) for by in self.values if by in self.fits[0].models}
        return {self.method.criterion: self.model}


def choose(
    tasks: Sequence[Task],
    fits: Sequence[Fit],
    fold: Fold,
    selects: Mapping[str, str],
    convention: Convention,
) -> Choice:
    """Evaluate all fits on validation data."""
    values = {
        by: np.array([_value(fit, by, fold.valid) for fit in fits])
        for by in dict.fromkeys(selects.values())
    }
    return Choice(tasks, fits, fold, values, selects, convention)


def main_of(method: Method, names: Iterable[str]) -> str:
    """The criterion of the method if it is among the names, otherwise the first name."""
    return method.criterion if method.criterion in names else next(iter(names))


def _model(fit: Fit, by: str) -> Model:
    return fit.models[by] if by in fit.models else next(iter(fit.models.values()))


def _value(fit: Fit, by: str, valid: RankingData) -> float:
    if by in fit.models:
        return fit.best(by)
    return values_of([by], valid, _model(fit, by).valid_scores)[by]
