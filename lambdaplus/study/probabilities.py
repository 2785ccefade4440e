"""Probabilities of labels 0 and 1 from the scores of a study, and what its scores are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import Fold
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.saved_model.about import SCORES
from lambdaplus.study.boosters import POINTWISE
from lambdaplus.study.fits import Fit
from lambdaplus.study.methods import Method

BINS = 10
FEWEST_ROWS = 10  # of a bin
OTHER_LABELS = "the labels are not 0 and 1"
# What the raw scores of the frameworks' own objectives are; others only rank.
_LOG_ODDS = {*POINTWISE, "cross_entropy", "binary:logitraw", "reg:logistic"}
_LOGARITHMS = {"poisson", "gamma", "tweedie", "count:poisson", "reg:gamma", "reg:tweedie"}
_LABELS = {
    "regression", "regression_l1", "huber", "fair", "quantile", "mape", "reg:squarederror",
    "reg:squaredlogerror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror",
}  # fmt: skip


class Bin(NamedTuple):
    """Rows of neighbouring probabilities."""

    rows: int
    expected: float  # mean probability
    observed: float  # share of positives


@dataclass(frozen=True)
class Probabilities:
    """The probability of label 1, 1 / (1 + exp(-(a s + b))), of a raw score s.

    It is learned from test rows: each is scored by the model of its fold, which has neither been
    trained nor stopped on it.  Validation rows would do as well, but their round was the best of
    many.  Log-loss and bins are those of probabilities that are learned from the other folds.

    Attributes
    ----------
    rows, positives, folds : int
    log_loss, of_share : float
        Log-loss of the probabilities, and of the share of positives in their place.
    before : float, optional
        Log-loss of the probabilities of the objective itself, if it has any.
    reliability : list of Bin
        By probability, about as many rows in each.
    """

    a: float
    b: float
    rows: int
    positives: int
    folds: int
    log_loss: float
    of_share: float
    before: float | None
    reliability: list[Bin]


def refuse_labels(folds: Sequence[Fold]) -> str:
    """Why there are no probabilities of these labels; empty if they are 0 and 1."""
    labels = np.unique(np.concatenate([np.unique(p.labels) for fold in folds for p in fold.parts]))
    tested = np.unique(np.concatenate([np.unique(fold.test.labels) for fold in folds]))
    if labels.tolist() != [0.0, 1.0]:
        return OTHER_LABELS
    return "" if tested.size == 2 else f"all test rows have the label {tested[0]:g}"


def learned_from(fits: Sequence[Fit], folds: Sequence[Fold], log_odds: bool) -> Probabilities | str:
    """Probabilities from the test scores of one fit of each fold, or why there are none."""
    if why_not := refuse_labels(folds):
        return why_not
    tests = {fold.name: fold.test for fold in folds}
    scores = [fit.test for fit in fits]
    labels = [tests[fit.fold].labels for fit in fits]
    weights = [
        np.ones(y.size) if (w := tests[fit.fold].weights) is None else w
        for fit, y in zip(fits, labels, strict=True)
    ]
    parts = [*zip(scores, labels, weights, strict=True)]
    if not _has_both(parts):
        return "all test rows with weight have one label"
    a, b = _fitted(parts)
    if not a > 0.0:
        return "higher scores do not go with more positives on test rows"
    p = [expit(a * one + b) for one in scores]
    if len(parts) > 1:
        for place, one in enumerate(scores):
            others = [part for i, part in enumerate(parts) if i != place]
            if _has_both(others):
                slope, start = _fitted(others)
                p[place] = expit(slope * one + start)
    s, y, w = _joined(parts)
    of_all, share = np.concatenate(p), float(np.average(y, weights=w))
    return Probabilities(
        a, b, y.size, int(y.sum()), len(parts), log_loss(y, of_all, w),
        log_loss(y, np.full(y.size, share), w), log_loss(y, expit(s), w) if log_odds else None,
        bins_of(y, of_all, w),
    )  # fmt: skip


_Part = tuple[Floats, Floats, Floats]


def _joined(parts: Sequence[_Part]) -> _Part:
    s, y, w = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return s, y, w


def _has_both(parts: Sequence[_Part]) -> bool:
    _, y, w = _joined(parts)
    return bool((np.bincount(y.astype(np.int64), w, minlength=2) > 0.0).all())


def _fitted(parts: Sequence[_Part]) -> tuple[float, float]:
    """Numbers a and b of the logistic function that is fitted to these scores."""
    from lambdaplus.estimators.calibration import HeldOut, fit_calibrator  # slow to import

    s, y, w = _joined(parts)
    found = fit_calibrator(HeldOut(s, y.astype(np.int64), w))
    return -found.a, -found.b


def log_loss(labels: Floats, p: Floats, weights: Floats | None = None) -> float:
    """Log-loss of the probabilities p that labels are 1; p is kept 1e-15 away from 0."""
    likely = np.clip(np.where(labels == 1.0, p, 1.0 - p), 1e-15, 1.0)
    return float(np.average(-np.log(likely), weights=weights))


def bins_of(labels: Floats, p: Floats, weights: Floats) -> list[Bin]:
    """Rows by their probability, in up to ten bins of about as many rows."""
    order = np.argsort(p, kind="stable")
    n_bins = max(1, min(BINS, labels.size // FEWEST_ROWS))
    found = []
    for rows in np.array_split(order, n_bins):
        if (w := weights[rows]).sum() > 0.0:
            means = (float(np.average(one[rows], weights=w)) for one in (p, labels))
            found.append(Bin(rows.size, *means))
    return found


# Words -------------------------------------------------------------------------------------------


def has_log_odds(method: Method, parameters: Mapping[str, Any]) -> bool:
    """Whether the raw scores of a method are the log-odds of a label."""
    target = method.target
    return isinstance(target, str) and target in _LOG_ODDS and "sigmoid" not in parameters


def score_in_words(method: Method, parameters: Mapping[str, Any], zero_and_one: bool) -> str:
    """What the raw scores of a method are."""
    target = method.target
    if not isinstance(target, str) or parameters.get("labels") == "ranks":
        return SCORES
    if has_log_odds(method, parameters):
        above = "of the label 1" if zero_and_one else "of a label of 1 or more"
        return f"log-odds {above if target in POINTWISE else 'of the label'}"
    known = {"logarithms of predicted labels": _LOGARITHMS, "predicted labels": _LABELS}
    return next((words for words, targets in known.items() if target in targets), SCORES)


def probabilities_in_words(found: Probabilities | str) -> str:
    """How good probabilities are, for the command line; empty for labels that have none."""
    if isinstance(found, str):
        return "" if found == OTHER_LABELS else f"It has no probabilities: {found}."
    folds = f"{found.folds} folds" if found.folds > 1 else "a fold"
    before = "" if found.before is None else f"its own log-odds: {decimal(found.before)}; "
    return (
        f"Probabilities, learned from {found.rows:,} test rows of {folds}: log-loss "
        f"{decimal(found.log_loss)} ({before}the share of positives alone: "
        f"{decimal(found.of_share)})."
    )
