"""Cross-validation folds that keep queries whole.

Examples
--------
>>> from lambdaplus.data.query_folds import query_folds
>>> [test.tolist() for _, test in query_folds(group=[2, 1, 3], n_splits=3, shuffle=False)]
[[3, 4, 5], [0, 1], [2]]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.data.arrays import query_ids
from lambdaplus.data.queries import Ints, query_sizes


def query_folds(
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    n_splits: int = 5,
    shuffle: bool = True,
    seed: int = 0,
) -> list[tuple[Ints, Ints]]:
    """Split queries into folds.

    The result can be passed as ``folds=`` to `lightgbm.cv`, `lambdaplus.lightgbm.cv` and
    `lambdaplus.xgboost.cv`, and as ``cv=`` to scikit-learn's searches.  `xgboost.cv` itself does
    not support folds of data with queries.

    Parameters
    ----------
    qid : (n,) array_like, optional
        Query of each row; the rows of a query do not have to be adjacent.
    group : (n_queries,) array_like of int, optional
        Query sizes in row order, instead of ``qid``.
    n_splits : int
        Number of folds, at least 2 and at most the number of queries.
    shuffle : bool
        Assign queries at random; otherwise, so that folds have about the same number of rows.
    seed : int
        Seed of the random assignment.

    Returns
    -------
    list of (train, test)
        Ascending row indices for every fold: (n_train,) and (n_test,) int64.

    Raises
    ------
    ValueError
        If not exactly one of qid and group is passed, group is invalid, a row has no qid, or there
        are fewer queries than folds.
    """
    from sklearn.model_selection import GroupKFold

    if (qid is None) == (group is None):
        raise ValueError("pass either qid= (one per row) or group= (sizes)")
    if group is not None:
        sizes = query_sizes(group)
        ids = np.repeat(np.arange(sizes.size), sizes)
    else:
        ids = query_ids(qid)
    n_queries = np.unique(ids).size
    if n_queries < n_splits:
        raise ValueError(f"{n_queries} queries cannot be split into {n_splits} folds")
    splitter = GroupKFold(n_splits, shuffle=shuffle, random_state=seed if shuffle else None)
    return list(splitter.split(ids, groups=ids))
