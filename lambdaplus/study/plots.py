"""Plots of the results of a study."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.effects import ROUNDING
from lambdaplus.study.plot_style import INK, SERIES, WIDE, WIDTH, file_name, short, styled
from lambdaplus.study.summary import Summary
from lambdaplus.study.words import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lambdaplus.data import RankingData

BETTER, WORSE = SERIES[2], SERIES[1]
LEVELS = 60  # number of distinct bar heights; more are not visible and would need large files
BINS = 10  # of probabilities

Plot: TypeAlias = "tuple[str, str, Figure]"
"""The file name, caption and figure of a plot."""


def query_plots(summary: Summary) -> Iterator[Plot]:
    """Differences by query, for each metric."""
    nouns = summary.results.nouns
    for metric, compared in summary.comparisons.items():
        if (against := compared.baseline) and summary.has_queries(metric):
            values = {name: summary.results.by_query(name, metric) for name in summary.runs}
            reference = values.pop(against)
            differences = {name: each - reference for name, each in values.items()}
            caption = (
                f"{label(metric)} of each method minus that of {against}: a bar for each test "
                f"{nouns.query}, sorted, and the numbers of {nouns.queries} won and lost"
            )
            figure = difference_panels(label(metric), differences, against, nouns.queries)
            yield f"differences_{file_name(metric)}", caption, figure


def curve_plots(summary: Summary) -> Iterator[Plot]:
    """Learning curves, for each metric that a method follows."""
    by_metric = summary.results.curves.group_by("metric", maintain_order=True)
    for metric, curves in ((str(metric), curves) for (metric,), curves in by_metric):
        caption = f"{label(metric)} on validation data by round: a panel for each method"
        figure = learning_curves(label(metric), curves)
        yield f"learning_curves_{file_name(metric)}", caption, figure


@styled()
def difference_panels(
    metric: str, values: Mapping[str, Floats], against: str, queries: str = "queries"
) -> Figure:
    """A panel for each method with its sorted differences by query from a reference method."""
    figure, panels = _panels(
        len(values), f"{metric} difference", f"test {queries}, sorted by the difference",
        heading=f"{metric} minus that of {against}",
    )  # fmt: skip
    largest = max(float(np.nanmax(np.abs(each), initial=0.0)) for each in values.values()) or 1.0
    for (name, each), axes in zip(values.items(), panels, strict=True):
        differences = np.sort(each[~np.isnan(each)])[::-1]
        heights, edges = _steps(differences)
        axes.stairs(np.maximum(heights, 0), edges, fill=True, color=BETTER)
        axes.stairs(np.minimum(heights, 0), edges, fill=True, color=WORSE)
        axes.axhline(0, color=INK, linewidth=0.6)
        wins, losses = (int((sign * differences > ROUNDING).sum()) for sign in (1, -1))
        axes.set_title(short(name), loc="left", fontsize=8)
        axes.annotate(f"{wins} : {losses}", (1, 1), (0, -3), xycoords="axes fraction",
                      textcoords="offset points", ha="right", va="top", fontsize=8)  # fmt: skip
        axes.set_xlim(0, max(differences.size, 1))
        axes.set_ylim(-1.05 * largest, 1.05 * largest)
    return figure


def _panels(
    n: int, across: str, along: str, each: float = 1.05, heading: str = ""
) -> tuple[Figure, list[Axes]]:
    """A figure of n panels with one scale, each so many inches high, with labels of the axes."""
    from matplotlib.figure import Figure

    columns = min(n, 2) if n <= 2 else 3
    width = WIDTH if columns < 3 else WIDE
    rows = math.ceil(n / columns)
    top = 0.5 if heading else 0.25
    height = 0.7 + top + each * rows + (0.6 if rows == 1 else 0.0)
    figure = Figure((width, height))  # a constrained layout takes seconds for dozens of panels
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    panels = list(grid.flat)
    sides = 0.75 / width, 0.55 / height, 1 - 0.25 / width, 1 - top / height
    figure.subplots_adjust(*sides, 0.12, 0.5)
    for axes in panels[n:]:
        axes.remove()
    for axes in panels[max(0, n - columns) : n]:  # also above a place without a panel
        axes.tick_params(labelbottom=True)
    if heading:
        figure.text(0.1 / width, 1 - 0.06 / height, heading, fontsize=9, va="top")
    figure.supxlabel(along, fontsize=9, y=0.08 / height)
    figure.supylabel(across, fontsize=9, x=0.08 / width)
    return figure, panels[:n]


def _steps(values: Floats) -> tuple[Floats, Floats]:
    """Heights and edges of bars; adjacent bars of indistinguishable height are merged."""
    top = float(np.abs(values).max(initial=0.0)) or 1.0
    rounded = np.round(values / top * LEVELS) * top / LEVELS
    starts = np.flatnonzero(np.diff(rounded, prepend=np.inf))
    return rounded[starts], np.r_[starts, values.size].astype(np.float64)


@styled()
def learning_curves(metric: str, curves: pl.DataFrame) -> Figure:
    """Validation metric by round, a panel for each method.

    A thin line is a training, the thick one their mean, which ends where the first training ended.
    """
    methods = list(curves.group_by("method", maintain_order=True))
    figure, panels = _panels(len(methods), f"validation {metric}", "round", 1.3)
    for ((method,), rows), axes in zip(methods, panels, strict=True):
        trainings = [one for _, one in rows.group_by("fold", "seed", maintain_order=True)]
        for one in trainings if len(trainings) > 1 else ():
            axes.plot(one["round"], one["value"], color=SERIES[0], linewidth=0.7, alpha=0.5)
        last = min(int(one["round"][-1]) for one in trainings)
        until = rows.filter(pl.col("round") <= last)
        mean = until.group_by("round").agg(pl.col("value").mean()).sort("round")
        axes.plot(mean["round"], mean["value"], color=SERIES[0])
        axes.set_title(short(str(method)), loc="left", fontsize=8)
    values = curves["value"].drop_nulls().drop_nans().to_numpy()
    if values.size and (low := np.quantile(values, 0.05)) < (top := values.max()):
        panels[0].set_ylim(low, top + 0.05 * (top - low))
    return figure


@styled()
def importance_plot(metric: str, names: Sequence[str], gain: Floats, drop: Floats) -> Figure:
    """Bars of the gain of each feature, (n,), and of the drops of a metric, (n, repeats)."""
    from matplotlib.figure import Figure

    height = 0.8 + 0.19 * len(names)
    figure = Figure((WIDE, height))
    left, right = figure.subplots(1, 2, sharey=True)
    figure.subplots_adjust(1.7 / WIDE, 0.45 / height, 1 - 0.2 / WIDE, 1 - 0.3 / height, 0.06)
    places = np.arange(len(names))
    left.barh(places, gain, height=0.7, color=SERIES[0])
    right.barh(places, drop.mean(axis=1), height=0.7, color=SERIES[0], alpha=0.6)
    right.plot(drop, places[:, None], ".", color=INK, markersize=3)
    right.axvline(0, color=INK, linewidth=0.6)
    left.set_yticks(places, [short(name, 22) for name in names], fontsize=8)
    left.set_ylim(len(names) - 0.4, -0.6)  # the first feature on top
    left.set_xlabel("share of the gain")
    right.set_xlabel(f"drop of validation {metric}")
    for axes in (left, right):
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
    return figure


@styled()
def precision_recall_plot(data: RankingData, scores: Mapping[str, Floats]) -> Figure:
    """A line for each method: of all rows, or the mean over the queries that have a positive."""
    from matplotlib.figure import Figure

    figure = Figure((WIDTH, 3.4), layout="constrained")
    axes = figure.subplots()
    for (name, found), colour in zip(scores.items(), SERIES, strict=False):
        recall, precision = _precision_of_queries(data, found) if data.grouped else _thinned(
            *_precision_recall(data.labels, found, data.weights)
        )  # fmt: skip
        steps: Any = "default" if data.grouped else "steps-pre"  # as average precision sums
        axes.plot(recall, precision, color=colour, label=short(name), drawstyle=steps)
    by_query = np.split(data.labels, data.queries.boundaries[1:-1])
    shares = [float(labels.mean()) for labels in by_query if labels.any()]
    if data.weights is not None and not data.grouped:
        shares = [float(np.average(data.labels, weights=data.weights))]
    axes.axhline(float(np.mean(shares)), color=INK, linewidth=0.8, linestyle=":")
    highest = max(np.max(line.get_ydata()) for line in axes.lines[:-1])  # not of a random order
    axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.05 * highest))
    axes.legend(loc="best")
    return figure


def _precision_recall(labels: Floats, scores: Floats, weights: Any = None) -> tuple[Floats, Floats]:
    """Recall in rising order, and the highest precision of the rows above a score that has it."""
    from sklearn.metrics import precision_recall_curve

    precision, recall, _ = precision_recall_curve(labels, scores, sample_weight=weights)
    precision, recall = precision[-2::-1], recall[-2::-1]  # without the point of no rows
    different, first = np.unique(recall, return_index=True)
    return different, precision[first]


def _precision_of_queries(data: RankingData, scores: Floats) -> tuple[Floats, Floats]:
    """The mean over queries of the highest precision at each recall or above."""
    at, cuts = np.linspace(0.0, 1.0, 101), data.queries.boundaries[1:-1]
    curves = []
    for labels, found in zip(np.split(data.labels, cuts), np.split(scores, cuts), strict=True):
        if labels.any():
            recall, precision = _precision_recall(labels, found)
            highest = np.maximum.accumulate(precision[::-1])[::-1]
            curves.append(highest[np.searchsorted(recall, at - 1e-9)])
    return at, np.mean(curves, axis=0)


def _thinned(recall: Floats, precision: Floats, most: int = 400) -> tuple[Floats, Floats]:
    """At most so many points, evenly along the recall; more are not visible."""
    if recall.size <= most:
        return recall, precision
    places = np.unique(np.searchsorted(recall, np.linspace(recall[0], recall[-1], most)))
    return recall[places], precision[places]


@styled()
def calibration_plot(labels: Floats, probabilities: Mapping[str, Floats]) -> Figure:
    """Share of positives in bins of equally many rows, above the number of rows by probability."""
    from matplotlib.figure import Figure
    from sklearn.calibration import calibration_curve

    figure = Figure((WIDTH, 4.6), layout="constrained")
    top, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    curves = {
        name: calibration_curve(labels, p, n_bins=BINS, strategy="quantile")
        for name, p in probabilities.items()
    }
    last = min(1.0, 1.1 * max(mean.max() for _, mean in curves.values()))
    edges = np.linspace(0.0, last, 2 * BINS + 1)
    for (name, (share, mean)), colour in zip(curves.items(), SERIES, strict=False):
        top.plot(mean, share, "o-", color=colour, markersize=4, label=short(name))
        rows, _ = np.histogram(np.minimum(probabilities[name], last), edges)
        below.stairs(rows, edges, color=colour, linewidth=1.2)
    highest = max(last, *(share.max() for share, _ in curves.values()))
    top.plot((0, 1), (0, 1), color=INK, linewidth=0.8, linestyle=":")
    top.set(ylabel="share of positives", xlim=(0, last), ylim=(-0.02 * highest, 1.02 * highest))
    below.set_yscale("log")
    below.set_ylim(bottom=0.8)
    below.yaxis.set_major_formatter("{x:,.0f}")  # powers of ten would need mathtext
    below.set(xlabel="predicted probability", ylabel="rows")
    top.legend(loc="upper left")
    return figure
