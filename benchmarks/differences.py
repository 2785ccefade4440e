"""Differences between methods over several data sets, and their significance.

Means over sets weight all sets equally.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats
from tables import Tested

from lambdaplus.evaluation import Table

METRICS = {"ndcg@10": "NDCG@10", "map": "MAP", "mrr": "MRR", "auc": "AUC"}
SPECIALISTS = {"ndcg@10": "lambda_ndcg", "map": "lambda_map", "mrr": "lambda_mrr",
               "auc": "lambda_auc"}  # fmt: skip
FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}
Values = dict[str, dict[str, NDArray[Any]]]  # by method and set: one for each query, or fold


def values_of(studies: Mapping[str, pl.DataFrame], metric: str, by: str) -> Values:
    """The values by "query" or "fold", averaged over seeds, of methods that finished every fold.

    ``studies`` has ``Results.values`` of each set.
    """
    values: Values = {}
    for name, frame in studies.items():
        of = frame.filter(pl.col("metric") == metric).drop_nulls("value")
        queries = of.group_by("method", "fold", "query").agg(pl.col("value").mean())
        if by == "fold":
            queries = queries.group_by("method", "fold").agg(pl.col("value").mean())
        queries = queries.sort("method", "fold", *([] if by == "fold" else ["query"]))
        n_folds = queries["fold"].n_unique()
        for (method,), mine in queries.group_by("method", maintain_order=True):
            if mine["fold"].n_unique() == n_folds:
                values.setdefault(str(method), {})[name] = mine["value"].to_numpy()
    return values


def mean_of(values: Values, method: str, sets: list[str]) -> float:
    """The mean over sets; NaN for a method that has no values on one of them."""
    if not set(sets) <= set(values.get(method, ())):
        return float("nan")
    return float(np.mean([values[method][name].mean() for name in sets]))


class Difference(NamedTuple):
    """A difference of the means of two methods, its standard error, and p of a paired t-test."""

    mean: float
    error: float
    p: float

    @property
    def cell(self) -> Tested:
        return Tested(f"{self.mean:+.4f} ± {self.error:.4f}", self.p)


def difference(values: Values, first: str, second: str, sets: list[str]) -> Difference:
    """The difference over sets, with degrees of freedom by Welch and Satterthwaite."""
    gains = [values[first][name] - values[second][name] for name in sets]
    mean = float(np.mean([gain.mean() for gain in gains]))
    variances = np.array([gain.var(ddof=1) / gain.size for gain in gains]) / len(sets) ** 2
    error = float(np.sqrt(variances.sum()))
    if error == 0.0:
        return Difference(mean, error, 1.0 if mean == 0.0 else 0.0)
    freedom = variances.sum() ** 2 / np.sum(variances**2 / [gain.size - 1 for gain in gains])
    return Difference(mean, error, float(2 * stats.t.sf(abs(mean) / error, freedom)))


class Gain(NamedTuple):
    """The difference of our objective for a metric from the best of a framework's own."""

    metric: str
    framework: str
    ours: str
    own: str
    on: str
    mean: float
    error: float
    p: float


def gains_of(studies: Mapping[str, pl.DataFrame], by: str) -> list[Gain]:
    """Gains by metric and framework, on each set and on their mean.

    CatBoost's best objective is compared with ours in LightGBM or XGBoost, whichever is better.
    """
    sets, gains = list(studies), []
    for metric, ours in SPECIALISTS.items():
        values = values_of(studies, metric, by)
        means = {name: mean_of(values, name, sets) for name in values}
        whole = [name for name, mean in means.items() if not np.isnan(mean)]
        for framework in FRAMEWORKS:
            mine = [name for name in whole if name.startswith(f"{framework}:")]
            own = [name for name in mine if ":lambda_" not in name]
            rivals = [name for name in whole if name.endswith(f":{ours}")]
            rivals = [name for name in rivals if name in mine or framework == "catboost"]
            if own and rivals:
                pair = max(rivals, key=means.__getitem__), max(own, key=means.__getitem__)
                for on, where in [*((name, [name]) for name in sets), ("mean", sets)]:
                    gain = difference(values, *pair, where)
                    gains.append(Gain(metric, framework, *pair, on, *gain))
    return gains


def gain_tables(title: str, gains: list[Gain], foot: str) -> dict[str, Table]:
    """The gains on the mean over sets, and on each set."""
    by_set = [gain for gain in gains if gain.on != "mean"]
    means = [gain for gain in gains if gain.on == "mean"]
    return {title: _gain_table(means, foot), f"{title}, by set": _gain_table(by_set, foot)}


def _gain_table(gains: list[Gain], foot: str) -> Table:
    """A row for each metric and framework, a column for each set or their mean."""
    columns = list(dict.fromkeys(gain.on for gain in gains))
    rows: dict[tuple[str, ...], list[Tested]] = {}
    for gain in gains:
        where = f"{METRICS[gain.metric]}, {FRAMEWORKS[gain.framework]}"
        cells = rows.setdefault((where, gain.ours, gain.own), [])
        cells.append(Difference(gain.mean, gain.error, gain.p).cell)
    heads = ("", "lambdaplus", "best built-in", *columns)
    return Table(heads, [[*row, *cells] for row, cells in rows.items()], [foot])


def means_table(studies: Mapping[str, pl.DataFrame], by: str) -> Table:
    """Test means over sets of every method."""
    by_metric = [values_of(studies, metric, by) for metric in METRICS]
    rows = [
        [method, *(mean_of(values, method, list(studies)) for values in by_metric)]
        for method in by_metric[0]
    ]
    return Table(("", *METRICS.values()), rows, ("test means over sets",))
