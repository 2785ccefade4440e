"""How plots are drawn and saved: colours, sizes, and files that pages include."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lambdaplus.compute.extras import installation
from lambdaplus.compute.messages import printable, printable_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, LINE, PAPER = "#1f2328", "#d1d9e0", "#ffffff"
SERIES = ("#2f81c7", "#c4622d", "#2e9a5f", "#a855c7", "#b8860b", "#d6447c", "#5f7f8f", "#7a6ff0")
STYLE = {
    "font.size": 9,
    "font.sans-serif": ["DejaVu Sans", "sans-serif"],
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "text.parse_math": False,  # a name may contain a dollar sign
    "legend.frameon": False,
    "legend.fontsize": 8,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "grid.color": LINE,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
}
WIDTH = 4.6  # inches, so that text is readable on a phone
WIDE = 8.6  # for many panels or lines, across the page


@contextmanager
def styled(**more: str) -> Iterator[None]:
    """Use our settings only, since a report must not depend on the user's matplotlibrc.

    As a decorator, ``@styled()``, it is for functions that draw: matplotlib reads some settings
    only then.
    """
    needs_matplotlib()
    import matplotlib.style

    with matplotlib.style.context(["default", {**STYLE, **more}]):
        yield


def needs_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError(f"plots need matplotlib: {installation('plot')}") from None


def save_plot(figure: Figure, folder: Path, name: str) -> str:
    """Write ``name.png`` and ``name.svg``, and return the latter for inclusion in a page.

    The same figure gives the same bytes.
    """
    from matplotlib.text import Text

    for text in figure.findobj(Text):  # an SVG with a control character is invalid
        text.set_text(printable_lines(text.get_text()))
    with styled(**{"svg.hashsalt": name}):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # compute the layout once for both files
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=nothing)
    svg = re.sub(r' d="[^"]*"', _shorter, file.getvalue())
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    inline = _of_page(svg[svg.index("<svg") :])
    width = figure.get_figwidth() * 72
    size = f' style="min-width: {width:.0f}pt; max-width: {1.35 * width:.0f}pt"'
    inline = re.sub(r' width="[\d.]+pt" height="[\d.]+pt"', size, inline, count=1)
    # The ids of several plots in one page must differ.
    return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{name}-", inline)


def _of_page(svg: str) -> str:
    """The plot in the colours of the page, which may be light or dark, on no background."""
    for colour, name in ((INK, "var(--ink)"), (LINE, "var(--line)")):
        svg = svg.replace(colour, name)
    return svg.replace(f"fill: {PAPER}", "fill: none")


def short(name: str, most: int = 28) -> str:
    """A name on one line, or its end if it is too long for a plot label."""
    name = printable(name)
    return name if len(name) <= most else "\N{HORIZONTAL ELLIPSIS}" + name[1 - most :]


def file_name(text: str) -> str:
    """The text without characters that are not allowed in file names and ids."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def _shorter(path: re.Match[str]) -> str:
    """Round coordinates to a hundredth of a point, which leaves a third of the bytes."""
    return re.sub(r"(\.\d\d)\d+", r"\1", path[0]).replace("\n", "")
