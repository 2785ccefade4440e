"""What our objective for a metric gains over the framework's own, by the accuracy study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lambdaplus.study.figures import INK, SERIES, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED = Path(__file__).parents[2] / "benchmarks" / "results" / "accuracy.json"
FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
ERRORS = 1.96  # standard errors in half of a 95% interval


def accuracy_gains() -> dict[str, Figure]:
    """The figure, if the study that is there kept the gains and their errors."""
    gains = json.loads(MEASURED.read_text(encoding="utf-8")).get("gains")
    return {"accuracy-gains": gains_figure(gains)} if gains else {}


@styled
def gains_figure(gains: list[dict[str, Any]]) -> Figure:
    """A panel for each metric: a row for each set and their mean, a mark for each framework."""
    metrics = list(dict.fromkeys(gain["metric"] for gain in gains))
    sets = list(dict.fromkeys(gain["on"] for gain in gains))
    frameworks = [name for name in FRAMEWORKS if any(g["framework"] == name for g in gains)]
    rows = (len(metrics) + 1) // 2
    figure, panels = new_figure(0.6 + rows * (0.6 + 0.24 * len(sets)), rows, 2, width=6.4)
    for place, (axes, metric) in enumerate(zip(panels, metrics, strict=False)):
        for i, framework in enumerate(frameworks):
            mine = [g for g in gains if (g["metric"], g["framework"]) == (metric, framework)]
            axes.errorbar(
                [gain["mean"] for gain in mine],
                [sets.index(gain["on"]) + 0.24 * (i - (len(frameworks) - 1) / 2) for gain in mine],
                xerr=[ERRORS * gain["error"] for gain in mine],
                fmt="os"[i], color=SERIES[i], markersize=4, elinewidth=1.2,
                label=FRAMEWORKS[framework],
            )  # fmt: skip
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.axhline(len(sets) - 1.5, color=INK, linewidth=0.6)  # the mean is below the line
        axes.set_title(metric, loc="left")
        axes.set_yticks(range(len(sets)), sets if place % 2 == 0 else [""] * len(sets))
        axes.set_ylim(len(sets) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.xaxis.set_major_formatter("{x:+g}")
        axes.locator_params(axis="x", nbins=5)
    for axes in panels[len(metrics) :]:
        axes.remove()
    figure.supxlabel(
        "test metric less that of the framework's best; lines: 95% intervals", fontsize=9
    )
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
