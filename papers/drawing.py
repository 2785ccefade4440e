"""Figures of the papers, drawn from our results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lambdaplus.study.plot_style import SERIES, WIDE, new_figure, save_plot, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Panel(NamedTuple):
    """One panel of a figure: a line for each name, from x and y; all panels have the same names.

    Attributes
    ----------
    scales : str
        "log-x", "log-xy" or "" for linear ones.
    """

    title: str
    x: str
    lines: Mapping[str, tuple[Any, Any]]
    scales: str = ""


@styled
def draw(panels: Sequence[Panel], columns: int = 2) -> Figure:
    """Panels side by side, with one legend below them."""
    rows = -(-len(panels) // columns)
    figure, axes = new_figure(2.4 * rows + 0.4, rows, columns, width=WIDE)
    for panel, ax in zip(panels, axes, strict=False):
        points = max(len(x) for x, _ in panel.lines.values())
        for colour, (name, (x, y)) in zip(SERIES, panel.lines.items(), strict=False):
            ax.plot(x, y, color=colour, label=name, marker="o" if points <= 10 else "", ms=3)
        ax.set(title=panel.title, xlabel=panel.x)
        if panel.scales:
            ax.set_xscale("log")
        if panel.scales == "log-xy":
            ax.set_yscale("log")
    for ax in axes[len(panels) :]:
        ax.remove()
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return figure


def write_figures(figures: Mapping[str, Sequence[Panel]], folder: Path) -> list[Path]:
    """Write ``NAME.svg`` and ``NAME.png`` of each, and return the former."""
    for name, panels in figures.items():
        save_plot(draw(panels), folder, name)
    return [folder / f"{name}.svg" for name in figures]
