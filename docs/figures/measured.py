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
def time_to_the_best() -> Figure:
    """MAP of the best model against the seconds until it, by objective and trees."""
    rows = [row for row in table("accuracy", "Time to") if row[0].startswith("LETOR")]
    short = {"map": "map", "ndcg": "ndcg", "0.25*map+0.75*logloss(relevant=1)": "map, log-loss"}
    figure, panels = new_figure(3.2, 1, 2, width=6.8)
    for axes, framework in zip(panels, FRAMEWORKS.values(), strict=True):
        for data, trees, name, _, _, seconds, gain in rows:
            others = name in ("auc", "arhr") or name.startswith("0.25*ndcg")
            if others or (trees, name) == ("default trees", "ndcg") or framework not in data:
                continue
            y = float(gain.partition(" ")[0]) if gain else 0.0
            axes.plot(
                float(seconds), y, "o" if trees == "ranking_trees" else "s",
                color=SERIES[0] if name in short else SERIES[1], markersize=6,
                fillstyle="full" if trees == "ranking_trees" else "none",
            )  # fmt: skip
            left = name == "ndcg" or (trees, name) == ("ranking_trees", "rank:ndcg")
            above = name in ("map", "rank:map", "log-loss")
            axes.annotate(
                short.get(name, name), (float(seconds), y),
                xytext=(-5 if left else 5, 3 if above else -3 if name in short else -9),
                textcoords="offset points", fontsize=8, ha="right" if left else "left",
            )  # fmt: skip
        axes.set_title(framework, loc="left")
        axes.set_ylim(-0.02, 0.013)
        axes.set_xlim(0, 1.5)
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:+g}" if y else "0")
    panels[0].set_ylabel("MAP, less that of lambdarank\nor rank:ndcg with ranking_trees")
    for words, mark, fill in (("ranking_trees", "o", "full"), ("default trees", "s", "none")):
        panels[0].plot([], [], mark, color=INK, fillstyle=fill, label=words)
    for words, colour in (("lambdaplus", SERIES[0]), ("built-in", SERIES[1])):
        panels[0].plot([], [], "o", color=colour, label=words)
    figure.supxlabel("seconds to the best model, relative", fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
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
