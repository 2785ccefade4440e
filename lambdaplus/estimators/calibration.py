"""Threshold and probabilities, from scores of rows that a model has not seen."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.svm import LinearSVC

from lambdaplus.compute.array_types import Floats, Ints


class HeldOut(NamedTuple):
    """Rows that set the threshold and, if models have not seen them, the probabilities."""

    scores: Floats  # (n,)
    codes: Ints  # (n,) 1 for the trained class
    weights: Any  # (n,) or None
    why_not: str = ""  # why no probabilities can be fitted to the scores

    def lacks_a_class(self) -> str:
        """What to say if all weight is of one class; empty if not."""
        weights = np.ones(len(self.codes)) if self.weights is None else np.asarray(self.weights)
        both = bool((np.bincount(self.codes, weights, minlength=2) > 0.0).all())
        return "" if both else "The evaluation set has rows of one class alone: pass both"


class Scale(NamedTuple):
    """Mean and standard deviation of a model's scores for the rows that it was trained on.

    Scores of models that were trained on different rows are compared on this scale: with strong
    regularisation, for example, those of a model that saw fewer rows spread less.
    """

    mean: float
    deviation: float

    @classmethod
    def of(cls, scores: Floats, weights: Any = None) -> Scale:
        mean = float(np.average(scores, weights=weights))
        return cls(mean, float(np.sqrt(np.average((scores - mean) ** 2, weights=weights))))

    def moved(self, scores: Floats, to: Scale) -> Floats:
        """Scores on this scale, moved and stretched to another one."""
        # A model without a split has none.
        factor = to.deviation / self.deviation if self.deviation > 0.0 else 0.0
        return to.mean + factor * (scores - self.mean)


def threshold_by_share(held_out: HeldOut) -> float:
    """A score above which there is about as much weight as that of the trained class.

    It lies between two different scores, at the edge of a group of ties that is nearest to that
    weight, so there are rows on both sides unless all scores are equal.
    """
    weights = np.ones(len(held_out.codes)) if held_out.weights is None else held_out.weights
    different, group = np.unique(held_out.scores, return_inverse=True)
    if different.size == 1:
        return float(different[0])
    # Of the groups of tied rows, from the highest score on.
    above = np.cumsum(np.bincount(group, weights)[::-1])[:-1]
    wanted = float(np.sum(weights * held_out.codes))
    last = different.size - 1 - int(np.argmin(np.abs(above - wanted)))
    below, first = float(different[last - 1]), float(different[last])
    middle = below + (first - below) / 2.0
    return middle if middle < first else below  # adjacent numbers have none between them


class Sigmoid(NamedTuple):
    """The probability of the trained class, 1 / (1 + exp(a s + b)), of the score s."""

    a: float
    b: float

    def predict_proba(self, scores: Any) -> Floats:
        """Probabilities of the other and of the trained class, (n, 2), of scores, (n, 1)."""
        p = expit(-(self.a * np.asarray(scores, dtype=np.float64)[:, 0] + self.b))
        return np.column_stack([1.0 - p, p])


def fit_calibrator(held_out: HeldOut) -> Sigmoid:
    """scikit-learn's calibration by a logistic function (Platt, 1999)."""
    scores, codes, weights, _ = held_out
    if weights is not None:  # scikit-learn 1.6 needs the type of the scores
        weights = np.asarray(weights, np.float64)
    identity = LinearSVC()  # whose decision_function is its only column
    identity.classes_, identity.coef_, identity.intercept_ = np.arange(2), np.eye(1), np.zeros(1)
    rows = np.arange(len(codes))  # as a single fold, since there is nothing to fit
    calibrated = CalibratedClassifierCV(FrozenEstimator(identity), cv=[(rows, rows)])
    with warnings.catch_warnings(), config_context(enable_metadata_routing=False):
        # A fitted model needs no weights.
        warnings.filterwarnings("ignore", "Since FrozenEstimator", UserWarning)
        calibrated.fit(scores[:, None], codes, weights)
    [found] = calibrated.calibrated_classifiers_[0].calibrators
    return Sigmoid(float(found.a_), float(found.b_))
