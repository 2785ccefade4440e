"""`evaluate`, for arrays, and `evaluate_run`: values of metrics per query, and their means.

A module with the name of the function would take its place in the package.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.arguments import check_flag
from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.chosen_metrics import choose_metrics
from lambdaplus.evaluation.conventions import (
    Convention,
    Empty,
    TieRule,
    check_rules,
    find_convention,
)
from lambdaplus.evaluation.evaluation import Evaluation
from lambdaplus.evaluation.significance import RankedRows
from lambdaplus.lists.keys import codes, identifiers
from lambdaplus.lists.queries import Kind, Queries
from lambdaplus.lists.runs import Labels, Run, run_of
from lambdaplus.metrics import Metric, RankingMetric
from lambdaplus.metrics.means import mean_of, refuse_overflow, scored_lists, warn_of_one_class
from lambdaplus.metrics.names import listed
from lambdaplus.metrics.parameters import as_text
from lambdaplus.metrics.values import values
from lambdaplus.ranking.sort import Scored

BEYOND_FLOAT32 = 1e39  # stands for infinity in float32, so that all infinite scores are tied


def evaluate(
    labels: Labels,
    scores: Labels,
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
        Finite numbers; a document with a higher score is ranked higher.  Also two dictionaries
        of values by query and document number, qrels and run, as pytrec_eval, ir_measures and ranx
        take them.  Then judged documents that were not returned rank below
        all others, documents that were not judged have label 0, and queries that were not judged
        are left out.
    group : (n_queries,) array_like of int, optional
        Query sizes.  If neither ``group`` nor ``qid`` is given, AUC, MAUC and MAP treat all rows
        as one ranking, like scikit-learn's roc_auc_score and average_precision_score.
    qid : (n,) array_like, optional
        Query of each row, in any order.
    weight : (n,) array_like, optional
        Row weights.  The weight of a query in the mean is the mean weight of its rows.  Without
        queries, a row of weight k counts as k identical rows for AUC, MAUC, MAP and
        Gini; other metrics of one ranking, C-index among them, refuse weights that differ.
    metrics : str, RankingMetric or Declaration, or iterable of these
    convention : str
        Tool whose gains, discounts, divisors and rules for ties and empty queries are used:
        "lambdaplus", "lightgbm", "xgboost", "sklearn", "trec", "ranx", "letor3" or "letor4".  The
        parameters below, options in the name of a metric and other options take precedence.
    ties : {"expected", "worst", "best", "stable", "together", "docno"}, optional
        Rule for tied documents: the mean over their orders, their worst or best order, the order
        of the rows, all at one threshold (AUC, MAUC and MAP only), or by descending docno.
    empty : "skip", 0 or 1, optional
        Value of a query on which a metric is not defined (no relevant document; for AUC, only one
        class); "skip" leaves the query out of the mean.
    docno : (n,) array_like of str, optional
        Document numbers, for ``ties="docno"`` and the convention "trec".
    one_group : bool
        Treat rows without queries as one query, for metrics other than AUC, MAUC and MAP.
    **options
        Parameters for the metrics that have them, such as ``gain="linear"``.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        For invalid input, unknown metrics, conventions or rules, rules that a metric does not
        support, options that none of the metrics has, different metrics with the same name, gains
        beyond float64, a docno that is twice in a query, and ties that the convention breaks by a
        docno that was not passed.

    Warns
    -----
    UserWarning
        If all labels, or none of them, are relevant, though they differ: ``relevant=`` sets the
        label from which a document is.

    Notes
    -----
    By default, values do not depend on the order of the rows: tied documents contribute the mean
    over their orders, or their worst order for ERR; without queries,
    MAP takes them at one threshold.  AP@k is divided by min(R, k), AP by R; NDCG has gain 2^l - 1
    and discount log2(1 + rank).

    Examples
    --------
    >>> from lambdaplus import evaluate
    >>> result = evaluate([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.7], group=[2, 2], metrics=["map", "mrr"])
    >>> result["map"], result.per_query["map"].tolist()
    (0.75, [1.0, 0.5])
    """
    check_flag(one_group=one_group)
    run = run_of(labels, scores, group=group, qid=qid, weight=weight, docno=docno)
    return evaluate_run(
        run, metrics, convention, ties=ties, empty=empty, one_group=one_group, **options
    )


