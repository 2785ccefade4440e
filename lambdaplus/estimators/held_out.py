"""Threshold and probabilities of a classifier, from scores of rows that its model has not seen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import bisect
from scipy.special import expit
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedKFold, check_cv

from lambdaplus.compute.arguments import is_flag, number
from lambdaplus.compute.array_types import Floats, Ints

FEW_POSITIVES = 500  # with as many, half of the rows sets the threshold


class HeldOut(NamedTuple):
    """Rows that set the threshold and the probabilities."""

    scores: Floats  # (n,)
    codes: Ints  # (n,) 1 for the trained class
    weights: Any  # (n,) or None
    calibrates: bool  # whether the scores are of models that did not see the rows

    def has_both_classes(self) -> bool:
        weights = np.ones(len(self.codes)) if self.weights is None else np.asarray(self.weights)
        return bool((np.bincount(self.codes, weights, minlength=2) > 0.0).all())


class Scale(NamedTuple):
    """Mean and standard deviation of a model's scores for the rows that it was trained on.

    Scores of models that were trained on different rows are compared on this scale: with strong
    regularisation, for example, those of a model that saw fewer rows spread less.
    """

    mean: float
    spread: float

    @classmethod
    def of(cls, scores: Floats, weights: Any = None) -> Scale:
        mean = float(np.average(scores, weights=weights))
        return cls(mean, float(np.sqrt(np.average((scores - mean) ** 2, weights=weights))))

    def moved(self, scores: Floats, to: Scale) -> Floats:
        """Scores on this scale, moved and stretched to another one."""
        factor = to.spread / self.spread if self.spread > 0.0 else 0.0  # a model without a split
        return to.mean + factor * (scores - self.mean)


def check_folds(cv: Any) -> None:
    """Raise a ValueError for a number or name of folds that means nothing."""
    if is_flag(cv) or (isinstance(cv, Integral) and cv < 2):
        raise ValueError(
            f"cv={cv!r} is no number of folds, which is at least 2: pass cv=None for no folds"
        )
    if isinstance(cv, str) and cv != "auto":
        raise ValueError(f"cv={cv!r} is not 'auto', a number, a splitter or None")


def splits_of(cv: Any, codes: Ints) -> list[Any]:
    """Rows for training and others, for each fold; no folds if they are not needed."""
    if cv is None:
        return []
    if cv == "auto" or isinstance(cv, Integral):
        folds = min(2 if cv == "auto" else int(cv), int(np.bincount(codes).min()))
        if folds < 2:  # a class may have a single row
            return []
        splitter: Any = StratifiedKFold(folds, shuffle=True, random_state=0)
    else:
        splitter = check_cv(cv, codes, classifier=True)
    splits = list(splitter.split(np.empty((len(codes), 0)), codes))
    rest = np.concatenate([rest for _, rest in splits])
    if not np.array_equal(np.sort(rest), np.arange(len(codes))):
        raise ValueError("cv must hold out every row exactly once")
    return splits[:1] if cv == "auto" and codes.sum() >= FEW_POSITIVES else splits


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


@dataclass(frozen=True)
class Sigmoid:
    """Probabilities by a logistic function of the score (Platt, 1999)."""

    slope: float
    intercept: float

    def __post_init__(self) -> None:
        number("slope", self.slope, least=0.0)
        number("intercept", self.intercept, least=-np.inf)

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Probabilities of both classes, (n, 2), for scores (n, 1) of the trained class."""
        return _both(expit(self.slope * np.asarray(scores, np.float64)[:, 0] + self.intercept))


@dataclass(frozen=True)
class Isotonic:
    """Probabilities by a rising function of the score, linear between these points."""

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("scores", "probabilities"):  # lists in a saved model
            object.__setattr__(self, name, tuple(map(float, getattr(self, name))))
        scores, share = self.scores, self.probabilities
        if not (_rises(scores) and _rises(share) and share[0] >= 0.0 and share[-1] <= 1.0):
            raise ValueError("scores and probabilities must rise, the latter from 0 to 1")
        if len(scores) != len(share):
            raise ValueError("scores and probabilities must be as many")

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Probabilities of both classes, (n, 2), for scores (n, 1) of the trained class."""
        given = np.asarray(scores, np.float64)[:, 0]
        return _both(np.interp(given, self.scores, self.probabilities))


Calibrator = Sigmoid | Isotonic


def _rises(values: tuple[float, ...]) -> bool:
    return bool(values) and all(a <= b for a, b in pairwise(values))


def _both(positive: Floats) -> Floats:
    return np.column_stack([1.0 - positive, positive])


def fit_calibrator(method: Any, held_out: HeldOut) -> Calibrator:
    """Fit scikit-learn's calibration ("sigmoid" or "isotonic") to these rows."""
    scores, codes, weights, _ = held_out
    if weights is not None:  # scikit-learn 1.6 needs the type of the scores
        weights = np.asarray(weights, np.float64)
    if method == "isotonic":
        fitted = IsotonicRegression(out_of_bounds="clip").fit(scores, codes, weights)
        return Isotonic(tuple(fitted.X_thresholds_.tolist()), tuple(fitted.y_thresholds_.tolist()))
    calibrated = CalibratedClassifierCV(FrozenEstimator(_ScoreColumn().fit()), method=method)
    with warnings.catch_warnings(), config_context(enable_metadata_routing=False):
        # A fitted model needs no weights.
        warnings.filterwarnings("ignore", "Since FrozenEstimator", UserWarning)
        calibrated.fit(scores[:, None], codes, weights)
    [fitted] = calibrated.calibrated_classifiers_[0].calibrators
    if fitted.a_ > 0.0:  # a higher score would be less probable: there was nothing to learn
        share = float(np.average(codes, weights=weights))
        return Sigmoid(0.0, float(np.log(share / (1.0 - share))))
    return Sigmoid(-float(fitted.a_), -float(fitted.b_))


def even_score(calibrator: Calibrator, scores: Floats) -> float:
    """The score from which on the trained class has a probability above 1/2."""

    def excess(score: float) -> float:
        return float(calibrator.predict_proba([[score]])[0, 1]) - 0.5

    far = 10.0 * (1.0 + float(np.max(np.abs(scores))))
    if excess(-far) < 0 < excess(far):
        return float(bisect(excess, -far, far))
    # The same class is more probable for all rows.
    return far if excess(0.0) <= 0 else -far


class _ScoreColumn(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of one column, which is its score, for calibration."""

    def fit(self) -> _ScoreColumn:
        self.classes_ = np.arange(2)
        return self

    def decision_function(self, X: Any) -> Floats:
        return np.asarray(X, dtype=np.float64)[:, 0]

    def predict(self, X: Any) -> Any:
        return (self.decision_function(X) > 0.0).astype(int)
