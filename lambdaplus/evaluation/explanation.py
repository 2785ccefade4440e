"""Explanation of different values of a metric for the same ranking.

Examples
--------
>>> from lambdaplus import explain
>>> print(explain("ndcg", [2, 1, 0, 0, 0], [0.5, 0.5, 0.9, 0.3, 0.1], group=[3, 2]))
convention  ndcg    gap      because
lambdaplus  0.6229  +0.0000
lightgbm    0.8295  +0.2066  ties=stable +0.0361, empty=1 +0.1705
xgboost     0.8295  +0.2066  ties=stable +0.0361, empty=1 +0.1705
sklearn     0.3224  -0.3005  gain=linear +0.0218, empty=0 -0.3224
trec        -       -        ties=docno needs docno=
letor3      0.4539  -0.1691  discount=letor +0.1925, ties=stable +0.0923, empty=0 -0.4539
letor4      0.4539  -0.1691  discount=letor +0.1925, ties=stable +0.0923, empty=0 -0.4539
2 queries. Choices are applied one after the other; each is shown with its change of the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from lambdaplus.data.arrays import identifiers
from lambdaplus.data.queries import Queries
from lambdaplus.evaluation.conventions import CONVENTIONS, Convention, Empty, TieRule
from lambdaplus.evaluation.result import Evaluation, queries_in_words
from lambdaplus.evaluation.result_tables import Table, Tabular
from lambdaplus.evaluation.scoring import checked_queries, evaluate_queries
from lambdaplus.metrics import Metric, RankingMetric, parse_metric


@dataclass(frozen=True)
class Step:
    """One choice of a convention and the change that it makes."""

    choice: str
    change: float


@dataclass(frozen=True)
class Path:
    """The steps from the value of our convention to the value of another tool.

    Attributes
    ----------
    convention : Convention
    value : float
        NaN if the convention cannot be applied.
    steps : tuple of Step
        Choices, whose changes add up to the gap.
    reason : str
        Reason why the convention cannot be applied; empty if it can.
    """

    convention: Convention
    value: float
    steps: tuple[Step, ...]
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Explanation(Tabular):
    """The result of `explain`, printed as a table.

    Attributes
    ----------
    metric : RankingMetric
    value : float
        Value under our own convention.
    paths : tuple of Path
        One for each convention that has the metric.
    n_queries : int
    """

    metric: RankingMetric
    value: float
    paths: tuple[Path, ...]
    n_queries: int

    def __getitem__(self, convention: str) -> Path:
        for path in self.paths:
            if path.convention.name == convention:
                return path
        raise KeyError(convention)

    @property
    def table(self) -> Table:
        rows = [
            (
                path.convention.name,
                path.value,
                "-" if path.reason else f"{path.value - self.value:+.4f}",
                path.reason or ", ".join(f"{s.choice} {s.change:+.4f}" for s in path.steps),
            )
            for path in self.paths
        ]
        foot = (
            f"{queries_in_words(self.n_queries)}. Choices are applied one after the other; each "
            "is shown with its change of the value.",
        )
        return Table(("convention", str(self.metric), "gap", "because"), rows, foot)


def explain(
    metric: Metric,
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    docno: ArrayLike | None = None,
    **options: Any,
) -> Explanation:
    """Compute a metric under each convention, and the choices that cause the differences.

    Parameters
    ----------
    metric : str
        For example ``"ndcg@10"``.
    labels, scores : (n,) array_like
    group, qid, weight, docno
        As in `~lambdaplus.evaluation.evaluate`.
    **options
        Parameters of the metric; they apply to every convention.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        For input that is invalid for `~lambdaplus.evaluation.evaluate`.
    """
    qid = None if qid is None else identifiers(qid)
    queries = checked_queries(labels, group, qid, weight)
    return explain_queries(parse_metric(metric, **options), queries, scores, docno, options)


def explain_queries(
    metric: RankingMetric,
    queries: Queries,
    scores: ArrayLike,
    docno: ArrayLike | None = None,
    fixed: Any = (),
    judged: ArrayLike | None = None,
) -> Explanation:
    """Like `explain`, for queries that are already parsed.

    Parameters
    ----------
    metric, queries, scores, docno
    fixed : collection of str
        Options that are not changed.
    judged : (n,) array_like of bool, optional
        As in `~lambdaplus.evaluation.evaluate.evaluate_queries`.
    """
    kept = {*fixed, *(name for name, _ in metric.changed)}
    evaluated = partial(
        evaluate_queries, queries=queries, scores=scores, docno=docno, judged=judged
    )
    paths = [
        _path(convention, metric, kept, docno, evaluated)
        for convention in CONVENTIONS.values()
        if convention.has(metric)
    ]
    ours = next(path for path in paths if path.convention.name == "lambdaplus")
    return Explanation(metric, ours.value, tuple(paths), queries.n_queries)


def _path(
    convention: Convention,
    metric: RankingMetric,
    kept: set[str],
    docno: ArrayLike | None,
    evaluated: Callable[..., Evaluation],
) -> Path:
    rule = convention.rule(metric)
    ties: TieRule | None = None
    empty: Empty = "skip"
    held = CONVENTIONS["lambdaplus"]

    def value() -> float:
        found = evaluated([metric], convention=held, ties=ties, empty=empty)
        return found.mean[str(metric)]

    now = value()
    steps = []

    def step(choice: str) -> None:
        nonlocal now
        before, now = now, value()
        # As long as no query has a value, a choice does not cause a change.
        change = now if math.isnan(before) else now - before
        if abs(change) > 1e-12:
            steps.append(Step(choice, change))

    try:
        for name, chosen in rule.options.items():
            if name not in kept:
                metric = parse_metric(metric, defaults={name: chosen})
                step(f"{name}={chosen}")
        held = replace(held, single=convention.single)
        step("scores=float32")
        held = replace(held, unjudged=convention.unjudged)
        step("labels<0=unjudged")
        ties = rule.ties
        step(f"ties={ties}")
        empty = rule.empty
        step(f"empty={empty}")
    except ValueError as error:
        if rule.ties == "docno" and docno is None:
            return Path(convention, math.nan, (), "ties=docno needs docno=")
        return Path(convention, math.nan, (), str(error))
    return Path(convention, now, tuple(steps))
