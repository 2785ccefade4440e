"""The values of all runs on one fold, with what compares them there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.aligned_runs import FoldRuns
from lambdaplus.evaluation.effects import RunMeans, on_queries
from lambdaplus.evaluation.evaluation import metric_named
from lambdaplus.evaluation.significance import RowStatistics, row_statistics
from lambdaplus.metrics.means import mean_of


@dataclass(frozen=True, eq=False)
class OnFold:
    """The values of a metric of all runs on one fold."""

    values: dict[str, Floats]  # (runs, queries) of each system, or (runs, 1) over all rows
    weights: Floats | None
    by_query: bool
    rows: RowStatistics | None

    @classmethod
    def of(cls, fold: FoldRuns, metric: str, alone: bool) -> Self:
        """With their errors over rows if the fold is tested alone, or with several seeds."""
        first, rows = fold.first, fold.rows.get(metric, [])
        by_query = not rows and len(first.per_query[metric]) == first.n_queries
        statistics = row_statistics(metric_named(first, metric), rows) if rows and alone else None
        return cls(fold.values[metric], first.weights if by_query else None, by_query, statistics)

    @property
    def can_be_tested(self) -> bool:
        """Whether two models can be compared on this fold alone."""
        return self.rows is not None or (
            self.by_query and next(iter(self.values.values())).shape[1] > 1
        )

    def means(self) -> dict[str, Floats]:
        """The mean of each run over the queries on which all runs have a value."""
        defined = ~np.isnan(np.concatenate([*self.values.values()])).any(axis=0)
        weights = None if self.weights is None else self.weights[defined]
        return {
            name: np.array([mean_of(run[defined], weights) for run in of_system])
            for name, of_system in self.values.items()
        }

    def of_systems(self, *names: str) -> RunMeans:
        """The runs of one system or two."""
        if self.by_query:
            return on_queries(*(self.values[name] for name in names), weights=self.weights)
        counts = tuple(len(self.values[name]) for name in names)
        means = np.concatenate([self.values[name][:, 0] for name in names])
        if self.rows is None:
            return RunMeans(means, np.full((len(means),) * 2, np.nan), np.nan, counts)
        places = self.places(*names)
        return RunMeans(means, self.rows.covariance[np.ix_(places, places)], np.inf, counts)

    def places(self, *names: str) -> list[int]:
        """The numbers of the runs of these systems among all runs."""
        owners = [name for name, of_system in self.values.items() for _ in of_system]
        return [place for name in names for place, owner in enumerate(owners) if owner == name]

    def difference(self, a: str, b: str) -> tuple[Floats, Floats]:
        """By query on which all runs of both have a value: the difference of means, the weight."""
        if not self.by_query:
            return np.empty(0), np.empty(0)
        gap: Floats = self.values[a].mean(axis=0) - self.values[b].mean(axis=0)
        weights = np.ones_like(gap) if self.weights is None else self.weights
        known = ~np.isnan(gap) & (weights > 0.0)
        return gap[known], weights[known]
