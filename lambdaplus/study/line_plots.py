"""Plots with a line for each method: validation by round, and by number of trials."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lambdaplus.data.queries import Floats
from lambdaplus.study.figures import DASHES, SERIES, new_figure, short, styled
from lambdaplus.study.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def learning_curves_of(study: Study) -> dict[str, dict[str, Floats]]:
    """Mean curve of the selected parameters over folds and seeds, by criterion and method.

    After early stopping, a fold contributes its best value, which is that of its final model.
    """
    found: dict[str, dict[str, Floats]] = {}
    for method in study.methods:
        curves = [c.fit.curve for c in study.results[method.name] if c.fit.curve.size]
        if curves:
            length = max(curve.size for curve in curves)
            whole = [np.r_[c, np.full(length - c.size, np.nanmax(c))] for c in curves]
            by = study.results[method.name][0].by
            found.setdefault(by, {})[method.name] = np.mean(whole, axis=0)
    return found


def learning_curves(criterion: str, curves: Mapping[str, Floats]) -> Figure:
    """Validation metric by round, a line for each method."""
    return _lines(curves, f"validation {criterion}", "round")


def best_values(metric: str, found: Mapping[str, Floats]) -> Figure:
    """Best validation value after each trial, a line for each method."""
    return _lines(found, f"best validation {metric}", "trials")


@styled
def _lines(curves: Mapping[str, Floats], of_y: str, of_x: str) -> Figure:
    figure, [axes] = new_figure(2.4 + 0.18 * math.ceil(len(curves) / 2))
    for i, (name, curve) in enumerate(curves.items()):
        dash = DASHES[i // len(SERIES) % len(DASHES)]
        places = np.arange(1, curve.size + 1)
        axes.plot(
            places, curve, color=SERIES[i % len(SERIES)], linestyle=dash, label=short(name, 26)
        )
    axes.set_ylabel(of_y)
    axes.set_xlabel(of_x)
    figure.legend(loc="outside lower center", ncols=2)
    return figure
