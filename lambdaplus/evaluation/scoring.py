"""Values of ranking metrics: per query, and their means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.data.arguments import check_flag
from lambdaplus.data.arrays import identifiers, plain
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.evaluation.conventions import (
    Convention,
    Empty,
    TieRule,
    check_rules,
    find_convention,
)
from lambdaplus.evaluation.held import as_held, judged_part
from lambdaplus.evaluation.result import (
    Evaluation,
    by_convention,
    mean_of,
    refuse_namesakes,
)
from lambdaplus.metrics import Metric, RankingMetric
from lambdaplus.metrics.declared_arrays import scope
from lambdaplus.metrics.entries import Scored
from lambdaplus.metrics.names import share_options
from lambdaplus.metrics.parameters import as_text
from lambdaplus.metrics.sort import Ranking
from lambdaplus.metrics.values import values


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
    """Evaluate scores with ranking metrics.

    Parameters
    ----------
    labels, scores : (n,) array_like
        Finite numbers; a document with a higher score is ranked higher.
    group : (n_queries,) array_like of int, optional
        Query sizes.  If neither ``group`` nor ``qid`` is given, AUC and MAP treat all rows as one
        ranking, like scikit-learn's roc_auc_score and average_precision_score.
    qid : (n,) array_like, optional
        Query of each row.
    weight : (n,) array_like, optional
        Row weights.  The weight of a query in the mean is the mean weight of its rows; without
        queries, weights are multiplicities.
    metrics : str or iterable of str
    convention : {"lambdaplus", "lightgbm", "xgboost", "sklearn", "trec", "letor3", "letor4"}
        Tool whose gains, discounts, divisors and rules for ties and empty queries are used: see
        ``lambdaplus.evaluation.conventions``.  The parameters below, options in the name of a
        metric and other options take precedence.
    ties : {"expected", "worst", "best", "stable", "together", "docno"}, optional
        Rule for tied documents: the mean over their orders, their worst or best order, the order
        of the rows, all as one step (AUC and MAP only), or by descending docno.
    empty : "skip", 0 or 1, optional
        Value of a query on which a metric is not defined (no relevant document; for AUC, only one
        class); "skip" leaves the query out of the mean.
    docno : (n,) array_like of str, optional
        Document numbers, for ``ties="docno"`` and the convention "trec".
    one_group : bool
        Treat rows without queries as one query, for metrics other than AUC and MAP.
    **options
        Parameters for the metrics that have them, such as ``gain="linear"``.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        For invalid input, unknown metrics, conventions or rules, options that none of the metrics
        has, and ties that the convention breaks by a docno that was not passed.

    Notes
    -----
    By default, tied documents contribute the mean over their orders, independently of the order of
    the rows (for ERR, pFound, bpref and partial AUC, their worst order); AP@k is divided by
    min(R, k), AP by R; NDCG has gain 2^l - 1 and discount log2(1 + rank).

    Examples
    --------
    >>> from lambdaplus import evaluate
    >>> result = evaluate([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.7], group=[2, 2], metrics=["map", "mrr"])
    >>> result["map"], result.per_query["map"].tolist()
    (0.75, [1.0, 0.5])
    """
    found = find_convention(convention)
    check_rules(ties, empty)
    check_flag(one_group=one_group)
    named = [metrics] if isinstance(metrics, Metric) else list(metrics)
    chosen = choose_metrics(named, options, found)
    qid = None if qid is None else identifiers(qid)
    queries = checked_queries(labels, group, qid, weight)
    return evaluate_queries(
        chosen,
        queries,
        scores,
        convention=found,
        ties=ties,
        empty=empty,
        docno=docno,
        one_group=one_group,
        qid=None if qid is None else qid[queries.boundaries[:-1]],
    )


def checked_queries(labels: Any, group: Any, qid: Any, weight: Any) -> Queries:
    """Create the queries after checking that no array has masked entries."""
    return Queries(
        plain(labels, "labels"),
        group=None if group is None else plain(group, "group"),
        qid=qid,
        weight=None if weight is None else plain(weight, "weight"),
    )


def choose_metrics(
    names: list[Metric], options: dict[str, Any], convention: Convention | None = None
) -> list[RankingMetric]:
    """Parse names, passing to each metric the options that it has."""
    if not names:
        raise ValueError("no metric was given")
    shares = share_options(names, options)
    found = [
        by_convention(name, convention, mine) for name, mine in zip(names, shares, strict=True)
    ]
    refuse_namesakes(found)
    return found


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
    judged: ArrayLike | None = None,
) -> Evaluation:
    """Like `evaluate`, for metrics and queries that are already parsed.

    Parameters
    ----------
    metrics, queries, scores, convention, ties, empty, docno, one_group
    qid : (n_queries,) array, optional
        Identifier of each query.
    judged : (n,) array_like of bool, optional
        False for unjudged documents, which metrics such as bpref ignore.
    """
    convention = find_convention(convention)
    check_rules(ties, empty)
    refuse_namesakes(metrics)
    queries, held, judged = as_held(convention, queries, scores, judged)
    numbers = None if docno is None else identifiers(docno, "docno")
    per_query: dict[str, Floats] = {}
    mean: dict[str, float] = {}
    undefined: dict[str, int] = {}
    conventions: dict[str, str] = {}
    every: dict[int, Scored] = {}  # all metrics of the same queries share one sort
    for metric in metrics:
        ranked = scope(metric, queries, one_group)
        if id(ranked) not in every:
            every[id(ranked)] = Scored(ranked, held)
        name, rule = str(metric), convention.rule(metric)
        tied, blank = ties or rule.ties, rule.empty if empty is None else empty
        if metric.declaration.judged_only and judged is not None and not judged.all():
            found = np.full(ranked.n_queries, np.nan)
            part = judged_part(ranked, ranked.check_scores(held), judged)
            if part is not None:
                some = None if numbers is None else numbers[judged]
                found[part[1]] = _values(metric, Scored(part[0], held[judged]), tied, some)
        else:
            found = _values(metric, every[id(ranked)], tied, numbers)
        if np.isinf(found).any():
            raise ValueError(
                f"{name} is infinite in {int(np.isinf(found).sum())} of {found.size} queries: its "
                "gains are too large for float64"
            )
        missing = np.isnan(found)
        undefined[name] = int(missing.sum())
        if blank != "skip":
            found = np.where(missing, float(blank), found)
            missing = np.isnan(found)
        per_query[name] = found
        mean[name] = mean_of(found, ~missing, ranked.query_weights if ranked.grouped else None)
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
        metrics={str(metric): metric for metric in metrics},
    )


def _values(
    metric: RankingMetric, scored: Scored, ties: TieRule | None, docno: NDArray[Any] | None
) -> Floats:
    if ties != "docno":
        return values(metric, scored, ties)
    order = _order_of(docno, scored.queries, scored.ranking)
    return values(metric, scored, "stable", order)


def _order_of(docno: NDArray[Any] | None, queries: Queries, ranking: Ranking) -> Floats:
    """Rank of each row if ties are sorted by descending document number, (n,) float64."""
    if docno is None:
        tied = ranking.score[1:] == ranking.score[:-1]
        tied[queries.boundaries[1:-1] - 1] = False
        if tied.any():
            raise ValueError(
                f"{int(tied.sum())} documents are tied with the next one, and ties must be broken "
                "by document number: pass docno=, or another ties="
            )
        return np.arange(float(queries.n_documents))
    numbers = docno.astype(str)
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
    words = ", ".join(f"{name}={as_text(value)}" for name, value in said.items())
    return words if convention.has(metric) else f"{words} (not a metric of {convention.tool})"
