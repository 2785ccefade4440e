"""Errors of the sums of exponentials that approximate the pair functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from style import new_figure

from lambdaplus.engine.exponentials import REACH, REACH_IN_ORDER, PairShape, pair_function
from lambdaplus.ranking.queries import Floats
from lambdaplus.study.plot_style import SERIES, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PANELS = {"logistic": 0.0, "over 0.01 + distance": 0.01}  # and their damping


def relative_error(kind: str, damping: float, distance: Floats) -> Floats:
    """Relative error of one of the three functions of a kernel at these distances; sigma is 1."""
    fits = pair_function(PairShape(1.0, damping))
    x = np.exp(-distance)
    coefficients, exact = {
        "concordant": (fits.concordant, x / (1 + x)),
        "discordant": (fits.discordant, 1 / (1 + x)),
        "Hessian": (fits.hessian, x / (1 + x) ** 2),
    }[kind]
    exact = exact / (damping + distance) if damping else exact
    found = np.exp(-distance[:, None] * fits.rates.ravel()) @ coefficients.ravel()
    return np.abs(found / exact - 1)


@styled()
def pair_kernels() -> Figure:
    figure, panels = new_figure(3.0, 1, 2, width=8.0)
    for axes, (title, damping) in zip(panels, PANELS.items(), strict=True):
        for colour, kind in zip(SERIES, ("concordant", "discordant", "Hessian"), strict=False):
            # The weight of concordant pairs further apart than REACH_IN_ORDER is negligible.
            far = REACH if kind == "discordant" and damping else REACH_IN_ORDER
            distance = np.geomspace(1e-3, far, 2000)
            error = relative_error(kind, damping, distance)
            axes.plot(distance, error, color=colour, linewidth=1, label=kind)
        axes.set(xscale="log", yscale="log", xlabel="score distance times sigma")
        axes.set_title(title, loc="left")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
    panels[0].set_ylabel("relative error")
    panels[0].set_ylim(1e-10, 1e-4)
    panels[1].set_ylim(1e-6, 1)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
