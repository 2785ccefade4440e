"""Log-loss of rows: a part of a sum with ranking metrics.

"Combined regression and ranking": Sculley 2010.
"""

import re
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import number
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.arrays import number_of
from lambdaplus.engine.gradient import LambdaGradient, TermWeights
from lambdaplus.metrics.catalogue import AUC
from lambdaplus.metrics.declared_arrays import scope
from lambdaplus.metrics.parameters import RELEVANT, shortest
from lambdaplus.objectives.lambda_gradient import gradient_on
from lambdaplus.objectives.pair_options import PairOptions, WeighingMetric
from lambdaplus.ranking.queries import Queries

_NAME = re.compile(r"\s*(?:binary_)?log_?loss\s*(?:\(\s*relevant\s*=([^()]*)\))?\s*", re.I)


@dataclass(frozen=True)
class LogLoss:
    """Log-loss of the logistic function of scores, as a part of `combine`.

    .. versionadded:: 0.2.0

    In each query, or in a table, the constant that makes it lowest is added to the scores; so, like
    a ranking, it does not depend on where scores begin.  Without queries, its absolute gradients at
    the base rate add up to those of a part that ranks.  With queries, it is the mean over the rows
    of each query, in bits.

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
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        metric = AUC(relevant=RELEVANT.default if self.relevant is None else self.relevant)
        ranked = scope(metric, queries)

        def gradient() -> LambdaGradient:
            if self.relevant is None:
                _refuse_other_labels(queries)
            options, weighing = (
                PairOptions(sigma=self.sigma),
                WeighingMetric(metric, equal_pairs=True),
            )
            return gradient_on(weighing, ranked, options, TermWeights(pairs=0.0, log_loss=1.0))

        return ranked.once(self, gradient).at(ranked, scores)

    def __str__(self) -> str:
        return "logloss" + (
            "" if self.relevant is None else f"(relevant={shortest(self.relevant)})"
        )


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
