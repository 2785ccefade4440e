"""Objectives for clicks: what was shown higher was clicked more often, whatever its merit.

Two ways to estimate the bias of positions beside the ranking, each round a little better:

- `PositionBias` adds a bias per position to the scores in training, as LightGBM's own lambdarank
  does with ``position=``; it goes with every objective, at the cost of the objective alone.
- `PropensityRatios` divides each pair of a clicked and an unclicked document by t+ and t-, the
  ratios of Unbiased LambdaMART (Hu et al. 2019); every pair is visited.

Positions are LightGBM's ``Dataset(position=)``, which it numbers in order of appearance (that of
``pandas.unique``): have the first query begin with its first position.  Elsewhere (XGBoost,
LGBMRanker) there are none: the rows of a query then stand in the order in which they were shown,
as in XGBoost's own ``lambdarank_unbiased``.

Examples
--------
>>> from lambdaplus import lambda_objective
>>> from lambdaplus.objectives.position_bias import PositionBias
>>> objective = PositionBias(lambda_objective("ndcg@10"))
>>> gradient, hessian = objective([1, 0, 0], [0.0, 0.0, 0.0], None, [3])
>>> bool(objective.bias_[0] > objective.bias_[2])  # the click at the top may be the position's
True
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.frameworks import framework_of, read_call, refuse_bagging_by_query
from lambdaplus.metrics.terms import terms
from lambdaplus.objectives.gradients import lambda_gradients
from lambdaplus.objectives.objective import LambdaObjective
from lambdaplus.objectives.pair_weights import weighted_pairs
from lambdaplus.queries import Floats, Ints, Queries

Gradients = tuple[NDArray[np.float32], NDArray[np.float32]]


class _ClickObjective:
    """What both estimates share: the call, the positions, and when to start afresh."""

    def __init__(self, objective: LambdaObjective) -> None:
        self.objective = objective
        self._data: Callable[[], Any] = lambda: None

    def __call__(
        self,
        y_true_or_preds: ArrayLike,
        y_pred_or_data: Any,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Gradients:
        """Gradient and Hessian at the given scores; one step of the estimate.

        Parameters
        ----------
        y_true_or_preds, y_pred_or_data, sample_weight, group
            As `LambdaObjective.__call__`.

        Returns
        -------
        gradient, hessian : (n,) float32

        Raises
        ------
        ValueError
            As `LambdaObjective.__call__`; for data without queries; and for a LightGBM data set
            without positions.
        """
        if framework_of(y_pred_or_data) != "xgboost":
            refuse_bagging_by_query(y_pred_or_data)
        call = read_call(y_true_or_preds, y_pred_or_data, sample_weight, group)
        queries = call.queries
        if not queries.grouped:
            raise ValueError("position bias is estimated within queries: set group= (or qid=)")
        scores = queries.check_scores(call.scores)
        place = _positions(y_pred_or_data, queries)
        # A training starts with all scores equal; state of another one must not leak into it.
        if scores.min() == scores.max() or self._data() is not _anchor(y_pred_or_data, queries):
            self._start(int(place.max()) + 1)
            self._data = weakref.ref(_anchor(y_pred_or_data, queries))
        gradient, hessian = self._step(queries, scores, place)
        return gradient.astype(np.float32), hessian.astype(np.float32)

    def _start(self, n_positions: int) -> None:
        raise NotImplementedError

    def _step(self, queries: Queries, scores: Floats, place: Ints) -> tuple[Floats, Floats]:
        raise NotImplementedError

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # LightGBM copies its parameters: the estimate is to be read from this object

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_data": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "_data": lambda: None})


class PositionBias(_ClickObjective):
    """Add a bias per position to the scores while training, and learn it beside the trees.

    The gradient is the objective's at score + bias.  Its sum over the documents of a position is
    the bias's own gradient; each call ends with a Newton step on it.

    Parameters
    ----------
    objective : LambdaObjective
    learning_rate : float
        Share of the Newton step that is taken at each round.
    regularization : float
        Weight of each bias's square, per document, against the objective.

    Attributes
    ----------
    bias_ : (n_positions,) float64
        Bias of each position, that of the first being 0; the lower, the fewer clicks it gets.

    Notes
    -----
    It holds state: use one object for one training at a time.  A training starts it afresh.

    Examples
    --------
    >>> from lambdaplus import lambda_ndcg
    >>> PositionBias(lambda_ndcg)
    PositionBias(lambda_objective('ndcg', sigma=1, normalize=True, damping=0.01))
    """

    def __init__(
        self, objective: LambdaObjective, *, learning_rate: float = 0.1, regularization: float = 0.0
    ) -> None:
        super().__init__(objective)
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.bias_: Floats = np.empty(0)

    def _start(self, n_positions: int) -> None:
        self.bias_ = np.zeros(n_positions)

    def _step(self, queries: Queries, scores: Floats, place: Ints) -> tuple[Floats, Floats]:
        gradient, hessian = lambda_gradients(
            self.objective.optimised, queries, scores + self.bias_[place], self.objective.shape
        )
        count = np.bincount(place)
        slope = np.bincount(place, gradient) + self.regularization * count * self.bias_
        curve = np.bincount(place, hessian) + self.regularization * count
        self.bias_ -= self.learning_rate * slope / (curve + 1e-3)
        self.bias_ -= self.bias_[0]  # the same for all positions changes nothing
        return gradient, hessian

    def __repr__(self) -> str:
        return f"PositionBias({self.objective!r})"


class PropensityRatios(_ClickObjective):
    """Unbiased LambdaMART: divide each pair by the ratios of its two positions.

    Labels are clicks, 0 or 1.

    Parameters
    ----------
    objective : LambdaObjective
    regularization : float
        p: ratios are taken to the power 1 / (1 + p); 0 corrects most, infinity not at all.

    Attributes
    ----------
    clicked_, unclicked_ : (n_positions,) float64
        t+ and t-, those of the first position being 1.

    Notes
    -----
    Hu, Wang, Peng, Li 2019, "Unbiased LambdaMART", eqs. 23, 30 and 31.  It holds state: use one
    object for one training at a time.  A training starts it afresh.

    Examples
    --------
    >>> from lambdaplus import lambda_ndcg
    >>> PropensityRatios(lambda_ndcg)
    PropensityRatios(lambda_objective('ndcg', sigma=1, normalize=True, damping=0.01))
    """

    def __init__(self, objective: LambdaObjective, *, regularization: float = 0.0) -> None:
        super().__init__(objective)
        self.regularization = regularization
        self.clicked_: Floats = np.empty(0)
        self.unclicked_: Floats = np.empty(0)

    def _start(self, n_positions: int) -> None:
        self.clicked_, self.unclicked_ = np.ones(n_positions), np.ones(n_positions)

    def _step(self, queries: Queries, scores: Floats, place: Ints) -> tuple[Floats, Floats]:
        if not np.isin(queries.labels, (0.0, 1.0)).all():
            raise ValueError("labels must be clicks, 0 or 1: use PositionBias for other labels")
        metric, shape = self.objective.optimised, self.objective.shape
        n, longest = queries.n_documents, int(queries.sizes.max())
        query = np.repeat(np.arange(queries.n_queries), queries.sizes)
        code = np.empty(n, dtype=np.int32)
        code[queries.base] = terms(metric, queries).code
        order = np.lexsort((code, -scores, query))  # tied documents: clicked ones last
        gradient, hessian = np.zeros(n), np.zeros(n)
        losses = np.zeros((2, self.clicked_.size))
        weighted_pairs(
            queries.boundaries, order, code, scores, place, terms(metric, queries), shape.sigma,
            shape.damping or 0.0, shape.normalize, self.clicked_, self.unclicked_,
            np.empty(longest), np.empty(longest), gradient, hessian, losses[0], losses[1],
        )  # fmt: skip
        power = 1.0 / (1.0 + self.regularization)
        for ratio, loss in zip((self.clicked_, self.unclicked_), losses, strict=True):
            if loss[0] > 0.0:  # a position without a pair keeps its ratio
                np.power(loss / loss[0], power, out=ratio, where=loss > 0.0)
        if queries.weights is not None:
            gradient *= queries.weights
            hessian *= queries.weights
        return gradient, hessian

    def __repr__(self) -> str:
        return f"PropensityRatios({self.objective!r})"


def _anchor(data: Any, queries: Queries) -> Any:
    """What stays the same object for as long as a training lasts."""
    return queries if framework_of(data) == "arrays" else data


def _positions(data: Any, queries: Queries) -> Ints:
    if framework_of(data) != "lightgbm":
        return np.arange(queries.n_documents) - np.repeat(queries.boundaries[:-1], queries.sizes)
    # LightGBM before 4.1 knows no such field, and ends get_field with an error of its own.
    field = data.get_field("position") if hasattr(data, "get_position") else None
    if field is None:
        raise ValueError(
            "this data set has no positions: pass lightgbm.Dataset(position=), one number a row "
            "(LightGBM 4.1 or newer)"
        )
    return np.asarray(field, dtype=np.int64)
