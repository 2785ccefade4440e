"""From scores that rank to probabilities, by scikit-learn's own calibration.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.estimators.calibration import calibrate, score_at_one_half
>>> scores = np.array([-2.0, -1.0, 0.5, 1.0, 1.5, 3.0])
>>> calibrator = calibrate("sigmoid", scores, np.array([0, 0, 1, 0, 1, 1]))
>>> calibrator.predict_proba([[-2.0], [3.0]])[:, 1].round(2).tolist()
[0.18, 0.82]
>>> round(score_at_one_half(calibrator), 2)
0.51
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV

from lambdaplus.queries import Floats


class _Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose only feature is its decision, so that there is nothing to fit."""

    def __init__(self) -> None:
        self.classes_ = np.array([0, 1])

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> _Scores:
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        found: Floats = np.asarray(X, dtype=np.float64)[:, 0]
        return found

    def predict(self, X: ArrayLike) -> Any:
        return (self.decision_function(X) > 0.0).astype(int)


def calibrate(
    method: str, scores: Floats, labels: ArrayLike, weights: Floats | None = None
) -> CalibratedClassifierCV:
    """Fit a calibration of scores of rows that the scoring model has not seen.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
        And what else scikit-learn's `CalibratedClassifierCV` knows.
    scores : (n,) float64
    labels : (n,) array_like
        0 and 1.
    weights : (n,) float64, optional

    Returns
    -------
    CalibratedClassifierCV
        Its ``predict_proba`` takes scores, (n, 1).
    """
    rows = np.arange(len(scores))
    calibrator = CalibratedClassifierCV(_Scores(), method=method, cv=[(rows, rows)], ensemble=False)
    return calibrator.fit(scores[:, np.newaxis], np.asarray(labels).astype(int), weights)


def score_at_one_half(calibrator: Any) -> float:
    """The highest score whose calibrated probability is not above one half.

    Where no score in reach has a higher one, all are below it.
    """

    def above(scores: Floats) -> Any:
        return calibrator.predict_proba(scores[:, np.newaxis])[:, 1] > 0.5

    def is_above(score: float) -> bool:
        return bool(above(np.array([score]))[0])

    low, high = -1.0, 1.0
    while is_above(low) and low > -1e6:
        low *= 2
    while not is_above(high) and high < 1e6:
        high *= 2
    if is_above(low) or not is_above(high):
        return low if is_above(low) else high
    while True:  # a call takes about as long for a thousand scores as for one
        inner = np.linspace(low, high, 1025)
        inner = inner[(low < inner) & (inner < high)]
        if inner.size == 0:
            return low
        ends = [low, *inner.tolist(), high]
        below = int(np.searchsorted(above(inner), True))
        low, high = ends[below], ends[below + 1]
