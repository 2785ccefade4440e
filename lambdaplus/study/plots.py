"""Plots of the results of a study."""

from __future__ import annotations

import functools
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias

import numpy as np
import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.extras import installation
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.evaluation.significance import ROUNDING
from lambdaplus.study.results import Results
from lambdaplus.study.summary import Summary, label
from lambdaplus.study.tables import best_by_trial, choosers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")

INK, LINE, PAPER = "#1f2328", "#d1d9e0", "#ffffff"
SERIES = ("#2f81c7", "#c4622d", "#2e9a5f", "#a855c7", "#b8860b", "#d6447c", "#5f7f8f", "#7a6ff0")
BETTER, WORSE = SERIES[2], SERIES[1]
DASHES = ("-", "--", ":", "-.")
STYLE = {
    "font.size": 9,
    "font.sans-serif": ["DejaVu Sans", "sans-serif"],
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "text.parse_math": False,  # a name may contain a dollar sign
    "legend.frameon": False,
    "legend.fontsize": 8,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "grid.color": LINE,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
}
WIDTH = 4.6  # inches, so that text is readable on a phone
WIDE = 8.6  # for many panels or lines, across the page


def style(**more: str) -> AbstractContextManager[None]:
    """Use our settings only, since a report must not depend on the user's matplotlibrc."""
    import matplotlib.style

    return matplotlib.style.context(["default", {**STYLE, **more}])


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in our style; matplotlib reads some settings only while drawing."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        needs_matplotlib()
        with style():
            return draw(*args, **kwargs)

    return drawn


def new_figure(
    height: float,
    rows: int = 1,
    columns: int = 1,
    *,
    shared: bool = False,
    width: float = WIDTH,
    layout: Literal["constrained"] | None = "constrained",
) -> tuple[Figure, list[Axes]]:
    """A figure and its panels, row by row; shared panels have one scale with one set of labels."""
    from matplotlib.figure import Figure

    figure = Figure((width, height), layout=layout)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=shared, sharey=shared)
    return figure, list(panels.flat)


def needs_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError(f"plots need matplotlib: {installation('plot')}") from None


def save_plot(figure: Figure, folder: Path, name: str) -> str:
    """Write ``name.png`` and ``name.svg``, and return the latter for inclusion in a page.

    The same figure gives the same bytes.
    """
    with style(**{"svg.hashsalt": name}):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # compute the layout once for both files
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=nothing)
    text = re.sub(r' d="[^"]*"', _shorter, file.getvalue())
    (folder / f"{name}.svg").write_text(text, encoding="utf-8")
    inline = _of_page(text[text.index("<svg") :])
    width = figure.get_figwidth() * 72
    size = f' style="min-width: {width:.0f}pt; max-width: {1.35 * width:.0f}pt"'
    inline = re.sub(r' width="[\d.]+pt" height="[\d.]+pt"', size, inline, count=1)
    # The ids of several plots in one page must differ.
    return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{name}-", inline)


def _of_page(svg: str) -> str:
    """The plot in the colours of the page, which may be light or dark, on no background."""
    for colour, name in ((INK, "var(--ink)"), (LINE, "var(--line)")):
        svg = svg.replace(colour, name)
    return svg.replace(f"fill: {PAPER}", "fill: none")


def short(name: str, most: int = 30) -> str:
    """The end of a name that is too long for a plot label."""
    return name if len(name) <= most else "\N{HORIZONTAL ELLIPSIS}" + name[1 - most :]


