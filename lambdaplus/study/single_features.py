"""Whether one feature alone ranks as well as the best method: it may be the label in disguise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.metrics import parse_metric
from lambdaplus.study.report_models import some_rows
from lambdaplus.study.study import Study
from lambdaplus.study.summary import Summary
from lambdaplus.study.validation import values_of
from lambdaplus.study.words import label

REACHED = 0.95  # of what the best method gains on a constant score


def single_feature(summary: Summary, study: Study) -> Iterator[str]:
    """A sentence if a feature alone reaches the value of the best method on validation data."""
    metric, fold = study.results.main_metric, study.folds[0]
    best = summary.best_on_validation(metric, summary.runs)
    by_fold = study.results.validation_by_fold.get((best, metric), {})
    if fold.name not in by_fold:
        return
    parsed = parse_metric(metric)

    def value(data: RankingData, scores: Floats) -> float:
        return float(values_of([parsed], data, scores)[parsed])

    some = some_rows(fold.valid, MOST_ROWS)
    found = [
        (value(some, sign * _scores(fold.train, some, j)), j, sign)
        for j in range(some.features.shape[1])
        for sign in (1.0, -1.0)
    ]
    _, j, sign = max(found, key=lambda one: np.nan_to_num(one[0], nan=-np.inf))
    alone = value(fold.valid, sign * _scores(fold.train, fold.valid, j))
    least, reached = value(fold.valid, np.zeros(fold.valid.labels.size)), by_fold[fold.name]
    if not reached > least or alone - least < REACHED * (reached - least):
        return
    names = fold.valid.feature_names
    name = names[j] if names else f"Feature {j + 1}"
    leave_out = f" (--drop {name})" if names else ""
    yield (
        f"{name} alone reaches {label(metric)} {decimal(alone)} on the validation data of "
        f"{fold.name}, where {best}, with all features, has {decimal(reached)}: if it is made from "
        f"the label, or known only after it, leave it out{leave_out}; otherwise the model adds "
        "little to it."
    )


MOST_ROWS = 20_000  # on which each feature is tried


def _scores(train: RankingData, data: RankingData, j: int) -> Floats:
    """A feature as scores, (n,), lowest where it is missing; of a category, means of labels."""
    values = data.features[:, j]
    if data.feature_names and data.feature_names[j] in data.categories:
        codes, known = train.features[:, j], ~np.isnan(train.features[:, j])
        n = np.bincount(codes[known].astype(np.int64))
        sums = np.bincount(codes[known].astype(np.int64), train.labels[known])
        means = np.append(sums / np.maximum(n, 1), train.labels.mean())
        inside = ~np.isnan(values) & (values < n.size)
        return np.asarray(means[np.where(inside, values, n.size).astype(np.int64)])
    finite = values[np.isfinite(values)]
    lowest = (finite.min() if finite.size else 0.0) - 1.0
    return np.nan_to_num(values, nan=lowest)
