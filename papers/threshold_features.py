"""Indicators of values above quantiles, with which Yue et al. weigh features step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lambdaplus.baselines.allowed_values import AtLeastOne, check_parameters
from lambdaplus.compute.array_types import Floats


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
    >>> from papers.threshold_features import ThresholdFeatures
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
