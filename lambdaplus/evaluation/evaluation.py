"""The result of an evaluation."""

import re
from collections.abc import KeysView, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arguments import number
from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.conventions import Convention
from lambdaplus.evaluation.result_tables import Table, Tabular
from lambdaplus.evaluation.significance import (
    RankedRows,
    interval_over_queries,
    row_statistics,
)
from lambdaplus.metrics import Metric, RankingMetric, parse_metric


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Tabular):
    """The result of `~lambdaplus.evaluation.evaluate`.

    Attributes
    ----------
    per_query : dict of str to (n_queries,) float64
        Value of each metric on each query, in query order; NaN if the metric has no value.
    mean : dict of str to float
        Mean over the queries that have a value, weighted by query weight; NaN if none has.
    n_queries, without_relevant : int
        Number of queries, and of those without a document of label 1 or more.
    undefined : dict of str to int
        Number of queries on which each metric is not defined (no relevant document, for example).
    qid : (n_queries,) array
        Identifier of each query: the qid that was passed, or 0, 1, ...
    conventions : dict of str to str
        Rules with which each metric was computed.
    convention : Convention
    weights : (n_queries,) float64 or None
        Weight of each query in the means, if row weights were passed.
    metrics : dict of str to RankingMetric
        The metric with each name; empty after unpickling, since user-defined metrics may not be
        picklable.
    labels : (n_queries,) uint64 or None
        A digest of the labels of each query other than 0, in any order, for `compare_runs`.
    rows : dict of str to RankedRows
        The rows that a metric ranks as one list, if there are no queries, for `compare_runs`.

    Notes
    -----
    ``dict(result)`` has the means by name, `to_pandas` and `to_polars` a row for each query.

    Examples
    --------
    >>> from lambdaplus import evaluate
    >>> result = evaluate([1, 0, 0, 0], [0.9, 0.1, 0.8, 0.7], group=[2, 2], metrics="map")
    >>> result["map"], result.n_queries, result.undefined
    (1.0, 2, {'map': 1})
    >>> print(result)
    metric  mean    queries  undefined
    map     1.0000  1        1
    2 queries, 1 without relevant documents.
    Convention lambdaplus:
      map: relevant=1, divisor=reachable, ties=expected, empty=skip
    """

    per_query: dict[str, Floats]
    mean: dict[str, float]
    n_queries: int
    without_relevant: int
    undefined: dict[str, int]
    qid: NDArray[Any]
    conventions: dict[str, str]
    convention: Convention
    weights: Floats | None = None
    metrics: Mapping[str, RankingMetric] = field(default_factory=dict)
    labels: NDArray[np.uint64] | None = None
    rows: Mapping[str, RankedRows] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "metrics": {}}

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={mean:.4f}" for name, mean in self.mean.items())
        return f"<Evaluation of {queries_in_words(self.n_queries)}: {means}>"

    def keys(self) -> KeysView[str]:
        """The names of the metrics, so that ``dict(result)`` has their means."""
        return self.mean.keys()

    def __getitem__(self, metric: Metric) -> float:
        """The mean of a metric, by any spelling of its name; a KeyError if it was not evaluated."""
        return self.mean[self.name_of(metric)]

    def name_of(self, metric: Metric) -> str:
        """The name of a metric in this result; a KeyError if it was not evaluated."""
        if isinstance(metric, str) and metric in self.mean:
            return metric  # user-defined metrics are not in the catalogue
        for wanted in (parse_metric(metric), self.convention.metric(metric)):
            name = str(wanted)
            if name in self.mean and self.metrics.get(name, wanted) == wanted:
                return name
        raise KeyError(f"{name} was not evaluated; available: {', '.join(self.mean)}")

    def interval(self, metric: Metric, *, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval of a mean, by the percentile bootstrap over queries.

        Without queries, it is that of `~lambdaplus.evaluation.compare_runs`: DeLong's for AUC, by
        the bootstrap over rows for other metrics.

        Parameters
        ----------
        metric : str, RankingMetric or Declaration
        confidence : float

        Returns
        -------
        (float, float)
            NaN with fewer than two queries that have a value.

        Raises
        ------
        KeyError
            If the metric was not evaluated.
        ValueError
            For a confidence out of range, and for a metric over all rows of data with queries
            (``over=dataset``), since rows of a query are not independent.
        """
        number("confidence", confidence, most=1.0)
        name = self.name_of(metric)
        if rows := self.rows.get(name):
            return row_statistics(metric_named(self, name), [rows]).interval(
                0, self.mean[name], confidence
            )
        values = self.per_query[name]
        if len(values) != self.n_queries:
            raise ValueError(
                f"{name} has one value for all queries, whose rows are not independent: an "
                "interval needs a metric by query"
            )
        weights = np.ones_like(values) if self.weights is None else self.weights
        known = ~np.isnan(values) & (weights > 0)
        if known.sum() < 2:
            return np.nan, np.nan
        return interval_over_queries(values[known], weights[known], confidence)

    def _columns(self) -> dict[str, Floats]:
        return {
            name: values for name, values in self.per_query.items() if len(values) == self.n_queries
        }

    def to_pandas(self) -> Any:
        """A pandas frame with a row for each query, whose index is `qid`, and a column a metric.

        Metrics over all rows (``over=dataset``), which have no value by query, are left out.

        Examples
        --------
        >>> from lambdaplus import evaluate
        >>> found = evaluate([1, 0, 0, 1], [4, 3, 2, 1], qid=["a", "a", "b", "b"], metrics="map")
        >>> found.to_pandas()["map"].to_dict()
        {'a': 1.0, 'b': 0.5}
        """
        import pandas as pd

        return pd.DataFrame(self._columns(), pd.Index(self.qid, name="qid"))

    def to_polars(self) -> Any:
        """A polars frame with a row for each query, `qid` in the first column, else as `to_pandas`.

        Examples
        --------
        >>> from lambdaplus import evaluate
        >>> found = evaluate([1, 0, 0, 1], [4, 3, 2, 1], qid=[5, 5, 7, 7], metrics="map")
        >>> found.to_polars().rows()
        [(5, 1.0), (7, 0.5)]
        """
        import polars as pl

        return pl.DataFrame({"qid": self.qid, **self._columns()})

    @property
    def table(self) -> Table:
        """Means and counts, with the conventions as footnotes."""
        rows = [
            (name, self.mean[name], self.n_queries - self.undefined[name], self.undefined[name])
            for name in self.mean
        ]
        used = sample_in_words(self)
        relevance = any(
            re.search("relevant=|gain=|top=", said) for said in self.conventions.values()
        )
        if relevance and not self.rows:
            used += f", {self.without_relevant} without relevant documents"
        foot = (f"{used}.", *rules_in_words(self))
        return Table(("metric", "mean", "queries", "undefined"), rows, foot)


def queries_in_words(n: int) -> str:
    return f"{n} {'query' if n == 1 else 'queries'}"


def sample_in_words(evaluation: Evaluation) -> str:
    """The number of queries, or of rows without queries."""
    for ranked in evaluation.rows.values():
        return f"{ranked.labels.size:,} rows without queries"
    return queries_in_words(evaluation.n_queries)


def rules_in_words(evaluation: Evaluation) -> tuple[str, ...]:
    """Footnotes of a table: the rules of each metric."""
    rules = (f"  {name}: {rules}" for name, rules in evaluation.conventions.items())
    return (f"Convention {evaluation.convention.name}:", *rules)


def metric_named(evaluation: Evaluation, name: str) -> RankingMetric:
    """The metric of a name in an evaluation, which may have lost it in pickling."""
    return evaluation.metrics.get(name) or evaluation.convention.metric(name)
