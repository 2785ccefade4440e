"""Figures of the documentation, each written to one file for light and for dark pages.

The style is that of the reports (`lambdaplus.study.plot_style`).  The colours of text, lines and
paper follow the reader's light or dark mode.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lambdaplus.study.plot_style import INK, LINE, PAPER, WIDTH, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"ink": (INK, "#ced6dd"), "line": (LINE, "#3a4048"), "paper": (PAPER, "#131416")}
LIGHT, DARK = (";".join(f"--{name}:{both[i]}" for name, both in COLOURS.items()) for i in (0, 1))
MODES = f"<style>:root{{{LIGHT}}}@media(prefers-color-scheme:dark){{:root{{{DARK}}}}}</style>"


def new_figure(
    height: float, rows: int = 1, columns: int = 1, *, width: float = WIDTH
) -> tuple[Figure, list[Axes]]:
    """A figure and its panels, row by row."""
    from matplotlib.figure import Figure

    figure = Figure((width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write ``name.svg``; the same figure gives the same bytes."""
    file = io.StringIO()
    with styled(**{"svg.hashsalt": name, "svg.fonttype": "path"}):
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=nothing)
    (folder / f"{name}.svg").write_text(in_both_modes(file.getvalue()), encoding="utf-8")


def in_both_modes(svg: str) -> str:
    """The figure with coordinates of a tenth of a point and colours that follow the mode."""
    svg = re.sub(r' (d|x|y)="[^"]*"', _shorter, svg[svg.index("<svg") :])
    for name, (colour, _) in COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    return re.sub(r"(<svg[^>]*>)", rf"\1{MODES}", svg, count=1)


def _shorter(attribute: re.Match[str]) -> str:
    return re.sub(r"(\.\d)\d+", r"\1", attribute[0]).replace("\n", "")
