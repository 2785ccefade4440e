"""Values of ranking metrics: per query and mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.evaluation.conventions import (
    Convention,
    Empty,
    TieRule,
    find_convention,
)
from lambdaplus.evaluation.tables import Table, Tabular
from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.declaration import shortest
from lambdaplus.metrics.terms import scope
from lambdaplus.metrics.values import values
from lambdaplus.queries import Floats, Queries
from lambdaplus.ranking import Ranking, rank

Metric = str | RankingMetric | Declaration


@dataclass(frozen=True, eq=False)
class Evaluation(Tabular):
    """What `evaluate` found.

    Attributes
    ----------
    per_query : dict of str to (n_queries,) float64
        Value of each metric on each query, in query order; NaN where it has none.
    mean : dict of str to float
        Mean over the queries that have a value, by query weight; NaN if none has.
    n_queries : int
    without_relevant : int
        Queries without a document of label 1 or more.
    undefined : dict of str to int
        How many queries had no value (no relevant document, say).
    qid : (n_queries,) array
        Name of each query: what was passed as qid, or 0, 1, ...
    conventions : dict of str to str
        By which rules each metric was computed.
    convention : Convention
    """

    per_query: dict[str, Floats]
    mean: dict[str, float]
    n_queries: int
    without_relevant: int
    undefined: dict[str, int]
    qid: NDArray[Any]
    conventions: dict[str, str]
    convention: Convention

    def __getitem__(self, metric: Metric) -> float:
        """The mean of a metric, by any spelling of its name."""
        return self.mean[self.name_of(metric)]

    def name_of(self, metric: Metric) -> str:
        """The name under which a metric stands here."""
        name = str(parse_metric(metric))
        if name not in self.mean:
            name = str(_by_convention(metric, self.convention, {}))
        if name not in self.mean:
            raise KeyError(f"{name} was not evaluated; there is: {', '.join(self.mean)}")
        return name

    @property
    def table(self) -> Table:
        """Means and counts, with the conventions at the foot."""
        rows = [
            (name, self.mean[name], self.n_queries - self.undefined[name], self.undefined[name])
            for name in self.mean
        ]
        foot = [
            f"{queries_in_words(self.n_queries)}, {self.without_relevant} without relevant "
            "documents.",
            f"Convention {self.convention.name}:",
            *(f"  {name}: {rules}" for name, rules in self.conventions.items()),
        ]
        return Table(("metric", "mean", "queries", "undefined"), rows, foot)

    def to_dataframe(self, backend: str = "pandas") -> Any:
        """Per-query values as a data frame of the backend: qid and one column for each metric.

        Metrics over the whole data set have no value per query and are left out.
        """
        columns = {k: v for k, v in self.per_query.items() if len(v) == self.n_queries}
        rows = list(zip(self.qid.tolist(), *(v.tolist() for v in columns.values()), strict=True))
        return Table(("qid", *columns), rows).to_dataframe(backend)


def evaluate(
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    metrics: Metric | Iterable[Metric] = ("ndcg@10", "map"),
    convention: str | Convention = "lambdaplus",
    ties: TieRule | None = None,
    empty: Empty | None = None,
    docno: ArrayLike | None = None,
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
    convention : {"lambdaplus", "lightgbm", "xgboost", "sklearn", "trec", "letor3", "letor4"}
        Whose gains, discounts, divisors, ties and empty queries: see
        `lambdaplus.evaluation.conventions`.  What is said below, in the name of a metric or in the
        options goes before it.
    ties : {"expected", "worst", "best", "stable", "together", "docno"}, optional
        What tied documents count: the mean over their orders, their worst or best order, the order
        of the rows, all as one step (AUC and MAP alone), or by descending docno.
    empty : "skip", 0 or 1, optional
        What a query counts on which a metric is not defined (no relevant document; only one class
        for AUC): nothing, so that it is left out of the mean, or this value.
    docno : (n,) array_like of str, optional
        Document numbers, for ``ties="docno"`` and the convention "trec".
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
        For unusable input, unknown metrics, conventions or rules, options that none of the metrics
        has, and ties that the convention breaks by a docno that was not passed.

    Notes
    -----
    Unless told otherwise tied documents count at the mean over their orders, whatever the row
    order (ERR and bpref: in their worst order); AP@k divides by min(R, k), AP by R; NDCG has gain
    2^l - 1 and discount log2(1 + rank).

    Examples
    --------
    >>> from lambdaplus import evaluate
    >>> result = evaluate([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.7], group=[2, 2], metrics=["map", "mrr"])
    >>> result["map"], result.per_query["map"].tolist()
    (0.75, [1.0, 0.5])
    """
    found = find_convention(convention)
    named = [metrics] if isinstance(metrics, Metric) else list(metrics)
    chosen = choose_metrics(named, options, found)
    queries = Queries(labels, group=group, qid=qid, weight=weight)
    return evaluate_queries(
        chosen,
        queries,
        scores,
        convention=found,
        ties=ties,
        empty=empty,
        docno=docno,
        one_group=one_group,
        qid=None if qid is None else np.asarray(qid)[queries.boundaries[:-1]],
    )


