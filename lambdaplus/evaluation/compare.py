"""Comparison of several systems on the same queries or rows, with significance tests."""

import itertools
from collections.abc import Mapping
from functools import partial

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.comparable import aligned_values, check_runs, tables_of
from lambdaplus.evaluation.evaluation import Evaluation, queries_in_words
from lambdaplus.evaluation.run_comparison import Pair, RunComparison
from lambdaplus.evaluation.significance import (
    TESTS,
    Alternative,
    Test,
    bootstrap_intervals,
    check_options,
    direction,
    holm,
    p_value,
    rounded,
)
from lambdaplus.evaluation.whole_tables import Spread, spread
from lambdaplus.metrics.means import mean_of


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
        Wilcoxon's signed-rank test without queries whose difference is 0 (Yue et al. 2007), the
        paired t-test (Elsas et al. 2008), or Fisher's paired randomisation test, which swaps the
        two systems on each query at random.
    alternative : {"two-sided", "greater"}
        "greater" tests whether each run is better than the baseline or, without a baseline, than
        each other run.
    correction : {"holm", "none"}
        Correction for the number of tests in the table, over all pairs and metrics.

        .. versionchanged:: 0.2.0
           Before, the tests of each metric were corrected separately.
    alpha : float
        Significance level of the letters; stars have the levels .05, .01 and .001.
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
        If runs differ in queries, weights, conventions or metrics, including different metrics with
        the same name; if there are fewer than two runs; or if an option is unknown or out of range.
    TypeError
        If ``runs`` is not a dict of evaluations.

    Notes
    -----
    Wilcoxon's test compares signed ranks, so it can favour a run with the lower mean, which wins on
    most queries.  A run has a letter or a star only if the test favours it, or the other one, in
    the direction of the mean; pairs for which they disagree are listed below the table.  Intervals
    are of the difference of means.

    If the runs were evaluated with weights, the difference of a query is multiplied by its weight,
    divided by the mean weight: in means, intervals and tests.  Queries of weight 0, and those on
    which one run of a pair has no value, are left out for this pair.

    Without queries, values over all rows are tested in place of ``test``, for runs on the same rows
    in the same order: AUC by DeLong's test, MAP and MAUC by a bootstrap over rows, whose standard
    error gives p by a normal distribution.  A metric over all rows of data with queries
    (``over=dataset``) is not tested, since rows of a query are not independent.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson 1988, Comparing the areas under two or more correlated receiver
    operating characteristic curves.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus import compare_runs, evaluate
    >>> random = np.random.default_rng(0)
    >>> labels, group = random.integers(0, 3, 1000), [20] * 50
    >>> good = evaluate(labels, labels + random.normal(size=1000), group=group)
    >>> bad = evaluate(labels, labels + 3 * random.normal(size=1000), group=group)
    >>> [pair] = compare_runs({"good": good, "bad": bad}).of("map")
    >>> (pair.wins, pair.losses, pair.ties, pair.p_value < 0.001)
    (45, 5, 0, True)
    """
    allowed_names = {"test": test, "alternative": alternative, "correction": correction}
    check_options(alpha, confidence, resamples, seed, **allowed_names)
    check_runs(runs, baseline)
    names, first = tuple(runs), next(iter(runs.values()))
    if baseline is not None:
        compared = [(name, baseline) for name in names if name != baseline]
    else:
        in_turn = itertools.permutations if alternative == "greater" else itertools.combinations
        compared = list(in_turn(names, 2))
    p_of = partial(p_value, test=test, alternative=alternative, resamples=resamples, seed=seed)
    intervals = partial(bootstrap_intervals, confidence=confidence, resamples=resamples, seed=seed)
    pairs: list[Pair] = []
    means: dict[str, dict[str, float]] = {}
    of_runs: dict[str, dict[str, tuple[float, float]]] = {}
    for metric, values in aligned_values(runs).items():
        tested: list[Pair] = []
        if tables := tables_of(metric, runs):
            means[metric] = {name: run.mean[metric] for name, run in runs.items()}
            parsed = first.metrics.get(metric) or first.convention.metric(metric)
            found = spread(parsed, tables, resamples, seed)
            of_runs[metric] = {
                name: found.interval(means[metric][name], confidence, place)
                for place, name in enumerate(names)
            }
            tested = _pairs_of_rows(metric, compared, means[metric], found, confidence, alternative)
        else:
            defined = ~np.isnan(np.array(list(values.values()))).any(axis=0)
            by_query = defined.size == first.n_queries
            weights = first.weights if by_query else None
            of_defined = None if weights is None else weights[defined]
            means[metric] = {
                name: mean_of(of_run[defined], of_defined) for name, of_run in values.items()
            }
            if not by_query or defined.size < 2:
                continue  # one value for the whole data set, or a single query
            differences = [_difference(values[a], values[b], weights) for a, b in compared]
            p = [float(p_of(each)) if each.size else np.nan for each in differences]
            favours = [direction(each, test) for each in differences]
            tested = _pairs_of_queries(
                metric, compared, differences, intervals(differences), p, favours
            )
        pairs += tested
    corrected = np.array([pair.p_value for pair in pairs])
    corrected = holm(corrected) if correction == "holm" else corrected
    pairs = [pair._replace(p_corrected=float(p)) for pair, p in zip(pairs, corrected, strict=True)]
    tail = "two-tailed" if alternative == "two-sided" else "one-tailed"
    marks = f"Letters: better than that run at {alpha:g}"
    if baseline is not None:
        marks = f"Stars: differs from {baseline} at .05, .01, .001"
    sample, test_name = queries_in_words(first.n_queries), TESTS[test]
    if of_runs:
        ranked = next(ranked for ranked in first.rows.values() if ranked)
        sample = f"{sum(table.labels.size for table in ranked):,} rows without queries"
        test_name = "DeLong test for AUC, bootstrap over rows for other metrics"
    weighted = "" if first.weights is None else ", weighted"
    foot = (
        f"{sample}{weighted}. {marks} ({tail} {test_name}, "
        f"{'Holm' if correction == 'holm' else 'no'} correction over the table).",
        f"Convention {first.convention.name}:",
        *(f"  {name}: {rules}" for name, rules in first.conventions.items()),
    )
    return RunComparison(
        names, means, tuple(pairs), test, alternative, correction, alpha, confidence, baseline,
        foot, of_runs,
    )  # fmt: skip


def _pairs_of_rows(
    metric: str,
    compared: list[tuple[str, str]],
    means: Mapping[str, float],
    found: Spread,
    confidence: float,
    alternative: Alternative,
) -> list[Pair]:
    """The pairs of a metric over all rows, not corrected yet."""
    names, pairs = list(means), []
    for a, b in compared:
        difference = float(rounded(np.array([means[a] - means[b]]))[0])
        places = names.index(a), names.index(b)
        interval = found.interval(difference, confidence, *places)
        p = found.p_value(difference, alternative, *places)
        favoured = _favoured(a, b, np.sign(difference))
        pairs.append(Pair(metric, a, b, 0, difference, interval, 0, 0, 0, p, p, favoured))
    return pairs


def _pairs_of_queries(
    metric: str,
    compared: list[tuple[str, str]],
    differences: list[Floats],
    intervals: list[tuple[float, float]],
    p_values: list[float],
    favours: list[int],
) -> list[Pair]:
    """The pairs of a metric by query, not corrected yet."""
    pairs = []
    for (a, b), difference, interval, p, sign in zip(
        compared, differences, intervals, p_values, favours, strict=True
    ):
        signs = np.sign(difference)
        wins, losses, ties = (int((signs == side).sum()) for side in (1, -1, 0))
        n, mean, favoured = difference.size, mean_of(difference), _favoured(a, b, sign)
        pairs.append(Pair(metric, a, b, n, mean, interval, wins, losses, ties, p, p, favoured))
    return pairs


def _favoured(first: str, second: str, sign: float) -> str:
    return {1: first, -1: second}.get(int(sign), "")


def _difference(first: Floats, second: Floats, weights: Floats | None) -> Floats:
    """Differences on the queries on which both have a value, with rounding errors set to 0.

    They are multiplied by the weights, less their scale, so that their mean is the weighted one.
    """
    difference = first - second
    known = ~np.isnan(difference) & (weights is None or weights > 0.0)
    difference = rounded(difference[known])
    if weights is not None and difference.size:
        difference *= weights[known] / weights[known].mean()
    return difference
