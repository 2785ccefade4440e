"""Errors of the sums of exponentials that approximate the pair functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from style import new_figure

from lambdaplus.compute.array_types import Floats
from lambdaplus.engine.exponentials import FARTHEST, pair_function
from lambdaplus.study.plot_style import SERIES, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def relative_error(kind: str, distance: Floats) -> Floats:
    """Relative error of one of the three functions of a kernel at these distances; sigma is 1."""
    fits = pair_function(1.0)
    x = np.exp(-distance)
    coefficients, exact = {
        "concordant": (fits.concordant, x / (1 + x)),
        "discordant": (fits.discordant, 1 / (1 + x)),
        "Hessian": (fits.hessian, x / (1 + x) ** 2),
    }[kind]
    found = np.exp(-distance[:, None] * fits.rates.ravel()) @ coefficients.ravel()
    return np.abs(found / exact - 1)


@styled()
def pair_kernels() -> Figure:
    figure, [axes] = new_figure(3.0)
    # The weight of concordant pairs further apart than FARTHEST is negligible.
    distance = np.geomspace(1e-3, FARTHEST, 2000)
    for colour, kind in zip(SERIES, ("concordant", "discordant", "Hessian"), strict=False):
        axes.plot(distance, relative_error(kind, distance), color=colour, linewidth=1, label=kind)
    axes.set(xscale="log", yscale="log", xlabel="score distance times sigma", ylim=(1e-10, 1e-4))
    axes.set_ylabel("relative error")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
