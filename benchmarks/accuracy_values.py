"""What the accuracy study measured: values by query, their differences, and whether by chance.

Not every contender need have been trained on every set: a mean over sets is that of the contenders
that have all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lambdaplus.evaluation.significance import holm
from lambdaplus.study import Study
from lambdaplus.study.boosting import train_lightgbm, train_xgboost

METRICS = {"ndcg@10": "NDCG@10", "map": "MAP", "mrr": "MRR", "auc": "AUC"}
FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}
SPECIALISTS = {
    "ndcg@10": "lambda_ndcg",
    "map": "lambda_map",
    "mrr": "lambda_mrr",
    "auc": "lambda_auc",
}
NATIVE = {"lightgbm": tuple(train_lightgbm.native), "xgboost": tuple(train_xgboost.native)}
ALPHA = 0.05
Values = dict[str, dict[str, NDArray[Any]]]  # method, set: one value per query


class Difference(NamedTuple):
    mean: float
    error: float
    p: float

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ± {self.error:.4f}"


class Gain(NamedTuple):
    """Our objective for a metric less the best of the framework's own, on a set or their mean."""

    metric: str
    framework: str
    ours: str
    own: str
    on: str
    mean: float
    error: float
    p: float


def chosen_values(
    studies: Mapping[str, Study], metric: str, part: Literal["valid", "test"]
) -> Values:
    """Each query's value at the trial chosen on validation queries, averaged over seeds.

    Queries on which a metric is not defined (no relevant document) are left out, and methods that
    have not finished a fold.
    """
    found: Values = {}
    for method, name, folds in _finished(studies, metric, part):
        values = np.concatenate(folds)
        found.setdefault(method, {})[name] = values[~np.isnan(values)]
    return found


def fold_means(studies: Mapping[str, Study], metric: str) -> Values:
    """Like `chosen_values` on test queries, with one mean for each fold in place of its queries.

    Queries of a fold share their models.  Where there are many of them, differences between models
    are all that is left to chance, and only other folds show how large they are.
    """
    found: Values = {}
    for method, name, folds in _finished(studies, metric, "test"):
        found.setdefault(method, {})[name] = np.array([np.nanmean(fold) for fold in folds])
    return found


def _finished(
    studies: Mapping[str, Study], metric: str, part: Literal["valid", "test"]
) -> Iterator[tuple[str, str, list[NDArray[Any]]]]:
    """Method, set, and the values by query of each fold, averaged over seeds."""
    for name, study in studies.items():
        folds = {choice.fold.name for mine in study.chosen.values() for choice in mine}
        for method in study.methods:
            by_fold: dict[str, list[NDArray[Any]]] = {}
            for choice in study.results[method.name]:
                evaluation = choice.evaluation if part == "test" else choice.validation()
                by_fold.setdefault(choice.fold.name, []).append(evaluation.per_query[metric])
            if by_fold and set(by_fold) == folds:
                yield method.name, name, [np.mean(by_fold[fold], axis=0) for fold in sorted(folds)]


def on_all(values: Values, sets: list[str]) -> Values:
    """The contenders that were trained on each of the sets."""
    return {label: mine for label, mine in values.items() if set(sets) <= set(mine)}


def mean_of(values: Values, label: str, sets: list[str]) -> float:
    """NaN for a contender that lacks one of the sets."""
    if not set(sets) <= set(values[label]):
        return float("nan")
    return float(np.mean([values[label][name].mean() for name in sets]))


def difference(values: Values, first: str, second: str, sets: list[str]) -> Difference:
    """Of the means over sets, by a t-test paired by query.

    The error of a mean over sets has Welch and Satterthwaite's degrees of freedom; with one set
    this is the paired t-test.
    """
    gains = [values[first][name] - values[second][name] for name in sets]
    mean = float(np.mean([gain.mean() for gain in gains]))
    variances = np.array([gain.var(ddof=1) / gain.size for gain in gains]) / len(sets) ** 2
    error = float(np.sqrt(variances.sum()))
    if error == 0.0:
        return Difference(mean, error, 1.0 if mean == 0.0 else 0.0)
    freedom = variances.sum() ** 2 / np.sum(variances**2 / [gain.size - 1 for gain in gains])
    return Difference(mean, error, float(2 * stats.t.sf(abs(mean) / error, freedom)))


def corrected(values: Values, label: str, sets: list[str]) -> dict[str, Difference]:
    """Every other contender's difference to one, its p-value after Holm's correction."""
    others = [other for other in on_all(values, sets) if other != label]
    found = [difference(values, other, label, sets) for other in others]
    p = holm(np.array([each.p for each in found]))
    return {
        other: each._replace(p=float(q)) for other, each, q in zip(others, found, p, strict=True)
    }


def is_ours(label: str) -> bool:
    return ":lambda_" in label


def leader(values: Values, sets: list[str], ours: bool | None = None) -> str | None:
    """The best mean over sets; of our objectives, of the others, or of all."""
    labels = [label for label in on_all(values, sets) if ours is None or is_ours(label) == ours]
    return max(labels, key=lambda label: mean_of(values, label, sets), default=None)


def pair(values: Values, metric: str, framework: str, sets: list[str]) -> tuple[str, str] | None:
    """Our objective for the metric, and the best of the framework's own by the mean over sets."""
    mine = {label: v for label, v in values.items() if label.startswith(f"{framework}:")}
    ours, own = f"{framework}:{SPECIALISTS[metric]}", leader(mine, sets, ours=False)
    return (ours, own) if ours in on_all(mine, sets) and own is not None else None


def gains(by_metric: Mapping[str, Values], sets: list[str]) -> list[Gain]:
    """By metric and framework, on each set and on their mean."""
    return [
        Gain(metric, framework, *both, on, *difference(values, *both, column))
        for metric, values in by_metric.items()
        for framework in FRAMEWORKS
        for both in [pair(values, metric, framework, sets)]
        if both
        for on, column in [*((name, [name]) for name in sets), ("mean", sets)]
    ]
