"""Log-loss of rows: a part of a sum with ranking metrics, which keeps scores log-odds.

"Combined regression and ranking": Sculley 2010.  The log-loss that is part of a ranking's own
gradient, up to a constant of the query, is in `pointwise`.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from lambdaplus.compute.arguments import number
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.arrays import number_of
from lambdaplus.metrics.parameters import shortest
from lambdaplus.ranking.queries import Queries, reaches

_NAME = re.compile(r"\s*(?:binary_)?log_?loss\s*(?:\(\s*relevant\s*=([^()]*)\))?\s*", re.I)


@dataclass(frozen=True)
class LogLoss:
    """Log-loss of the logistic function of scores, as a part of `combine`.

    .. versionadded:: 0.2.0

    It keeps scores log-odds, which a ranking metric alone does not.  Without queries, its absolute
    gradients at the base rate add up to those of a part that ranks.  With queries, it is the mean
    over the rows of each query, in bits.

    Attributes
    ----------
    relevant : float, optional
        Label from which a row is positive; by default, labels must be 0 and 1.

    Examples
    --------
    >>> from lambdaplus import LogLoss, combine, lambda_map
    >>> combine({LogLoss(): 1, lambda_map: 0.5}).__name__
    'lambda_logloss+0.5*map'
    """

    relevant: float | None = None

    def __post_init__(self) -> None:
        if self.relevant is not None:
            object.__setattr__(self, "relevant", number("relevant", self.relevant))

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        # Without queries, the loss is the sum over rows of -log p of the row's class, where p is
        # the logistic function of the score.
        label, weight = queries.once(
            self, lambda: (_labels(queries, self.relevant), _weights(queries))
        )
        p = expit(queries.check_scores(scores))
        return weight * (p - label), weight * p * (1.0 - p)

    def __str__(self) -> str:
        return "logloss" + (
            "" if self.relevant is None else f"(relevant={shortest(self.relevant)})"
        )


def find_log_loss(name: Any, relevant: Any) -> LogLoss | None:
    """Log-loss, if this is its name, such as ``logloss`` or ``logloss(relevant=2)``."""
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        return None
    return LogLoss(relevant if match[1] is None else number_of(match[1]))


def _labels(queries: Queries, relevant: float | None) -> Floats:
    if relevant is not None:
        return reaches(queries.labels, relevant).astype(np.float64)
    neither = (queries.labels != 0.0) & (queries.labels != 1.0)
    if neither.any():
        row = int(neither.argmax())
        raise ValueError(
            f"log-loss needs labels 0 and 1, and row {row} has the label {queries.labels[row]:g}: "
            "pass relevant=, the label from which a row is positive"
        )
    return queries.labels


def _weights(queries: Queries) -> Floats:
    weight = np.ones(queries.n_documents) if queries.weights is None else queries.weights
    if not queries.divided:
        return weight
    return weight / (math.log(2.0) * np.repeat(queries.sizes, queries.sizes))
