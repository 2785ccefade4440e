"""Plots of a study.

Examples
--------
>>> from lambdaplus.study import Settings, Study, find_methods
>>> from lambdaplus.study.plots import plots_of
>>> from lambdaplus.data import digits_queries
>>> from lambdaplus.metrics import parse_metric
>>> study = Study(
...     folds=digits_queries()[:1],
...     methods=find_methods("lightgbm:map,lightgbm:auc"),
...     metrics=[parse_metric("map")],
...     settings=Settings(rounds=5),
... )
>>> _ = list(study.run())
>>> for name, figure in plots_of(study):
...     print(name)
training_time
criterion_matrix
learning_curves_map
learning_curves_auc
differences_map
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from lambdaplus.data.queries import Floats
from lambdaplus.metrics import RankingMetric
from lambdaplus.study.figures import (
    BETTER,
    INK,
    SERIES,
    WORSE,
    file_name,
    new_figure,
    shades,
    short,
    styled,
)
from lambdaplus.study.line_plots import best_values, learning_curves, learning_curves_of
from lambdaplus.study.methods import Method
from lambdaplus.study.searches import best_by_trial, choosers
from lambdaplus.study.shown_metrics import criterion_of, main_metrics, shown_metrics
from lambdaplus.study.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = 60  # number of distinct bar heights; more are not visible and would need large files


def plots_of(study: Study, baseline: str | None = None) -> Iterator[tuple[str, Figure]]:
    """Yield the name and figure of each plot that applies to the study.

    Parameters
    ----------
    study : Study
        A study that has run.
    baseline : str, optional
        Method with which the others are compared; by default, the best method of each metric.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if any(study.chosen.values()):
        yield "training_time", training_time(study)
    if finished(study):
        yield "criterion_matrix", criterion_matrix(study)
    for criterion, curves in learning_curves_of(study).items():
        yield f"learning_curves_{file_name(criterion)}", learning_curves(criterion, curves)
    for name in choosers(study):
        found = best_by_trial(study, name)
        if found and study.trials > 1:
            yield f"trials_{file_name(name)}", best_values(name, found)
    for metric in main_metrics(study):
        against = method_to_beat(study, metric, baseline)
        if against is not None and len(finished(study)) > 1 and _by_query(study, metric):
            yield f"differences_{file_name(str(metric))}", differences(study, metric, against)


def finished(study: Study) -> list[Method]:
    """Methods that have finished every fold."""
    return [method for method in study.methods if study.evaluation(method) is not None]


def method_to_beat(study: Study, metric: RankingMetric, baseline: str | None) -> Method | None:
    """The baseline if it is finished; without a baseline, the best method by the metric."""
    done = [m for m in finished(study) if not math.isnan(study.mean(m, metric))]
    named = [method for method in done if method.name == baseline]
    best = max(done, key=lambda method: study.mean(method, metric), default=None)
    return named[0] if named else best


def by_criterion(study: Study) -> list[Method]:
    """Finished methods, grouped by criterion in the order of the metrics."""
    order = {str(metric): place for place, metric in enumerate(shown_metrics(study))}

    def place(method: Method) -> tuple[int, str]:
        criterion = criterion_of(study, method)
        return order.get(criterion, len(order)), criterion

    return sorted(finished(study), key=place)


@styled
def training_time(study: Study) -> Figure:
    """Bars on a log scale: seconds for all finished folds, seeds and parameters."""
    from matplotlib.ticker import LogLocator

    methods = sorted((m for m in study.methods if study.results[m.name]), key=study.seconds)
    seconds = [max(study.seconds(method), 1e-6) for method in methods]
    families = list(dict.fromkeys(method.family for method in study.methods))
    figure, [axes] = new_figure(1.0 + 0.2 * len(methods))
    for family in families:
        rows = [i for i, method in enumerate(methods) if method.family == family]
        colour = SERIES[families.index(family) % len(SERIES)]
        axes.barh(
            rows, [seconds[i] for i in rows], color=colour, label=short(family, 16), height=0.7
        )
    axes.set_xscale("log")
    few_decades = max(seconds) < 100 * min(seconds)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3) if few_decades else (1,)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.set_xlim(min(seconds) / 3, max(seconds) * (max(seconds) / min(seconds) * 3) ** 0.3)
    for row, value in enumerate(seconds):
        axes.annotate(f"{value:.3g} s", (value, row), (3, 0), textcoords="offset points",
                      va="center", fontsize=8)  # fmt: skip
    axes.set_yticks(range(len(methods)), [short(method.name) for method in methods])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(methods) - 0.4)
    axes.grid(False, axis="y")
    axes.set_xlabel("seconds (log scale)")  # long names leave no space for a longer label
    if len(families) > 1:
        figure.legend(loc="outside lower center", ncols=3)
    return figure