def file_name(text: str) -> str:
    """The text without characters that are not allowed in file names and ids."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def _shorter(path: re.Match[str]) -> str:
    """Round coordinates to a hundredth of a point, which leaves a third of the bytes."""
    return re.sub(r"(\.\d\d)\d+", r"\1", path[0]).replace("\n", "")


MOST_LINES = 6  # in a narrow plot
LEAST_DEPTH = 0.1
LEVELS = 60  # number of distinct bar heights; more are not visible and would need large files


Plot: TypeAlias = "tuple[str, str, Figure]"
"""The file name, caption and figure of a plot."""


def _of_time(summary: Summary) -> Iterator[Plot]:
    if summary.results.seconds:
        caption = "Seconds of training over all folds, seeds and parameters"
        yield "training_time", caption, training_time(summary.results)


def _of_criteria(summary: Summary) -> Iterator[Plot]:
    if summary.evaluations:
        caption = (
            "Test means. The stronger the shade of a cell, the closer it is to the best of its "
            "column; a cell without shade is "
            f"{decimal(depth_of(_means(summary)), 3)} or more below it. {_selection(summary)}"
        )
        yield "criterion_matrix", caption, criterion_matrix(summary)


def _selection(summary: Summary) -> str:
    """Which metric selects rounds and parameters, in a sentence."""
    results = summary.results
    if results.config.select:
        by = label(results.config.select)
    elif results.each_metric_selects:
        by = "The metric of the column"
    else:
        by = "The metric in brackets"
    return f"{by} on validation data selects rounds and parameters"


def _of_queries(summary: Summary) -> Iterator[Plot]:
    if (comparison := summary.comparison) is None:
        return
    for metric in summary.main_metrics:
        against = comparison.baseline or summary.best(metric)
        values = {name: of.per_query[metric] for name, of in summary.evaluations.items()}
        if against and summary.has_queries(metric):
            differences = {n: v - values[against] for n, v in values.items() if n != against}
            caption = (
                f"{label(metric)} of each method minus that of {against}: a bar for each test "
                "query, sorted, and the numbers of queries won and lost"
            )
            figure = difference_panels(label(metric), differences)
            yield f"differences_{file_name(metric)}", caption, figure


def _of_curves(summary: Summary) -> Iterator[Plot]:
    for metric, curves in curves_of(summary.results).items():
        caption = f"{label(metric)} on validation data"
        figure = learning_curves(label(metric), curves)
        yield f"learning_curves_{file_name(metric)}", caption, figure


def _of_searches(summary: Summary) -> Iterator[Plot]:
    results = summary.results
    for metric in choosers(results) if results.config.trials > 1 else ():
        caption = f"Best validation {label(metric)} after each trial: means over folds and seeds"
        figure = best_values(label(metric), best_by_trial(results, metric))
        yield f"trials_{file_name(metric)}", caption, figure


# The plots that apply to a study, by section of the report.
PLOTS: dict[str, Callable[[Summary], Iterator[Plot]]] = {
    "time": _of_time,
    "criteria": _of_criteria,
    "queries": _of_queries,
    "curves": _of_curves,
    "searches": _of_searches,
}


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
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    metrics, criteria = summary.results.metrics, summary.results.criteria
    order = dict.fromkeys([*metrics, *criteria.values()])
    methods = [m for of in order for m in summary.evaluations if criteria[m] == of]
    means = _means(summary, methods)
    figure, [axes] = new_figure(1.0 + 0.22 * len(methods), width=3.0 + 0.65 * len(metrics))
    blue = to_rgb(SERIES[0])  # up to a share at which text is readable
    shades = LinearSegmentedColormap.from_list("shades", [(*blue, 0.0), (*blue, 0.6)])
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
    said = "bold: the metric of the objective" if by else "bold: the metric in brackets"
    figure.supxlabel(said, fontsize=9)
    return figure


def _means(summary: Summary, methods: Sequence[str] = ()) -> Floats:
    results = summary.results
    rows = [[results.mean(m, metric) for metric in results.metrics]
            for m in methods or summary.evaluations]  # fmt: skip
    return np.array(rows)


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
    for (name, each), axes in zip(values.items(), panels, strict=False):
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
    of_methods = list(curves.group_by("method", maintain_order=True))
    figure, panels = _panels(len(of_methods), f"validation {metric}", "round", 1.3)
    for ((method,), mine), axes in zip(of_methods, panels, strict=False):
        single = [one for _, one in mine.group_by("fold", "seed", maintain_order=True)]
        for one in single if len(single) > 1 else ():
            axes.plot(one["round"], one["value"], color=SERIES[0], linewidth=0.7, alpha=0.5)
        last = min(int(one["round"][-1]) for one in single)
        until = mine.filter(pl.col("round") <= last)
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
    from matplotlib.ticker import MaxNLocator

    figure, axes = _figure_of_lines(len(values))
    for number, (name, best) in enumerate(values.items()):
        axes.plot(np.arange(1, best.size + 1), best, **_line(number), label=short(name, 26))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="trials", ylabel=f"best validation {metric}")
    _add_legend(figure)
    return figure


def _figure_of_lines(n: int) -> tuple[Figure, Axes]:
    """A figure for n lines and their legend: across the page if there are many."""
    wide = n > MOST_LINES
    height = max(3.6, 0.5 + 0.19 * n) if wide else 2.4 + 0.09 * n
    figure, [axes] = new_figure(height, width=WIDE if wide else WIDTH)
    return figure, axes


def _add_legend(figure: Figure) -> None:
    if figure.get_figwidth() > WIDTH:
        figure.legend(loc="outside right center")
    else:
        figure.legend(loc="outside lower center", ncols=2)


def _line(number: int) -> dict[str, Any]:
    dash = DASHES[number // len(SERIES) % len(DASHES)]
    return {"color": SERIES[number % len(SERIES)], "linestyle": dash}
