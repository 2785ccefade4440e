"""Plots of the results of a study."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

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

BETTER, WORSE = SERIES[2], SERIES[1]
LEVELS = 60  # number of distinct bar heights; more are not visible and would need large files

Plot: TypeAlias = "tuple[str, str, Figure]"
"""The file name, caption and figure of a plot."""


def query_plots(summary: Summary) -> Iterator[Plot]:
    """Differences by query, for each metric."""
    if (comparison := summary.comparison) is None:
        return
    for metric in summary.results.metrics:
        against = comparison.baseline or summary.best(metric)
        if against and summary.has_queries(metric):
            values = {name: summary.results.by_query(name, metric) for name in summary.runs}
            reference = values.pop(against)
            differences = {name: each - reference for name, each in values.items()}
            caption = (
                f"{label(metric)} of each method minus that of {against}: a bar for each test "
                "query, sorted, and the numbers of queries won and lost"
            )
            figure = difference_panels(label(metric), differences, against)
            yield f"differences_{file_name(metric)}", caption, figure


def curve_plots(summary: Summary) -> Iterator[Plot]:
    """Learning curves, for each metric that a method follows."""
    by_metric = summary.results.curves.group_by("metric", maintain_order=True)
    for metric, curves in ((str(metric), curves) for (metric,), curves in by_metric):
        caption = f"{label(metric)} on validation data by round: a panel for each method"
        figure = learning_curves(label(metric), curves)
        yield f"learning_curves_{file_name(metric)}", caption, figure


@styled()
def difference_panels(metric: str, values: Mapping[str, Floats], against: str) -> Figure:
    """A panel for each method with its sorted differences by query from a reference method."""
    figure, panels = _panels(
        len(values), f"{metric} difference", "test queries, sorted by the difference",
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
