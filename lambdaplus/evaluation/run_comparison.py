"""Comparison of several systems on the same queries, with significance tests."""

import itertools
import math
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.result import Evaluation, Rows, mean_of, queries_in_words
from lambdaplus.evaluation.result_tables import Cell, Table, Tabular
from lambdaplus.evaluation.significance import (
    TESTS,
    Alternative,
    Test,
    bootstrap_intervals,
    check_options,
    holm,
    p_value,
)
from lambdaplus.evaluation.whole_tables import Spread, spread
from lambdaplus.metrics import Metric

ROUNDING = 1e-12  # equal values may differ by this much because of rounding errors
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


class Pair(NamedTuple):
    """The comparison of two systems with one metric.

    Attributes
    ----------
    metric, first, second : str
    n_queries : int
        Number of queries on which both have a value; 0 for a metric over all rows of a table.
    difference : float
        Mean of first - second.
    interval : (float, float)
        Confidence interval of the difference, by the bootstrap over queries or rows, or DeLong's.
    wins, losses, ties : int
        Number of queries on which the first is better, worse, or equal; 0 without queries.
    p_value, p_corrected : float
        P-value before and after the correction for all pairs of this metric.

    Examples
    --------
    >>> from lambdaplus import compare_runs, evaluate
    >>> results = {
    ...     name: evaluate([1, 0, 0, 1], scores, group=[2, 2], metrics="map")
    ...     for name, scores in {"a": [4, 3, 1, 2], "b": [1, 2, 3, 4]}.items()
    ... }
    >>> [pair] = compare_runs(results).of("map")
    >>> pair.first, pair.second, pair.difference, pair.wins, pair.ties
    ('a', 'b', 0.25, 1, 1)
    """

    metric: str
    first: str
    second: str
    n_queries: int
    difference: float
    interval: tuple[float, float]
    wins: int
    losses: int
    ties: int
    p_value: float
    p_corrected: float


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison(Tabular):
    """The result of `compare_runs`, printed as a table of means with significance marks.

    Attributes
    ----------
    names : tuple of str
    means : dict of str to dict of str to float
        By metric, then system: means over the queries on which every system has a value, weighted
        as in the evaluations.
    pairs : tuple of Pair
        ``pandas.DataFrame(comparison.pairs)`` has a row for each.
    test, alternative, correction : str
    alpha, confidence : float
    baseline : str or None
    foot : tuple of str
        Footnotes of the table: queries, tests and conventions.
    intervals : dict of str to dict of str to (float, float)
        By metric over all rows of a table, then system: confidence interval of its value.

    Examples
    --------
    >>> from lambdaplus import compare_runs, evaluate
    >>> labels = [1, 0, 0, 1]
    >>> runs = {"a": [4, 3, 2, 1], "b": [1, 2, 3, 4]}
    >>> comparison = compare_runs(
    ...     {name: evaluate(labels, run, group=[2, 2], metrics="map") for name, run in runs.items()}
    ... )
    >>> comparison.names, comparison.alpha
    (('a', 'b'), 0.05)
    """

    names: tuple[str, ...]
    means: dict[str, dict[str, float]]
    pairs: tuple[Pair, ...]
    test: Test
    alternative: Alternative
    correction: str
    alpha: float
    confidence: float
    baseline: str | None
    foot: tuple[str, ...]
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)

    def of(self, metric: Metric) -> list[Pair]:
        """The pairs of one metric, by its name in ``means``; a KeyError if it was not compared."""
        wanted = str(metric)
        if wanted not in self.means:
            raise KeyError(f"{wanted} was not compared; available: {', '.join(self.means)}")
        return [pair for pair in self.pairs if pair.metric == wanted]

    def __repr__(self) -> str:
        return str(self)

    @property
    def table(self) -> Table:
        """Means by system and metric, with marks of significant differences.

        Without a baseline, each system has a letter, and a mean is marked with the letters of the
        systems that it is significantly better than; with a baseline, a mean is marked with stars
        if it differs from the baseline at level 0.05, 0.01 or 0.001.
        """
        mark = self._letters_of_beaten if self.baseline is None else self._stars
        rows: list[list[Any]] = []
        for name in self.names:
            rows.append([name if self.baseline else f"{self._letters[name]} {name}"])
            for metric, means in self.means.items():
                rows[-1].append(Cell(means[name], mark(name, metric)))
                if metric in self.intervals:
                    rows[-1].append("{:.4f} to {:.4f}".format(*self.intervals[metric][name]))
        heads = ["run"]
        for metric in self.means:
            of_metric = [f"{self.confidence:.0%} interval"] if metric in self.intervals else []
            heads += [metric, *of_metric]
        return Table(heads, rows, self.foot)

    def _stars(self, name: str, metric: str) -> str:
        p = min((pair.p_corrected for pair in self.of(metric) if pair.first == name), default=1.0)
        return next((stars for level, stars in STARS if p < level), "")

    def _letters_of_beaten(self, name: str, metric: str) -> str:
        beaten = set()
        for pair in self.of(metric):
            won = self.alternative == "greater" or pair.difference > 0
            better, worse = (pair.first, pair.second) if won else (pair.second, pair.first)
            if pair.p_corrected < self.alpha and better == name:
                beaten.add(worse)
        return "".join(letter for other, letter in self._letters.items() if other in beaten)

    @property
    def _letters(self) -> dict[str, str]:
        """A letter for each run: a to z, A to Z, then aa, ab and so on."""
        letters = string.ascii_letters
        pairs = (first + second for first in letters for second in letters)
        return dict(zip(self.names, itertools.chain(letters, pairs), strict=False))

    @property
    def pair_table(self) -> Table:
        """One row for each pair: difference, interval, wins, losses, ties, p-values."""
        rows = [
            (
                pair.metric,
                pair.first,
                pair.second,
                f"{pair.difference:+.4f}",
                f"{pair.interval[0]:+.3f}..{pair.interval[1]:+.3f}",
                f"{pair.wins}/{pair.losses}/{pair.ties}" if pair.n_queries else "-",
                _p_text(pair.p_value),
                _p_text(pair.p_corrected),
            )
            for pair in self.pairs
        ]
        heads = ("metric", "run", "against", "diff.", f"{self.confidence:.0%} interval", "W/L/T")
        return Table((*heads, "p", f"p {self.correction}"), rows, self.foot[:1])


