"""Classifiers for rare positives: trees that rank all rows, and calibrated probabilities."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_y, check_is_fitted

from lambdaplus.estimators.base import BoostedModel
from lambdaplus.estimators.calibration import calibrate, score_at_one_half
from lambdaplus.estimators.documents import Judged, read_documents, read_features
from lambdaplus.estimators.eval_sets import read_eval_sets
from lambdaplus.estimators.parameters import check_count
from lambdaplus.queries import Floats
from lambdaplus.training import Documents, Training


def _calibrates(classifier: Any) -> bool:
    if classifier.calibration is None:
        raise AttributeError(
            "with calibration=None there are scores (decision_function) and no probabilities"
        )
    return True


class BoostedClassifier(ClassifierMixin, BoostedModel):  # type: ignore[misc]
    """Base of `LightGBMClassifier` and `XGBoostClassifier`; not made itself.

    Attributes
    ----------
    classes_ : (2,) array
        Both labels, sorted; the second is the positive one.
    booster_
        The framework's own model, with the best rounds alone.
    best_iteration_ : int
        Boosting rounds of the model: the best ones if there was validation data, else all.
    evals_result_ : dict
        Curves of all rounds that were trained, by evaluation set (``"valid_0"``, ...) and metric.
    calibrator_ : sklearn.calibration.CalibratedClassifierCV
        From scores of the trees, (n, 1), to probabilities; only if calibrated.
    offset_ : float
        Score of the trees from which `predict` says positive.
    n_features_in_ : int
    feature_names_in_ : (d,) array of str
        Only if fitted on a data frame whose column names are all str.
    """

    calibration: str | None
    cv: int

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: Any = None,
        eval_sample_weight: Any = None,
        eval_names: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Any = None,
        init_model: Any = None,
        xgb_model: Any = None,
    ) -> Self:
        """Train, and calibrate.

        Parameters
        ----------
        X : (n, d) array_like, sparse matrix or data frame
            NaN marks missing values.  Categorical columns of a frame are used as such.
        y : (n,) array_like
            Two labels of any kind; that which comes second when sorted is the positive one.
        sample_weight : (n,) array_like, optional
            A row of weight k stands for k rows.
        eval_set : (X, y) or list of such, optional
            Validation data.  Training stops when the last one's first metric has not improved for
            ``early_stopping_rounds``, and the model keeps the rounds up to the best one.
            Probabilities are calibrated on it.
        eval_sample_weight : array_like, or list of such, optional
            One for each set.
        eval_names, feature_name, categorical_feature, callbacks, init_model, xgb_model
            As in `BoostedRanker.fit`.

        Raises
        ------
        ValueError
            For unusable data and labels that are not two.

        Warns
        -----
        UserWarning
            If higher scores mean fewer positives among the rows of the calibration.
        """
        training = self._training(callbacks, init_model, xgb_model)
        check_count("cv", self.cv)
        sets = read_eval_sets(eval_set, None, None, eval_sample_weight, eval_names)
        if self.calibration is not None and not sets and training.init_model is not None:
            raise ValueError(
                "the model to continue from has seen all rows, so cross-validation can't calibrate "
                "on rows that are new to it: pass eval_set=, or set calibration=None"
            )
        given = Judged(X, self._learn_classes(y), weight=sample_weight)
        train, held_out = self._fit(training, given, sets, feature_name, categorical_feature)
        if self.calibration is None:
            # As many training rows are called positive as are.
            scores = self._scores(train.X)
            self.offset_ = _upper_quantile(scores, train)
            return self
        if held_out:
            rows = list(held_out.values())[-1]
            scores = self._scores(rows.X)
        else:
            rows, scores = train, self._scores_of_held_out_rows(training, train)
        queries = rows.queries
        self.calibrator_ = calibrate(self.calibration, scores, queries.labels, queries.weights)
        self.offset_ = score_at_one_half(self.calibrator_)
        low, high = self.calibrator_.predict_proba([[scores.min()], [scores.max()]])[:, 1]
        if high < low:
            warnings.warn(
                "of rows that the trees have not seen, those with higher scores are positive less "
                "often: the trees have learnt nothing that holds for new rows, and neither "
                "predictions nor probabilities are of use",
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> Floats:
        """The trees' score beyond ``offset_``: above 0, `predict` says positive.

        Parameters
        ----------
        X : (n, d) array_like, sparse matrix or data frame

        Returns
        -------
        (n,) float64
        """
        check_is_fitted(self, "booster_")
        scores = self._scores(read_features(self, X, reset=False))
        return scores - self.offset_

    def predict(self, X: Any) -> NDArray[Any]:
        """The more probable class of each row.

        For another threshold than one half wrap the classifier in scikit-learn's
        `FixedThresholdClassifier`, or in `TunedThresholdClassifierCV` to choose it for a metric.

        Parameters
        ----------
        X : (n, d) array_like, sparse matrix or data frame

        Returns
        -------
        (n,) array of the labels
        """
        above = self.decision_function(X) > 0.0
        found: NDArray[Any] = self.classes_[above.astype(int)]
        return found

    @available_if(_calibrates)
    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities of both classes.

        Parameters
        ----------
        X : (n, d) array_like, sparse matrix or data frame

        Returns
        -------
        (n, 2) float64
        """
        check_is_fitted(self, "booster_")
        scores = self._scores(read_features(self, X, reset=False))[:, np.newaxis]
        found: Floats = self.calibrator_.predict_proba(scores)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _learn_classes(self, y: Any) -> NDArray[np.float64]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = _check_y(y, estimator=self)
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size == 1:
            raise ValueError(
                f"y holds one class, {self.classes_[0]!r}: a classifier needs rows of both"
            )
        found: NDArray[np.float64] = codes.astype(np.float64)
        return found

    def _read(self, given: Judged, name: str) -> Documents:
        y = _check_y(given.y, estimator=self)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"{name}: label {unknown[0]!r} is none of {self.classes_.tolist()}")
        codes = (y == self.classes_[1]).astype(np.float64)
        return read_documents(self, given._replace(y=codes), reset=False)

    def _scores_of_held_out_rows(self, training: Training, train: Documents) -> Floats:
        """Scores of each training row by a model that was trained on others."""
        labels = train.queries.labels
        rarest = int(min(labels.sum(), labels.size - labels.sum()))
        n_splits = min(self.cv, rarest)
        if n_splits < 2:
            raise ValueError(
                f"calibration by cross-validation needs cv >= 2 (is {self.cv}) and two rows of "
                f"each class (the rarer has {rarest}): pass eval_set=, or set calibration=None"
            )
        plain = replace(training, callbacks=())  # which may count rounds, or show them
        scores = np.empty(labels.size)
        # Not random: a second fit of the same data gives the same probabilities.
        for rows, others in StratifiedKFold(n_splits).split(labels, labels):
            found = self._train(plain, train.rows(rows), {})
            part = train.rows(others)
            scores[others] = self._framework.scores(found.booster, part.X)
        return scores


def _upper_quantile(scores: Floats, rows: Documents) -> float:
    """The score above which as large a share (by weight) of the rows lies as is positive."""
    weights = rows.queries.weights
    weights = np.ones(scores.size) if weights is None else weights
    order = np.argsort(-scores, kind="stable")
    positive = np.sum(weights * rows.queries.labels)
    found = int(np.searchsorted(np.cumsum(weights[order]), positive))
    return float(scores[order][min(found + 1, scores.size - 1)])
