"""Scaling of features within queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lambdaplus.baselines.allowed_values import check_parameters
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.lists.features import refuse_dates
from lambdaplus.lists.order import by_query


@dataclass(eq=False, repr=False)
class QueryScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scale each feature to [0, 1] within every query.

    Parameters
    ----------
    method : "minmax" or "percentile"
        "minmax": (x - min) / (max - min), the scaling of the LETOR sets.  "percentile": the share
        of the other documents of the query with a smaller value, where ties count half.  A feature
        that is constant in a query becomes 0, or 1/2 as a percentile.

    References
    ----------
    Liu et al. 2007 (LETOR, query level normalisation); Yue et al. 2007, sec. 5.2.1.

    Examples
    --------
    >>> from lambdaplus.baselines import QueryScaler
    >>> QueryScaler().fit_transform([[1.0], [3.0], [2.0], [9.0]], qid=[1, 1, 1, 2]).tolist()
    [[0.0], [1.0], [0.5], [0.0]]
    """

    method: Literal["minmax", "percentile"] = "minmax"

    def fit(self, X: ArrayLike, y: Any = None, qid: ArrayLike | None = None) -> Self:
        """Check the data; a ValueError for invalid data or an unknown method."""
        check_parameters(self)
        refuse_dates(X)
        validate_data(self, X, dtype=np.float64)
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None, qid: ArrayLike | None = None) -> Floats:
        """`fit`, then `transform`."""
        return self.fit(X).transform(X, qid=qid)

    def transform(self, X: ArrayLike, qid: ArrayLike | None = None) -> Floats:
        """Scale within queries.

        Parameters
        ----------
        X : (n, d) array_like
        qid : (n,) array_like, optional
            Query of each row, in any order; without it, all rows are one query.

        Returns
        -------
        (n, d) float64
        """
        check_is_fitted(self)
        refuse_dates(X)
        features = validate_data(self, X, reset=False, dtype=np.float64)
        n = len(features)
        documents = by_query(features, np.zeros(n), qid=qid, group=[n] if qid is None else None)
        boundaries = documents.queries.boundaries
        if self.method == "percentile":
            parts = np.split(documents.X, boundaries[1:-1])
            return documents.in_original_order(np.concatenate([*map(_percentiles, parts)]))
        return documents.in_original_order(in_unit_range(documents.X, boundaries))


def _percentiles(features: Floats) -> Floats:
    """The share of the other documents of the query below, for each of its documents."""
    below = rankdata(features, axis=0) - 1.0
    return np.asarray(below / (len(below) - 1) if len(below) > 1 else below + 0.5)


def in_unit_range(features: Floats, boundaries: Ints) -> Floats:
    """Each column, (n, d), linearly scaled to [0, 1] in each query; 0 where it is constant."""
    sizes = np.diff(boundaries)
    low, high = (
        np.repeat(extreme.reduceat(features, boundaries[:-1]), sizes, axis=0)
        for extreme in (np.minimum, np.maximum)
    )
    return np.asarray((features - low) / np.where(high > low, high - low, 1.0))
