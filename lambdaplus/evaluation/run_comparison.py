"""The result of `compare_runs`: pairs of systems, and tables of them."""

import itertools
import math
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lambdaplus.evaluation.result_tables import Cell, Table, Tabular, p_text
from lambdaplus.evaluation.significance import Test
from lambdaplus.metrics import Metric

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


class RunPair(NamedTuple):
    """The comparison of two systems with one metric.

    Attributes
    ----------
    metric, first, second : str
    n_queries : int
        Number of queries of all folds on which both have a value; 0 for a metric over all rows.
    difference : float
        Mean of first - second; of several folds, the mean of their means.
    interval : (float, float)
        Confidence interval of this difference of means, of the kind of the test: Student's,
        DeLong's, or by the bootstrap over queries (Wilcoxon) or rows.
    wins, losses, ties : int
        Number of queries on which the first is better, worse, or equal; 0 without queries.
    p_value, p_corrected : float
        P-value before and after the correction for all pairs and metrics.
    better : str
        The run that both the test (Wilcoxon's by its signed ranks) and the mean favour; empty if
        they do not agree.
    error, freedom : float
        Standard error of the difference of means, and its degrees of freedom.

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
    better: str
    error: float = math.nan
    freedom: float = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison(Tabular):
    """The result of `compare_runs`, printed as a table of means with significance marks.

    Attributes
    ----------
    names : tuple of str
    means : dict of str to dict of str to float
        By metric, then system: means over the queries on which every system has a value, weighted
        as in the evaluations.
    pairs : tuple of RunPair
        ``pandas.DataFrame(comparison.pairs)`` has a row for each.
    test : str
    alpha, confidence : float
    baseline : str or None
    foot : tuple of str
        Footnotes of the table: queries, tests and conventions.
    intervals : dict of str to dict of str to (float, float)
        By metric over all rows, then system: confidence interval of its value.
    deviations : dict of str to dict of str to float
        By metric, then system: standard deviation over the seeds of a fold of the means of its
        runs, NaN for a single seed; empty if no system has several runs.

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
    pairs: tuple[RunPair, ...]
    test: Test
    alpha: float
    confidence: float
    baseline: str | None
    foot: tuple[str, ...]
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    deviations: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def of(self, metric: Metric) -> list[RunPair]:
        """The pairs of one metric, by its name in ``means``; a KeyError if it was not compared."""
        wanted = str(metric)
        if wanted not in self.means:
            raise KeyError(f"{wanted} was not compared; available: {', '.join(self.means)}")
        return [pair for pair in self.pairs if pair.metric == wanted]

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
                if metric in self.deviations:
                    rows[-1].append(self.deviations[metric][name])
        heads = ["run"]
        for metric in self.means:
            heads.append(metric)
            heads += [f"{self.confidence:.0%} interval"] if metric in self.intervals else []
            heads += ["sd"] if metric in self.deviations else []
        return Table(heads, rows, self.foot)

    def _stars(self, name: str, metric: str) -> str:
        of_run = (pair for pair in self.of(metric) if pair.first == name and pair.better)
        p = min((pair.p_corrected for pair in of_run), default=1.0)
        return next((stars for level, stars in STARS if p < level), "")

    def _letters_of_beaten(self, name: str, metric: str) -> str:
        beaten = {
            pair.second if pair.first == name else pair.first
            for pair in self.of(metric)
            if pair.p_corrected < self.alpha and pair.better == name
        }
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
                "-"
                if math.isnan(sum(pair.interval))
                else "{:+.3f}..{:+.3f}".format(*pair.interval),
                f"{pair.wins}/{pair.losses}/{pair.ties}" if pair.n_queries else "-",
                p_text(pair.p_value),
                p_text(pair.p_corrected),
            )
            for pair in self.pairs
        ]
        interval = "Interval: of the difference of means (diff.)."
        foot = [*self.foot[:1], interval]
        heads = ("metric", "run", "against", "diff.", f"{self.confidence:.0%} interval", "W/L/T")
        return Table((*heads, "p", "p holm"), rows, foot, names=3)
