"""Objectives for clicks, with a correction for position bias.

Documents that are shown at higher positions are clicked more often, regardless of their relevance.
There are two ways to estimate this bias together with the ranking, with one step in each round:

- `PositionBias` adds a bias for each position to the scores during training, like LightGBM's
  lambdarank with ``position=``.  It works with every objective, including weighted sums, and is as
  fast as the objective.
- `PropensityRatios` divides each pair of a clicked and an unclicked document by t+ and t-, the
  ratios of Unbiased LambdaMART (Hu et al. 2019); every pair is visited.

Positions are passed as LightGBM's ``Dataset(position=)``, which numbers them in order of appearance
(that of ``pandas.unique``): the first query has to begin with the first position.  XGBoost and
LGBMRanker have no such argument: there, the rows of a query have to be in the order in which they
were shown, as for XGBoost's ``lambdarank_unbiased``.

Examples
--------
>>> from lambdaplus import lambda_objective
>>> from lambdaplus.objectives.position_bias import PositionBias
>>> objective = PositionBias(lambda_objective("ndcg@10"))
>>> gradient, hessian = objective([1, 0, 0], [0.0, 0.0, 0.0], None, [3])
>>> bool(objective.bias_[0] > objective.bias_[2])  # the click may be an effect of the position
True
"""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.frameworks import Call
from lambdaplus.metrics.potentials import Potentials
from lambdaplus.objectives.base import Objective
from lambdaplus.objectives.gradients import apply_weights, scale_queries
from lambdaplus.objectives.kernels import pair_kernel
from lambdaplus.objectives.lists import Sums
from lambdaplus.objectives.objective import LambdaObjective
from lambdaplus.objectives.pair_weights import Ratios, weighted_pairs
from lambdaplus.objectives.ranked import ranked_queries
from lambdaplus.objectives.rows import derivatives_of
from lambdaplus.queries import Floats, Ints, Queries


class _ClickObjective(Objective):
    """Base class of both estimators: positions, state, and the start of a new training."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.metric, self.one_group = objective.metric, False
        self._data: Callable[[], Any] = lambda: None

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row, (n,) float64 each; updates the estimate by one step.

        The rows of each query must be in the order in which they were shown.
        """
        return self._answer(Call("arrays", scores, scores, queries, None))

    def _answer(self, call: Call) -> tuple[Floats, Floats]:
        queries = call.queries
        if not queries.grouped:
            raise ValueError("position bias is estimated within queries: set group= (or qid=)")
        scores, position = queries.check_scores(call.scores), call.positions()
        # The state of one training must not affect the next one.
        anchor = queries if call.framework == "arrays" else call.data
        if call.is_first(scores) or self._data() is not anchor:
            self._start(int(position.max()) + 1)
            self._data = weakref.ref(anchor)
        return self._step(queries, scores, position)

    @abstractmethod
    def _start(self, n_positions: int) -> None: ...

    @abstractmethod
    def _step(self, queries: Queries, scores: Floats, position: Ints) -> tuple[Floats, Floats]: ...

    def _key(self) -> tuple[Any, ...]:
        return (id(self),)  # each object has its own estimate

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # LightGBM copies parameters, but the estimate is read from this object

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_data": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "_data": lambda: None})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.objective!r})"


