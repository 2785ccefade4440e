"""A metric over time, of queries that are dates: mean, standard deviation and autocorrelation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats
from lambdaplus.data.time_gap import is_gap, on_a_line, parse_gap
from lambdaplus.data.time_order import places_and_values
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.lists.keys import int_or_text
from lambdaplus.study.plot_style import INK, SERIES, WIDTH, short, styled
from lambdaplus.study.plots import Plot
from lambdaplus.study.results import Results
from lambdaplus.study.summary import Summary
from lambdaplus.study.words import label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_DATES, MOST_LAGS, WINDOW = 10, 20, 10


@dataclass(frozen=True, eq=False)
class OverTime:
    """Test values of a method by date: means over seeds.

    Attributes
    ----------
    times : (n,)
        Ascending dates or numbers.
    values : (n,) float64
    lags : int
        Number of dates by which labels look ahead, by the gap; at least 1.
    """

    method: str
    times: NDArray[Any]
    values: Floats
    lags: int

    @classmethod
    def of(cls, results: Results, method: str, metric: str) -> OverTime | None:
        """None unless queries are dates, and there are enough of them."""
        config = results.config
        if not config.order or config.order != config.qid:
            return None
        rows = results.values.filter(method=method, metric=metric)
        means = rows.group_by("query").agg(pl.col("value").mean()).drop_nulls()
        if means.height < LEAST_DATES:
            return None
        place, keys = places_and_values(int_or_text(means["query"].to_list()), means.height)
        ascending, times = np.argsort(place), on_a_line(keys)
        return cls(
            method, times, means["value"].to_numpy()[ascending], dates_in_gap(times, config.gap)
        )

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation over dates."""
        return float(self.values.std(ddof=1))

    @property
    def autocorrelation(self) -> Floats:
        """At 1, 2, ... dates, (lags,)."""
        apart = self.values - self.values.mean()
        total = float(apart @ apart) or np.nan
        return np.array([apart[lag:] @ apart[:-lag] / total for lag in range(1, self.lags + 1)])

    def in_words(self, metric: str, date: str, dates: str) -> str:
        """The numbers, in a sentence."""
        ratio = decimal(self.mean / self.deviation, 2) if self.deviation else "-"
        at = f"1 to {self.lags} {dates}" if self.lags > 1 else f"1 {date}"
        correlated = ", ".join(decimal(one, 2) for one in self.autocorrelation)
        return (
            f"{self.method} by {date}: {label(metric)} {decimal(self.mean)} on average over "
            f"{self.values.size:,} {dates}, standard deviation {decimal(self.deviation)}, ratio of "
            f"both {ratio}; autocorrelation {correlated} at {at}."
        )


def dates_in_gap(times: NDArray[Any], gap: str) -> int:
    """How many of the dates are in the gap before another one, at the median."""
    if not gap or not is_gap(gap):
        return 1
    length: Any = parse_gap(gap)
    if isinstance(length, np.timedelta64) != (times.dtype.kind in "mM"):
        return 1
    before = np.searchsorted(times, times - length)
    within = int(np.median((np.arange(times.size) - before)[times.size // 2 :]))
    return max(1, min(within, MOST_LAGS, times.size // 4))


def over_time(summary: Summary) -> list[OverTime]:
    """The two methods of the conclusion over time, the better one first; none without dates."""
    metric = summary.results.main_metric
    found = (OverTime.of(summary.results, name, metric) for name in summary.favoured)
    return [one for one in found if one is not None]


def over_time_in_words(summary: Summary) -> list[str]:
    """A sentence for each of these methods."""
    nouns, metric = summary.results.nouns, summary.results.main_metric
    return [one.in_words(metric, nouns.query, nouns.queries) for one in over_time(summary)]


def over_time_plots(summary: Summary) -> Iterator[Plot]:
    """The metric of these methods by date."""
    found, nouns = over_time(summary), summary.results.nouns
    if found:
        metric = label(summary.results.main_metric)
        caption = (
            f"Test {metric} of each {nouns.query}, and the mean of {WINDOW} {nouns.queries} up to "
            f"it (line). {' '.join(over_time_in_words(summary))}"
        )
        yield "over_time", caption, time_plot(metric, found)


@styled()
def time_plot(metric: str, found: list[OverTime]) -> Figure:
    """A panel for each method: dots, and running means."""
    from matplotlib.figure import Figure

    figure = Figure((WIDTH, 0.6 + 1.5 * len(found)), layout="constrained")
    panels = figure.subplots(len(found), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for one, axes in zip(found, panels, strict=True):
        axes.plot(one.times, one.values, ".", color=SERIES[0], markersize=2, alpha=0.6)
        running = np.convolve(one.values, np.full(WINDOW, 1 / WINDOW), mode="valid")
        axes.plot(one.times[WINDOW - 1 :], running, color=SERIES[0])
        axes.axhline(0.0 if one.values.min() < 0 else one.mean, color=INK, linewidth=0.6)
        axes.set_title(short(one.method), loc="left", fontsize=8)
        axes.set_ylabel(metric)
    figure.autofmt_xdate(rotation=0, ha="center")
    return figure
