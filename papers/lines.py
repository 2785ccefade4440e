"""A plot of lines, as the presets' figures have them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lambdaplus.study.figures import DASHES, SERIES, new_figure, short, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Line = tuple[Sequence[float], Sequence[float]]


@styled
def lines(
    curves: Mapping[str, Line], x: str, y: str, *, log: bool = False, markers: bool = False
) -> Figure:
    """One line for each name.

    Parameters
    ----------
    curves : dict of str to (sequence of float, sequence of float)
    x, y : str
        What stands beside the axes.
    log : bool
        Whether x is on a log scale.
    markers : bool
        Whether points are marked.

    Examples
    --------
    >>> from papers.lines import lines
    >>> figure = lines({"a": ([1, 10], [0.2, 0.4])}, "C", "slack", log=True)
    >>> figure.axes[0].get_xscale()
    'log'
    """
    columns = 3 if max(map(len, curves)) < 16 else 2
    figure, [axes] = new_figure(2.6 + 0.18 * math.ceil(len(curves) / columns))
    for i, (name, (xs, ys)) in enumerate(curves.items()):
        style: dict[str, Any] = {
            "color": SERIES[i % len(SERIES)],
            "linestyle": DASHES[i // len(SERIES) % len(DASHES)],
            "label": short(name, 28),
        }
        axes.plot(xs, ys, marker="o" if markers else None, markersize=3, **style)
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    figure.legend(loc="outside lower center", ncols=columns)
    return figure
