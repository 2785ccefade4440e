"""Comparison of several systems on the same queries or rows, with significance tests.

Runs are aligned (`aligned_runs`), their differences are tested (`effects`, `significance`), and
the result is a `RunComparison` (`run_comparison`).
"""

import itertools
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lambdaplus.compute.arguments import check_choice, number
from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.aligned_runs import FoldRuns, aligned_folds, systems
from lambdaplus.evaluation.effects import (
    Bounds,
    Effect,
    of_difference,
    over_folds,
    within,
)
from lambdaplus.evaluation.evaluation import (
    Evaluation,
    metric_named,
    queries_in_words,
    rules_in_words,
    sample_in_words,
)
from lambdaplus.evaluation.on_fold import OnFold
from lambdaplus.evaluation.run_comparison import RunComparison, RunPair
from lambdaplus.evaluation.significance import (
    TESTS,
    Test,
    holm,
    interval_over_queries,
    rounded,
    wilcoxon,
)


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
        differ if they were evaluated with a qid.  A list holds the models of several trainings:
        runs on the same queries are those of seeds, runs on other queries those of folds.  Its
        mean is that of the folds, and the table has the standard deviation over seeds.
    baseline : str, optional
        Run with which all others are compared.  By default, all pairs of runs are compared.
    test : {"t", "wilcoxon"}
        The paired t-test with Student's interval, which leaves out 0 if and only if p is below
        1 - confidence; or, for a single run of each system, Wilcoxon's signed-rank test without
        queries whose difference is 0 (Yue et al. 2007), with a bootstrap interval.  Both tests are
        two-sided; p-values are also given with Holm's correction for the number of tests in the
        table, over all pairs and metrics.

        .. versionchanged:: 0.3.0
           Lists are tested over queries and seeds, or over the means of folds, and not over
           queries alone.

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
        the same name; if the labels of a query differ, other than by 0 and in order; if the systems
        have different folds; if there are fewer than two runs; if Wilcoxon's test is asked for with
        lists of several runs; or if an option is unknown or out of range.

    Notes
    -----
    With a single run of each system, the test is of these two models, not of the methods that
    trained them: with enough queries, two models that differ only by their seed are significantly
    different.  With lists, errors include what a seed changes.  With several seeds, the variance of
    a difference is that over queries, of the means over seeds, and that of the seeds beyond what
    single queries explain, with Satterthwaite's degrees of freedom.  The part of the seeds is
    pooled over folds and systems.  With several folds and one seed, or seeds that change nothing,
    it is unknown, and the means of folds are compared.  A single run beside a list counts as one
    that no seed changes.

    The test answers which method is better on new queries, trained on these data.  For new training
    data, pass lists of runs that were trained on resampled data, and evaluated on the same queries.

    The t-test is of the mean, which the table shows, and does not need normal differences for the
    numbers of queries of test collections (Smucker et al. 2007).
    Wilcoxon's test compares signed ranks, so it can favour a run with the lower mean, which wins on
    most queries.  A run has a letter or a star only if the test favours it, or the other one, in
    the direction of the mean.  Intervals are of the difference of means.

    If the runs were evaluated with weights, means are weighted, and their errors are those of
    ratios: of the weight times the deviation from the mean.  Queries of weight 0, and those on
    which one run of a pair has no value, are left out for this pair.  Intervals stay within the
    bounds of the metric, if it declares them.

    Without queries, values over all rows are tested in place of ``test``, for runs on the same rows
    in the same order: AUC by DeLong's test, MAP and MAUC by a bootstrap over rows, whose standard
    error gives p by a normal distribution.  A metric over all rows of data with queries
    (``over=dataset``) is tested over folds only, since rows of a query are not independent.

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
    several = any(len(of_system) > 1 for of_system in every.values())
    if several and test == "wilcoxon":
        raise ValueError(
            "test='wilcoxon' compares two models by query, not lists of runs: use test='t', which "
            "includes the differences between trainings"
        )
    folds = aligned_folds(every)
    names, first = tuple(every), folds[0].first
    if baseline is not None:
        compared = [(name, baseline) for name in names if name != baseline]
    else:
        compared = list(itertools.combinations(names, 2))
    pairs: list[RunPair] = []
    means: dict[str, dict[str, float]] = {}
    intervals: dict[str, dict[str, tuple[float, float]]] = {}
    deviations: dict[str, dict[str, float]] = {}
    seeds = any(len(runs) > 1 for fold in folds for runs in fold.runs.values())
    alone = len(folds) == 1 or seeds  # or else the means of folds are compared
    for metric in first.per_query:
        bounds = bounds_of(first, metric)
        on_folds = [OnFold.of(fold, metric, alone) for fold in folds]
        by_run = [fold.means() for fold in on_folds]
        means[metric] = {
            name: float(np.mean([np.mean(fold[name]) for fold in by_run])) for name in names
        }
        if seeds:
            deviations[metric] = {n: _deviation([fold[n] for fold in by_run]) for n in names}
        if metric in first.rows:
            intervals[metric] = {
                n: _interval(on_folds, n, means[metric][n], bounds, confidence) for n in names
            }
        if len(folds) > 1 or on_folds[0].can_be_tested:
            pairs += [
                _tested(metric, a, b, on_folds, bounds, test, confidence) for a, b in compared
            ]
    corrected = holm(np.array([pair.p_value for pair in pairs]))
    pairs = [pair._replace(p_corrected=float(p)) for pair, p in zip(pairs, corrected, strict=True)]
    marks = f"Letters: better than that run at {alpha:g}"
    if baseline is not None:
        marks = f"Stars: differs from {baseline} at .05, .01, .001"
    foot = _foot(every, folds, marks, TESTS[test], {pair.n_queries for pair in pairs})
    return RunComparison(
        names, means, tuple(pairs), test, alpha, confidence, baseline,
        (foot, *rules_in_words(first)), intervals, deviations,
    )  # fmt: skip


