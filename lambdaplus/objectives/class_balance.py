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

import numpy as np

from lambdaplus.data.queries import Floats, Queries
from lambdaplus.metrics import RankingMetric


def class_factors(metric: RankingMetric, queries: Queries, balance: float) -> Floats | None:
    """Factors of the Hessians of each class; None for data with queries.

    Returns
    -------
    (n_classes,) float64 or None
    """
    if queries.grouped or balance == 0:
        return None
    count = queries.strata(metric.relevant).count
    return np.asarray((count * (count.size / count.sum())) ** balance)
