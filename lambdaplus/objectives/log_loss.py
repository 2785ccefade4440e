"""Log-loss of rows: a part of a sum with ranking metrics, which keeps scores log-odds.

"Combined regression and ranking": Sculley 2010.
"""

import math
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from lambdaplus.compute.array_types import Floats
from lambdaplus.data.queries import Queries, reaches

_of_queries: WeakKeyDictionary[Queries, dict[float | None, tuple[Floats, Floats]]]
_of_queries = WeakKeyDictionary()


def log_loss_derivatives(
    queries: Queries, scores: ArrayLike, relevant: float | None
) -> tuple[Floats, Floats]:
    """Gradient and Hessian of every row times its weight, (n,) each.

    Without queries, the loss is the sum over rows of -log p of the row's class, where p is the
    logistic function of the score; with queries, it is the sum over queries of the mean over the
    query's rows, in bits.
    """
    kept = _of_queries.setdefault(queries, {})
    if relevant not in kept:
        kept[relevant] = _labels(queries, relevant), _weights(queries)
    label, weight = kept[relevant]
    p = expit(queries.check_scores(scores))
    return weight * (p - label), weight * p * (1.0 - p)


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
