"""Curvature of rare classes if all rows are one ranking.

Each pair adds the same value to the Hessians of its two documents.  With P positives and N
negatives, the mean Hessian of a positive is therefore N / P times that of a negative, whatever the
metric, and a leaf of positives takes small steps.  Log-loss at the base rate gives all rows the
same Hessian.

Therefore the Hessians of class c are multiplied by

    (k n_c / n) ^ balance,

where n_c of n rows are of class c and k is the number of classes (with row weights, n_c and n are
sums of weights).  These factors are the inverses of scikit-learn's ``class_weight="balanced"``.
Only the Hessian changes: the gradient, and with it the optimised metric, does not.  With balance=1
all classes have the same mean Hessian, and the first Newton step of a leaf is that of log-loss at
the base rate: n / P for positives alone, -n / N for negatives alone.

Examples
--------
>>> from lambdaplus import lambda_objective
>>> labels, scores = [1, 0, 0, 0], [0.0, 0.0, 0.0, 0.0]
>>> for balance in (0, 1):
...     gradient, hessian = lambda_objective("auc", balance=balance)(labels, scores)
...     print(-gradient / hessian)
[ 2. -2. -2. -2.]
[ 4.        -1.3333334 -1.3333334 -1.3333334]
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.arrays import metric_arrays
from lambdaplus.queries import Floats, Queries


def checked(balance: Any) -> float:
    """The exponent as a float; a ValueError if it is not a number from 0 to 1."""
    is_number = isinstance(balance, numbers.Real) and not isinstance(balance, bool)
    if not (is_number and 0 <= balance <= 1):
        raise ValueError(f"balance must be a number from 0 to 1, got {balance!r}")
    return float(balance)


def balance_classes(
    metric: RankingMetric, queries: Queries, balance: float, hessian: Floats
) -> None:
    """Multiply the Hessians of each class in place; no effect for data with queries.

    Parameters
    ----------
    hessian : (n,) float64
        By row.
    """
    if queries.grouped or balance == 0:
        return
    order, weights = queries.row_order, queries.weights
    class_of = metric_arrays(metric, queries).relevance
    # Rows are in the order of their classes.
    first = np.searchsorted(class_of, np.arange(class_of[-1] + 2, dtype=class_of.dtype))
    count = np.diff(first) if weights is None else np.add.reduceat(weights[order], first[:-1])
    factor = (count * (count.size / count.sum())) ** balance
    common = int(np.argmax(count))
    hessian *= factor[common]  # most rows are of one class
    for c in range(factor.size):
        if c != common:
            hessian[order[first[c] : first[c + 1]]] *= factor[c] / factor[common]
