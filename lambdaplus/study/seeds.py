"""How many seeds a study needs to see a difference, after a first pass (Stein 1945).

The number follows from the variance of the first pass alone, never from the difference that it has
found, so that the tests of all trainings keep their level.
"""

from __future__ import annotations

from lambdaplus.study.detectable import seeds_that_see
from lambdaplus.study.summary import Summary

FIRST_PASS = 2  # seeds
UNTESTED = 5  # seeds, if a first pass has too few trainings for a test


def more_seeds(seeds: tuple[int, ...], number: int) -> tuple[int, ...]:
    """So many seeds, the given ones first."""
    new = (seed for seed in range(number + len(seeds)) if seed not in seeds)
    return (*seeds, *(next(new) for _ in range(number - len(seeds))))


def seeds_needed(summary: Summary, jobs: int) -> int:
    """The number of seeds with which a study sees ``see``, and which its ``budget`` allows.

    No seeds are added if no number of them is enough: then queries are missing.
    """
    results, verdict = summary.results, summary.main
    config, n = results.config, len(results.config.seeds)
    if verdict is None or config.see is None:
        return n
    if not results.changed_by_seeds(verdict.metric, verdict.first, verdict.second):
        return n
    needed = max(n, UNTESTED)
    if verdict.tested:
        needed = seeds_that_see(config.see, verdict.effect, n, verdict.alpha) or n
    if config.budget is not None:
        of_a_seed = results.seconds_of_a_seed / jobs
        allowed = int(60 * config.budget / of_a_seed) if of_a_seed else needed
        needed = max(n, min(needed, allowed))
    return needed
