"""Comparison of several systems on the same queries or rows, with significance tests.

Runs are aligned (`aligned_runs`), their differences are tested (`significance`), and the result is
a `RunComparison` (`run_comparison`).
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import check_choice, number
from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.aligned_runs import aligned_rows, aligned_values, mean_run, systems
from lambdaplus.evaluation.evaluation import (
    Evaluation,
    metric_of,
    rules_in_words,
    sample_in_words,
)
from lambdaplus.evaluation.run_comparison import Pair, RunComparison
from lambdaplus.evaluation.significance import (
    TESTS,
    Test,
    Tested,
    holm,
    rounded,
    row_statistics,
    test_of,
)
from lambdaplus.metrics.means import mean_of


def compare_runs(
    runs: Mapping[str, Evaluation | Sequence[Evaluation]],
    *,
    baseline: str | None = None,
    test: Test = "t",
    alpha: float = 0.05,
    confidence: float = 0.95,
) -> RunComparison:
    """Compare systems that were evaluated on the same queries.

    Parameters
    ----------
    runs : dict of str to Evaluation, or to a list of them
        At least two runs by name, with the same metrics and queries.  The order of queries can
        differ if they were evaluated with a qid.  Of a list, such as the models of several seeds,
        the mean over the runs is compared on each query, and the table has their standard
        deviation.
    baseline : str, optional
        Run with which all others are compared.  By default, all pairs of runs are compared.
    test : {"t", "wilcoxon"}
        The paired t-test with Student's interval, which leaves out 0 if and only if p is below
        1 - confidence; or Wilcoxon's signed-rank test without queries whose difference is 0 (Yue
        et al. 2007), with a bootstrap interval.  Both tests are two-sided; p-values are also given
        with Holm's correction for the number of tests in the table, over all pairs and metrics.

        .. versionchanged:: 0.3.0
           Before, the default was Wilcoxon's test.

        .. versionchanged:: 0.2.0
           Before, the tests of each metric were corrected separately.
    alpha : float
        Significance level of the letters; stars have the levels .05, .01 and .001.
    confidence : float
        Confidence level of the intervals.

    Returns
    -------
    RunComparison

    Raises
    ------
    ValueError
        If runs differ in queries, weights, conventions or metrics, including different metrics with
        the same name; if the labels of a query differ, other than by 0 and in order; if there are
        fewer than two runs; or if an option is unknown or out of range.

    Notes
    -----
    The t-test is of the mean, which the table shows, and does not need normal differences for the
    numbers of queries of test collections (Smucker et al. 2007).
    Wilcoxon's test compares signed ranks, so it can favour a run with the lower mean, which wins on
    most queries.  A run has a letter or a star only if the test favours it, or the other one, in
    the direction of the mean.  Intervals are of the difference of means.

    If the runs were evaluated with weights, the difference of a query is multiplied by its weight,
    divided by the mean weight: in means, intervals and tests.  Queries of weight 0, and those on
    which one run of a pair has no value, are left out for this pair.

    Without queries, values over all rows are tested in place of ``test``, for runs on the same rows
    in the same order: AUC by DeLong's test, MAP and MAUC by a bootstrap over rows, whose standard
    error gives p by a normal distribution.  A metric over all rows of data with queries
    (``over=dataset``) is not tested, since rows of a query are not independent.

    References
    ----------
    Smucker, Allan, Carterette 2007, A comparison of statistical significance tests for information
    retrieval evaluation.

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
    >>> compare_runs({"both": [good, bad], "bad": bad}).deviations["map"]["both"] > 0
    True
    """
    check_choice("test", test, TESTS)
    number("alpha", alpha, most=1.0)
    number("confidence", confidence, most=1.0)
    every = systems(runs, baseline)
    averaged = {name: mean_run(name, each) for name, each in every.items()}
    names, first = tuple(runs), next(iter(averaged.values()))
    if baseline is not None:
        compared = [(name, baseline) for name in names if name != baseline]
    else:
        compared = list(itertools.combinations(names, 2))
    pairs: list[Pair] = []
    means: dict[str, dict[str, float]] = {}
    of_runs: dict[str, dict[str, tuple[float, float]]] = {}
    for metric, values in aligned_values(averaged).items():
        if rows := aligned_rows(metric, averaged):
            means[metric] = {name: run.mean[metric] for name, run in averaged.items()}
            found = row_statistics(metric_of(first, metric), rows)
            of_runs[metric] = {
                name: found.interval(place, means[metric][name], confidence)
                for place, name in enumerate(names)
            }
            for a, b in compared:
                gap = rounded(np.array([means[metric][a] - means[metric][b]])).item()
                tested = found.test(names.index(a), names.index(b), gap, confidence)
                pairs.append(_pair(metric, a, b, gap, tested))
            continue
        by_query = len(values[names[0]]) == first.n_queries  # not one value for all of them
        weights = first.weights if by_query else None
        means[metric] = _means(values, weights)
        for a, b in compared if by_query and first.n_queries >= 2 else ():
            difference = _difference(values[a], values[b], weights)
            tested = test_of(difference, test, confidence)
            pairs.append(_pair(metric, a, b, mean_of(difference), tested, difference))
    corrected = holm(np.array([pair.p_value for pair in pairs]))
    pairs = [pair._replace(p_corrected=float(p)) for pair, p in zip(pairs, corrected, strict=True)]
    several = any(len(each) > 1 for each in every.values())
    deviations = {
        metric: {name: _deviation([run.mean[metric] for run in every[name]]) for name in names}
        for metric in (means if several else ())
    }
    marks = f"Letters: better than that run at {alpha:g}"
    if baseline is not None:
        marks = f"Stars: differs from {baseline} at .05, .01, .001"
    by = "DeLong test for AUC, bootstrap over rows for other metrics" if of_runs else TESTS[test]
    foot = f"{sample_in_words(first)}{', weighted' * (first.weights is not None)}. {marks} "
    foot += f"(two-tailed {by}, Holm correction over the table)."
    foot += " Means over the runs of a system; sd: their standard deviation." * several
    return RunComparison(
        names, means, tuple(pairs), test, alpha, confidence, baseline,
        (foot, *rules_in_words(first)), of_runs, deviations,
    )  # fmt: skip


def _deviation(means: Sequence[float]) -> float:
    """The standard deviation over runs of a system, as an estimate; NaN for a single one."""
    return float(np.std(means, ddof=1)) if len(means) > 1 else np.nan


def _means(values: Mapping[str, Floats], weights: Floats | None) -> dict[str, float]:
    """The mean of each system over the queries on which all have a value."""
    defined = ~np.isnan([*values.values()]).any(axis=0)
    weights = None if weights is None else weights[defined]
    return {name: mean_of(each[defined], weights) for name, each in values.items()}


def _pair(
    metric: str, a: str, b: str, mean: float, tested: Tested, by_query: ArrayLike = ()
) -> Pair:
    """The pair of the systems a and b with this difference, not corrected yet."""
    interval, p, favours = tested
    better = ""  # if the mean and the test do not agree
    if mean * favours > 0:
        better = a if mean > 0 else b
    signs = np.sign(np.asarray(by_query, np.float64))
    wins, losses, ties = (int((signs == side).sum()) for side in (1, -1, 0))
    return Pair(metric, a, b, signs.size, mean, interval, wins, losses, ties, p, p, better)


def _difference(first: Floats, second: Floats, weights: Floats | None) -> Floats:
    """`rounded` differences on the queries on which both have a value.

    They are multiplied by the weights, less their scale, so that their mean is the weighted one.
    """
    difference = first - second
    known = ~np.isnan(difference) & (weights is None or weights > 0.0)
    difference = difference[known]
    if weights is not None and difference.size:
        difference *= weights[known] / weights[known].mean()
    return rounded(difference)
