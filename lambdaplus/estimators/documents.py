"""Documents as the estimators are given them: any order of rows, arrays, frames, sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_y, validate_data

from lambdaplus.arrays import query_ids
from lambdaplus.estimators.categories import (
    as_pandas,
    categories_of,
    has_categories,
    recoded,
    with_declared,
)
from lambdaplus.queries import Queries, rows_by_query
from lambdaplus.training import Documents


class Judged(NamedTuple):
    """What describes documents and their judgements, as the caller has it."""

    X: Any
    y: ArrayLike
    qid: ArrayLike | None = None
    group: ArrayLike | None = None
    weight: ArrayLike | None = None


def read_documents(
    estimator: BaseEstimator, given: Judged, *, reset: bool, categorical: Any = "auto"
) -> Documents:
    """Check documents and bring the rows of each query together, otherwise in their order.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose ``n_features_in_``, ``feature_names_in_`` and categories are set (reset) or compared.
    given : Judged
    reset : bool
        True for training data.
    categorical : "auto" or list of int or str
        Of training data: see `read_features`.

    Raises
    ------
    ValueError
        For NaN labels, lengths that differ, features that are not the training data's, and what
        `lambdaplus.queries.Queries` refuses.
    """
    if given.qid is not None and given.group is not None:
        raise ValueError("pass either group= (sizes) or qid= (one per row), not both")
    X, y = read_features(estimator, given.X, given.y, reset=reset, categorical=categorical)
    if given.qid is None:
        return Documents(X, Queries(y, group=given.group, weight=given.weight))
    ids = query_ids(given.qid, len(y))
    rows = rows_by_query(ids)
    weight = None if given.weight is None else np.asarray(given.weight)
    if weight is not None and weight.shape == ids.shape:  # Queries says so if not
        weight = weight[rows]
    if (rows[1:] < rows[:-1]).any():
        X = _safe_indexing(X, rows)
    return Documents(X, Queries(y[rows], qid=ids[rows], weight=weight))


def read_features(
    estimator: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    reset: bool,
    categorical: Any = "auto",
) -> Any:
    """X, or (X, y), checked; NaN features are missing values.

    Parameters
    ----------
    estimator : BaseEstimator
        With reset its ``_categories`` become the dtypes of the categorical columns of a frame, and
        ``_categorical_columns`` the numbers of those of an array.
    X, y
        As the caller has them.
    reset : bool
        True for training data.
    categorical : "auto" or list of int or str
        Numbers or names of columns that hold categories although their dtype does not say so.

    Raises
    ------
    ValueError
        For infinite features, features that are not numbers, another number of features, or
        other names, than the training data had, and see `lambdaplus.estimators.categories`.
    """
    known: dict[str, Any] = {"y": y} if reset or y is not None else {}
    if reset:
        estimator._categories, estimator._categorical_columns = {}, []
    frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    if frame and (has_categories(X) or estimator._categories):
        validate_data(estimator, X, **known, reset=reset, skip_check_array=True)
        found = as_pandas(X)
        if reset:
            columns = _numbers(categorical, list(found.columns))
            found = with_declared(found, [found.columns[i] for i in columns])
            estimator._categories = categories_of(found)
        else:
            found = recoded(found, estimator._categories)
        _refuse_infinite(found)
        return (found, _check_y(y, y_numeric=True, estimator=estimator)) if known else found
    if estimator._categories:
        raise ValueError(
            f"this model was fitted on a data frame with categorical columns "
            f"({', '.join(map(str, estimator._categories))}): pass a data frame with the same "
            "columns"
        )
    if known:
        known["y_numeric"] = True
    found = validate_data(
        estimator,
        X,
        **known,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
        ensure_min_samples=2 if reset else 1,
    )
    matrix, labels = found if known else (found, None)
    if reset:
        names = list(X.columns) if frame else range(matrix.shape[1])
        estimator._categorical_columns = _numbers(categorical, list(names))
    _refuse_broken_codes(matrix, estimator._categorical_columns)
    matrix = csr_matrix(matrix) if issparse(matrix) else matrix  # LightGBM knows no sparse arrays
    return (matrix, labels) if known else matrix


def _numbers(categorical: Any, names: Sequence[Any]) -> list[int]:
    """The numbers of columns that are given by number or name."""
    if categorical is None or (isinstance(categorical, str) and categorical == "auto"):
        return []
    if isinstance(categorical, str | int):
        raise ValueError(
            f"categorical_feature must be 'auto' or a list of columns; got {categorical!r}"
        )
    found = []
    for column in categorical:
        if column in names and isinstance(column, str):
            found.append(names.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < len(names):
            found.append(int(column))
        else:
            raise ValueError(f"categorical_feature names {column!r}, which X does not have")
    return sorted(set(found))


def _refuse_broken_codes(matrix: Any, columns: list[int]) -> None:
    """LightGBM would take a negative category for a missing value, and cut off fractions."""
    for i in columns:
        values = matrix[:, [i]]
        values = values.data if issparse(values) else values[:, 0]
        values = values[~np.isnan(values)]
        bad = (values < 0) | (values != np.floor(values)) | (values >= 2**31)
        if bad.any():
            raise ValueError(
                f"column {i} is in categorical_feature and holds {values[bad][0]:g}: categories of "
                "an array are whole numbers, at least 0 (NaN if missing); a data frame's "
                "categorical columns may hold anything"
            )


def _refuse_infinite(frame: Any) -> None:
    for name, column in frame.items():
        if getattr(column.dtype, "kind", "") == "f" and np.isinf(column.to_numpy()).any():
            raise ValueError(f"Input X contains infinity in column {name!r}.")
