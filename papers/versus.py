"""Two methods of a study side by side: means, difference, and whether it is more than chance.

Examples
--------
>>> from papers.versus import Versus
>>> pair = Versus("map", 0.52, 0.5, 0.0004, 12, 3)
>>> print(pair)
map .5200 against .5000, p < .001
>>> pair.better, pair.worse
(True, False)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lambdaplus.evaluation.significance import p_value
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Study

LEVEL = 0.05


class Versus(NamedTuple):
    """One method against another by one metric.

    Attributes
    ----------
    metric : str
    first, second : float
        Test means over folds.
    p : float
        Two-tailed Wilcoxon signed-rank test over the test queries of all folds.
    wins, losses : int
        Queries on which the first is better, and worse.
    """

    metric: str
    first: float
    second: float
    p: float
    wins: int
    losses: int

    @property
    def better(self) -> bool:
        """Whether the first is better, and not by chance."""
        return self.first > self.second and self.p < LEVEL

    @property
    def worse(self) -> bool:
        """Whether the first is worse, and not by chance."""
        return self.first < self.second and self.p < LEVEL

    def __str__(self) -> str:
        return f"{self.metric} {points(self.first)} against {points(self.second)}, {said(self.p)}"


def versus(study: Study, first: str, second: str, metric: str) -> Versus:
    """Compare two methods, by name, that have finished every fold.

    Raises
    ------
    ValueError
        If one is not in the study or has not finished.
    """
    methods = {method.name: method for method in study.methods}
    found = []
    for name in (first, second):
        evaluation = study.results.evaluation(name) if name in methods else None
        if evaluation is None:
            raise ValueError(f"{name} has not finished every fold")
        found.append(evaluation.per_query[str(parse_metric(metric))])
    difference = found[0] - found[1]
    difference = difference[~np.isnan(difference)]
    mean, other = (study.results.mean(name, str(parse_metric(metric))) for name in (first, second))
    chance = p_value(difference, "wilcoxon", "two-sided")
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    return Versus(metric, mean, other, chance, wins, losses)


def points(value: float) -> str:
    """A value below 1 as papers print it: .5123."""
    return f"{value:.4f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.4f}"


def said(p: float) -> str:
    """A p-value in words."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")
