"""Features of a document relative to the other documents of its query.

A ranking compares the documents of one query, but a tree splits at one value for all queries.  A
feature relative to the query says where a document stands among those that it competes with.

Examples
--------
>>> from lambdaplus.data import relative_features
>>> relative_features([[7.0], [9.0], [0.2], [0.1]], qid=["a", "a", "b", "b"]).tolist()
[[7.0, -0.25], [9.0, 0.25], [0.2, 0.25], [0.1, -0.25]]
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import check_flag, numbers, plain
from lambdaplus.compute.array_types import Bools
from lambdaplus.data.frame_columns import is_frame, numbers_by_column, with_columns
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.relative_columns import KINDS, Matrix, relative_columns
from lambdaplus.ranking.queries import in_unit_range


def relative_features(
    X: Any,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    kind: str | Sequence[str] = "rank",
    replace: bool = False,
) -> Any:
    """Add features relative to the query: ranks, or distances in standard deviations.

    .. versionadded:: 0.2.0

    Those of a document depend on the features of its own query only, never on labels.  Compute
    them for all candidates of a query together, in training and in prediction alike: they are not
    those of a part of the candidates.

    Parameters
    ----------
    X : (n, d) array_like, or pandas or polars DataFrame
        Features; NaN and the missing values of frames are missing.
    qid : (n,) array_like, int or str, optional
        Query of each row, in any order.
    group : (n_queries,) array_like of int, optional
        Sizes of the queries instead, whose rows are adjacent.
    kind : str or list of str, default="rank"
        What to add for each feature, one column for each kind:

        - "rank": (r - (m + 1) / 2) / m for the r-th smallest of the m values in the query, between
          -1/2 and 1/2.  Ties have the mean of their ranks.
        - "z": less the mean, divided by the standard deviation of the m values.

        Both are 0 for a feature that is constant in the query, and so in queries of one document.
        Missing values stay missing, and are not among the m values.
    replace : bool, default=False
        Whether relative features take the place of the features.  By default, they are added
        beside them.

    Returns
    -------
    array or DataFrame with n rows, of the type of X
        First the features, unless they are replaced, then those of each kind, in the order of
        ``kind``.  An array is float32 if X is float32 or float16, and float64 otherwise.  In a
        frame, relative features are named as in ``bm25|rank``, and are float32 if the column is,
        and float64 otherwise; all other columns keep their types, and columns that are not numbers
        (text, categories, dates) have no relative features and are never replaced.

    Raises
    ------
    ValueError
        Without qid or group, for an unknown kind, sparse features, features that are not numbers,
        integers beyond 2^53 that a float64 cannot represent, infinite features unless the kind is
        "rank" alone, and if a new column has the name of another.

    See Also
    --------
    RelativeFeatures : The same as a transformer of scikit-learn.

    Notes
    -----
    The ranks are Hazen's plotting positions, less 1/2.  The results do not depend on the order of
    the rows or on the number of threads, to the last bit.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries, relative_features
    >>> data = digits_queries()[0].train
    >>> X = relative_features(data.features, qid=data.qid, kind=["rank", "z"])
    >>> data.features.shape[1], X.shape[1]
    (29, 87)
    """
    kinds = checked_kinds(kind)
    check_flag(replace=replace)
    return with_relative(X, kinds, qid, group, replace)


def with_relative(
    X: Any, kinds: tuple[str, ...], qid: Any, group: Any, replace: bool, chosen: Bools | None = None
) -> Any:
    """`relative_features` of all columns of numbers, or of those ``chosen``, (columns,) bool."""
    if qid is None and group is None:
        raise ValueError(
            "features relative to the query need the queries: pass qid= (the query of each row, in "
            "any order) or group= (query sizes, in row order)"
        )
    if is_frame(X):
        return _of_frame(X, kinds, qid, group, replace, chosen)
    features = _as_matrix(X)
    chosen = np.ones(features.shape[1], dtype=bool) if chosen is None else chosen
    kept = features[:, ~chosen] if replace else features
    return np.concatenate([kept, *relative_columns(features[:, chosen], kinds, qid, group)], axis=1)


def _as_matrix(X: Any) -> Matrix:
    if hasattr(X, "tocsr"):
        raise ValueError(
            "X is sparse, but zeros have ranks and distances as well, so relative features are "
            "dense: pass X.toarray(), or that of a few columns"
        )
    features = plain(X, "X")
    if features.ndim != 2:
        raise ValueError(
            f"X must be 2-D with a row for each document, not of shape {features.shape}"
        )
    if features.dtype in (np.float16, np.float32):
        return features.astype(np.float32, copy=False)
    return numbers(features, "X")


def _of_frame(
    X: Any, kinds: tuple[str, ...], qid: Any, group: Any, replace: bool, chosen: Bools | None
) -> Any:
    columns = numbers_by_column(X, chosen)
    by_text: dict[str, Any] = {}
    for name in columns:
        if (other := by_text.setdefault(str(name), name)) is not name:
            raise ValueError(
                f"the columns {other!r} and {name!r} of X would have relative features of the same "
                "name: rename one of them"
            )
    # float64 if one column is
    matrix = np.stack([*columns.values()], axis=1) if columns else np.empty((len(X), 0))
    new = {
        relative_name(name, kind): part[:, j].astype(column.dtype)
        for kind, part in zip(kinds, relative_columns(matrix, kinds, qid, group), strict=True)
        for j, (name, column) in enumerate(columns.items())
    }
    return with_columns(X, [name for name in X.columns if not (replace and name in columns)], new)


def checked_kinds(kind: str | Sequence[str]) -> tuple[str, ...]:
    """The kinds as a tuple; a ValueError if there is none, or one twice or unknown."""
    kinds = (kind,) if isinstance(kind, str) else tuple(kind)
    for one in kinds:
        if one not in KINDS:
            raise ValueError(f"kind {one!r} is not one of {', '.join(KINDS)}")
    if not kinds or len(set(kinds)) < len(kinds):
        raise ValueError(f"kind={kind!r} should name one or more of {', '.join(KINDS)}, each once")
    return kinds


def relative_to_query(data: RankingData, kinds: Sequence[str]) -> RankingData:
    """The data with relative features beside its own, with names if these have names."""
    added = [relative_name(name, kind) for kind in kinds for name in data.feature_names]
    return dataclasses.replace(
        data,
        features=relative_features(data.features, group=data.group, kind=kinds),
        feature_names=(*data.feature_names, *added),
    )


def scaled_by_query(data: RankingData) -> RankingData:
    """The data with each feature scaled to [0, 1] in every query; a ValueError for missing ones."""
    if not np.isfinite(data.features).all():
        raise ValueError(
            f"{data.name}: missing or infinite features cannot be scaled to [0, 1] in each query: "
            "fill them in, or leave the scaling out"
        )
    scaled = in_unit_range(data.features, data.queries.boundaries)
    return dataclasses.replace(data, features=scaled)


def relative_name(name: Any, kind: str) -> str:
    """The name of a relative feature, such as "bm25|rank"."""
    return f"{name}|{kind}"
