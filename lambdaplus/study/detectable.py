"""Which differences a study can see, and what it would take to see smaller ones.

A difference is seen if it is found significant in four of five such studies (power .8).
"""

from __future__ import annotations

import math

from scipy import stats

from lambdaplus.evaluation.effects import Effect

POWER = 0.8
MOST_SEEDS = 100  # that are ever proposed


def seen(effect: Effect, alpha: float) -> float:
    """The smallest difference that a study with this error sees in a two-sided test at alpha."""
    quantiles = stats.t.isf([alpha / 2, 1.0 - POWER], effect.freedom)
    return float(quantiles.sum()) * effect.error


def with_seeds(effect: Effect, seeds: int, more: int) -> Effect:
    """The effect as it would be with more seeds than it has, if all else stays as it is.

    More seeds lower all of the variance but the part that lasts.  With one seed, that part is
    unknown, so that today's error is taken, with the freedom of a normal distribution.
    """
    if math.isnan(effect.lasting):
        return effect._replace(freedom=math.inf)
    variance = effect.lasting + (effect.error**2 - effect.lasting) * seeds / more
    freedom = effect.freedom * (more - 1) / (seeds - 1)
    return effect._replace(error=math.sqrt(max(0.0, variance)), freedom=freedom)


def with_all_seeds(effect: Effect) -> Effect:
    """The effect as it would be with any number of seeds: its error is that over queries."""
    return effect._replace(error=math.sqrt(effect.lasting), freedom=math.inf)


def seeds_that_see(difference: float, effect: Effect, seeds: int, alpha: float) -> int | None:
    """The number of seeds with which a study sees a difference; None if no number does.

    It follows from variances alone, never from the difference that was found, which keeps the level
    of the test (Stein 1945).
    """
    for more in range(seeds, MOST_SEEDS + 1):
        if seen(with_seeds(effect, seeds, more) if more > seeds else effect, alpha) <= difference:
            return more
    return None


def queries_that_see(difference: float, effect: Effect, queries: int, alpha: float) -> int:
    """The number of test queries with which a study of many seeds sees a difference."""
    smallest = seen(with_all_seeds(effect), alpha)
    return math.ceil(queries * (smallest / difference) ** 2)
