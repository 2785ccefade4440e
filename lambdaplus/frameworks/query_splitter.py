"""Folds of whole queries for the cross-validation of both frameworks."""

from collections.abc import Mapping
from typing import Any


def query_splitter(options: Mapping[str, Any], n_folds: int) -> Any:
    """scikit-learn's splitter by group, with ``nfold``, ``shuffle`` and ``seed`` of these options.

    Queries are shuffled with the seed 0 by default.
    """
    from sklearn.model_selection import GroupKFold

    shuffle = options.get("shuffle", True)
    seed = options.get("seed", 0) if shuffle else None
    return GroupKFold(options.get("nfold", n_folds), shuffle=shuffle, random_state=seed)
