"""Base class of objectives that LightGBM and XGBoost can call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.frameworks.calls import Call, read_call
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.weighted_sum import WeightedSum

# XGBoost's own ranking objectives pass twice the Hessian of each pair, as both of its documents
# move.  Ours do so in XGBoost, so that a learning rate means the same step for all of them.
HESSIANS_IN_XGBOOST = 2.0


class Objective(ABC):
    """A custom objective for every interface of either framework.

    LightGBM's ``params["objective"]`` (4.x) and ``fobj=`` (3.x), ``LGBMRanker(objective=)``,
    ``xgb.train(obj=)`` and ``XGBRegressor(objective=)``.  Subclasses (an objective of one metric,
    of a weighted sum, or one that corrects for position bias) only implement `derivatives`.

    Attributes
    ----------
    metric : RankingMetric or WeightedSum
        The optimised metric.
    one_group : bool
        Whether data without queries is treated as a single query, for any metric.
    """

    metric: RankingMetric | WeightedSum
    one_group: bool
    uses_positions = False  # whether it needs the positions of a call, not only queries and scores

    @property
    def __name__(self) -> str:
        return f"lambda_{self.metric}"

    @abstractmethod
    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row, (n,) float64 each, weights applied."""

    def __call__(
        self,
        y_true_or_preds: ArrayLike,
        y_pred_or_data: Any,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Gradient and Hessian at the given scores, with the arguments that the frameworks pass.

        Parameters
        ----------
        y_true_or_preds : (n,) array_like
            Scores, if the second argument is a data set; labels otherwise.
        y_pred_or_data : lightgbm.Dataset, xgboost.DMatrix or (n,) array_like
            Data set, or scores.
        sample_weight : (n,) array_like, optional
            Only if labels and scores are passed.
        group : (n_queries,) array_like of int, optional
            Only if labels and scores are passed.

        Returns
        -------
        gradient, hessian : (n,) float32
            With queries, XGBoost gets twice the Hessian, as it does from its own objectives.

        Raises
        ------
        ValueError
            For NaN or infinite scores or labels, missing or split queries, invalid weights,
            LightGBM's bagging_by_query, and data without queries on several LightGBM machines.
        FailedWorkerError
            If another worker of the training raised an error.
        LostWorkerError
            If another worker was stopped.

        Notes
        -----
        In a training by XGBoost on several workers, each calls this with its own rows, and gets
        the gradient of all rows at its own: see `lambdaplus.compute.collective`.
        """
        with read_call(y_true_or_preds, y_pred_or_data, sample_weight, group) as call:
            with limit_threads(call.threads):
                gradient, hessian = self._answer(call)
            if call.framework == "xgboost" and self.compares_within_queries(call.queries):
                hessian = HESSIANS_IN_XGBOOST * hessian
        return gradient.astype(np.float32), hessian.astype(np.float32)

    def compares_within_queries(self, queries: Queries) -> bool:
        """Whether pairs are those of queries, or of all rows as one query."""
        return queries.grouped

    def _answer(self, call: Call) -> tuple[Floats, Floats]:
        return self.derivatives(call.queries, call.scores)

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> Any:
        """Raise an error: CatBoost calls custom objectives by this method."""
        raise TypeError(
            "CatBoost calls an objective with blocks of at most 1000 rows and without their "
            "queries, so it cannot optimise a ranking metric: use LightGBM or XGBoost, or "
            "CatBoost's YetiRank"
        )

    @abstractmethod
    def _key(self) -> tuple[Any, ...]:
        """The values that distinguish it from other objects of its class."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())
