"""One query, a swap of two documents, and the pairs that count: at the top of it, or all."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from style import new_figure

from lambdaplus import evaluate
from lambdaplus.study.plot_style import INK, SERIES, styled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

Pair = tuple[int, int]  # of ranks
N, TOP = 100, 30  # documents, and the default truncation of lambdarank
RELEVANT = (3, 10, 22, 41, 62, 85)
SWAPPED = (34, 85)
ROUND = 0.5523  # of a Bezier curve that is a quarter of a circle


def average_precision(swapped: Pair | None = None) -> float:
    labels = np.isin(np.arange(1, N + 1), RELEVANT).astype(float)
    if swapped:
        upper, lower = swapped[0] - 1, swapped[1] - 1
        labels[[upper, lower]] = labels[[lower, upper]]
    return evaluate(labels, -np.arange(N), group=[N], metrics="map")["map"]


@styled()
def pairs() -> Figure:
    figure, panels = new_figure(3.9, 2, width=6.4)
    every = [
        pair
        for pair in itertools.combinations(range(1, N + 1), 2)
        if (pair[0] in RELEVANT) != (pair[1] in RELEVANT)
    ]
    at_top = [pair for pair in every if pair[0] <= TOP]
    for axes, drawn in zip(panels, (at_top, every), strict=True):
        draw(axes, at_top, SERIES[0])
        draw(axes, set(drawn) - set(at_top), SERIES[2])
        documents(axes)
    panels[0].set_title(
        f"lambdarank: {len(at_top)} pairs, with one of the first {TOP} documents", loc="left"
    )
    panels[1].set_title(
        f"lambdaplus: all {len(every)} pairs (green: those that lambdarank leaves out)", loc="left"
    )
    panels[1].set_xlabel(f"rank of {N} documents, {len(RELEVANT)} of them relevant (filled)")
    draw(panels[1], [SWAPPED], SERIES[1], linewidth=2)
    gain = average_precision(SWAPPED) - average_precision()
    panels[1].annotate(
        f"this swap adds {gain:.3f}\nto average precision".replace("0.", "."),
        (N, 0.98), ha="right", va="top", color=SERIES[1],
    )  # fmt: skip
    return figure


def draw(axes: Axes, drawn: Iterable[Pair], colour: str, linewidth: float = 0.4) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    arcs = [arc(pair) for pair in sorted(drawn)]
    if arcs:
        path = Path.make_compound_path(*arcs)
        axes.add_patch(PathPatch(path, fill=False, edgecolor=colour, linewidth=linewidth))


def arc(pair: Pair) -> Path:
    """A half ellipse from one rank to the other, as high as they are far apart."""
    from matplotlib.path import Path

    (left, right), middle = pair, sum(pair) / 2
    height, aside = (right - left) / N, ROUND * (right - left) / 2
    points = [
        (left, 0), (left, ROUND * height), (middle - aside, height), (middle, height),
        (middle + aside, height), (right, ROUND * height), (right, 0),
    ]  # fmt: skip
    return Path(points, [Path.MOVETO, *[Path.CURVE4] * 6])


def documents(axes: Axes) -> None:
    ranks = np.arange(1, N + 1)
    relevant = np.isin(ranks, RELEVANT)
    axes.plot(ranks[~relevant], np.full(N - len(RELEVANT), -0.05), "o", color=INK,
              fillstyle="none", markersize=2.4, markeredgewidth=0.4)  # fmt: skip
    axes.plot(ranks[relevant], np.full(len(RELEVANT), -0.05), "o", color=INK, markersize=4.5)
    axes.set(xlim=(0, N + 1), ylim=(-0.1, 1), xticks=[1, TOP, 60, N], yticks=[])
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(axis="x", length=0)
    axes.grid(False)
