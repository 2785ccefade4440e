"""Features and labels beyond the numbers of the frameworks, which are float32."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import Fold
from lambdaplus.data.feature_rows import matrices_of
from lambdaplus.study.methods import Method

LARGEST = float(np.finfo(np.float32).max)
_ROWS = 1 << 16  # that are looked at at a time


def refuse_too_large(folds: Sequence[Fold], methods: Sequence[Method]) -> None:
    """Raise a ValueError for what a framework cannot hold, before another one is trained.

    XGBoost refuses features, without the name of their column; LightGBM takes infinite ones.
    XGBoost refuses labels, too, and LightGBM would make different ones equal.
    """
    families = {method.family for method in methods}
    if families & {"lightgbm", "xgboost"}:
        for fold in folds:
            for part in fold.parts:
                if (label := float(np.abs(part.labels).max())) > LARGEST:
                    raise ValueError(
                        f"{fold.name} has the label {label:g}, and LightGBM and XGBoost take "
                        f"labels up to {LARGEST:.2g}: divide them by a constant, or use grades"
                    )
    for fold, j, value in _too_large(folds if "xgboost" in families else ()):
        names = fold.train.feature_names
        name = f"the feature {names[j]!r}" if names else f"feature {j + 1}"
        drop = f", leave it out (--drop {names[j]})" if names else ""
        raise ValueError(
            f"{name} has the value {value:g}, and XGBoost takes numbers up to {LARGEST:.2g}: clip "
            f"it, leave it empty where it is unknown{drop}, or compare methods of LightGBM alone "
            "(--methods)"
        )


def _too_large(folds: Sequence[Fold]) -> Iterator[tuple[Fold, int, float]]:
    """The number of a feature, and its value, of each row that has one."""
    matrices = {  # which folds share
        id(matrix): (fold, matrix)
        for fold in folds
        for part in fold.parts
        for matrix in matrices_of(part.held_features)
    }
    for fold, matrix in matrices.values():
        for begin in range(0, len(matrix), _ROWS):
            rows: Floats = matrix[begin : begin + _ROWS]
            for i, j in np.argwhere(np.abs(rows) > LARGEST):
                yield fold, int(j), float(rows[i, j])
