"""Base classes of the baselines: reading of data, validation data, and prediction."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from lambdaplus.baselines.allowed_values import check_parameters
from lambdaplus.compute.array_types import Floats
from lambdaplus.lists.features import refuse_dates
from lambdaplus.lists.order import by_query
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import Metric, parse_metric
from lambdaplus.metrics.means import mean_values

LARGEST = 1e50  # feature of a linear ranker, which sums products of features


class BaseRanker(BaseEstimator):  # type: ignore[misc]
    """Base class of the baselines, linear unless a subclass overrides `_scores`."""

    coef_: Floats

    def fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Train.

        Parameters
        ----------
        X : (n, d) array_like
        y : (n,) array_like
            Labels; a higher one is better.
        qid : (n,) array_like, optional
            Query of each row, in any order; without it, all rows are one ranking.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For NaN or infinite entries, features beyond 1e50 in a linear ranker, lengths that
            differ, parameters out of range, and data from which nothing can be learned, such as
            labels that are all the same.
        """
        check_parameters(self)
        self._fit(*self._read(X, y, qid))
        return self

    @abstractmethod
    def _fit(self, X: Floats, queries: Queries) -> None:
        """Train on checked documents; the rows of each query are adjacent."""

    def predict(self, X: ArrayLike) -> Floats:
        """Score documents; a higher score ranks higher.

        Parameters
        ----------
        X : (n, d) array_like

        Returns
        -------
        (n,) float64

        Raises
        ------
        ValueError
            Before `fit` (NotFittedError); for NaN or infinite entries, and for another number of
            features than in `fit`.
        """
        return self._scores(self._features(X))

    def _scores(self, X: Floats) -> Floats:
        return np.asarray(X @ self.coef_)

    def _features(self, X: ArrayLike) -> Floats:
        """The features of new documents, checked."""
        check_is_fitted(self)
        refuse_dates(X)
        features: Floats = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        self._refuse_huge(features)
        return features

    def _refuse_huge(self, X: Floats) -> None:
        """Raise a ValueError for features of a linear ranker whose products may be infinite."""
        if type(self)._scores is not BaseRanker._scores:
            return
        largest = np.maximum(X.max(axis=0, initial=0), -X.min(axis=0, initial=0))
        if (largest > LARGEST).any():
            raise ValueError(
                f"feature {int(largest.argmax())} has absolute values up to {largest.max():.2g}, "
                f"and sums of products of features beyond {LARGEST:g} may be infinite: scale the "
                "features, for example with QueryScaler"
            )

    def _read(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None, *, reset: bool = True
    ) -> tuple[Floats, Queries]:
        """Check data and sort it by query; `reset` is False for validation data."""
        if y is None:  # validate_data would call it an unexpected argument
            raise ValueError("requires y to be passed, but the target y is None")
        refuse_dates(X)
        features, labels = validate_data(
            self, X, y, reset=reset, dtype=np.float64, order="C", y_numeric=True
        )
        self._refuse_huge(features)
        group = [len(labels)] if qid is None else None
        in_order = by_query(features, labels, qid=qid, group=group)
        return in_order.X, in_order.queries


class ValidationSet:
    """Documents and metrics; a ValueError for a metric that has no value on any query."""

    def __init__(self, X: Floats, queries: Queries, metrics: Iterable[Metric]) -> None:
        self.X, self.queries = X, queries
        self.metrics = [parse_metric(metric) for metric in metrics]
        for name, value in self.values(queries.labels).items():
            if math.isnan(value):
                raise ValueError(
                    f"{name} has no value on any query of eval_set, or else of the training data: "
                    "choose another metric or other data"
                )

    def values(self, scores: Floats) -> dict[str, float]:
        return mean_values(self.metrics, self.queries, scores)

    def value(self, scores: Floats) -> float:
        """Mean of the first metric, which is used for selection."""
        return next(iter(mean_values(self.metrics[:1], self.queries, scores).values()))


class ValidatedRanker(BaseRanker):
    """Base class of the baselines that select something by a metric on validation data."""

    metric: Metric

    def fit(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None, *, eval_set: Any = None
    ) -> Self:
        """Train, and select on validation data.

        Parameters
        ----------
        X : (n, d) array_like
        y : (n,) array_like
            Labels; a higher one is better.
        qid : (n,) array_like, optional
            Query of each row, in any order; without it, all rows are one ranking.
        eval_set : (X, y, qid) or (X, y), optional
            Validation data.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For NaN or infinite entries, lengths that differ, parameters out of range, data from
            which nothing can be learned, and a metric that has no value on the validation data.
        """
        check_parameters(self)
        features, queries = self._read(X, y, qid)
        metrics = [parse_metric(metric) for metric in self._metrics()]
        validation = None
        if eval_set is not None:
            if not isinstance(eval_set, tuple | list) or len(eval_set) not in (2, 3):
                raise ValueError("eval_set must be (X, y, qid), or (X, y) for a single ranking")
            validation = ValidationSet(*self._read(*eval_set, reset=False), metrics)
        self._fit_validated(features, queries, validation)
        return self

    @abstractmethod
    def _fit_validated(self, X: Floats, queries: Queries, validation: ValidationSet | None) -> None:
        """Train on checked documents."""

    def _metrics(self) -> list[Metric]:
        return [self.metric]
