"""Transformers: scaling of features within queries, and indicator features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lambdaplus.baselines.allowed_values import AtLeastOne, check_parameters
from lambdaplus.compute.array_types import Floats
from lambdaplus.ranking.queries import by_query, in_unit_range


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
        features = validate_data(self, X, reset=False, dtype=np.float64)
        if qid is None:
            return self._scaled(features)
        documents = by_query(features, np.zeros(len(features)), qid=qid)
        parts = np.split(documents.X, documents.queries.boundaries[1:-1])
        return documents.in_original_order(np.concatenate([*map(self._scaled, parts)]))

    def _scaled(self, features: Floats) -> Floats:
        """The documents of one query."""
        if self.method == "percentile":
            below = rankdata(features, axis=0) - 1.0
            return np.asarray(below / (len(below) - 1) if len(below) > 1 else below + 0.5)
        return in_unit_range(features, np.array([0, len(features)]))


@dataclass(eq=False, repr=False)
class ThresholdFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convert each feature to indicators of values above its quantiles.

    A linear model of these indicators is a sum of one step function per feature.

    Parameters
    ----------
    n_thresholds : int
        Number of thresholds per feature; fewer if a feature has fewer values.

    Attributes
    ----------
    thresholds_ : list of (k,) float64
        Ascending thresholds of each feature; a constant feature has none.

    References
    ----------
    Yue et al. 2007, sec. 4.2 (50 thresholds over the sensitive region of each feature).

    Examples
    --------
    >>> from lambdaplus.baselines import ThresholdFeatures
    >>> ThresholdFeatures(n_thresholds=2).fit_transform([[0.2], [0.7], [0.0]]).tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    """

    n_thresholds: AtLeastOne = 50

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Determine the thresholds; a ValueError for invalid data or ``n_thresholds``."""
        check_parameters(self)
        features = validate_data(self, X, dtype=np.float64)
        share = np.arange(self.n_thresholds) / self.n_thresholds
        places = np.quantile(features, share, axis=0, method="lower").T
        top = features.max(axis=0)
        self.thresholds_ = [np.unique(k[k < b]) for k, b in zip(places, top, strict=True)]
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Indicators, (n, sum of thresholds) float64: 1 where a feature is above a threshold."""
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype=np.float64)
        columns = [features[:, [j]] > above for j, above in enumerate(self.thresholds_)]
        return np.concatenate(columns, axis=1).astype(np.float64)
