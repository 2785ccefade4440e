"""The base class of objectives, as LightGBM and XGBoost call them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.array_types import Floats
from lambdaplus.frameworks.calls import Call, read_call
from lambdaplus.lists.own_rows import OwnRows
from lambdaplus.lists.queries import Kind, Queries
from lambdaplus.lists.vectors import as_labels, as_weights
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.weighted_sum import WeightedSum

# XGBoost's own ranking objectives double Hessians, and ours do so there, for equal step sizes.
HESSIAN_FACTOR_IN_XGBOOST = 2.0


class Objective(ABC):
    """Base class of custom objectives for all interfaces of LightGBM and XGBoost.

    These are LightGBM's ``params["objective"]`` (4.x) and ``fobj=`` (3.x),
    ``LGBMRanker(objective=)``, ``xgb.train(obj=)`` and ``XGBRegressor(objective=)``.

    Attributes
    ----------
    metric : RankingMetric or WeightedSum
        The metric of its name, which is the one to evaluate.
    one_group : bool
        Whether data without queries is treated as a single query, for any metric.

    Examples
    --------
    >>> from lambdaplus import lambda_map
    >>> gradient, hessian = lambda_map([1, 0, 0], [0.0, 1.0, 2.0], None, [3])
    >>> gradient.round(3).tolist()
    [-0.6370000243186951, 0.10899999737739563, 0.5270000100135803]
    """

    metric: RankingMetric | WeightedSum
    one_group: bool
    uses_positions = False  # whether it needs the positions of documents
    has_own_labels = False  # whether it, or a part of it, was made by `on`
    own_rows: tuple[Floats, ...] = ()  # what it, or a part of it, carries for each row

    @property
    def __name__(self) -> str:
        return f"lambda_{self.metric}"

    @abstractmethod
    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""

    def __call__(
        self,
        y_true_or_preds: ArrayLike,
        y_pred_or_data: Any,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Compute gradient and Hessian from the arguments that LightGBM or XGBoost pass.

        Parameters
        ----------
        y_true_or_preds : (n,) array_like
            Scores, if the second argument is a data set; labels otherwise.
        y_pred_or_data : lightgbm.Dataset, xgboost.DMatrix or (n,) array_like
            Data set, or scores.
        sample_weight, group : (n,) and (n_queries,) array_like, optional
            Row weights and query sizes, if labels and scores are passed.

        Returns
        -------
        gradient, hessian : (n,) float32
            With queries, XGBoost gets twice the Hessian, as from its own objectives.

        Raises
        ------
        ValueError
            For NaN or infinite scores or labels, missing or split queries, invalid weights,
            LightGBM's bagging_by_query, and data without queries on several LightGBM machines.
        TypeError
            If LightGBM or XGBoost was given it as a metric.
        FailedWorkerError, LostWorkerError
            If another worker of the training raised an error or was stopped.
        """
        with read_call(y_true_or_preds, y_pred_or_data, sample_weight, group, of=self) as call:
            if call.caller.takes_it_for == "metric":
                raise TypeError(
                    f"{self!r} is an objective, and was passed as a metric (feval=, custom_metric= "
                    f"or eval_metric=): pass eval_metric({str(self.metric)!r})"
                )
            call.trains()
            if not self.uses_positions:
                call.warn_of_positions(self)
            gradient, hessian = self._derivatives_of(call)
            if call.framework == "xgboost" and self.compares_within_queries(call.queries):
                hessian = HESSIAN_FACTOR_IN_XGBOOST * hessian
        return gradient.astype(np.float32, copy=False), hessian.astype(np.float32, copy=False)

    def on(self, labels: ArrayLike) -> ObjectiveOn:
        """The same objective for other labels of the training data, as a part of `combine`.

        Parameters
        ----------
        labels : (n,) array_like
            A label for each row of the training data, in its order, which are used instead of
            those that LightGBM or XGBoost pass.

        Returns
        -------
        ObjectiveOn

        Raises
        ------
        TypeError
            If it has labels of its own already, or is a `PositionBias`.
        ValueError
            For invalid labels; and in a training, if the number of rows is another, or if it was
            used in a training with other rows before.
        """
        return ObjectiveOn(self, labels)

    def weighted(self, weights: ArrayLike) -> ObjectiveOn:
        """The same objective with these weights of the rows of the training data.

        XGBoost itself takes one weight for each query.

        Parameters
        ----------
        weights : (n,) array_like
            A weight for each row of the training data, in its order, which are used instead of
            those that LightGBM or XGBoost pass.

        Returns
        -------
        ObjectiveOn

        Raises
        ------
        ValueError
            For invalid weights; and in a training, as for `on`.

        Examples
        --------
        >>> from lambdaplus import lambda_map
        >>> labels, scores, weights = [1, 0, 0], [0.0, 1.0, 2.0], [4.0, 1.0, 1.0]
        >>> ours, _ = lambda_map.weighted(weights)(labels, scores, None, [3])
        >>> theirs, _ = lambda_map(labels, scores, weights, [3])
        >>> bool((ours == theirs).all())
        True
        """
        return ObjectiveOn(self, weights=weights)

    def as_term(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """The same as a term of a sum: pairs alone, also where they have log-loss by default."""
        return self.derivatives(queries, scores)

    def compares_within_queries(self, queries: Queries) -> bool:
        """Whether pairs are within queries, or within one list whose weights are factors."""
        return queries.kind is not Kind.WEIGHTED_ROWS

    def _derivatives_of(self, call: Call) -> tuple[Any, Any]:
        return self.derivatives(call.queries, call.scores)


class ObjectiveOn(Objective):
    """An objective for labels or weights that it carries, made by `Objective.on` and `weighted`.

    Attributes
    ----------
    objective : Objective
    labels, weights : (n,) float64, optional
    metric : RankingMetric or WeightedSum
    """

    objective: Objective
    labels: Floats | None
    weights: Floats | None

    def __init__(
        self,
        objective: Objective,
        labels: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        if isinstance(objective, ObjectiveOn) and (labels is None or objective.labels is None):
            labels = objective.labels if labels is None else labels
            weights = objective.weights if weights is None else weights
            objective = objective.objective
        if objective.uses_positions or isinstance(objective, ObjectiveOn):
            raise TypeError(
                f"{objective!r} cannot have labels or weights of its own: call on() or weighted() "
                "of its part"
            )
        n = np.asarray(weights if labels is None else labels).size
        self.labels = None if labels is None else as_labels(labels)
        self.weights = None if weights is None else as_weights(weights, n)
        self.has_own_labels = labels is not None
        self.own_rows = tuple(rows for rows in (self.labels, self.weights) if rows is not None)
        self._own = OwnRows(self.labels, self.weights)
        self._set_objective(objective)

    def _set_objective(self, objective: Objective) -> None:
        self.objective = objective
        self.metric, self.one_group = objective.metric, objective.one_group

    def of(self, objective: Objective) -> ObjectiveOn:
        """Another objective for the same labels and weights of the same data set."""
        other = copy.copy(self)
        other._set_objective(objective)
        return other

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        own = self._own.of(queries, repr(self))
        return self.objective.derivatives(own, scores)

    def as_term(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        own = self._own.of(queries, repr(self))
        return self.objective.as_term(own, scores)

    def compares_within_queries(self, queries: Queries) -> bool:
        return self.objective.compares_within_queries(queries)

    def __repr__(self) -> str:
        labels = "" if self.labels is None else f".on(<{self.labels.size} labels>)"
        weights = "" if self.weights is None else f".weighted(<{self.weights.size} weights>)"
        return f"{self.objective!r}{labels}{weights}"
