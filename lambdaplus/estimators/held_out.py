"""Scores of rows that a model has not seen: of an evaluation set, or by models of halves."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.messages import warn
from lambdaplus.estimators.arguments import by_set
from lambdaplus.estimators.calibration import HeldOut, Scale
from lambdaplus.estimators.framework_estimator import FrameworkEstimator
from lambdaplus.estimators.seen_rows import MOST, TrainingRows
from lambdaplus.frameworks.data_sets import canonical
from lambdaplus.lists.order import rows_of
from lambdaplus.objectives import Objective

FEW_POSITIVES = 500  # with as many, half of the rows sets the threshold
SCALE_ROWS = 50_000  # whose mean and deviation of scores are off by half a per cent of a deviation
CHECKED_ROWS = 50  # whose scores by training and by prediction are compared
UNSEEN = "Pass cv='auto' or eval_set="
"""Why a model has no probabilities, if the user chose that."""

_OF_COLUMNS = ("feature_name", "categorical_feature", "feature_weights")  # arguments of fit


class HoldsOutRows(FrameworkEstimator):
    """An estimator that has scores of rows that its model has not seen."""

    cv: Any
    _raw: Callable[..., Any]
    """The predict of the framework's base class, which returns scores."""
    _rounds: Callable[[], dict[str, Any]]
    """Parameters with which a half is trained for as many rounds as the model."""
    _class_weights: Callable[[], dict[str, Any]]

    def _least_rows(self) -> int:
        """The rows of which a tree can be grown."""
        return 0

    def _shift(self, X: Any, start: Any) -> Any:
        """What initial scores change of the scores that `predict` compares with the threshold."""
        return 0.0  # LightGBM's are not passed to predict

    def _scores(self, X: Any) -> Floats:
        return np.array(self._raw(canonical(X)), dtype=np.float64)

    def _scores_of_training(self, X: Any, last_scores: Floats | None) -> Floats:
        """Scores of the training rows: the last ones of the training, if they are those of `_raw`.

        Those of LightGBM are, to the last bit, but with initial scores and linear leaves.
        """
        if last_scores is not None:
            few = np.arange(min(CHECKED_ROWS, len(last_scores)))
            if np.array_equal(last_scores[few], self._scores(rows_of(X, few))):
                return last_scores
        return self._scores(X)

    def _held_out(
        self, call: dict[str, Any], objective: Objective, start: Any, last_scores: Floats | None
    ) -> HeldOut:
        """Scores of an evaluation set, or of training rows by models that did not see them.

        The scores of training rows by the model itself are used only if there is no other way,
        since they are too far apart: a threshold between them leaves out most new positives.
        """
        if (of_set := self._of_evaluation_set(call)) is not None:
            return of_set
        X, codes, weights = call["X"], call["y"], call.get("sample_weight")
        weights = None if weights is None else np.asarray(weights)
        shift = self._shift(X, call.get(self._names.start))
        # Rows of weight 0 could leave a half without weight.
        used = np.arange(len(codes)) if weights is None else np.flatnonzero(weights)
        too_few, least = len(used) < 2 * self._least_rows(), int(np.bincount(codes[used]).min())
        reasons = {
            UNSEEN: self.cv is None,
            "A model that continues another has seen all rows: pass eval_set=": start is not None,
            f"There are too few rows ({len(used)}) to train on half of them: pass eval_set=": (
                too_few
            ),
            "A class with a single row cannot be held out: pass eval_set=": least < 2,
        }
        for why_not in (reason for reason, applies in reasons.items() if applies):
            scores = self._scores_of_training(X, last_scores)
            return HeldOut(scores + shift, codes, weights, why_not)
        halves = StratifiedKFold(2, shuffle=True, random_state=0)
        splits = [*halves.split(np.empty((len(used), 0)), codes[used])]
        splits = splits[:1] if codes[used].sum() >= FEW_POSITIVES else splits
        last_scores = None if last_scores is None else last_scores[used]
        scores, scale = np.zeros(len(codes)), self._scale(X, used, weights, last_scores)
        for train, rest in ((used[one], used[other]) for one, other in splits):
            half, last_scores = self._trained_on(train, call, objective)
            of_half = half._scale(X, train, weights, last_scores)
            scores[rest] = of_half.moved(half._scores(rows_of(X, rest)), to=scale)
        rows = used[np.concatenate([rest for _, rest in splits])]
        weights = None if weights is None else weights[rows]
        return HeldOut((scores + shift)[rows], codes[rows], weights)

    def _scale(self, X: Any, rows: Ints, weights: Any, last_scores: Floats | None) -> Scale:
        """The scale of scores of training rows, by a sample of them."""
        places = np.arange(len(rows))
        if len(rows) > SCALE_ROWS:
            places = np.random.default_rng(0).choice(places, SCALE_ROWS, replace=False)
        rows, last_scores = rows[places], None if last_scores is None else last_scores[places]
        scores = self._scores_of_training(rows_of(X, rows), last_scores)
        return Scale.of(scores, None if weights is None else weights[rows])

    def _of_evaluation_set(self, call: dict[str, Any]) -> HeldOut | None:
        """Scores of the other rows of the last set that is less than half training rows."""
        names, sets = self._names, call.get("eval_set") or []
        arguments = (names.eval_weights, names.eval_start)
        of_sets = (by_set(name, call.get(name), len(sets)) for name in arguments)
        training = None
        for i, (X, codes), weights, start in reversed(
            [*zip(range(len(sets)), sets, *of_sets, strict=True)]
        ):
            scores = self._scores(X)
            # The same scores tell the training rows in any container.
            alike = np.array_equal(codes, call["y"])
            if alike and np.array_equal(scores, self._scores(call["X"])):
                continue
            training = training or TrainingRows(call["X"], call["y"])
            seen = training.among(X, codes)
            known, most = int(seen.sum()), bool(seen.mean() >= MOST)
            if known:
                then = (
                    "it sets neither threshold nor probabilities"
                    if most
                    else "only the others set threshold and probabilities"
                )
                warn(
                    f"{known} of the {len(codes)} rows of evaluation set {i} are training rows, so "
                    f"{then}, and its metrics are too good: pass rows that are not in X"
                )
            if most:
                continue
            weights = None if weights is None else np.asarray(weights)[~seen]
            return HeldOut((scores + self._shift(X, start))[~seen], codes[~seen], weights)
        return None

    def _trained_on(
        self: Any, rows: Ints, call: dict[str, Any], objective: Any
    ) -> tuple[Any, Floats | None]:
        """A model that is trained like this one, for as many rounds, on these rows; its scores."""
        params = {**self.get_params(deep=False), **self._rounds(), "cv": None}
        half = type(self)(**{name: v for name, v in params.items() if name != "callbacks"})
        of_rows = {
            name: rows_of(call[name], rows)
            for name in ("X", "y", "sample_weight", self._names.start)
            if call.get(name) is not None
        }
        same = {name: call[name] for name in _OF_COLUMNS if call.get(name) is not None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model itself has said all that concerns the user
            last_scores = half._train({**of_rows, **same}, objective, **self._class_weights())
        return half, last_scores