class PositionBias(_ClickObjective):
    """Add a bias for each position to the scores during training, and learn it with the trees.

    The gradient is that of the objective at score + bias.  Its sum over the documents at a position
    is the gradient of the bias of that position; each call ends with a Newton step on it.

    Parameters
    ----------
    objective : Objective
        Objective of one metric or of a sum.
    learning_rate : float
        Fraction of the Newton step that is taken in each round.
    regularization : float
        Weight of the squared bias of a position, per document, relative to the objective.

    Attributes
    ----------
    bias_ : (n_positions,) float64
        Bias of each position, relative to the first, which is 0; a position with a lower bias gets
        fewer clicks.

    Notes
    -----
    The object stores the estimate, so use one object for one training at a time.  The estimate is
    reset at the start of each training.

    Examples
    --------
    >>> from lambdaplus import lambda_ndcg
    >>> PositionBias(lambda_ndcg)
    PositionBias(lambda_objective('ndcg', sigma=1, normalize=True, damping=None))
    """

    def __init__(
        self, objective: Objective, *, learning_rate: float = 0.1, regularization: float = 0.0
    ) -> None:
        super().__init__(objective)
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.bias_: Floats = np.empty(0)

    def _start(self, n_positions: int) -> None:
        self.bias_ = np.zeros(n_positions)

    def _step(self, queries: Queries, scores: Floats, position: Ints) -> tuple[Floats, Floats]:
        gradient, hessian = self.objective.derivatives(queries, scores + self.bias_[position])
        count = np.bincount(position)
        slope = np.bincount(position, gradient) + self.regularization * count * self.bias_
        curve = np.bincount(position, hessian) + self.regularization * count
        self.bias_ -= self.learning_rate * slope / (curve + 1e-3)
        self.bias_ -= self.bias_[0]  # a constant for all positions has no effect
        return gradient, hessian


class PropensityRatios(_ClickObjective):
    """Unbiased LambdaMART: divide each pair by the ratios of its two positions.

    Labels are clicks, 0 or 1.

    Parameters
    ----------
    objective : LambdaObjective
    regularization : float
        p: ratios are raised to the power 1 / (1 + p).  0 gives the full correction, infinity none.

    Attributes
    ----------
    clicked_, unclicked_ : (n_positions,) float64
        t+ and t-, relative to the first position, where they are 1.

    Notes
    -----
    Hu, Wang, Peng, Li 2019, "Unbiased LambdaMART", eqs. 23, 30 and 31.  The object stores the
    estimate, so use one object for one training at a time.  The estimate is reset at the start of
    each training.

    Examples
    --------
    >>> from lambdaplus import lambda_ndcg
    >>> PropensityRatios(lambda_ndcg)
    PropensityRatios(lambda_objective('ndcg', sigma=1, normalize=True, damping=None))
    """

    objective: LambdaObjective

    def __init__(self, objective: LambdaObjective, *, regularization: float = 0.0) -> None:
        super().__init__(objective)
        if not isinstance(objective, LambdaObjective):
            raise TypeError(
                f"PropensityRatios needs an objective of one metric, got the sum {objective!r}"
            )
        if objective.optimised.over_data_set:
            raise ValueError(
                f"{objective.optimised} ignores queries, but pairs must belong to one query"
            )
        self.regularization = regularization
        self.clicked_: Floats = np.empty(0)
        self.unclicked_: Floats = np.empty(0)

    def _start(self, n_positions: int) -> None:
        self.clicked_, self.unclicked_ = np.ones(n_positions), np.ones(n_positions)

    def _step(self, queries: Queries, scores: Floats, position: Ints) -> tuple[Floats, Floats]:
        if not np.isin(queries.labels, (0.0, 1.0)).all():
            raise ValueError("labels must be clicks, 0 or 1: use PositionBias for other labels")
        metric, shape = self.objective.optimised, self.objective.shape
        ranked = ranked_queries(metric, queries, scores)
        kernel = pair_kernel(float(shape.sigma), float(shape.damping or 0.0))
        n, longest = queries.n_documents, int(queries.sizes.max())
        room = Potentials(np.empty(longest), np.empty(longest))
        received, out = np.zeros(queries.n_queries), derivatives_of(n)
        for part in out:
            part[:] = 0.0
        ratios = Ratios(self.clicked_, self.unclicked_)
        losses = weighted_pairs(ranked, position, ratios, kernel, room, received, out)
        power = 1.0 / (1.0 + self.regularization)
        for ratio, loss in zip(ratios, losses, strict=True):
            if loss[0] > 0.0:  # the ratio of a position without pairs does not change
                np.power(loss / loss[0], power, out=ratio, where=loss > 0.0)
        absolute = np.add.reduceat(np.abs(out.gradient[ranked.row]), queries.boundaries[:-1])
        sums = Sums(received, absolute)
        scale_queries(metric, queries, ranked, sums, shape.normalize, out)
        apply_weights(metric, queries, out)
        return out