def _p_text(p: float) -> str:
    return "<.0001" if p < 0.0001 else f"{p:.4f}"


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
        Correction for the number of tests of one metric.
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
    _check(runs, baseline)
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
    for metric, values in _aligned(runs).items():
        if tables := _tables(metric, runs):
            means[metric] = {name: run.mean[metric] for name, run in runs.items()}
            parsed = first.metrics.get(metric) or first.convention.metric(metric)
            found = spread(parsed, tables, resamples, seed)
            of_runs[metric] = {
                name: _interval(found, confidence, means[metric][name], k)
                for k, name in enumerate(names)
            }
            tested = [
                _pair_of_tables(metric, a, b, means[metric], names, found, confidence, alternative)
                for a, b in compared
            ]
            p = np.array([pair.p_value for pair in tested])
            corrected = holm(p) if correction == "holm" else p
            pairs += [
                pair._replace(p_corrected=float(p_corrected))
                for pair, p_corrected in zip(tested, corrected, strict=True)
            ]
            continue
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
        p = np.array([p_of(shared) if shared.size else np.nan for shared in differences])
        corrected = holm(p) if correction == "holm" else p
        pairs += [
            Pair(
                metric,
                *names_of_pair,
                n_queries=difference.size,
                difference=mean_of(difference),
                interval=interval,
                wins=int((difference > 0).sum()),
                losses=int((difference < 0).sum()),
                ties=int((difference == 0).sum()),
                p_value=float(p_raw),
                p_corrected=float(p_corrected),
            )
            for names_of_pair, difference, interval, p_raw, p_corrected in zip(
                compared, differences, intervals(differences), p, corrected, strict=True
            )
        ]
    tail = "two-tailed" if alternative == "two-sided" else "one-tailed"
    marks = f"Letters: better than that run at {alpha:g}"
    if baseline is not None:
        marks = f"Stars: differs from {baseline} at .05, .01, .001"
    what, how = queries_in_words(first.n_queries), TESTS[test]
    if of_runs:
        ranked = next(ranked for ranked in first.rows.values() if ranked)
        what = f"{sum(table.labels.size for table in ranked):,} rows without queries"
        how = "DeLong test for AUC, bootstrap over rows for other metrics"
    weighted = "" if first.weights is None else ", weighted"
    foot = (
        f"{what}{weighted}. {marks} ({tail} {how}, "
        f"{'Holm' if correction == 'holm' else 'no'} correction over the tests of a metric).",
        f"Convention {first.convention.name}:",
        *(f"  {name}: {rules}" for name, rules in first.conventions.items()),
    )
    return RunComparison(
        names, means, tuple(pairs), test, alternative, correction, alpha, confidence, baseline,
        foot, of_runs,
    )  # fmt: skip


