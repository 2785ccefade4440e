"""Threshold and probabilities of a classifier, from scores of rows that its model has not seen."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.estimators.parent import by_set
from lambdaplus.objectives import Objective
from lambdaplus.ranking.documents import rows_of

FEW_POSITIVES = 500  # with as many, half of the rows sets the threshold
UNSEEN = "Pass cv='auto' or eval_set="
"""Why a model has no probabilities, if the user chose that."""


_OF_COLUMNS = ("feature_name", "categorical_feature", "feature_weights")  # arguments of fit


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


def held_out_rows(model: Any, call: dict[str, Any], objective: Objective, start: Any) -> HeldOut:
    """Scores of an evaluation set, or of training rows by models that did not see them.

    The scores of training rows by the model itself are used only if there is no other way, since
    they are too far apart: a threshold between them leaves out most new positives.
    """
    X, codes, weights, names = call["X"], call["y"], call.get("sample_weight"), model._names
    weights = None if weights is None else np.asarray(weights)
    sets = call.get("eval_set") or []
    of_sets = (by_set(call.get(name), len(sets)) for name in (names.eval_weights, names.eval_start))
    for (of_set, codes_of_set), of_rows, begin in reversed([*zip(sets, *of_sets, strict=True)]):
        of_rows = None if of_rows is None else np.asarray(of_rows)
        held_out = HeldOut(model._scores(of_set), codes_of_set, of_rows)
        # The same scores tell the training rows in any container.
        alike = np.array_equal(held_out.codes, codes)
        if not (alike and np.array_equal(held_out.scores, model._scores(X))):
            return held_out._replace(scores=held_out.scores + model._shift(of_set, begin))
    scores = model._scores(X)
    shift = model._shift(X, call.get(names.start))
    # Rows of weight 0 could leave a half without weight.
    used = np.arange(len(codes)) if weights is None else np.flatnonzero(weights)
    too_few, least = len(used) < 2 * model._least_rows(), int(np.bincount(codes[used]).min())
    reasons = {
        UNSEEN: model.cv is None,
        "A model that continues another has seen all rows: pass eval_set=": start is not None,
        f"There are too few rows ({len(used)}) to train on half of them: pass eval_set=": too_few,
        "A class with a single row cannot be held out: pass eval_set=": least < 2,
    }
    for why_not in (reason for reason, applies in reasons.items() if applies):
        return HeldOut(scores + shift, codes, weights, why_not)
    halves = StratifiedKFold(2, shuffle=True, random_state=0)
    splits = [*halves.split(np.empty((len(used), 0)), codes[used])]
    splits = splits[:1] if codes[used].sum() >= FEW_POSITIVES else splits
    scale = Scale.of(scores, weights)
    for train, rest in ((used[one], used[other]) for one, other in splits):
        X_train = rows_of(X, train)
        half = _trained_on(train, X_train, model, call, objective)
        of_half = Scale.of(half._scores(X_train), None if weights is None else weights[train])
        scores[rest] = of_half.moved(half._scores(rows_of(X, rest)), to=scale)
    rows = used[np.concatenate([rest for _, rest in splits])]
    return HeldOut((scores + shift)[rows], codes[rows], None if weights is None else weights[rows])


def _trained_on(rows: Ints, X: Any, model: Any, call: dict[str, Any], objective: Objective) -> Any:
    """A model that is trained like this one, for as many rounds, on these rows, which are X."""
    params = {**model.get_params(deep=False), **model._rounds(), "cv": None}
    half = type(model)(**{name: v for name, v in params.items() if name != "callbacks"})
    of_rows = {
        name: rows_of(call[name], rows)
        for name in ("y", "sample_weight", model._names.start)
        if call.get(name) is not None
    }
    same = {name: call[name] for name in _OF_COLUMNS if call.get(name) is not None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model itself has said all that concerns the user
        half._train({"X": X, **of_rows, **same}, objective, **model._class_weights())
    return half


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
