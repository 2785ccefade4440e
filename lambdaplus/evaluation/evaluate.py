"""Values of ranking metrics: per query and mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.terms import scope
from lambdaplus.metrics.values import values
from lambdaplus.queries import Floats, Queries
from lambdaplus.ranking import Ranking, rank

Metric = str | RankingMetric | Declaration
Empty = Literal["skip"] | float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` found.

    Attributes
    ----------
    per_query : dict of str to (n_queries,) float64
        Value of each metric on each query, in query order; NaN where it has none.
    mean : dict of str to float
        Mean over the queries that have a value, by query weight; NaN if none has.
    n_queries : int
    undefined : dict of str to int
        How many queries had no value (no relevant document, say).
    """

    per_query: dict[str, Floats]
    mean: dict[str, float]
    n_queries: int
    undefined: dict[str, int]

    def __getitem__(self, metric: Metric) -> float:
        """The mean of a metric, by any spelling of its name."""
        name = str(parse_metric(metric))
        if name not in self.mean:
            raise KeyError(f"{name} was not evaluated; there is: {', '.join(self.mean)}")
        return self.mean[name]

    def __str__(self) -> str:
        width = max(len(name) for name in self.mean)
        lines = [
            f"{name:<{width}}  {self.mean[name]:.4f}"
            + (f"  ({self.undefined[name]} undefined)" if self.undefined[name] else "")
            for name in self.mean
        ]
        return "\n".join([*lines, f"mean over {self.n_queries} queries"])


def evaluate(
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    metrics: Metric | Iterable[Metric] = ("ndcg@10", "map"),
    empty: Empty = "skip",
    one_group: bool = False,
    **options: Any,
) -> Evaluation:
    """Evaluate scores by ranking metrics.

    Parameters
    ----------
    labels, scores : (n,) array_like
        Finite numbers; a higher score ranks higher.
    group : (n_queries,) array_like of int, optional
        Query sizes; or qid, the query of each row.  With neither, AUC and MAP take all rows as one
        ranking, as scikit-learn's roc_auc_score and average_precision_score do.
    qid : (n,) array_like, optional
    weight : (n,) array_like, optional
        Row weights.  A query counts in the mean by the mean weight of its rows; without queries
        they are multiplicities.
    metrics : str or iterable of str
    empty : "skip", 0 or 1
        What a query counts on which a metric is not defined (no relevant document; only one class
        for AUC): nothing, so that it is left out of the mean, or this value.
    one_group : bool
        Take rows without queries as one query, for metrics other than AUC and MAP.
    **options
        Parameters for the metrics that have them, such as ``gain="linear"``.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        For unusable input, unknown metrics, or options that none of the metrics has.

    Notes
    -----
    Tied documents count at the mean over their orders, whatever the row order; AP@k divides by
    min(R, k), AP by R; NDCG has gain 2^l - 1 and discount log2(1 + rank).

    Examples
    --------
    >>> from lambdaplus import evaluate
    >>> result = evaluate([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.7], group=[2, 2], metrics=["map", "mrr"])
    >>> result["map"], result.per_query["map"].tolist()
    (0.75, [1.0, 0.5])
    """
    chosen = choose_metrics([metrics] if isinstance(metrics, Metric) else list(metrics), options)
    queries = Queries(labels, group=group, qid=qid, weight=weight)
    if empty != "skip" and empty not in (0, 1):
        raise ValueError(f"empty={empty!r} is not 'skip', 0 or 1")
    return evaluate_queries(chosen, queries, scores, empty=empty, one_group=one_group)


def choose_metrics(names: list[Metric], options: dict[str, Any]) -> list[RankingMetric]:
    """Parse names, giving each metric those of the options that it knows."""
    if not names:
        raise ValueError("no metric was named")
    found = []
    unused = set(options)
    for metric in map(parse_metric, names):
        known = {parameter.name for parameter in metric.declaration.parameters}
        unused -= known
        mine = {name: value for name, value in options.items() if name in known}
        found.append(parse_metric(metric, **mine))
    if unused:
        raise ValueError(
            f"none of {', '.join(map(str, names))} has an option {', '.join(sorted(unused))}"
        )
    return found


def evaluate_queries(
    metrics: list[RankingMetric],
    queries: Queries,
    scores: ArrayLike,
    *,
    empty: Empty = "skip",
    one_group: bool = False,
) -> Evaluation:
    """As `evaluate`, for metrics and queries that are at hand."""
    per_query: dict[str, Floats] = {}
    mean: dict[str, float] = {}
    undefined: dict[str, int] = {}
    rankings: dict[int, Ranking] = {}  # all metrics of the same queries share one sort
    for metric in metrics:
        ranked = scope(metric, queries, one_group)
        if id(ranked) not in rankings:
            rankings[id(ranked)] = rank(ranked, scores)
        name = str(metric)
        found = values(metric, ranked, rankings[id(ranked)])
        missing = np.isnan(found)
        undefined[name] = int(missing.sum())
        if empty != "skip":
            found = np.where(missing, float(empty), found)
            missing = np.isnan(found)
        per_query[name] = found
        mean[name] = _mean(found, ~missing, ranked.query_weights if ranked.grouped else None)
    return Evaluation(per_query, mean, queries.n_queries, undefined)


def _mean(found: Floats, defined: Any, weights: Floats | None) -> float:
    if weights is None:
        weights = np.ones_like(found)
    total = weights[defined].sum()
    return float(found[defined] @ weights[defined] / total) if total > 0 else float("nan")
