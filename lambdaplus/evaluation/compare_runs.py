"""Compare several systems on the same queries, with significance tests.

Examples
--------
>>> import numpy as np
>>> from lambdaplus import compare_runs, evaluate
>>> random = np.random.default_rng(0)
>>> labels, group = random.integers(0, 3, 1000), [20] * 50
>>> good, bad = labels + random.normal(size=1000), labels + 3 * random.normal(size=1000)
>>> runs = {name: evaluate(labels, s, group=group) for name, s in (("good", good), ("bad", bad))}
>>> found = compare_runs(runs)
>>> [pair] = found.of("map")
>>> (pair.wins, pair.losses, pair.ties, pair.p_value < 0.001)
(45, 5, 0, True)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from lambdaplus.data.queries import Floats
from lambdaplus.evaluation.result import Evaluation, queries_in_words
from lambdaplus.evaluation.run_comparison import Pair, RunComparison
from lambdaplus.evaluation.significance import (
    TESTS,
    Alternative,
    Test,
    bootstrap_intervals,
    check_options,
    holm,
    p_value,
)

ROUNDING = 1e-12  # values are sums of hundreds of terms, so equal values may differ by this much


def compare_runs(
    runs: Mapping[str, Evaluation],
    *,
    baseline: str | None = None,
    test: Test = "wilcoxon",
    alternative: Alternative = "two-sided",
    correction: str = "holm",
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = 9999,
    seed: int = 0,
) -> RunComparison:
    """Compare systems that were evaluated on the same queries.

    Parameters
    ----------
    runs : dict of str to Evaluation
        At least two runs by name, with the same metrics and queries.  The order of queries can
        differ if they were evaluated with a qid.
    baseline : str, optional
        Run with which all others are compared.  By default, all pairs of runs are compared.
    test : {"wilcoxon", "t", "randomization"}
        See ``lambdaplus.evaluation.significance.p_value``.
    alternative : {"two-sided", "greater"}
        "greater" tests, for every pair of runs, whether the first is better and whether the second
        is better.
    correction : {"holm", "none"}
        Correction for the number of tests of one metric.
    alpha : float
        Significance level at which a mean is marked.
    confidence : float
        Confidence level of the bootstrap intervals.
    resamples, seed : int
        Number of samples and seed of the randomisation test and the bootstrap.

    Returns
    -------
    RunComparison

    Raises
    ------
    ValueError
        If runs differ in queries or metrics, including different metrics with the same name; if
        there are fewer than two runs, or an option is unknown.
    TypeError
        If runs is not a dict of evaluations.

    Notes
    -----
    Every query has the same weight, regardless of the weights in the evaluation.  Queries on which
    one run of a pair has no value are left out for this pair.  A metric over the whole data set has
    no value per query and is not tested.
    """
    check_options(
        test=test,
        alternative=alternative,
        correction=correction,
        alpha=alpha,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )
    _check(runs, baseline)
    names = tuple(runs)
    n_queries = next(iter(runs.values())).n_queries
    per_query = _aligned(runs)
    chance = partial(p_value, test=test, alternative=alternative, resamples=resamples, seed=seed)
    intervals = partial(bootstrap_intervals, confidence=confidence, resamples=resamples, seed=seed)
    pairs: list[Pair] = []
    means: dict[str, dict[str, float]] = {}
    for metric, values in per_query.items():
        every = ~np.isnan(np.array(list(values.values()))).any(axis=0)
        means[metric] = {
            name: float(found[every].mean()) if every.any() else math.nan
            for name, found in values.items()
        }
        if baseline is not None:
            chosen = [(name, baseline) for name in names if name != baseline]
        elif alternative == "greater":
            chosen = list(itertools.permutations(names, 2))
        else:
            chosen = list(itertools.combinations(names, 2))
        if every.size != n_queries or n_queries < 2:  # a value of the whole data set: no sample
            continue
        differences = [_known(values[a] - values[b]) for a, b in chosen]
        found = [
            _pair(metric, a, b, difference, chance, interval)
            for (a, b), difference, interval in zip(
                chosen, differences, intervals(differences), strict=True
            )
        ]
        p = np.array([pair.p_value for pair in found])
        corrected = holm(p) if correction == "holm" else p
        pairs += [
            replace(pair, p_corrected=float(q)) for pair, q in zip(found, corrected, strict=True)
        ]
    first = next(iter(runs.values()))
    tail = "two-tailed" if alternative == "two-sided" else "one-tailed"
    marks = (
        f"Stars: differs from {baseline} at .05, .01, .001"
        if baseline is not None
        else f"Letters: better than that run at {alpha:g}"
    )
    foot = (
        f"{queries_in_words(first.n_queries)}. {marks} ({tail} {TESTS[test]}, "
        f"{'Holm' if correction == 'holm' else 'no'} correction over the tests of a metric).",
        f"Convention {first.convention.name}:",
        *(f"  {name}: {rules}" for name, rules in first.conventions.items()),
    )
    return RunComparison(
        names, means, tuple(pairs), test, alternative, correction, alpha, confidence, baseline, foot
    )


def _check(runs: Mapping[str, Evaluation], baseline: str | None) -> None:
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs must be a dict of evaluations by name, not {type(runs).__name__}")
    for name, run in runs.items():
        if not isinstance(run, Evaluation):
            raise TypeError(f"run {name!r} is not an Evaluation, but {type(run).__name__}")
    if len(runs) < 2:
        raise ValueError(f"a comparison needs at least two runs, got {len(runs)}")
    if baseline is not None and baseline not in runs:
        raise ValueError(f"baseline={baseline!r} is not one of the runs: {', '.join(runs)}")


def _aligned(runs: Mapping[str, Evaluation]) -> dict[str, dict[str, Floats]]:
    """Per-query values by metric and run, with queries in the order of the first run."""
    (first_name, first), *others = runs.items()
    places = {first_name: np.arange(first.n_queries)}
    for name, run in others:
        if list(run.conventions.items()) != list(first.conventions.items()):
            raise ValueError(
                f"{name!r} and {first_name!r} were not evaluated with the same metrics and "
                f"conventions: {run.conventions} and {first.conventions}"
            )
        for metric in first.metrics.keys() & run.metrics.keys():
            if first.metrics[metric] != run.metrics[metric]:
                raise ValueError(
                    f"{name!r} and {first_name!r} were evaluated with different metrics of the "
                    f"name {metric}: rename one, or evaluate both with the same Declaration"
                )
        place = {query: i for i, query in enumerate(run.qid.tolist())}
        missing = [query for query in first.qid.tolist() if query not in place]
        if missing or run.n_queries != first.n_queries:
            some = f", such as {missing[0]!r}" if missing else ""
            raise ValueError(
                f"{name!r} and {first_name!r} do not have the same queries: {run.n_queries} and "
                f"{first.n_queries}, and {len(missing)} of the latter are not among the former"
                f"{some}"
            )
        places[name] = np.array([place[query] for query in first.qid.tolist()])
    return {
        metric: {
            name: run.per_query[metric][places[name]]
            if len(run.per_query[metric]) == run.n_queries
            else run.per_query[metric]
            for name, run in runs.items()
        }
        for metric in first.per_query
    }


def _known(difference: Floats) -> Floats:
    """Differences on queries with a value, with rounding errors set to 0."""
    known = difference[~np.isnan(difference)]
    known[np.abs(known) <= ROUNDING] = 0.0
    return known


def _pair(
    metric: str,
    first: str,
    second: str,
    known: Floats,
    chance: Callable[[Floats], float],
    interval: tuple[float, float],
) -> Pair:
    if known.size == 0:
        nan = math.nan
        return Pair(metric, first, second, 0, nan, interval, 0, 0, 0, nan, nan)
    p = chance(known)
    return Pair(
        metric=metric,
        first=first,
        second=second,
        n_queries=known.size,
        difference=float(known.mean()),
        interval=interval,
        wins=int((known > 0).sum()),
        losses=int((known < 0).sum()),
        ties=int((known == 0).sum()),
        p_value=p,
        p_corrected=p,
    )