def choose_metrics(
    names: list[Metric], options: dict[str, Any], convention: Convention | None = None
) -> list[RankingMetric]:
    """Parse names, giving each metric those of the options that it knows."""
    if not names:
        raise ValueError("no metric was named")
    found = []
    unused = set(options)
    for name in names:
        known = {parameter.name for parameter in parse_metric(name).declaration.parameters}
        unused -= known
        mine = {option: value for option, value in options.items() if option in known}
        found.append(_by_convention(name, convention, mine))
    if unused:
        raise ValueError(
            f"none of {', '.join(map(str, names))} has an option {', '.join(sorted(unused))}"
        )
    return found


def _by_convention(
    name: Metric, convention: Convention | None, options: dict[str, Any]
) -> RankingMetric:
    """The metric with the convention's options, unless its name or the options say otherwise."""
    metric = parse_metric(name, **options)
    if convention is None:
        return metric
    return parse_metric(name, defaults=convention.rule(metric).options, **options)


def evaluate_queries(
    metrics: list[RankingMetric],
    queries: Queries,
    scores: ArrayLike,
    *,
    convention: str | Convention = "lambdaplus",
    ties: TieRule | None = None,
    empty: Empty | None = None,
    docno: ArrayLike | None = None,
    one_group: bool = False,
    qid: NDArray[Any] | None = None,
) -> Evaluation:
    """As `evaluate`, for metrics and queries that are at hand; qid names each query."""
    convention = find_convention(convention)
    if empty is not None and empty != "skip" and empty not in (0, 1):
        raise ValueError(f"empty={empty!r} is not 'skip', 0 or 1")
    per_query: dict[str, Floats] = {}
    mean: dict[str, float] = {}
    undefined: dict[str, int] = {}
    conventions: dict[str, str] = {}
    rankings: dict[int, Ranking] = {}  # all metrics of the same queries share one sort
    for metric in metrics:
        ranked = scope(metric, queries, one_group)
        if id(ranked) not in rankings:
            rankings[id(ranked)] = rank(ranked, scores)
        name, ranking = str(metric), rankings[id(ranked)]
        rule = convention.rule(metric)
        tied, blank = ties or rule.ties, rule.empty if empty is None else empty
        if tied == "docno":
            order = _order_of(docno, ranked, ranking)
            found = values(metric, ranked, ranking, "stable", order)
        else:
            found = values(metric, ranked, ranking, tied)
        missing = np.isnan(found)
        undefined[name] = int(missing.sum())
        if blank != "skip":
            found = np.where(missing, float(blank), found)
            missing = np.isnan(found)
        per_query[name] = found
        mean[name] = _mean(found, ~missing, ranked.query_weights if ranked.grouped else None)
        conventions[name] = _rules(metric, ranked, convention, tied, blank)
    relevant = np.logical_or.reduceat(queries.labels >= 1, queries.boundaries[:-1])
    return Evaluation(
        per_query=per_query,
        mean=mean,
        n_queries=queries.n_queries,
        without_relevant=int((~relevant).sum()),
        undefined=undefined,
        qid=np.arange(queries.n_queries) if qid is None else qid,
        conventions=conventions,
        convention=convention,
    )


