"""Explanation of different values of a metric for the same ranking."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from lambdaplus.data.queries import Queries
from lambdaplus.evaluation.conventions import CONVENTIONS, Convention
from lambdaplus.evaluation.result import queries_in_words
from lambdaplus.evaluation.result_tables import Table, Tabular
from lambdaplus.evaluation.scoring import evaluate_queries
from lambdaplus.metrics import Metric, RankingMetric, parse_metric

OWN_RULES: dict[str, Any] = {"convention": CONVENTIONS["lambdaplus"], "ties": None, "empty": "skip"}


class Step(NamedTuple):
    """One choice of a convention and the change that it makes."""

    choice: str
    change: float


class Path(NamedTuple):
    """The steps from the value of our convention to the value of another tool."""

    convention: Convention
    value: float  # NaN if the convention cannot be applied
    steps: tuple[Step, ...]  # their changes add up to the gap
    reason: str = ""  # why the convention cannot be applied


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
        return {path.convention.name: path for path in self.paths}[convention]

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
    """
    queries = Queries(labels, group=group, qid=qid, weight=weight)
    return explain_queries(parse_metric(metric, **options), queries, scores, docno, options)


def explain_queries(
    metric: RankingMetric,
    queries: Queries,
    scores: ArrayLike,
    docno: ArrayLike | None = None,
    fixed: Collection[str] = (),
    judged: ArrayLike | None = None,
) -> Explanation:
    """Like `explain`, for queries that are already parsed, except for the fixed options."""
    kept = {*fixed, *(name for name, _ in metric.changed)}

    def value_of(chosen: RankingMetric, **rules: Any) -> float:
        found = evaluate_queries([chosen], queries, scores, docno=docno, judged=judged, **rules)
        return found.mean[str(chosen)]

    def path_to(convention: Convention) -> Path:
        value, steps = ours, []
        try:
            for choice, chosen, rules in _choices(convention, metric, kept):
                before, value = value, value_of(chosen, **rules)
                # As long as no query has a value, a choice does not cause a change.
                change = value if math.isnan(before) else value - before
                if abs(change) > 1e-12:
                    steps.append(Step(choice, change))
        except ValueError as error:
            needs_docno = docno is None and convention.rule(metric).ties == "docno"
            reason = "ties=docno needs docno=" if needs_docno else str(error)
            return Path(convention, math.nan, (), reason)
        return Path(convention, value, tuple(steps))

    ours = value_of(metric, **OWN_RULES)
    paths = [path_to(convention) for convention in CONVENTIONS.values() if convention.has(metric)]
    return Explanation(metric, ours, tuple(paths), queries.n_queries)


def _choices(
    convention: Convention, metric: RankingMetric, kept: Collection[str]
) -> Iterator[tuple[str, RankingMetric, dict[str, Any]]]:
    """The choices from our convention to another, one after the other: metric and rules so far."""
    rule, rules = convention.rule(metric), OWN_RULES
    for name, option in rule.options.items():
        if name not in kept:
            metric = parse_metric(metric, defaults={name: option})
            yield f"{name}={option}", metric, rules
    in_float32 = replace(OWN_RULES["convention"], single=convention.single)
    with_unjudged = replace(in_float32, unjudged=convention.unjudged)
    for choice, change in (
        ("scores=float32", {"convention": in_float32}),
        ("labels<0=unjudged", {"convention": with_unjudged}),
        (f"ties={rule.ties}", {"ties": rule.ties}),
        (f"empty={rule.empty}", {"empty": rule.empty}),
    ):
        rules = {**rules, **change}
        yield choice, metric, rules
