"""Values of ranking metrics: per query, and their means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.arguments import check_flag, flags_of_rows, identifiers
from lambdaplus.compute.array_types import Bools, Floats
from lambdaplus.data.run_files import Run
from lambdaplus.evaluation.conventions import (
    CONVENTIONS,
    Convention,
    Empty,
    TieRule,
    check_rules,
    find_convention,
)
from lambdaplus.evaluation.forms_of_input import Input, Labels, input_of_run, read_input
from lambdaplus.evaluation.result import Evaluation, Rows, mean_of
from lambdaplus.metrics import Metric, RankingMetric
from lambdaplus.metrics.declared_arrays import scope
from lambdaplus.metrics.names import SPELLINGS, listed, share_options
from lambdaplus.metrics.parameters import as_text
from lambdaplus.metrics.values import rounded_value, values
from lambdaplus.ranking.queries import Queries
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
        Finite numbers; a document with a higher score is ranked higher.  Also both (n_queries, m),
        with a row for each query, as scikit-learn's ndcg_score takes them; or two dictionaries of
        values by query and document number, qrels and run, as pytrec_eval, ir_measures and ranx
        take them, or ranx's Qrels and Run.  Then judged documents that were not returned rank below
        all others, documents that were not judged have label 0, and queries that were not judged
        are left out.
    group : (n_queries,) array_like of int, optional
        Query sizes.  If neither ``group`` nor ``qid`` is given, AUC, MAUC and MAP treat all rows
        as one ranking, like scikit-learn's roc_auc_score and average_precision_score.
    qid : (n,) array_like, optional
        Query of each row; the rows of a query are adjacent.
    weight : (n,) array_like, optional
        Row weights.  The weight of a query in the mean is the mean weight of its rows.  Without
        queries, a row of weight k counts as k identical rows for AUC, MAUC, MAP and Gini; other
        metrics of one ranking, C-index among them, do not depend on row weights.
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
        beyond float64, and ties that the convention breaks by a docno that was not passed.

    Notes
    -----
    By default, values do not depend on the order of the rows: tied documents contribute the mean
    over their orders, or their worst order for ERR, pFound, bpref and partial AUC; without queries,
    MAP takes them at one threshold.  AP@k is divided by min(R, k), AP by R; NDCG has gain 2^l - 1
    and discount log2(1 + rank).

    Examples
    --------
    >>> from lambdaplus import evaluate
    >>> result = evaluate([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.7], group=[2, 2], metrics=["map", "mrr"])
    >>> result["map"], result.per_query["map"].tolist()
    (0.75, [1.0, 0.5])
    """
    convention = find_convention(convention)
    check_flag(one_group=one_group)
    parsed = choose_metrics(listed(metrics), options, convention)
    read = read_input(labels, scores, group, qid, weight, docno)
    return evaluate_input(parsed, read, convention, ties=ties, empty=empty, one_group=one_group)


def evaluate_run(
    run: Run, metrics: Iterable[Metric], convention: str | Convention = "lambdaplus", **rules: Any
) -> Evaluation:
    """Evaluate a run; rules are ``ties`` and ``empty`` of `~lambdaplus.evaluation.evaluate`."""
    convention = find_convention(convention)
    parsed = choose_metrics(list(metrics), {}, convention)
    return evaluate_input(parsed, input_of_run(run), convention, **rules)


def choose_metrics(
    names: list[Metric],
    options: Mapping[str, Any],
    convention: Convention = CONVENTIONS["lambdaplus"],
) -> list[RankingMetric]:
    """Parse names, passing to each metric the options that it has."""
    if not names:
        raise ValueError("no metric was given")
    shares = share_options(names, options)
    metrics = [convention.metric(name, **own) for name, own in zip(names, shares, strict=True)]
    _refuse_equal_names(metrics)
    return metrics


