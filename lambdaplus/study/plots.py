"""Plots of the results of a study."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.evaluation.significance import ROUNDING
from lambdaplus.study.plot_style import (
    INK,
    SERIES,
    WIDE,
    WIDTH,
    file_name,
    new_figure,
    short,
    styled,
)
from lambdaplus.study.random_search import best_by_trial, choosers
from lambdaplus.study.results import Results
from lambdaplus.study.summary import Summary, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BETTER, WORSE = SERIES[2], SERIES[1]
MOST_LINES = 6  # in a narrow plot
LEAST_DEPTH = 0.1
LEVELS = 60  # number of distinct bar heights; more are not visible and would need large files

Plot: TypeAlias = "tuple[str, str, Figure]"
"""The file name, caption and figure of a plot."""


def time_plots(summary: Summary) -> Iterator[Plot]:
    """Training time of each method."""
    if summary.results.seconds:
        caption = "Seconds of training over all folds, seeds and parameters"
        yield "training_time", caption, training_time(summary.results)


def criteria_plots(summary: Summary) -> Iterator[Plot]:
    """Test means by the metric that each method optimises."""
    if summary.evaluations:
        depth = depth_of(_means(summary, summary.evaluations))
        caption = (
            "Test means. The stronger the shade of a cell, the closer it is to the best of its "
            f"column; a cell without shade is {decimal(depth, 3)} or more below it. Rounds and "
            f"parameters are selected on validation data by {summary.results.selected_by}"
        )
        yield "criterion_matrix", caption, criterion_matrix(summary)


def query_plots(summary: Summary) -> Iterator[Plot]:
    """Differences by query, for each main metric."""
    if (comparison := summary.comparison) is None:
        return
    for metric in summary.main_metrics:
        against = comparison.baseline or summary.best(metric)
        if against and summary.has_queries(metric):
            values = {name: each.per_query[metric] for name, each in summary.evaluations.items()}
            reference = values.pop(against)
            differences = {name: each - reference for name, each in values.items()}
            caption = (
                f"{label(metric)} of each method minus that of {against}: a bar for each test "
                "query, sorted, and the numbers of queries won and lost"
            )
            figure = difference_panels(label(metric), differences)
            yield f"differences_{file_name(metric)}", caption, figure


def curve_plots(summary: Summary) -> Iterator[Plot]:
    """Learning curves, for each metric that selects."""
    for metric, curves in curves_of(summary.results).items():
        caption = f"{label(metric)} on validation data by round: a panel for each method"
        figure = learning_curves(label(metric), curves)
        yield f"learning_curves_{file_name(metric)}", caption, figure


def search_plots(summary: Summary) -> Iterator[Plot]:
    """Best values by trial, for each metric that selects trials."""
    results = summary.results
    for metric in choosers(results) if results.config.trials > 1 else ():
        caption = f"Best validation {label(metric)} after each trial: means over folds and seeds"
        figure = best_values(label(metric), best_by_trial(results, metric))
        yield f"trials_{file_name(metric)}", caption, figure


@styled
def training_time(results: Results) -> Figure:
    """Seconds of each method for all finished folds, seeds and parameters."""
    ranked = sorted((value, name) for name, value in results.seconds.items())
    figure, [axes] = new_figure(1.0 + 0.2 * len(ranked))
    names, seconds = [short(name) for _, name in ranked], [value for value, _ in ranked]
    bars = axes.barh(range(len(ranked)), seconds, 0.7, color=SERIES[0], tick_label=names)
    axes.bar_label(bars, fmt="{:.3g} s", padding=3, fontsize=8)
    axes.margins(x=0.15, y=0.02)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.set_xlabel("seconds")
    return figure


@styled
def criterion_matrix(summary: Summary) -> Figure:
    """Test means of methods, sorted by the metric that they optimise (KDD 2008, fig. 9)."""
    from matplotlib.colors import LinearSegmentedColormap

    metrics, criteria = summary.results.metrics, summary.results.criteria
    order = [*dict.fromkeys([*metrics, *criteria.values()])]
    methods = sorted(summary.evaluations, key=lambda method: order.index(criteria[method]))
    means = _means(summary, methods)
    figure, [axes] = new_figure(1.0 + 0.22 * len(methods), width=3.0 + 0.65 * len(metrics))
    opacities = "00", "99"  # from none to one at which text is readable
    shades = LinearSegmentedColormap.from_list("shades", [SERIES[0] + each for each in opacities])
    edges = [np.arange(n + 1) - 0.5 for n in (len(metrics), len(methods))]
    axes.pcolormesh(*edges, shares(means), cmap=shades, vmin=0, vmax=1)
    axes.invert_yaxis()
    for (row, column), mean in np.ndenumerate(means):
        own = criteria[methods[row]] == metrics[column]
        text = "-" if np.isnan(mean) else decimal(float(mean))
        axes.text(column, row, text, ha="center", va="center", fontsize=8,
                  weight="bold" if own else "normal")  # fmt: skip
    for row in range(1, len(methods)):
        if criteria[methods[row]] != criteria[methods[row - 1]]:
            axes.axhline(row - 0.5, color=INK, linewidth=0.8)
    axes.set_xticks(range(len(metrics)), list(map(label, metrics)))
    results = summary.results
    by = results.config.select or results.each_metric_selects
    names = [short(m) if by else f"{short(m)}  ({label(criteria[m])})" for m in methods]
    axes.set_yticks(range(len(methods)), names)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    figure.supxlabel(f"bold: the metric {'of the objective' if by else 'in brackets'}", fontsize=9)
    return figure


def _means(summary: Summary, methods: Iterable[str]) -> Floats:
    results = summary.results
    return np.array([[results.mean(name, m) for m in results.metrics] for name in methods])


def depth_of(means: Floats) -> float:
    """The distance from the best of a column at which a cell has no shade: the same for all.

    It is at least `LEAST_DEPTH`, since small differences would look like large ones otherwise.
    """
    spread = np.fmax.reduce(means) - np.fmin.reduce(means)
    return float(max(LEAST_DEPTH, np.fmax.reduce(spread, initial=0.0)))


def shares(means: Floats) -> Floats:
    """How close each cell is to the best of its column: 1 for the best, 0 for `depth_of`."""
    return np.asarray(1.0 - (np.fmax.reduce(means) - means) / depth_of(means))


@styled
def difference_panels(metric: str, values: Mapping[str, Floats]) -> Figure:
    """A panel for each method with its sorted differences by query from a reference method."""
    figure, panels = _panels(
        len(values), f"{metric} difference", "test queries, sorted by the difference"
    )
    largest = max(float(np.nanmax(np.abs(each), initial=0.0)) for each in values.values()) or 1.0
    for (name, each), axes in zip(values.items(), panels, strict=True):
        differences = np.sort(each[~np.isnan(each)])[::-1]
        heights, edges = _steps(differences)
        axes.stairs(np.maximum(heights, 0), edges, fill=True, color=BETTER)
        axes.stairs(np.minimum(heights, 0), edges, fill=True, color=WORSE)
        axes.axhline(0, color=INK, linewidth=0.6)
        wins, losses = (int((sign * differences > ROUNDING).sum()) for sign in (1, -1))
        axes.set_title(short(name, 28), loc="left", fontsize=8)
        axes.annotate(f"{wins} : {losses}", (1, 1), (0, -3), xycoords="axes fraction",
                      textcoords="offset points", ha="right", va="top", fontsize=8)  # fmt: skip
        axes.set_xlim(0, max(differences.size, 1))
        axes.set_ylim(-1.05 * largest, 1.05 * largest)
    return figure


def _panels(n: int, across: str, along: str, each: float = 1.05) -> tuple[Figure, list[Axes]]:
    """A figure of n panels with one scale, each so many inches high, with labels of the axes."""
    columns = min(n, 2) if n <= 2 else 3
    width = WIDTH if columns < 3 else WIDE
    rows = math.ceil(n / columns)
    height = 0.95 + each * rows + (0.6 if rows == 1 else 0.0)
    # The constrained layout takes seconds for dozens of panels.
    figure, panels = new_figure(height, rows, columns, shared=True, width=width, layout=None)
    sides = 0.75 / width, 0.55 / height, 1 - 0.25 / width, 1 - 0.25 / height
    figure.subplots_adjust(*sides, 0.12, 0.5)
    for axes in panels[n:]:
        axes.remove()
    for axes in panels[max(0, n - columns) : n]:  # also above a place without a panel
        axes.tick_params(labelbottom=True)
    figure.supxlabel(along, fontsize=9, y=0.08 / height)
    figure.supylabel(across, fontsize=9, x=0.08 / width)
    return figure, panels[:n]


def _steps(values: Floats) -> tuple[Floats, Floats]:
    """Heights and edges of bars; adjacent bars of indistinguishable height are merged."""
    top = float(np.abs(values).max(initial=0.0)) or 1.0
    rounded = np.round(values / top * LEVELS) * top / LEVELS
    starts = np.flatnonzero(np.diff(rounded, prepend=np.inf))
    return rounded[starts], np.r_[starts, values.size].astype(np.float64)


def curves_of(results: Results) -> dict[str, pl.DataFrame]:
    """Validation curves by metric: a method's criterion if it selects, or else what does first."""
    shown: dict[str, str] = {}
    pairs = results.curves.select("method", "metric").unique(maintain_order=True)
    for method, metric in pairs.iter_rows():
        if method not in shown or metric == results.criteria[method]:
            shown[method] = metric
    own = pl.col("metric") == pl.col("method").replace_strict(shown, default=None)
    groups = results.curves.filter(own).group_by("metric", maintain_order=True)
    return {str(metric): curves for (metric,), curves in groups}


