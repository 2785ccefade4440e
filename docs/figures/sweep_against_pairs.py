"""The time of a gradient over all pairs as a ranking grows, measured by benchmarks/pairs.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from lambdaplus.study.figures import SERIES, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED = Path(__file__).parents[2] / "benchmarks" / "results" / "pairs.json"
COLOURS = {"sweep": SERIES[0], "pair by pair": SERIES[1]}
DASHES = ("-", "--")


@styled
def sweep_against_pairs() -> Figure:
    points = json.loads(MEASURED.read_text(encoding="utf-8"))
    figure, [axes] = new_figure(3.2)
    metrics = dict.fromkeys(point["metric"] for point in points)
    for metric, dash in zip(metrics, DASHES, strict=True):
        for way, colour in COLOURS.items():
            mine = [p for p in points if p["metric"] == metric and p["way"] == way]
            axes.plot(
                [p["n"] for p in mine], [p["milliseconds"] / 1000 for p in mine], dash,
                color=colour, marker="o", markersize=3, label=f"{metric}, {way}",
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="documents in the ranking")
    axes.set_ylabel("seconds for one gradient")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