def _refuse_equal_names(metrics: list[RankingMetric]) -> None:
    """Raise a ValueError for different metrics with the same name."""
    by_name: dict[str, RankingMetric] = {}
    for metric in metrics:
        declared = SPELLINGS.get(metric.declaration.name, metric.declaration)
        if metric.declaration != declared:
            raise ValueError(
                f"your own metric is called {metric.declaration.name}, which is the name of a "
                f"metric of the library ({declared.title}): rename it"
            )
        if by_name.setdefault(str(metric), metric) != metric:
            raise ValueError(f"two different metrics are called {metric}: rename one of them")


def evaluate_input(
    metrics: list[RankingMetric],
    read: Input,
    convention: Convention = CONVENTIONS["lambdaplus"],
    *,
    ties: TieRule | None = None,
    empty: Empty | None = None,
    one_group: bool = False,
) -> Evaluation:
    """Like `evaluate`, for metrics and documents that are already parsed."""
    check_rules(ties, empty)
    _refuse_equal_names(metrics)
    queries, scores, qid, docno, judged = read
    n_queries, n = queries.n_queries, queries.n_documents
    flags = None if judged is None else flags_of_rows(judged, n, "judged")
    numbers = None if docno is None else identifiers(docno, "docno", n)
    checked = queries.check_scores(scores)
    if convention.single:
        checked = _in_float32(queries, checked)
    if convention.unjudged:
        queries, flags = _without_negative_labels(queries, flags)
    per_query: dict[str, Floats] = {}
    mean: dict[str, float] = {}
    undefined: dict[str, int] = {}
    rules: dict[str, str] = {}
    rows: dict[str, tuple[Rows, ...]] = {}
    for metric, scored in zip(metrics, _scored(metrics, queries, checked, one_group), strict=True):
        name, rule, ranked = str(metric), convention.rule(metric), scored.queries
        tie_rule, default = ties or rule.ties, rule.empty if empty is None else empty
        if metric.declaration.judged_only and flags is not None and not flags.all():
            query_values = _values_of_judged(metric, scored, flags, tie_rule, numbers)
        else:
            query_values = _values(metric, scored, tie_rule, numbers)
        _refuse_infinite(metric, query_values)
        missing = np.isnan(query_values)
        undefined[name] = int(missing.sum())
        if default != "skip":
            query_values = np.where(missing, float(default), query_values)
        per_query[name] = query_values
        mean[name] = mean_of(per_query[name], ranked.query_weights)
        rules[name] = _rules(metric, ranked, convention, tie_rule, default)
        if not queries.grouped and not ranked.grouped:
            rows[name] = (Rows(queries.labels, (checked,), queries.weights),)
    relevant = np.logical_or.reduceat(queries.labels >= 1, queries.boundaries[:-1])
    return Evaluation(
        per_query=per_query,
        mean=mean,
        n_queries=n_queries,
        without_relevant=int((~relevant).sum()),
        undefined=undefined,
        qid=np.arange(n_queries) if qid is None else qid,
        conventions=rules,
        convention=convention,
        weights=queries.query_weights,
        metrics={str(metric): metric for metric in metrics},
        rows=rows,
    )


def mean_values(
    metrics: list[RankingMetric], queries: Queries, scores: ArrayLike, one_group: bool = False
) -> dict[str, float]:
    """The mean of each metric in `evaluate_input`, without the rest: for each training round.

    If queries, or the rows of one list, are on several workers, it is that of all of them.
    """
    mean = {}
    every = _scored(metrics, queries, queries.check_scores(scores), one_group)
    for metric, scored in zip(metrics, every, strict=True):
        ranked = scored.queries
        if ranked.list_workers.size > 1:
            mean[str(metric)] = rounded_value(metric, ranked, scored.scores)
            continue
        query_values = values(metric, scored) if ranked.n_queries else np.empty(0)
        _refuse_infinite(metric, query_values)
        mean[str(metric)] = mean_of(query_values, ranked.query_weights, ranked.workers)
    return mean


