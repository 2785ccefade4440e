"""Base classes of the baselines: reading of data, and prediction of linear rankers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from lambdaplus.data.arrays import query_ids
from lambdaplus.data.queries import Floats, Ints, Queries, rows_by_query


class Sample(NamedTuple):
    """Documents with their labels, sorted so that the rows of each query are adjacent.

    Attributes
    ----------
    X : (n, d) float64, C-contiguous
    queries : Queries
        Labels and boundaries, in the order of X.
    rows : (n,) int64
        Index in the caller's data of each row of X.
    """

    X: Floats
    queries: Queries
    rows: Ints


class Ranker(BaseEstimator):  # type: ignore[misc]
    """Base class of the baselines: ``fit(X, y, qid=qid)`` and ``predict(X)``, as in scikit-learn.

    The rows of a query do not have to be adjacent; without ``qid`` all rows are one ranking.
    """

    def _sample(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None, *, reset: bool = True
    ) -> Sample:
        """Check data and sort it so that the rows of each query are adjacent.

        Parameters
        ----------
        X : (n, d) array_like
        y : (n,) array_like
        qid : (n,) array_like, optional
        reset : bool
            True for training data, which sets the number of features; False for validation data.

        Raises
        ------
        ValueError
            For NaN or infinite entries, empty data, or lengths that differ.
        """
        checked, labels = validate_data(
            self, X, y, reset=reset, dtype=np.float64, order="C", y_numeric=True
        )
        if qid is None:
            return Sample(checked, Queries(labels, group=[len(labels)]), np.arange(len(labels)))
        ids = query_ids(qid, len(labels))
        rows = rows_by_query(ids)
        if (rows[1:] < rows[:-1]).any():
            checked, labels, ids = checked[rows], labels[rows], ids[rows]
        return Sample(checked, Queries(labels, qid=ids), rows)

    def _documents(self, X: ArrayLike) -> Floats:
        """Documents to score: (n, d) float64 with the features of the training data."""
        check_is_fitted(self)
        found: NDArray[Any] = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return found


class LinearRanker(Ranker):
    """A ranker whose score is linear in the features: ``X @ coef_``.

    Attributes
    ----------
    coef_ : (d,) float64
    """

    coef_: Floats

    def predict(self, X: ArrayLike) -> Floats:
        """Score documents; a higher score ranks higher.

        Parameters
        ----------
        X : (n, d) array_like

        Returns
        -------
        (n,) float64
        """
        return np.asarray(self._documents(X) @ self.coef_)