@styled
def criterion_matrix(study: Study) -> Figure:
    """Methods, by the criterion that they optimise, and test metrics (KDD 2008, fig. 9)."""
    methods, metrics = by_criterion(study), shown_metrics(study)
    criteria = [criterion_of(study, method) for method in methods]
    means = np.array([[study.mean(m, k) for k in metrics] for m in methods])
    figure, [axes] = new_figure(1.0 + 0.22 * len(methods), width=3.0 + 0.65 * len(metrics))
    axes.imshow(shares(means), cmap=shades(), vmin=0, vmax=1, aspect="auto")
    for (row, column), mean in np.ndenumerate(means):
        own = criteria[row] == str(metrics[column])
        axes.text(column, row, f"{mean:.4f}", ha="center", va="center", fontsize=8,
                  weight="bold" if own else "normal")  # fmt: skip
    for row in range(1, len(methods)):
        if criteria[row] != criteria[row - 1]:
            axes.axhline(row - 0.5, color=INK, linewidth=0.8)
    names = [f"{short(m.name)}  ({of})" for m, of in zip(methods, criteria, strict=True)]
    axes.set_xticks(range(len(metrics)), [str(metric) for metric in metrics])
    axes.set_yticks(range(len(methods)), names)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    figure.supxlabel("test metrics; bold: the criterion that the method optimises", fontsize=9)
    return figure


def shares(means: Floats) -> Floats:
    """Scale each column from 0 (worst) to 1 (best); 1 if all values are the same."""
    known = ~np.isnan(means)
    low = np.min(means, axis=0, initial=np.inf, where=known)
    high = np.max(means, axis=0, initial=-np.inf, where=known)
    spread = np.where(high > low, high - low, 1.0)
    return np.asarray(np.where(high > low, (means - low) / spread, np.where(known, 1.0, np.nan)))


def _by_query(study: Study, metric: RankingMetric) -> bool:
    """Whether a metric has a value for each query, not only for each fold."""
    found = study.evaluation(finished(study)[0])
    return found is not None and len(found.per_query[str(metric)]) == found.n_queries


def differences(study: Study, metric: RankingMetric, against: Method) -> Figure:
    """Sorted differences on test queries between each method and the reference method."""
    theirs = study.evaluation(against)
    assert theirs is not None, "the method to beat is finished"
    name = str(metric)
    found = {method.name: study.evaluation(method) for method in finished(study)}
    values = {other: run.per_query[name] for other, run in found.items() if run is not None}
    own = values.pop(against.name)
    return difference_panels(name, against.name, {other: v - own for other, v in values.items()})


@styled
def difference_panels(metric: str, against: str, found: Mapping[str, Floats]) -> Figure:
    """A panel for each system with its sorted differences per query from a reference system.

    Parameters
    ----------
    metric, against : str
    found : dict of str to (n_queries,) float64
        NaN on queries without a value.
    """
    rows = math.ceil(len(found) / 2)
    height = 0.85 + 0.95 * rows
    # The general layout takes seconds for dozens of panels.
    figure, panels = new_figure(height, rows, 2, shared=True, layout=None)
    figure.subplots_adjust(0.1, 0.55 / height, 0.95, 1 - 0.25 / height, 0.18, 0.5)
    largest = 0.0
    for (name, each), axes in zip(found.items(), panels, strict=False):
        values = np.sort(each[~np.isnan(each)])[::-1]
        largest = max(largest, float(np.abs(values).max(initial=0.0)))
        heights, edges = _steps(values)
        axes.stairs(np.maximum(heights, 0), edges, fill=True, color=BETTER)
        axes.stairs(np.minimum(heights, 0), edges, fill=True, color=WORSE)
        axes.axhline(0, color=INK, linewidth=0.6)
        wins, losses = int((values > 1e-12).sum()), int((values < -1e-12).sum())
        axes.set_title(short(name, 28), loc="left", fontsize=8)
        axes.annotate(f"{wins} : {losses}", (1, 1), (0, -3), xycoords="axes fraction",
                      textcoords="offset points", ha="right", va="top", fontsize=8)  # fmt: skip
        axes.set_xlim(0, max(values.size, 1))
    for axes in panels[: len(found)]:
        axes.set_ylim(-1.05 * (largest or 1.0), 1.05 * (largest or 1.0))
    for axes in panels[len(found) :]:
        axes.remove()
    # The label is below, since a long name at the side would not fit the height of one row.
    figure.supxlabel(f"{metric} minus that of {short(against)}", fontsize=9, y=0.08 / height)
    return figure


def _steps(values: Floats) -> tuple[Floats, Floats]:
    """Heights and edges of bars; adjacent bars of indistinguishable height are merged."""
    top = float(np.abs(values).max(initial=0.0)) or 1.0
    rounded = np.round(values / top * LEVELS) * top / LEVELS
    starts = np.flatnonzero(np.diff(rounded, prepend=np.inf))
    return rounded[starts], np.r_[starts, values.size].astype(np.float64)
