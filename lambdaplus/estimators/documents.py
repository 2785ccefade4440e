"""Documents as the estimators are given them: any order of rows, arrays, frames, sparse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_y, validate_data

from lambdaplus.queries import Ints, Queries, rows_by_query


class Documents(NamedTuple):
    """Features and what is known of the queries, the rows of each query adjacent.

    Attributes
    ----------
    X : (n, d) float array, CSR matrix, or pandas frame if it has categorical columns
    queries : Queries
    """

    X: Any
    queries: Queries

    @property
    def group(self) -> Ints | None:
        """Sizes of the queries; None without queries."""
        return self.queries.sizes if self.queries.grouped else None


class Judged(NamedTuple):
    """What describes documents and their judgements, as the caller has it."""

    X: Any
    y: ArrayLike
    qid: ArrayLike | None = None
    group: ArrayLike | None = None
    weight: ArrayLike | None = None


def read_documents(estimator: BaseEstimator, given: Judged, *, reset: bool) -> Documents:
    """Check documents and bring the rows of each query together, otherwise in their order.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose ``n_features_in_`` and ``feature_names_in_`` are set (reset) or compared.
    given : Judged
    reset : bool
        True for training data.

    Raises
    ------
    ValueError
        For NaN labels, lengths that differ, features that are not the training data's, and what
        `lambdaplus.queries.Queries` refuses.
    """
    if given.qid is not None and given.group is not None:
        raise ValueError("pass either group= (sizes) or qid= (one per row), not both")
    X, y = read_features(estimator, given.X, given.y, reset=reset)
    if given.qid is None:
        return Documents(X, Queries(y, group=given.group, weight=given.weight))
    ids = np.asarray(given.qid)
    if ids.shape != (len(y),):
        raise ValueError(f"qid must have one entry per row: shape {ids.shape} for {len(y)} rows")
    rows = rows_by_query(ids)
    weight = None if given.weight is None else np.asarray(given.weight)
    if weight is not None and weight.shape == ids.shape:  # Queries says so if not
        weight = weight[rows]
    if (rows[1:] < rows[:-1]).any():
        X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    return Documents(X, Queries(y[rows], qid=ids[rows], weight=weight))


def read_features(
    estimator: BaseEstimator, X: Any, y: ArrayLike | None = None, *, reset: bool
) -> Any:
    """X, or (X, y), checked; NaN features are missing values.

    Raises
    ------
    ValueError
        For infinite features, features that are not numbers, and another number of features, or
        other names, than the training data had.
    """
    known: dict[str, Any] = {"y": y} if reset or y is not None else {}
    if _has_categories(X):
        validate_data(estimator, X, **known, reset=reset, skip_check_array=True)
        frame = X if hasattr(X, "iloc") else X.to_pandas()
        return (frame, _check_y(y, y_numeric=True, estimator=estimator)) if known else frame
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
    if not known:
        return _matrix(found)
    return _matrix(found[0]), found[1]


def _matrix(X: Any) -> Any:
    """A sparse array as the matrix that LightGBM knows."""
    return csr_matrix(X) if issparse(X) else X


def _has_categories(X: Any) -> bool:
    """Whether X is a pandas or polars frame with a categorical column."""
    kinds = [str(kind) for kind in getattr(X, "dtypes", ())]
    return any(kind.startswith(("category", "Categorical", "Enum")) for kind in kinds)