def _scored(
    metrics: list[RankingMetric], queries: Queries, checked: Floats, one_group: bool
) -> Iterator[Scored]:
    """The scores of the lists that each metric ranks; metrics of the same lists share one sort."""
    by_lists: dict[int, Scored] = {}
    for metric in metrics:
        ranked = scope(metric, queries, one_group)
        if id(ranked) not in by_lists:
            by_lists[id(ranked)] = Scored(ranked, checked)
        yield by_lists[id(ranked)]


def _refuse_infinite(metric: RankingMetric, query_values: Floats) -> None:
    infinite = int(np.isinf(query_values).sum())
    if infinite:
        raise ValueError(
            f"{metric} is infinite in {infinite} of {query_values.size} queries: its gains are too "
            "large for float64"
        )


def _in_float32(queries: Queries, scores: Floats) -> Floats:
    """Scores rounded to float32; documents that were not returned stay below the others."""
    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float32).astype(np.float64)
    rounded = np.clip(rounded, -BEYOND_FLOAT32, BEYOND_FLOAT32)
    if queries.returned is not None:
        rounded[~queries.returned] = -2 * BEYOND_FLOAT32
    return rounded


def _without_negative_labels(
    queries: Queries, judged: Bools | None
) -> tuple[Queries, Bools | None]:
    """The queries with label 0 instead of negative ones, and which documents are judged."""
    nonnegative = queries.labels >= 0
    if nonnegative.all():
        return queries, judged
    whole = Queries(
        np.maximum(queries.labels, 0.0),
        group=queries.sizes if queries.grouped else None,
        weight=queries.weights,
        returned=queries.returned,
    )
    return whole, nonnegative if judged is None else nonnegative & judged


def _values_of_judged(
    metric: RankingMetric, scored: Scored, judged: Bools, ties: TieRule | None, docno: Any
) -> Floats:
    """Values on the judged documents of each query alone; NaN for a query without any."""
    queries, query_values = scored.queries, np.full(scored.queries.n_queries, np.nan)
    some, size = np.unique(queries.query_of_row[judged], return_counts=True)
    if some.size:
        returned, numbers = (None if x is None else x[judged] for x in (queries.returned, docno))
        part = Queries(queries.labels[judged], group=size, returned=returned)
        query_values[some] = _values(metric, Scored(part, scored.scores[judged]), ties, numbers)
    return query_values


def _values(
    metric: RankingMetric, scored: Scored, ties: TieRule | None, docno: NDArray[Any] | None
) -> Floats:
    """Values on each query; with ``ties="docno"``, ties are broken by document number."""
    if ties != "docno":
        return values(metric, scored, ties)
    queries, ranking = scored.queries, scored.ranking
    if docno is None:
        tied = ranking.score[1:] == ranking.score[:-1]
        tied[queries.boundaries[1:-1] - 1] = False
        if tied.any():
            raise ValueError(
                f"{int(tied.sum())} documents are tied with the next one, and ties must be broken "
                "by document number: pass docno=, or another ties="
            )
        return values(metric, scored, "stable")
    _, place = np.unique(docno.astype(str), return_inverse=True)
    return values(metric, scored, "stable", -place.astype(np.float64))


def _rules(
    metric: RankingMetric, queries: Queries, convention: Convention, ties: Any, empty: Empty
) -> str:
    """The rules of one metric in words, such as ``gain=exp2, ties=expected, empty=skip``."""
    if ties is None:
        expected = "expected" if queries.grouped else "together"
        ties = expected if metric.declaration.closed_ties else "worst"
        if (kind := metric.declaration.correlation) is not None:
            ties = {"ranks": "midranks", "pairs": "tau-b"}[kind]
    known = [parameter.name for parameter in metric.declaration.parameters]
    used = {name: metric[name] for name in known if name != "pairs"}  # which is for training
    used |= {"ties": ties, "empty": empty}
    words = ", ".join(f"{name}={as_text(value)}" for name, value in used.items())
    return words if convention.has(metric) else f"{words} (not a metric of {convention.tool})"
