"""Log-loss of rows: a part of a sum with ranking metrics.

"Combined regression and ranking": Sculley 2010.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import number, number_of
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.parallel import over_tasks, piece_slices
from lambdaplus.engine.log_loss import add_log_loss
from lambdaplus.engine.ranked_lists import NONE
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.strata import least_reaching, reaches
from lambdaplus.metrics.parameters import RELEVANT, shortest
from lambdaplus.objectives.pair_options import PairOptions

_NAME = re.compile(r"\s*(?:binary_)?log_?loss\s*(?:\(\s*relevant\s*=([^()]*)\))?\s*", re.I)


@dataclass(frozen=True)
class LogLoss:
    """Log-loss of the logistic function of scores, as a part of `combine`.

    .. versionadded:: 0.2.0

    One constant is added to all scores: the log-odds of the base rate, which is the share of
    positive rows (with weights, of their weights) in the training data on all workers.  On LightGBM
    machines, whose rows other machines cannot read, each takes the base rate of its own rows.
    Training should start from scores of 0, where log-loss is then at its best constant prediction.

    In a sum, its weight is relative to that of the parts that rank: at equal scores, its absolute
    gradients add up to those of a part that ranks with the same weight.  So ``"0.25*map +
    0.75*logloss"`` begins with three quarters of log-loss.  This factor and the base rate are all
    that the gradient of a query takes from other queries.

    Attributes
    ----------
    relevant : float, optional
        Label from which a row is positive; by default, that of the first metric of the sum that has
        one, and otherwise labels must be 0 and 1.
    sigma : float
        Scale of the scores, as that of the pairs in `lambda_objective`.

    Examples
    --------
    >>> from lambdaplus import LogLoss, combine, lambda_map
    >>> combine({LogLoss(): 1, lambda_map: 0.5}).__name__
    'lambda_logloss+0.5*map'
    """

    relevant: float | None = None
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if self.relevant is not None:
            object.__setattr__(self, "relevant", number("relevant", self.relevant))
        PairOptions(sigma=self.sigma)

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each.

        The gradient is probability minus 1 or 0; both are 0 if all rows are of one class.
        """
        gradient, hessian = np.zeros((2, queries.n_documents))
        self.add_to(gradient, hessian, queries, scores)
        return gradient, hessian

    def add_to(
        self, gradient: Floats, hessian: Floats, queries: Queries, scores: ArrayLike,
        times: float = 1.0,
    ) -> None:  # fmt: skip
        """Add the derivatives, multiplied by a number, to those of other objectives."""
        constant = queries.once(("log-odds", self.relevant), lambda: self._log_odds(queries))
        if math.isinf(constant):
            return
        checked, labels = queries.check_scores(scores, single=True), queries.labels
        weights, threshold = queries.weights, least_reaching(self._threshold)
        pieces = piece_slices(labels.size)

        def add(i: int) -> None:
            rows = pieces[i]
            add_log_loss(
                checked[rows], labels[rows], NONE if weights is None else weights[rows],
                threshold, float(self.sigma), constant, times, gradient[rows], hessian[rows],
            )  # fmt: skip

        over_tasks(add, len(pieces))

    @property
    def _threshold(self) -> float:
        return float(RELEVANT.default if self.relevant is None else self.relevant)

    def _log_odds(self, queries: Queries) -> float:
        """The log-odds of the base rate; infinite if all rows are of one class."""
        if self.relevant is None:
            _refuse_other_labels(queries)
        is_positive = reaches(queries.labels, self._threshold)
        weights = np.ones(is_positive.size) if queries.weights is None else queries.weights
        sums = np.array([sum_of(weights[is_positive]), sum_of(weights[~is_positive])])
        positive, negative = queries.connected_workers.sum(sums).tolist()
        return math.log(positive / negative) if positive > 0.0 < negative else math.inf

    def __str__(self) -> str:
        return "logloss" + (
            "" if self.relevant is None else f"(relevant={shortest(self.relevant)})"
        )


def sum_of(values: Floats) -> float:
    """Their sum, to the bit the same in any order of the rows."""
    return float(np.sort(values).sum())


def find_log_loss(name: Any, relevant: Any, sigma: float) -> LogLoss | None:
    """Log-loss, if this is its name, such as ``logloss`` or ``logloss(relevant=2)``."""
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        return None
    return LogLoss(relevant if match[1] is None else number_of(match[1]), sigma)


def _refuse_other_labels(queries: Queries) -> None:
    """Raise a ValueError for labels other than 0 and 1."""
    neither = (queries.labels != 0.0) & (queries.labels != 1.0)
    if neither.any():
        row = int(neither.argmax())
        raise ValueError(
            f"log-loss needs labels 0 and 1, and row {row} has the label {queries.labels[row]:g}: "
            "pass relevant=, the label from which a row is positive"
        )
