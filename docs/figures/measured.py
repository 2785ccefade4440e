"""Figures of what the benchmarks measured, from the files in benchmarks/results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from style import new_figure

from lambdaplus.study.plot_style import INK, SERIES, styled

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
def out_of_the_box() -> Figure:
    """What trees and objectives gain over the framework's ranking objective with default trees."""
    found = next(t for t in measured("out-of-the-box")["tables"] if t["title"] == "Real sets")
    shown = {
        "lambdaplus, default trees": "lambdaplus,\ndefault trees",
        "lambdarank, rank:ndcg, ranking_trees": "built-in objective,\nranking_trees",
        "lambdaplus, ranking_trees": "lambdaplus,\nranking_trees",
    }
    rows = {row[0]: row for row in found["rows"]}
    figure, panels = new_figure(2.9, 1, 2, width=6.4)
    for axes, metric in zip(panels, ("MAP", "NDCG@10"), strict=True):
        for i, framework in enumerate(FRAMEWORKS.values()):
            column = found["columns"].index(f"{metric}, {framework}")
            for place, title in enumerate(shown):
                mean, _, error = rows[title][column].partition(" (")[0].rstrip("*").partition(" ± ")
                axes.errorbar(
                    float(mean), place + 0.2 * (2 * i - 1), xerr=ERRORS * float(error),
                    fmt="os"[i], color=SERIES[i], markersize=5, elinewidth=1.4,
                )  # fmt: skip
            if axes is panels[0]:
                axes.plot([], [], "os"[i], color=SERIES[i], markersize=5, label=framework)
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_title(metric, loc="left")
        names = list(shown.values())
        axes.set_yticks(range(len(names)), names if axes is panels[0] else [""] * len(names))
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:+g}" if x else "0")
        axes.locator_params(axis="x", nbins=4)
    figure.supxlabel(
        "gain over lambdarank and rank:ndcg with default trees; lines: 95% intervals", fontsize=9
    )
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
        axes.set(xscale="log", yscale="log", ylim=(0.02, 400))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:g}")
    panels[0].set_xticks([100, 1_000, 10_000, 100_000])
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