def join_evaluations(repeats: Sequence[Mapping[str, Evaluation]]) -> Evaluation:
    """One evaluation of the test queries of all folds, values averaged over repetitions.

    Parameters
    ----------
    repeats : sequence of dict of str to Evaluation
        For each seed the evaluation by fold, of the same folds and metrics; queries are called
        ``fold qid``.
    """
    whole = [_concatenated(parts) for parts in repeats]
    first = whole[0]
    per_query = {
        name: np.mean([one.per_query[name] for one in whole], axis=0) for name in first.per_query
    }
    missing = {name: np.isnan(found) for name, found in per_query.items()}
    return replace(
        first,
        per_query=per_query,
        mean={k: _mean(v, ~missing[k], None) for k, v in per_query.items()},
        undefined={name: int(found.sum()) for name, found in missing.items()},
    )


def _concatenated(parts: Mapping[str, Evaluation]) -> Evaluation:
    first = next(iter(parts.values()))
    return replace(
        first,
        per_query={
            name: np.concatenate([part.per_query[name] for part in parts.values()])
            for name in first.per_query
        },
        n_queries=sum(part.n_queries for part in parts.values()),
        without_relevant=sum(part.without_relevant for part in parts.values()),
        qid=np.concatenate(
            [[f"{fold} {qid}" for qid in part.qid.tolist()] for fold, part in parts.items()]
        ),
    )


def _order_of(docno: ArrayLike | None, queries: Queries, ranking: Ranking) -> Floats:
    """Place of each row if tied rows stand by descending document number, (n,) float64."""
    if docno is None:
        tied = ranking.score[1:] == ranking.score[:-1]
        tied[queries.boundaries[1:-1] - 1] = False
        if tied.any():
            raise ValueError(
                f"{int(tied.sum())} documents are tied with the next one, and ties are to be "
                "broken by document number: pass docno=, or another ties="
            )
        return np.arange(float(queries.n_documents))
    numbers = np.asarray(docno).astype(str)
    if numbers.shape != (queries.n_documents,):
        raise ValueError(
            f"docno must have one entry per row: shape {numbers.shape} for "
            f"{queries.n_documents} rows"
        )
    _, place = np.unique(numbers, return_inverse=True)
    return -place.astype(np.float64)


def _rules(
    metric: RankingMetric, queries: Queries, convention: Convention, ties: Any, empty: Empty
) -> str:
    """The rules of one metric in words, such as ``gain=exp2, ties=expected, empty=skip``."""
    if ties is None:
        if not metric.declaration.closed_ties:
            ties = "worst"
        else:
            ties = "expected" if queries.grouped else "together"
    said = {known.name: metric[known.name] for known in metric.declaration.parameters}
    said |= {"ties": ties, "empty": empty}
    words = ", ".join(
        f"{name}={shortest(value) if isinstance(value, float) else value}"
        for name, value in said.items()
    )
    return words if convention.has(metric) else f"{words} (not a metric of {convention.tool})"


def queries_in_words(n: int) -> str:
    return f"{n} {'query' if n == 1 else 'queries'}"


def _mean(found: Floats, defined: Any, weights: Floats | None) -> float:
    if weights is None:
        weights = np.ones_like(found)
    total = weights[defined].sum()
    return float(found[defined] @ weights[defined] / total) if total > 0 else float("nan")
