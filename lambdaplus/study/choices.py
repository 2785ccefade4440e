"""What validation data selects among kept fits, its values on test data, and tables of these."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import Fold
from lambdaplus.evaluation import Convention, evaluate
from lambdaplus.evaluation.significance import RankedRows
from lambdaplus.metrics import RankingMetric
from lambdaplus.study.fits import Fit
from lambdaplus.study.methods import Criterion, Task
from lambdaplus.study.plan import Group, group_of
from lambdaplus.study.trainers import parameters_of
from lambdaplus.study.validation import values_of

KEY = {"method": pl.String, "fold": pl.String, "seed": pl.Int64}
SCHEMAS: dict[str, dict[str, Any]] = {
    "values": {**KEY, "metric": pl.String, "query": pl.String, "value": pl.Float64},
    "fits": {
        **KEY, "trial": pl.Int64, "metric": pl.String, "validation": pl.Float64,
        "round": pl.Int64, "seconds": pl.Float64, "chosen": pl.Boolean,
        "parameters": pl.String, "warnings": pl.String,
    },
    "curves": {**KEY, "metric": pl.String, "round": pl.Int64, "value": pl.Float64},
    "validation": {**KEY, "metric": pl.String, "value": pl.Float64},
}  # fmt: skip
"""The columns of the tables of `Results`."""
ALL_QUERIES = "all"
"""The query of a metric that has one value for the whole data set."""


class Tested(NamedTuple):
    """Values of a metric by test query, the rules that gave them, and the rows of a table."""

    values: Floats
    rules: str
    rows: RankedRows | None


@dataclass(frozen=True, eq=False)
class Choice:
    """The parameters selected on validation data for a method on a fold with a seed.

    Each metric is evaluated on the model that it selected, unless one metric selects for all.
    """

    tasks: Sequence[Task]
    fits: Sequence[Mapping[str, Fit]]  # of each task
    fold: Fold
    selects: Mapping[RankingMetric, Criterion]  # the selecting metric of each evaluated metric
    convention: Convention

    @property
    def key(self) -> Group:
        return group_of(self.tasks[0])

    @cached_property
    def values(self) -> dict[Criterion, Floats]:
        """Values of all fits on validation data, by selecting metric."""

        def value(fits: Mapping[str, Fit], by: Criterion) -> float:
            if str(by) in fits:
                return fits[str(by)].best
            return values_of([by], self.fold.valid, _fit_by(fits, by).validation)[by]

        return {by: np.array([value(fits, by) for fits in self.fits])
                for by in dict.fromkeys(self.selects.values())}  # fmt: skip

    @property
    def by(self) -> Criterion:
        """The metric whose selection represents the method: the first that selects."""
        return next(iter(self.values))

    def place(self, by: Criterion) -> int:
        """The number of the best fit, the first among equals; 0 if none has a value."""
        values = self.values[by]
        return 0 if np.isnan(values).all() else int(np.nanargmax(values))

    def chosen(self, by: Criterion) -> Fit:
        """The fit selected by a metric."""
        return _fit_by(self.fits[self.place(by)], by)

    @cached_property
    def tested(self) -> dict[str, Tested]:
        """Each metric on the test queries of the fold, by the study's convention."""
        test = self.fold.test
        # Test queries count equally, whatever the weights of their rows.
        lists: dict[str, Any] = {"qid": test.qid} if test.grouped else {"weight": test.weights}
        tested = {}
        for by in self.values:  # the metrics of one selection share a ranking of the documents
            selected = [metric for metric, one in self.selects.items() if one == by]
            rules = {str(metric): self.convention.metric(metric) for metric in selected}
            evaluation = evaluate(
                test.labels, self.chosen(by).test, metrics=[*dict.fromkeys(rules.values())],
                convention=self.convention, **lists,
            )  # fmt: skip
            for metric, name in zip(rules, map(str, rules.values()), strict=True):
                tested[metric] = Tested(
                    evaluation.per_query[name],
                    evaluation.conventions[name],
                    evaluation.rows.get(name),
                )
        return tested

    def columns(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Names of tables, with columns of rows to add to each."""
        test, valid = self.fold.test, self.fold.valid
        qid = [str(qid) for qid in test.qid[test.queries.boundaries[:-1]].tolist()]
        for metric, tested in self.tested.items():
            over_all = not test.grouped or len(tested.values) != len(qid)
            query = [ALL_QUERIES] if over_all else qid
            yield "values", {"metric": metric, "query": query, "value": tested.values}
        for selected, by in self.selects.items():
            value = values_of([selected], valid, self.chosen(by).validation)[selected]
            yield "validation", {"metric": str(selected), "value": [value]}
        fit = self.chosen(self.by)
        rounds = np.arange(1, len(fit.curve) + 1) * fit.every
        yield "curves", {"metric": str(self.by), "round": rounds, "value": fit.curve}
        for by, values in self.values.items():
            fits = [_fit_by(fits, by) for fits in self.fits]
            yield (
                "fits",
                {
                    "trial": [task.trial for task in self.tasks],
                    "metric": str(by),
                    "validation": values,
                    "round": [fit.rounds for fit in fits],
                    "seconds": [fit.seconds for fit in fits],
                    "chosen": [task.trial == self.place(by) for task in self.tasks],
                    "parameters": [json.dumps(parameters_of(t), default=str) for t in self.tasks],
                    "warnings": ["\n".join(fit.warnings) for fit in fits],
                },
            )


def _fit_by(fits: Mapping[str, Fit], by: Criterion) -> Fit:
    """The fit whose rounds a metric chose, or else the first."""
    return fits.get(str(by)) or next(iter(fits.values()))


def tables_of(choices: Iterable[Choice]) -> dict[str, pl.DataFrame]:
    """The tables of `Results`, by name."""
    tables = {name: [pl.DataFrame(schema=schema)] for name, schema in SCHEMAS.items()}
    for choice in choices:
        key = dict(zip(KEY, choice.key, strict=True))
        for name, columns in choice.columns():
            nulls = name == "values"
            frame = pl.DataFrame({**key, **columns}, SCHEMAS[name], nan_to_null=nulls)
            tables[name].append(frame)
    return {name: pl.concat(frames) for name, frames in tables.items()}
