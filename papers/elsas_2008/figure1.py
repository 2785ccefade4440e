"""Figure 1: validation NDCG@10 and MAP of three perceptrons, pass by pass."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lambdaplus.baselines import CommitteePerceptron
from lambdaplus.data import Fold
from lambdaplus.data.queries import Floats
from lambdaplus.evaluation import Table
from lambdaplus.study.figures import SERIES, new_figure, styled
from papers.elsas_2008.table4 import NDCG_10
from papers.session import Session

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS: Mapping[str, dict[str, Any]] = {
    "Com 20": {"committee_size": 20},
    "Average": {"variant": "average"},
    "Pocket": {"variant": "pocket"},
}
TITLES = {NDCG_10: "NDCG@10", "map": "MAP"}
MARKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
CLOSE = 0.002  # within so much of its best a curve is called stable


def learning_curves(fold: Fold, passes: int, options: dict[str, Any]) -> dict[str, list[float]]:
    """Validation metrics after each pass."""
    model = CommitteePerceptron(
        n_iter=passes, metric=NDCG_10, curve_metrics=("map",), random_state=0, **options
    )
    train, valid = fold.train, fold.valid
    model.fit(
        train.features,
        train.labels,
        qid=train.qid,
        eval_set=(valid.features, valid.labels, valid.qid),
    )
    return {name: [float(v) for v in curve] for name, curve in model.learning_curves_.items()}


@dataclass(frozen=True, eq=False)
class Figure1:
    """Mean curves over the folds, by metric and form: (passes,) float64 each."""

    curves: Mapping[str, Mapping[str, Floats]]

    @classmethod
    def of(cls, session: Session, folds: list[Fold], passes: int) -> Figure1:
        items = {
            f"{name} {fold.name}": (fold, passes, options)
            for (name, options), fold in itertools.product(FORMS.items(), folds)
        }
        found = session.collect("Figure 1", learning_curves, items)
        return cls(
            {
                metric: {
                    name: np.mean([found[f"{name} {fold.name}"][metric] for fold in folds], axis=0)
                    for name in FORMS
                }
                for metric in TITLES
            }
        )

    @property
    def passes(self) -> int:
        return len(self.curves["map"]["Average"])

    def best(self, metric: str, name: str) -> float:
        return float(self.curves[metric][name].max())

    def peak(self, metric: str, name: str) -> int:
        """Pass with the highest value."""
        return int(self.curves[metric][name].argmax()) + 1

    def stable(self, metric: str, name: str) -> int:
        """Pass after which the curve stays within `CLOSE` of its last value."""
        curve = self.curves[metric][name]
        far = np.flatnonzero(np.abs(curve - curve[-1]) > CLOSE)
        return int(far[-1]) + 2 if far.size else 1

    @property
    def table(self) -> Table:
        marks = [mark for mark in MARKS if mark <= self.passes]
        rows = [
            [title, name, *(float(curve[m - 1]) for m in marks), self.peak(metric, name),
             self.stable(metric, name)]
            for metric, title in TITLES.items()
            for name, curve in self.curves[metric].items()
        ]  # fmt: skip
        heads = [f"pass {mark}" for mark in marks]
        return Table(
            ("metric", "", *heads, "highest at", "stable from"),
            rows,
            (
                "Means over the folds. Stable from: from this pass on within "
                f"{CLOSE:g} of the last value.",
            ),
            narrow=True,
        )

    @styled
    def figure(self) -> Figure:
        figure, panels = new_figure(4.6, 2, 1)
        for axes, (metric, title) in zip(panels, TITLES.items(), strict=True):
            for colour, (name, curve) in zip(SERIES, self.curves[metric].items(), strict=False):
                axes.plot(np.arange(1, curve.size + 1), curve, color=colour, label=name)
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
            axes.set_ylabel(f"validation {title}")
        panels[-1].set_xlabel("passes over the pairs (log scale)")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        return figure
