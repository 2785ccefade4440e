"""The result of a comparison of runs."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Any

from lambdaplus.evaluation.result_tables import Cell, Table, Tabular
from lambdaplus.evaluation.significance import Alternative, Test
from lambdaplus.metrics import Metric

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True)
class Pair:
    """The comparison of two systems with one metric.

    Attributes
    ----------
    metric, first, second : str
    n_queries : int
        Number of queries on which both have a value.
    difference : float
        Mean of first - second.
    interval : (float, float)
        Confidence interval of the difference, by the bootstrap over queries.
    wins, losses, ties : int
        Number of queries on which the first is better, worse, or equal.
    p_value : float
    p_corrected : float
        P-value after the correction for all pairs of this metric.
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


@dataclass(frozen=True, eq=False)
class RunComparison(Tabular):
    """The result of `compare_runs`, printed as a table of means with significance marks.

    Attributes
    ----------
    names : tuple of str
    means : dict of str to dict of str to float
        By metric, then system: means over the queries on which every system has a value.
    pairs : tuple of Pair
    test, alternative, correction : str
    alpha, confidence : float
    baseline : str or None
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

    def of(self, metric: Metric) -> list[Pair]:
        """The pairs of one metric."""
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
        letters = dict(zip(self.names, _letters(), strict=False))
        rows: list[list[Any]] = []
        for name in self.names:
            row: list[Any] = [name if self.baseline else f"{letters[name]} {name}"]
            for metric, means in self.means.items():
                beaten = [pair for pair in self.of(metric) if name in (pair.first, pair.second)]
                row.append(Cell(means[name], self._mark(name, beaten, letters)))
            rows.append(row)
        return Table(("run", *self.means), rows, self.foot)

    def _mark(self, name: str, pairs: list[Pair], letters: dict[str, str]) -> str:
        if self.baseline is not None:
            if name == self.baseline:
                return ""
            p = min((pair.p_corrected for pair in pairs if name == pair.first), default=1.0)
            return next((stars for level, stars in STARS if p < level), "")
        beaten = set()
        for pair in pairs:
            better = pair.first if pair.difference > 0 else pair.second
            if self.alternative == "greater":
                better = pair.first
            if better == name and pair.p_corrected < self.alpha:
                beaten.add(pair.second if better == pair.first else pair.first)
        return "".join(letters[other] for other in self.names if other in beaten)

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
                f"{pair.wins}/{pair.losses}/{pair.ties}",
                _p_text(pair.p_value),
                _p_text(pair.p_corrected),
            )
            for pair in self.pairs
        ]
        heads = ("metric", "run", "against", "diff.", f"{self.confidence:.0%} interval", "W/L/T")
        return Table((*heads, "p", f"p {self.correction}"), rows, self.foot[:1])

    def to_dataframe(self, backend: str = "pandas") -> Any:
        """Return the pairs as a data frame."""
        names = [name for name in Pair.__dataclass_fields__ if name != "interval"]
        rows = [[*(getattr(p, n) for n in names), *p.interval] for p in self.pairs]
        return Table((*names, "interval_low", "interval_high"), rows).to_dataframe(backend)


def _p_text(p: float) -> str:
    return "<.0001" if p < 0.0001 else f"{p:.4f}"


def _letters() -> list[str]:
    """a .. z, then A .. Z, then aa, ab, ..."""
    single = string.ascii_lowercase + string.ascii_uppercase
    return [*single, *(a + b for a in string.ascii_lowercase for b in string.ascii_lowercase)]