def evaluate_run(
    run: Run,
    metrics: Metric | Iterable[Metric],
    convention: str | Convention = "lambdaplus",
    *,
    ties: TieRule | None = None,
    empty: Empty | None = None,
    one_group: bool = False,
    **options: Any,
) -> Evaluation:
    """Evaluate a run; other arguments are those of `~lambdaplus.evaluation.evaluate`."""
    convention = find_convention(convention)
    parsed = choose_metrics(listed(metrics), options, convention)
    check_rules(ties, empty)
    queries, n = run.queries, run.queries.n_documents
    numbers = None if run.docno is None else identifiers(run.docno, "docno", n)
    if numbers is not None and queries.grouped:
        _refuse_twice(queries, numbers)
    in_order = None if numbers is None else functools.cache(lambda: _places(numbers))
    checked = queries.check_scores(run.scores)
    if convention.single:
        checked = _in_float32(queries, checked)
    if convention.unjudged:
        queries = queries.with_labels(np.maximum(queries.labels, 0.0))
    lists = scored_lists(parsed, queries, checked, one_group)
    per_query: dict[str, Floats] = {}
    mean: dict[str, float] = {}
    undefined: dict[str, int] = {}
    rules: dict[str, str] = {}
    rows: dict[str, RankedRows] = {}
    for metric, scored in zip(parsed, lists, strict=True):
        warn_of_one_class(metric, queries)
        name, rule, ranked = str(metric), convention.rule(metric), scored.queries
        _refuse_ignored_weights(metric, ranked)
        tie_rule, default = ties or rule.ties, rule.empty if empty is None else empty
        query_values = _values(metric, scored, tie_rule, in_order)
        refuse_overflow(metric, query_values)
        missing = np.isnan(query_values)
        undefined[name] = int(missing.sum())
        if default != "skip":
            query_values = np.where(missing, float(default), query_values)
        per_query[name] = query_values
        mean[name] = mean_of(per_query[name], ranked.query_weights)
        rules[name] = _rules(metric, ranked, convention, tie_rule, default)
        if queries.kind is Kind.WEIGHTED_ROWS and metric.kind_of_rows:
            rows[name] = RankedRows(queries.labels, checked, queries.weights)
    relevant = np.logical_or.reduceat(queries.labels >= 1, queries.boundaries[:-1])
    return Evaluation(
        per_query=per_query,
        mean=mean,
        n_queries=queries.n_queries,
        without_relevant=int((~relevant).sum()),
        undefined=undefined,
        qid=queries.ids,
        conventions=rules,
        convention=convention,
        weights=queries.query_weights,
        metrics={str(metric): metric for metric in parsed},
        labels=_digests(queries),
        rows=rows,
    )


def _digests(queries: Queries) -> NDArray[np.uint64]:
    """The sum of the bits of the labels of each query, (n_queries,), which no order changes."""
    bits = (queries.labels + 0.0).view(np.uint64)  # all 0 for a label of 0, also for -0
    return np.add.reduceat(bits, queries.boundaries[:-1])


def _refuse_ties(scored: Scored) -> None:
    """Raise a ValueError for tied documents, without document numbers that break the ties."""
    tied = scored.ranking.score[1:] == scored.ranking.score[:-1]
    tied[scored.queries.boundaries[1:-1] - 1] = False
    if tied.any():
        raise ValueError(
            f"{int(tied.sum())} documents are tied with the next one, and ties must be broken by "
            "document number: pass docno=, or another ties="
        )


def _refuse_twice(queries: Queries, docno: NDArray[Any]) -> None:
    """Raise a ValueError for a document that is twice in a query, where it would count twice."""
    document = codes(docno)
    order = np.lexsort([document, queries.query_of_row])
    same = (np.diff(document[order]) == 0) & (np.diff(queries.query_of_row[order]) == 0)
    if same.any():
        first, second = order[int(same.argmax()) :][:2]
        query = queries.ids[queries.query_of_row[first]]
        raise ValueError(
            f"the document {docno[first]} is twice in query {query}, in rows {first} and {second}: "
            "it would count twice"
        )


def _refuse_ignored_weights(metric: RankingMetric, ranked: Queries) -> None:
    """Raise a ValueError for weights of rows that differ, if they would not change the value."""
    of_rows = None if ranked.grouped else ranked.weights
    if of_rows is not None and not metric.weighs_rows and np.ptp(of_rows) > 0:
        raise ValueError(
            f"{metric} does not weight the rows of one ranking: leave out weight=, or repeat each "
            "row by its weight, if weights are whole numbers"
        )


def _in_float32(queries: Queries, scores: Floats) -> Floats:
    """Scores rounded to float32; documents that were not returned stay below the others."""
    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float32).astype(np.float64)
    rounded = np.clip(rounded, -BEYOND_FLOAT32, BEYOND_FLOAT32)
    if queries.returned is not None:
        rounded[~queries.returned] = -2 * BEYOND_FLOAT32
    return rounded


def _values(
    metric: RankingMetric,
    scored: Scored,
    ties: TieRule | None,
    in_order: Callable[[], Floats] | None,
) -> Floats:
    """Values on each query; with ``ties="docno"``, ties are broken by document number."""
    if ties != "docno":
        return values(metric, scored, ties)
    if in_order is None:
        _refuse_ties(scored)
        return values(metric, scored, "stable")
    return values(metric, scored, "stable", in_order())


def _places(docno: NDArray[Any]) -> Floats:
    """What ascends as document numbers, which are compared as text, descend, (n,)."""
    return -codes(docno.astype(str)).astype(np.float64)


def _rules(
    metric: RankingMetric, queries: Queries, convention: Convention, ties: Any, empty: Empty
) -> str:
    """The rules of one metric in words, such as ``gain=exp2, ties=expected, empty=skip``."""
    if ties is None:
        expected = "together" if queries.kind is Kind.WEIGHTED_ROWS else "expected"
        ties = expected if metric.declaration.closed_ties else "worst"
        ties = "midranks" if metric.declaration.correlation else ties
    known = [parameter.name for parameter in metric.declaration.parameters]
    used = {name: metric[name] for name in known} | {"ties": ties, "empty": empty}
    words = ", ".join(f"{name}={as_text(value)}" for name, value in used.items())
    return words if convention.has(metric) else f"{words} (not a metric of {convention.tool})"