@styled
def learning_curves(metric: str, curves: pl.DataFrame) -> Figure:
    """Validation metric by round, a panel for each method.

    A thin line is a training, the thick one their mean, which ends where the first training ended.
    """
    methods = list(curves.group_by("method", maintain_order=True))
    figure, panels = _panels(len(methods), f"validation {metric}", "round", 1.3)
    for ((method,), rows), axes in zip(methods, panels, strict=True):
        trainings = [part for _, part in rows.group_by("fold", "seed", maintain_order=True)]
        for part in trainings if len(trainings) > 1 else ():
            axes.plot(part["round"], part["value"], color=SERIES[0], linewidth=0.7, alpha=0.5)
        last = min(int(part["round"][-1]) for part in trainings)
        until = rows.filter(pl.col("round") <= last)
        mean = until.group_by("round").agg(pl.col("value").mean()).sort("round")
        axes.plot(mean["round"], mean["value"], color=SERIES[0])
        axes.set_title(short(str(method), 28), loc="left", fontsize=8)
    values = curves["value"].drop_nulls().drop_nans().to_numpy()
    if values.size and (low := np.quantile(values, 0.05)) < (top := values.max()):
        panels[0].set_ylim(low, top + 0.05 * (top - low))
    return figure


@styled
def best_values(metric: str, values: Mapping[str, Floats]) -> Figure:
    """Best validation value after each trial, a line for each method."""
    from cycler import cycler

    wide = len(values) > MOST_LINES
    height = max(3.6, 0.5 + 0.19 * len(values)) if wide else 2.4 + 0.09 * len(values)
    figure, [axes] = new_figure(height, width=WIDE if wide else WIDTH)
    axes.set_prop_cycle(cycler(linestyle=("-", "--", ":", "-.")) * cycler(color=SERIES))
    for name, best in values.items():
        axes.plot(np.arange(1, best.size + 1), best, label=short(name, 26))
    axes.locator_params("x", integer=True)
    axes.set(xlabel="trials", ylabel=f"best validation {metric}")
    if wide:
        figure.legend(loc="outside right center")
    else:
        figure.legend(loc="outside lower center", ncols=2)
    return figure
