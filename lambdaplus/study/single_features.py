"""Whether one feature alone ranks as well as the best method: it may be the label in disguise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from lambdaplus.data.ranking_data import in_memory
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.metrics import parse_metric
from lambdaplus.study.report_models import some_rows
from lambdaplus.study.study import Study
from lambdaplus.study.summary import Summary
from lambdaplus.study.validation import values_of
from lambdaplus.study.words import label

REACHED = 0.95  # of what the best method gains on a constant score
MOST_ROWS, TRIED = 20_000, 3  # rows of a fold; features that are best on the first fold


def single_feature(summary: Summary, study: Study) -> Iterator[str]:
    """A sentence if a feature alone reaches the value of the best method on validation data.

    Values are means over the validation parts of all folds, since those of one vary.
    """
    metric, folds = study.results.main_metric, study.folds
    best = summary.best_on_validation(metric, summary.runs)
    by_fold = study.results.validation_by_fold.get((best, metric), {})
    if any(fold.name not in by_fold for fold in folds):
        return
    parsed = parse_metric(metric)

    def value(data: RankingData, scores: Floats) -> float:
        return float(np.nan_to_num(values_of([parsed], data, scores)[parsed]))

    first = some_rows(folds[0].valid, MOST_ROWS)
    both = _read(folds[0].train, bool(first.categories)), in_memory(first)
    tried = [
        (value(first, sign * feature_scores(*both, j)), j, sign)
        for j in range(first.n_features)
        for sign in (1.0, -1.0)
    ]
    most = sorted(tried)[-TRIED:]
    of_folds = []
    for fold in folds:  # the features of one in memory
        both = _read(fold.train, bool(first.categories)), in_memory(fold.valid)
        of_folds.append([value(fold.valid, sign * feature_scores(*both, j)) for _, j, sign in most])
    means = np.mean(of_folds, axis=0).tolist()
    alone, j = max(zip(means, [j for _, j, _ in most], strict=True))
    least = float(np.mean([value(f.valid, np.zeros(f.valid.labels.size)) for f in folds]))
    reached = float(np.mean([by_fold[fold.name] for fold in folds]))
    if not reached > least or alone - least < REACHED * (reached - least):
        return
    names = folds[0].valid.feature_names
    name = names[j] if names else f"Feature {j + 1}"
    leave_out = f" (--drop {name})" if names else ""
    yield (
        f"{name} alone reaches {label(metric)} {decimal(alone)} on validation data, where {best}, "
        f"with all features, has {decimal(reached)}: if it is made from the label, or known only "
        f"after it, leave it out{leave_out}; otherwise other features add little to it."
    )


def _read(train: RankingData, needed: bool) -> RankingData:
    return in_memory(train) if needed else train


def feature_scores(train: RankingData, data: RankingData, j: int) -> Floats:
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
