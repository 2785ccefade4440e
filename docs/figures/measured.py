"""Figures of what the benchmarks measured, from the files in benchmarks/results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lambdaplus.study.plot_style import INK, SERIES, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
ERRORS = 1.96  # standard errors in half of a 95% interval


def measured(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def table(name: str, title: str) -> list[list[Any]]:
    """The rows of the table whose title begins so."""
    return next(t["rows"] for t in measured(name)["tables"] if t["title"].startswith(title))


@styled()
def accuracy_gains() -> Figure:
    """Our objective for a metric less the framework's best: a row for each set and their mean."""
    gains = measured("one-line")["gains"]
    metrics = list(dict.fromkeys(gain["metric"] for gain in gains))
    sets = list(dict.fromkeys(gain["on"] for gain in gains))
    figure, panels = new_figure(0.6 + 2 * (0.6 + 0.24 * len(sets)), 2, 2, width=6.4)
    for place, (axes, metric) in enumerate(zip(panels, metrics, strict=True)):
        for i, framework in enumerate(FRAMEWORKS):
            mine = [g for g in gains if (g["metric"], g["framework"]) == (metric, framework)]
            axes.errorbar(
                [gain["mean"] for gain in mine],
                [sets.index(gain["on"]) + 0.24 * (i - 0.5) for gain in mine],
                xerr=[ERRORS * gain["error"] for gain in mine],
                fmt="os"[i], color=SERIES[i], markersize=4, elinewidth=1.2,
                label=FRAMEWORKS[framework],
            )  # fmt: skip
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.axhline(len(sets) - 1.5, color=INK, linewidth=0.6)  # the mean is below the line
        axes.set_title(metric.upper(), loc="left")
        axes.set_yticks(range(len(sets)), sets if place % 2 == 0 else [""] * len(sets))
        axes.set_ylim(len(sets) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.xaxis.set_major_formatter("{x:+g}")
        axes.locator_params(axis="x", nbins=5)
    figure.supxlabel(
        "test metric less that of the framework's best; lines: 95% intervals", fontsize=9
    )
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


@styled()
def what_helps() -> Figure:
    """The gain of each change, the largest first, in each framework or in both."""
    rows = measured("what-helps")["rows"]
    changes: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        changes.setdefault(row["change"], []).append(row)
    names = [*FRAMEWORKS.values(), "both"]
    figure, panels = new_figure(0.9 + 0.3 * len(changes), 1, 2, width=6.4)
    for axes, metric in zip(panels, ("map", "ndcg@10"), strict=True):
        for place, mine in enumerate(changes.values()):
            for row in mine:
                if metric in row["gains"]:
                    i = names.index(row["framework"])
                    mean, error, _ = row["gains"][metric]
                    axes.errorbar(
                        mean, place + (-0.14, 0.14, 0.0)[i], xerr=ERRORS * error,
                        fmt="osD"[i], color=SERIES[i], markersize=4, elinewidth=1.2,
                    )  # fmt: skip
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_title(metric.upper(), loc="left")
        axes.set_yticks(range(len(changes)), changes if axes is panels[0] else [""] * len(changes))
        axes.set_ylim(len(changes) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.xaxis.set_major_formatter("{x:+g}")
        axes.locator_params(axis="x", nbins=4)
    for i, name in enumerate(names):
        panels[0].plot([], [], "osD"[i], color=SERIES[i], markersize=4, label=name)
    figure.supxlabel("gain of the metric; lines: 95% intervals", fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


@styled()
def options() -> Figure:
    """What options and contenders have less than the default objective, by framework."""
    tables = {name: table("list-lengths", f"By option, {name}") for name in ("LightGBM", "XGBoost")}
    names = list(dict.fromkeys(row[0] for rows in tables.values() for row in rows))
    figure, panels = new_figure(3.6, 1, 3, width=6.4)
    for column, (axes, metric) in enumerate(zip(panels, ("MAP", "AUC", "NDCG@10"), strict=True), 1):
        for i, (framework, rows) in enumerate(tables.items()):
            for row in rows:
                mean, _, error = row[column].rstrip("*").partition(" ± ")
                if error:
                    axes.errorbar(
                        float(mean), names.index(row[0]) + 0.2 * (2 * i - 1), fmt="osD"[i],
                        xerr=ERRORS * float(error), markersize=4, color=SERIES[i],
                    )  # fmt: skip
            if axes is panels[0]:
                axes.plot([], [], "osD"[i], color=SERIES[i], markersize=4, label=framework)
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_title(metric, loc="left")
        axes.set_yticks(range(len(names)), names if axes is panels[0] else [""] * len(names))
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.locator_params(axis="x", nbins=3)
    figure.supxlabel("validation metric less that of the default; lines: 95% intervals", fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


@styled()
def speed() -> Figure:
    """Nanoseconds a row of one gradient, ours and the frameworks' own, on one thread."""
    shapes = {
        "queries of 120 documents": "One gradient: 3,000 queries of about 120 documents, five",
        "queries of 10 to 50": "One gradient: a million rows",
    }
    figure, panels = new_figure(3.4, 1, 2, width=6.4)
    for axes, (name, title) in zip(panels, shapes.items(), strict=True):
        rows = table("speed", title)
        ours = [row[0].startswith("lambdaplus") for row in rows]
        axes.barh(range(len(rows)), [float(row[2]) for row in rows],
                  color=[SERIES[0] if mine else SERIES[1] for mine in ours])  # fmt: skip
        axes.set_title(name, loc="left")
        axes.set_yticks(
            range(len(rows)),
            [row[0].removeprefix("lambdaplus ") for row in rows] if axes is panels[0] else [],
        )
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
    figure.supxlabel("nanoseconds a row of one gradient, one thread", fontsize=9)
    return figure


@styled()
def linear() -> Figure:
    """Seconds of a structural SVM's fit by the number of rows."""
    rows = table("linear", "Growth")
    figure, [axes] = new_figure(2.8)
    for i, name in enumerate(dict.fromkeys(row[1] for row in rows)):
        mine = [row for row in rows if row[1] == name]
        sizes = [int(row[0].replace(",", "")) for row in mine]
        seconds = [float(row[2]) for row in mine]
        axes.plot(sizes, seconds, color=SERIES[i], marker="o", markersize=3, label=name)
    axes.set(xscale="log", yscale="log", xlabel="rows, in queries of 100")
    axes.set_ylabel("seconds of a fit")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    figure.legend(loc="outside lower center", ncols=4)
    return figure


@styled()
def many_labels() -> Figure:
    """The time of a gradient with many labels, as documents and as labels become more."""
    found, figure, panels = measured("many-labels"), *new_figure(3.4, 1, 2, width=8.0)
    ways = {"tree": "tree of labels", "pairs": "pair by pair", "grades": "20 grades"}
    metrics = dict.fromkeys(point["metric"] for point in found["by_size"])
    for axes, key, across in zip(panels, ("by_size", "by_labels"), ("n", "labels"), strict=True):
        for metric, dash in zip(metrics, ("-", "--", ":"), strict=True):
            for (way, words), colour in zip(ways.items(), SERIES, strict=False):
                mine = [p for p in found[key] if p["metric"] == metric and way in p]
                axes.plot(
                    [p[across] for p in mine], [p[way] for p in mine], dash, color=colour,
                    marker="o", markersize=3, label=f"{metric.split('(')[0]}, {words}",
                )  # fmt: skip
        axes.set(xscale="log", yscale="log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:g}")
    panels[0].set_xlabel("documents, each with another label")
    panels[1].set_xlabel("labels of 5,000 documents")
    panels[0].set_ylabel("milliseconds for one gradient")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled()
def sweep_against_pairs() -> Figure:
    """The time of a gradient as a ranking grows: over all pairs, and of LightGBM's own."""
    points = measured("speed")["pairs"]
    figure, [axes] = new_figure(3.2)
    metrics = dict.fromkeys(point["metric"] for point in points)
    for metric, dash in zip(metrics, ("-", "--"), strict=True):
        for way, colour in zip(("sweep", "pair by pair"), SERIES, strict=False):
            mine = [p for p in points if p["metric"] == metric and p["way"] == way]
            axes.plot(
                [p["n"] for p in mine], [p["milliseconds"] / 1000 for p in mine], dash,
                color=colour, marker="o", markersize=3,
                label=f"{metric}, {'lambdaplus' if way == 'sweep' else way}",
            )  # fmt: skip
    if own := [point for point in points if point["way"] == "lambdarank"]:
        axes.plot(
            [p["n"] for p in own], [p["milliseconds"] / 1000 for p in own], ":", color=SERIES[2],
            marker="o", markersize=3, label="LightGBM lambdarank, top 30 only",
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="documents in the ranking")
    axes.set_ylabel("seconds for one gradient")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