def effect_of(metric: str, *systems: Sequence[Evaluation]) -> Effect:
    """The mean of a metric over the runs of a system, by seed or fold, or of a first less a second.

    Other metrics of the runs are not used.
    """
    every = {str(place): [*runs] for place, runs in enumerate(systems)}
    folds = aligned_folds(every)
    alone = len(folds) == 1 or any(len(runs) > len(folds) for runs in systems)
    return over_folds([OnFold.of(fold, metric, alone).of_systems(*every) for fold in folds])


def _foot(
    every: Mapping[str, Sequence[Evaluation]], folds: Sequence[FoldRuns], marks: str, by: str,
    compared: Collection[int],
) -> str:  # fmt: skip
    """What was tested, on what, and what marks mean.

    ``compared`` has the numbers of queries on which pairs of systems have values.
    """
    first, several = folds[0].first, any(len(of_system) > 1 for of_system in every.values())
    sample = sample_in_words(first)
    if len(folds) > 1:
        queries = queries_in_words(sum(fold.first.n_queries for fold in folds))
        sample = f"{len(folds)} folds" + f", {queries}" * (not first.rows)
    more = " The test is of these models; lists of runs, by seed or fold, test methods."
    if first.rows:
        by = "DeLong test for AUC, bootstrap over rows for other metrics"
    if several:
        by, more = "t test over the means of folds", ""
        single = [n for n in every if all(len(fold.runs[n]) == 1 for fold in folds)]
        if len(single) < len(every):
            by = "t test over queries and seeds"
            more = " sd: standard deviation over the seeds of a fold."
            if single:
                more += f" One run of {', '.join(single)}: tested as one that no seed changes."
    weighted = ", weighted" * (first.weights is not None)
    used = sorted(compared)
    if used and not first.rows and used[0] < sum(fold.first.n_queries for fold in folds):
        sample += f", of which {' to '.join(map(str, dict.fromkeys((used[0], used[-1]))))} compared"
    return f"{sample}{weighted}. {marks} (two-tailed {by}, Holm correction over the table).{more}"


def bounds_of(evaluation: Evaluation, metric: str) -> Bounds:
    """The lowest and highest possible value of a metric, if they are known."""
    try:
        return metric_named(evaluation, metric).declaration.bounds
    except ValueError:  # a declaration of the user's, which the evaluation does not have any more
        return None


def _interval(
    on_folds: Sequence[OnFold], name: str, value: float, bounds: Bounds, confidence: float
) -> tuple[float, float]:
    """The interval of the value of a system over all rows."""
    rows = on_folds[0].rows
    if len(on_folds) == 1 and rows is not None and len(on_folds[0].values[name]) == 1:
        return rows.interval(on_folds[0].places(name)[0], value, confidence)
    found = over_folds([fold.of_systems(name) for fold in on_folds]).interval(confidence)
    return within(found, bounds)


def _tested(
    metric: str, a: str, b: str, on_folds: Sequence[OnFold], bounds: Bounds, test: Test,
    confidence: float,
) -> RunPair:  # fmt: skip
    """The test of a pair of systems."""
    gaps = [fold.difference(a, b) for fold in on_folds]
    by_query, weights = (np.concatenate(parts) for parts in zip(*gaps, strict=True))
    by_query = rounded(by_query)
    effect = over_folds([fold.of_systems(a, b) for fold in on_folds])
    interval, p, favours = effect.interval(confidence), effect.p_value, effect.mean
    if test == "wilcoxon" and on_folds[0].by_query:
        varies = by_query.size > 1 and np.ptp(by_query) > 0.0
        if varies:  # otherwise it is that of equal differences
            interval = interval_over_queries(by_query, weights, confidence)
        p, favours = wilcoxon(rounded(by_query * weights))
    better = ""  # if the mean and the test do not agree
    if effect.mean * favours > 0:
        better = a if effect.mean > 0 else b
    signs = np.sign(by_query)
    wins, losses, ties = (int((signs == side).sum()) for side in (1, -1, 0))
    return RunPair(
        metric, a, b, signs.size, effect.mean, within(interval, of_difference(bounds)), wins,
        losses, ties, p, p, better, effect.error, effect.freedom,
    )  # fmt: skip


def _deviation(by_fold: Sequence[Floats]) -> float:
    """The standard deviation over the seeds of a fold, as an estimate; NaN for single runs."""
    variances = [means.var(ddof=1) for means in by_fold if len(means) > 1]
    return float(np.sqrt(np.mean(variances))) if variances else np.nan
