"""What a study has found, and what it can see, in a few plain sentences."""

from __future__ import annotations

import math

from lambdaplus.evaluation.effects import Effect
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.study.detectable import queries_that_see, seen, with_all_seeds, with_seeds
from lambdaplus.study.results import Results
from lambdaplus.study.verdict import ALPHA, Verdict
from lambdaplus.study.words import count, label

SEEDS = (3, 5, 10, 20, 50)  # that are proposed
# A part of the variance below which that of the queries, a difference of two estimates, is noise.
LEAST_SHARE = 1 / 16


def conclusion(verdict: Verdict, results: Results, baseline: str) -> str:
    """Whether one method is better, both are equal, or what it would take to know.

    What is compared are the two methods, or, if other folds choose several, these choices.
    """
    said = _finding(verdict, results, baseline)
    return said[0].upper() + said[1:] if said.startswith("the choice") else said


def _finding(verdict: Verdict, results: Results, baseline: str) -> str:
    first, second = verdict.words
    unit, margin = label(verdict.metric), results.config.margin or 0.0
    gap = decimal(verdict.difference, 3, "+")
    if not verdict.tested:
        return (
            f"Open: {first} less {second} is {gap} {unit}, but {_why_untested(verdict, results)}."
        )
    if verdict.is_within(margin):
        bounds = _interval(verdict.interval_at(2 * ALPHA))
        return (
            f"{first} and {second} are equal within {_size(margin)} {unit}: the difference is "
            f"{gap} (90 % interval {bounds}).{_choices(verdict)}"
        )
    if outcome := verdict.outcome:
        one, other = (first, second) if outcome == "better" else (second, first)
        low, high = sorted(map(abs, verdict.interval))
        by = f"{_size(abs(verdict.difference))} {unit} ({_size(low)} to {_size(high)})"
        keep = ": keep it" if one == baseline else ""
        return f"{one} is better than {other} by {by}{keep}.{_choices(verdict)}"
    said = f"Open: {first} less {second} is {gap} {unit} ({_interval(verdict.interval)})."
    return f"{said} {_sight(verdict, results)}{_choices(verdict)}"


def _why_untested(verdict: Verdict, results: Results) -> str:
    """Why there is no test, and what would give one."""
    if verdict.effect.error == 0.0:
        items = _items(results)
        return (
            f"differences do not vary, so nothing is known of other {items}: use more {items}, or "
            "train longer"
        )
    folds, seeds = len(results.folds), _n_seeds(verdict, results)
    why = f"{count(folds, 'fold')} with {count(seeds, 'seed')} are too few for a test"
    if folds == 1:
        why = "one training of each cannot tell them from chance"
    return f"{why}: {_more(verdict, results, max(3, seeds + 1))}"


def _sight(verdict: Verdict, results: Results) -> str:
    """The differences that the study sees, and would see with more seeds or queries."""
    effect, alpha = verdict.effect, verdict.alpha
    n, now, asked = _n_seeds(verdict, results), seen(effect, alpha), results.config.see
    said = f"This study sees differences from {_size(now)} on"
    if asked is not None and now > asked:
        said += f", not yet {_size(asked)}"
    if not _changed_by_seeds(verdict, results):
        more_items = f"smaller ones need more {_items(results)}"
        return f"{said}; {more_items}, since no seed changes the two methods."
    more = next((seeds for seeds in SEEDS if seeds > n), 2 * n)
    then = seen(with_seeds(effect, n, more), alpha)
    or_less = " or less" if math.isnan(effect.lasting) else ""
    said += f"; {_more(verdict, results, more)} sees about {_size(then)}{or_less}"
    if effect.lasting > LEAST_SHARE * effect.error**2:
        said += f"; {_beyond_seeds(effect, alpha, results)}"
    if results.config.folds:
        return f"{said}. More folds see more than seeds at the same price: leave out --folds."
    return f"{said}."


def _beyond_seeds(effect: Effect, alpha: float, results: Results) -> str:
    """The differences that no number of seeds sees, and the queries that a smaller one needs."""
    least = seen(with_all_seeds(effect), alpha)
    n, items = results.n_rows or results.queries, _items(results)
    asked = results.config.see or 0.0
    wanted = asked if 0.0 < asked < least else least / 2
    needed = _rounded(queries_that_see(wanted, effect, n, alpha))
    return (
        f"below about {_size(least)} no number of seeds does: "
        f"{_size(wanted)} needs about {needed:,} {items}"
    )


def _items(results: Results) -> str:
    """What more are needed of: rows of a table, or queries by the name of their column."""
    return "rows" if results.n_rows else results.nouns.queries


def _more(verdict: Verdict, results: Results, seeds: int) -> str:
    """The option that gives more trainings, and what it costs."""
    folds = "leave out --folds" if results.config.folds else "use more folds"
    if not _changed_by_seeds(verdict, results):
        return f"{folds}, since no seed changes them"
    seconds = results.seconds_of_a_seed * (seeds - _n_seeds(verdict, results))
    time = f"{seconds:,.0f} s" if seconds < 100 else f"{seconds / 60:,.0f} minutes"
    return f"--seeds {seeds}" + f" (it continues, about {time} of training)" * (seconds > 0)


def _changed_by_seeds(verdict: Verdict, results: Results) -> bool:
    return results.changed_by_seeds(verdict.metric, verdict.first, verdict.second)


def _n_seeds(verdict: Verdict, results: Results) -> int:
    return results.n_seeds(verdict.first, verdict.second)


def _choices(verdict: Verdict) -> str:
    """What a choice without other folds costs."""
    if verdict.tests == 1:
        return ""
    return (
        f" Corrected for {count(verdict.tests, 'possible choice')}: with folds in time, or fewer "
        "than four, methods cannot be chosen by other folds."
    )


def _interval(bounds: tuple[float, float]) -> str:
    return " to ".join(decimal(bound, 3, "+") for bound in bounds)


def _size(value: float) -> str:
    """A difference with three decimals, or as many as it takes to see it."""
    return decimal(value, 3 if value >= 0.0005 or value == 0.0 else 5)


def _rounded(number: int) -> int:
    """A number with two digits."""
    return round(number, 2 - len(str(number))) if number > 100 else number