def _tables(metric: str, runs: Mapping[str, Evaluation]) -> list[tuple[Rows, ...]]:
    """The rows that each run ranked, of a metric without queries; an error if they differ."""
    tables = [run.rows.get(metric, ()) for run in runs.values()]
    if not all(tables):
        return []
    for name, of_run in zip(runs, tables, strict=True):
        for table, first in zip(of_run, tables[0], strict=True):
            same = np.array_equal(table.labels, first.labels)
            if not same or not _equal(table.weights, first.weights):
                raise ValueError(
                    f"{name!r} and {next(iter(runs))!r} do not have the same labels and weights, "
                    "row by row: evaluate both on the same rows in the same order"
                )
    return tables


def _equal(first: Floats | None, second: Floats | None) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def _interval(
    found: Spread, confidence: float, value: float, first: int, second: int | None = None
) -> tuple[float, float]:
    """The interval of a run's value, or of its difference from another run's."""
    from scipy import stats

    signs = np.zeros(len(found.covariance))
    signs[first] = 1.0
    if second is not None:
        signs[second] = -1.0
    if len(found.resampled):
        tail = (1.0 - confidence) / 2
        low, high = np.quantile(found.resampled @ signs, [tail, 1.0 - tail]).tolist()
        return low, high
    half = stats.norm.ppf((1.0 + confidence) / 2) * _error(found, signs)
    if second is not None:
        return value - half, value + half
    return max(0.0, value - half), min(1.0, value + half)


def _error(found: Spread, signs: Floats) -> float:
    variance = float(signs @ found.covariance @ signs)
    return math.sqrt(variance) if variance > 0 else 0.0 * variance  # NaN remains


def _pair_of_tables(
    metric: str,
    first: str,
    second: str,
    means: Mapping[str, float],
    names: tuple[str, ...],
    found: Spread,
    confidence: float,
    alternative: Alternative,
) -> Pair:
    from scipy import stats

    difference = means[first] - means[second]
    difference = 0.0 if abs(difference) <= ROUNDING else difference
    places = names.index(first), names.index(second)
    signs = np.zeros(len(names))
    signs[places[0]], signs[places[1]] = 1.0, -1.0
    error = _error(found, signs)
    if error <= ROUNDING:  # the same ranking, or separated on all rows
        z = 0.0 if difference == 0.0 else math.copysign(math.inf, difference)
    else:
        z = difference / error
    p = 2 * stats.norm.sf(abs(z)) if alternative == "two-sided" else stats.norm.sf(z)
    p = 1.0 if difference == 0.0 else float(p)
    interval = _interval(found, confidence, difference, *places)
    return Pair(metric, first, second, 0, difference, interval, 0, 0, 0, p, p)


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
    first_name, first = next(iter(runs.items()))
    queries = first.qid.tolist()
    aligned: dict[str, dict[str, Floats]] = {metric: {} for metric in first.per_query}
    for name, run in runs.items():
        both = f"{name!r} and {first_name!r}"
        if list(run.conventions.items()) != list(first.conventions.items()):
            raise ValueError(
                f"{both} were not evaluated with the same metrics and conventions: "
                f"{run.conventions} and {first.conventions}"
            )
        for metric in first.metrics.keys() & run.metrics.keys():
            if first.metrics[metric] != run.metrics[metric]:
                raise ValueError(
                    f"{both} were evaluated with different metrics of the name {metric}: rename "
                    "one, or evaluate both with the same Declaration"
                )
        place = {query: i for i, query in enumerate(run.qid.tolist())}
        missing = [query for query in queries if query not in place]
        if missing or run.n_queries != first.n_queries:
            raise ValueError(
                f"{both} do not have the same queries: they have {run.n_queries} and "
                f"{first.n_queries}, and {len(missing)} of {first_name!r} are missing in {name!r}"
                + (f", such as {missing[0]!r}" if missing else "")
            )
        places = [place[query] for query in queries]
        _refuse_other_weights(both, first.weights, run.weights, places)
        for metric, values in run.per_query.items():
            by_query = len(values) == run.n_queries
            aligned[metric][name] = values[places] if by_query else values
    return aligned


def _refuse_other_weights(
    both: str, first: Floats | None, weights: Floats | None, places: list[int]
) -> None:
    """Raise a ValueError unless the queries have the weights of those of the first run."""
    one, other = (np.ones(len(places)) if w is None else w for w in (first, weights))
    if not np.allclose(one, other[places], rtol=ROUNDING, atol=0.0):
        raise ValueError(f"{both} were not evaluated with the same weights of queries")


def _difference(first: Floats, second: Floats, weights: Floats | None) -> Floats:
    """Differences on the queries on which both have a value, with rounding errors set to 0.

    They are multiplied by the weights, less their scale, so that their mean is the weighted one.
    """
    difference = first - second
    known = ~np.isnan(difference) & (weights is None or weights > 0.0)
    difference = difference[known]
    difference[np.abs(difference) <= ROUNDING] = 0.0
    if weights is not None and difference.size:
        difference *= weights[known] / weights[known].mean()
    return difference
