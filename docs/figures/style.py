"""Writes a figure of the documentation to files, as a light and a dark variant.

The style is that of the reports (`lambdaplus.study.plot_style`), with other colours of text and
lines in dark mode and a transparent background.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from lambdaplus.study.plot_style import INK, LINE, PAPER, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIANTS = {
    "light": {PAPER: "none", INK: INK, LINE: LINE},
    "dark": {PAPER: "none", INK: "#ced6dd", LINE: "#3a4048"},
}


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write ``name-light.svg`` and ``name-dark.svg``; the same figure gives the same bytes."""
    file = io.StringIO()
    with style(**{"svg.hashsalt": name, "svg.fonttype": "path"}):
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=nothing)
    text = file.getvalue()
    for variant, colours in VARIANTS.items():
        found = text
        for colour, instead in colours.items():
            found = found.replace(colour, instead)
        (folder / f"{name}-{variant}.svg").write_text(found, encoding="utf-8")
