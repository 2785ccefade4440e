"""Primal and dual objective of a structural SVM by pass, on the built-in data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from style import new_figure

from lambdaplus.baselines import QueryScaler, StructuralSVM
from lambdaplus.data import digits_queries
from lambdaplus.study.plot_style import SERIES, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled()
def certificate() -> Figure:
    train = digits_queries()[0].train
    features = QueryScaler().fit_transform(train.features, qid=train.qid)
    figure, panels = new_figure(2.8, 1, 2)
    for axes, C in zip(panels, (10.0, 1000.0), strict=True):
        svm = StructuralSVM("map", C=C).fit(features, train.labels, qid=train.qid)
        passes = np.arange(1, len(svm.history_) + 1)
        # The dual of a pass is that of the planes before it; the best primal so far is shown.
        primal = np.minimum.accumulate([step.primal for step in svm.history_])
        dual = [step.dual for step in svm.history_]
        axes.plot(passes, primal / svm.primal_, color=SERIES[0], label="primal")
        axes.plot(passes, np.array(dual) / svm.primal_, color=SERIES[1], label="dual")
        axes.set_title(f"C = {C:g}", loc="left")
        axes.set_xlabel("pass over the data")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_ylim(0, 2)
    panels[0].set_ylabel("share of the final objective")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
