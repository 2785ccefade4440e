"""The argument of the functions of a declaration: counts of the labels of every query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.queries import Floats, Queries, Strata, cached_property, reaches
from lambdaplus.metrics.declaration import (
    RankingMetric,
    read_only,
)


class LabelCounts:
    """Labels and counts of the documents of each query, by class.

    One stratum is one label of one query, in ascending order of labels within the query.

    Attributes
    ----------
    metric : RankingMetric
    label, count : (s,) float64
        Label and number of documents of each stratum (see `lambdaplus.data.queries.Strata`).
    size : (n_queries,) float64
        Number of documents in each query.
    """

    def __init__(self, metric: RankingMetric, queries: Queries) -> None:
        self.metric = metric
        self.strata: Strata = queries.strata(metric.relevant)
        self.label = read_only(self.strata.label)
        self.count = read_only(self.strata.count)
        self.longest = queries.longest

    @cached_property
    def size(self) -> Floats:
        return read_only(self.sum(self.count))

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """Strata of relevant documents, (s,) bool."""
        threshold = 1.0 if self.metric.declaration.binary else self.metric["relevant"]
        return read_only(reaches(self.label, threshold))

    @cached_property
    def n_relevant(self) -> Floats:
        """Number of relevant documents in each query, (n_queries,)."""
        return read_only(self.sum(np.where(self.relevant, self.count, 0.0)))

    @property
    def at_most(self) -> float:
        """The cutoff; infinity if there is none."""
        return np.inf if self.metric.cutoff is None else float(self.metric.cutoff)

    def sum(self, per_stratum: Floats) -> Floats:
        """Sum over the strata of each query: (s,) -> (n_queries,)."""
        return self.strata.sum(per_stratum)

    def spread(self, per_query: Floats) -> Floats:
        """Repeat a value per query for each of its strata: (n_queries,) -> (s,)."""
        return per_query[self.strata.query]

    @cached_property
    def higher(self) -> Floats:
        """Number of documents of the same query with a higher label, (s,)."""
        upto = np.cumsum(self.count)
        upto -= self.spread((upto - self.count)[self.strata.first[:-1]])
        return read_only(self.spread(self.size) - upto)

    def ideal(self, gain: Floats) -> Floats:
        """Discounted gain of the best order, highest labels first: (s,) -> (n_queries,)."""
        discounts = self.metric.discounts(np.arange(1.0, self.longest + 1))
        upto = np.concatenate([[0.0], np.cumsum(discounts)])
        above = self.higher.astype(np.int64)
        return self.sum(gain * (upto[above + self.count.astype(np.int64)] - upto[above]))
