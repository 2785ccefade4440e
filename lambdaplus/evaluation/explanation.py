"""Explanation of different values of a metric for the same ranking."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.evaluation.conventions import CONVENTIONS, Convention
from lambdaplus.evaluation.evaluate_run import evaluate_run
from lambdaplus.evaluation.evaluation import queries_in_words
from lambdaplus.evaluation.result_tables import Table, Tabular
from lambdaplus.lists.runs import Labels, run_of
from lambdaplus.metrics import Metric, RankingMetric, parse_metric

OWN_RULES: dict[str, Any] = {"convention": CONVENTIONS["lambdaplus"], "ties": None, "empty": "skip"}


class Gap(NamedTuple):
    """The value under a convention, and the changes that lead to it from that of "lambdaplus"."""

    convention: Convention
    value: float
    steps: tuple[tuple[str, float], ...]  # rules, such as ties=stable, and their changes
    reason: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Tabular):
    """The result of `explain`, printed as a table.

    Attributes
    ----------
    metric : RankingMetric
    value : float
        Value under the convention "lambdaplus".
    gaps : tuple of Gap
        The convention, the value under it, the steps to it (their changes add up to the gap) and,
        if the value is NaN because the convention cannot be applied, the reason.
    n_queries : int

    Examples
    --------
    >>> from lambdaplus import explain
    >>> explanation = explain("map", [1, 0, 0, 0], [0.9, 0.1, 0.8, 0.7], group=[2, 2])
    >>> explanation.value, explanation.n_queries
    (1.0, 2)
    """

    metric: RankingMetric
    value: float
    gaps: tuple[Gap, ...]
    n_queries: int

    def __getitem__(self, convention: str) -> Gap:
        """The gap to a convention; a KeyError if it does not have the metric."""
        return {gap.convention.name: gap for gap in self.gaps}[convention]

    @property
    def table(self) -> Table:
        """One row for each convention: its value, the gap, and the choices that cause it."""
        rows = [
            (
                gap.convention.name,
                gap.value,
                "-" if gap.reason else f"{gap.value - self.value:+.4f}",
                gap.reason or ", ".join(f"{step} {change:+.4f}" for step, change in gap.steps),
            )
            for gap in self.gaps
        ]
        foot = (
            f"{queries_in_words(self.n_queries)}. Choices are applied one after the other; each "
            "is shown with its change of the value.",
        )
        return Table(("convention", str(self.metric), "gap", "because"), rows, foot)


def explain(
    metric: Metric,
    labels: Labels,
    scores: Labels,
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
    metric : str, RankingMetric or Declaration
        For example ``"ndcg@10"``.
    labels, scores, group, qid, weight, docno
        As in `~lambdaplus.evaluation.evaluate`.
    **options
        Parameters of the metric; they apply to every convention.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        For input that `~lambdaplus.evaluation.evaluate` refuses, and for a sum of metrics.

    Examples
    --------
    >>> from lambdaplus import explain
    >>> why = explain("ndcg", [2, 1, 0, 0, 0], [0.5, 0.5, 0.9, 0.3, 0.1], group=[3, 2])
    >>> [(choice, round(change, 4)) for choice, change in why["lightgbm"].steps]
    [('ties=stable', 0.0361), ('empty=1', 0.1705)]
    """
    run = run_of(labels, scores, group=group, qid=qid, weight=weight, docno=docno)
    parsed = parse_metric(metric, **options)
    kept = {*options, *(name for name, _ in parsed.changed)}

    known: dict[Any, float] = {}
    in_float64 = run.queries.check_scores(run.scores)
    with np.errstate(over="ignore"):
        rounds = bool((in_float64.astype(np.float32) != in_float64).any())
    has_negative = bool((run.queries.labels < 0).any())

    def value_of(variant: RankingMetric, **rules: Any) -> float:
        # Conventions share most rules, and differ in what these do before the metric is evaluated.
        convention = rules["convention"]
        before = convention.single and rounds, convention.unjudged and has_negative
        key = variant, *before, rules["ties"], rules["empty"]
        if key not in known:
            known[key] = evaluate_run(run, variant, **rules).mean[str(variant)]
        return known[key]

    def gap_to(convention: Convention) -> Gap:
        value, steps = ours, []
        try:
            for choice, variant, rules in _choices(convention, parsed, kept):
                before, value = value, value_of(variant, **rules)
                # NaN: no query has a value before this choice.
                change = value if math.isnan(before) else value - before
                if abs(change) > 1e-12:
                    steps.append((choice, change))
        except ValueError as error:
            needs_docno = run.docno is None and convention.rule(parsed).ties == "docno"
            reason = "ties=docno needs docno=" if needs_docno else str(error)
            return Gap(convention, math.nan, (), reason)
        return Gap(convention, value, tuple(steps))

    ours = value_of(parsed, **OWN_RULES)
    gaps = [gap_to(convention) for convention in CONVENTIONS.values() if convention.has(parsed)]
    return Explanation(parsed, ours, tuple(gaps), run.queries.n_queries)


def _choices(
    convention: Convention, metric: RankingMetric, kept: Collection[str]
) -> Iterator[tuple[str, RankingMetric, dict[str, Any]]]:
    """Each choice on the way to a convention, with the metric and the rules after it."""
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
