"""Transformers: scaling of features per query, and indicator features."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lambdaplus.baselines.borda import queries_together
from lambdaplus.data.queries import Floats, Ints


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

    def __init__(self, method: Literal["minmax", "percentile"] = "minmax") -> None:
        self.method = method

    def fit(self, X: ArrayLike, y: Any = None, qid: ArrayLike | None = None) -> Self:
        """Only check the data, since each query is scaled separately."""
        if self.method not in ("minmax", "percentile"):
            raise ValueError(f"method={self.method!r} is not 'minmax' or 'percentile'")
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
            Query of each row, in any order; without it all rows are one query.

        Returns
        -------
        (n, d) float64
        """
        check_is_fitted(self)
        found = validate_data(self, X, reset=False, dtype=np.float64)
        out = np.empty(found.shape)
        for rows in _rows_of_each(qid, len(found)):
            mine = found[rows]
            if self.method == "percentile":
                below = rankdata(mine, axis=0) - 1.0
                out[rows] = below / (len(rows) - 1) if len(rows) > 1 else 0.5
            else:
                low, high = mine.min(axis=0), mine.max(axis=0)
                span = np.where(high > low, high - low, 1.0)
                out[rows] = (mine - low) / span
        return out

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")


class ThresholdFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convert each feature to indicators of values above thresholds.

    A linear model of these indicators is a sum of one step function per feature.

    Parameters
    ----------
    n_thresholds : int
        Number of thresholds per feature; fewer if a feature has fewer values.
    spacing : "quantile" or "even"
        Position of the thresholds of a feature: at quantiles of its training values, or evenly
        spaced.
    limits : (float, float), optional
        Start and end of even spacing; by default, the smallest and largest value of each feature.

    Attributes
    ----------
    thresholds_ : list of (k,) float64
        Ascending thresholds of each feature.

    References
    ----------
    Yue et al. 2007, sec. 4.2 (50 thresholds over the sensitive region of each feature).

    Examples
    --------
    >>> from lambdaplus.baselines import ThresholdFeatures
    >>> steps = ThresholdFeatures(n_thresholds=2, spacing="even", limits=(0, 1))
    >>> steps.fit_transform([[0.2], [0.7], [0.0]]).tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    >>> steps.get_feature_names_out().tolist()
    ['x0>0', 'x0>0.5']
    """

    def __init__(
        self,
        n_thresholds: int = 50,
        spacing: Literal["quantile", "even"] = "quantile",
        limits: tuple[float, float] | None = None,
    ) -> None:
        self.n_thresholds = n_thresholds
        self.spacing = spacing
        self.limits = limits

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Determine the thresholds; constant features have none, and none is above the maximum."""
        if self.n_thresholds < 1:
            raise ValueError(f"n_thresholds={self.n_thresholds!r} must be at least 1")
        if self.spacing not in ("quantile", "even"):
            raise ValueError(f"spacing={self.spacing!r} is not 'quantile' or 'even'")
        if self.limits is not None and self.spacing != "even":
            raise ValueError("limits are for spacing='even'")
        found = validate_data(self, X, dtype=np.float64)
        share = np.arange(self.n_thresholds) / self.n_thresholds
        if self.limits is not None:
            low, high = self.limits
            self.thresholds_ = [low + share * (high - low) for _ in range(found.shape[1])]
        elif self.spacing == "even":
            low, high = found.min(axis=0), found.max(axis=0)
            self.thresholds_ = [
                np.unique(a + share * (b - a)) if b > a else np.empty(0)
                for a, b in zip(low, high, strict=True)
            ]
        else:
            places = np.quantile(found, share, axis=0, method="lower").T
            top = found.max(axis=0)
            self.thresholds_ = [np.unique(k[k < b]) for k, b in zip(places, top, strict=True)]
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Indicators, (n, sum of thresholds) float64: 1 where a feature is above a threshold."""
        check_is_fitted(self)
        found = validate_data(self, X, reset=False, dtype=np.float64)
        columns = [found[:, [j]] > thresholds for j, thresholds in enumerate(self.thresholds_)]
        return np.concatenate(columns, axis=1).astype(np.float64)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Names such as ``x3>0.25``, in the order of the columns."""
        check_is_fitted(self)
        if input_features is None:
            input_features = getattr(
                self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]
            )
        names = [
            f"{name}>{k:g}"
            for name, thresholds in zip(np.asarray(input_features), self.thresholds_, strict=True)
            for k in thresholds
        ]
        return np.array(names, dtype=object)


def _rows_of_each(qid: ArrayLike | None, n: int) -> list[Ints]:
    """Rows of each query."""
    if qid is None:
        return [np.arange(n)]
    rows, boundaries = queries_together(qid, n)
    return np.split(rows, boundaries[1:-1])
