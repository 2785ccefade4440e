"""Figures of the papers, drawn from our results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lambdaplus.study.plot_style import SERIES, WIDE, save_plot, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Panel(NamedTuple):
    """One panel of a figure: a line for each name, from x and y; all panels have the same names.

    Attributes
    ----------
    log : bool
        Whether x is on a logarithmic scale.
    """

    title: str
    x: str
    lines: Mapping[str, tuple[Any, Any]]
    log: bool = False


@styled()
def draw(panels: Sequence[Panel]) -> Figure:
    """Two or three panels side by side, with one legend below them."""
    from matplotlib.figure import Figure

    columns = 3 if len(panels) % 3 == 0 else 2
    rows = -(-len(panels) // columns)
    figure = Figure((WIDE, 2.2 * rows + 0.4), layout="constrained")
    axes = list(figure.subplots(rows, columns).flat)
    for panel, ax in zip(panels, axes, strict=True):
        for colour, (name, (x, y)) in zip(SERIES, panel.lines.items(), strict=False):
            ax.plot(x, y, color=colour, label=name, marker="o" if len(x) <= 10 else "", ms=3)
        ax.set(title=panel.title, xlabel=panel.x)
        if panel.log:
            ax.set_xscale("log")
            ax.set_xticks(x[::2], [f"{value:g}" for value in x[::2]])
            ax.minorticks_off()
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return figure


def write_figures(figures: Mapping[str, Sequence[Panel]], folder: Path) -> list[Path]:
    """Write ``NAME.svg`` and ``NAME.png`` of each, and return the former."""
    for name, panels in figures.items():
        save_plot(draw(panels), folder, name)
    return [folder / f"{name}.svg" for name in figures]
