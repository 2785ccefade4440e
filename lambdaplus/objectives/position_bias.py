"""Objectives for clicks, with a correction for position bias.

Documents at the first positions are clicked more often, regardless of their relevance.
`PositionBias` estimates this effect together with the ranking, like LightGBM's lambdarank with
``position=``.
"""

from __future__ import annotations

import copy
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import number
from lambdaplus.compute.array_types import Floats
from lambdaplus.frameworks.call_stack import is_copied_by_lightgbm
from lambdaplus.frameworks.calls import Call
from lambdaplus.frameworks.trainings import Training
from lambdaplus.lists.queries import Kind, Queries
from lambdaplus.objectives import Objective


class PositionBias(Objective):
    """Add a bias for each position to the scores during training, and learn it with the trees.

    The gradient is that of the objective at score + bias.  Its sum over the documents at a position
    is the gradient of the bias of that position; each call ends with a Newton step on it.  Each
    training has an estimate of its own.

    Positions are those of LightGBM's ``Dataset(position=)``, which numbers them in order of
    appearance, so the first query must begin with the first position.  XGBoost and LGBMRanker have
    no such argument: there, the rows of a query must be in the order in which they were shown.

    Parameters
    ----------
    objective : Objective
        Objective of one metric or of a sum.
    learning_rate : float, default=0.1
        Fraction of the Newton step that is taken in each round, above 0 and at most 1.
    regularization : float, default=0.0
        Weight of the squared bias of a position, per document, relative to the objective.

    Attributes
    ----------
    bias_ : (n_positions,) float64
        Bias of each position in the last training that used this object, relative to the first,
        which is 0; a position with a lower bias gets fewer clicks.

    Raises
    ------
    ValueError
        For a learning rate or regularization out of range.
    TypeError
        If the objective is not an `Objective`, or is a `PositionBias`.

    Examples
    --------
    >>> from lambdaplus import lambda_ndcg
    >>> objective = PositionBias(lambda_ndcg)
    >>> gradient, hessian = objective([1, 0, 0], [0.0, 0.0, 0.0], None, [3])
    >>> bool(objective.bias_[0] > objective.bias_[2])  # the click may be an effect of the position
    True
    """

    uses_positions = True

    def __init__(
        self, objective: Objective, *, learning_rate: float = 0.1, regularization: float = 0.0
    ) -> None:
        if not isinstance(objective, Objective) or objective.uses_positions:
            raise TypeError(
                "PositionBias corrects an objective such as lambda_objective('ndcg'), not "
                f"{objective!r}"
            )
        self.objective = objective
        self.metric, self.one_group = objective.metric, False
        self.learning_rate = number("learning_rate", learning_rate, above=0.0, most=1.0)
        self.regularization = number("regularization", regularization, least=0.0, most=1e100)
        self.bias_: Floats = np.empty(0)
        self._of_trainings: WeakKeyDictionary[Any, Floats] = WeakKeyDictionary()

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row, (n,) float64 each; updates the estimate by one step.

        The rows of each query must be in the order in which they were shown.
        """
        call = Call("arrays", scores, scores, queries, Training(), owner=queries)
        return self._derivatives_of(call)

    def _derivatives_of(self, call: Call) -> tuple[Floats, Floats]:
        queries = call.queries
        if queries.kind is Kind.WEIGHTED_ROWS:
            raise ValueError("position bias needs queries: set group= (or qid=)")
        scores, position = queries.check_scores(call.scores), call.positions()
        workers = queries.connected_workers
        # A new training begins with a new estimate. Calls by hand are one training.
        owners = (call.booster, call.owner, self)
        training = next(owner for owner in owners if owner is not None)
        bias = self._of_trainings.get(training, np.empty(0))
        new = bool(position.max(initial=0) >= bias.size) or call.is_first(scores)
        if workers.smallest(np.array([new], np.int64))[0]:
            positions = workers.largest(np.array([position.max(initial=-1) + 1]))
            bias = np.zeros(int(positions[0]))
        gradient, hessian = self.objective.derivatives(queries, scores + bias[position])
        size = bias.size
        by_position = [np.bincount(position, values, size) for values in (None, gradient, hessian)]
        count, slope, curve = workers.sum(np.array(by_position, np.float64))
        slope = slope + self.regularization * count * bias
        curve = curve + self.regularization * count
        bias = bias - self.learning_rate * slope / (curve + 1e-3)
        bias -= bias[0]  # a constant for all positions has no effect
        self.bias_ = self._of_trainings[training] = bias
        return gradient, hessian

    def __deepcopy__(self, memo: Any) -> Any:
        if is_copied_by_lightgbm():  # a copy of its parameters, and the user reads this object
            return self
        other = copy.copy(self)
        other.objective = copy.deepcopy(self.objective, memo)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_of_trainings"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _of_trainings=WeakKeyDictionary())

    def __repr__(self) -> str:
        return f"PositionBias({self.objective!r})"
