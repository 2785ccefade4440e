"""Base class of both classifiers: the trained class, its threshold and probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from lambdaplus.compute.arguments import check_choice
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.arrays import from_gpu
from lambdaplus.estimators.held_out import (
    UNSEEN,
    HeldOut,
    Scale,
    fit_calibrator,
    halves_of,
    threshold_by_share,
)
from lambdaplus.estimators.parent import (
    FrameworkEstimator,
    arguments,
    each,
    evaluation_sets,
    replace_evaluation_sets,
)
from lambdaplus.frameworks.data_sets import canonical
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import find_objective
from lambdaplus.ranking.documents import rows_of
from lambdaplus.ranking.queries import Queries


def _has_probabilities(model: Any) -> bool:
    """Whether a model has probabilities, or would have after `fit`; an AttributeError says why."""
    if hasattr(model, "offset_"):
        why_not = "" if hasattr(model, "calibrator_") else model._no_probabilities
    else:
        ranks = isinstance(find_objective(model.objective), Objective)
        why_not = UNSEEN if ranks and model.cv is None else ""
    if why_not:
        raise AttributeError(
            f"{type(model).__name__} has no predict_proba here: scores of {model.objective!r} "
            "rank, and probabilities are fitted to rows of both classes that the model has not "
            "seen, since those of its own rows are too far apart, with log-loss in the objective, "
            f"too. {why_not}; decision_function gives the scores"
        )
    return True


_OF_COLUMNS = ("feature_name", "categorical_feature", "feature_weights")  # arguments of fit


class RankingClassifier(FrameworkEstimator):
    """Base class of classifiers whose trees rank the rows of one class above the others.

    The trees are trained on 1 for rows of that class and 0 for others.  With the framework's own
    objectives, all methods are the parent's, and the model has no ``offset_``.
    """

    _own_parameters = ("eval_metric", "pos_label", "cv")
    _one_ranking = True
    _other_outputs: ClassVar[tuple[str, ...]]
    """Arguments of the parent's predict that select other outputs than labels."""
    _raw: Callable[..., Any]
    """The predict of the framework's base class, which returns scores."""
    _of_parent: Callable[..., Any]
    """Calls a method of the parent, by name."""
    _rounds: Callable[[], dict[str, Any]]
    """Parameters with which a half is trained for as many rounds as the model."""

    pos_label: Any
    cv: Any

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, **kwargs: Any
    ) -> Self:
        """Fit the classifier, its threshold and its probabilities; the arguments are the parent's.

        Parameters
        ----------
        X : (n, d) array_like
        y : (n,) array_like
            Labels of two classes, of any type.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For labels and weights that cannot be used, more or fewer than two classes, class
            weights of other labels, ``eval_class_weight``, a ``pos_label`` that does not occur, a
            model to continue from that was trained for the other class, and metrics that are
            higher for the reverse ranking; in `LightGBMClassifier`, for metrics that neither
            lambdaplus nor LightGBM knows.
        TypeError
            For arguments that the parent does not have.
        """
        given = {"sample_weight": sample_weight, "eval_set": eval_set, **kwargs}
        call = arguments(super().fit, X=X, y=y, **given)  # type: ignore[misc]
        objective = find_objective(self.objective, self._one_ranking)
        if self.cv is not None:
            check_choice("cv", self.cv, ("auto",))
        self._forget()
        if not isinstance(objective, Objective):
            _encode_evaluation_labels(call)
            self._train(call, objective)
            return self
        model = call.get(self._names.model)
        self._encode(call, model)
        self._train(call, objective, **self._class_weights())
        held_out = self._held_out(call, objective, model)
        self.offset_ = threshold_by_share(held_out)
        self._no_probabilities = held_out.why_not or held_out.lacks_a_class()
        if not self._no_probabilities:
            self.calibrator_ = fit_calibrator(held_out)
        return self

    def _class_weights(self) -> dict[str, Any]:
        """LightGBM's parameter, by 1 for the trained class and 0 for the other."""
        weights, classes = getattr(self, "class_weight", None), self.classes_.tolist()
        if not isinstance(weights, dict):
            return {}
        if unknown := set(weights) - set(classes):
            raise ValueError(f"class_weight: {unknown} are none of the classes {classes} in y")
        return {"class_weight": {int(c == self.pos_label_): w for c, w in weights.items()}}

    def _forget(self) -> None:
        """Remove attributes of an earlier fit."""
        learnt = "_columns", "_labels", "pos_label_", "offset_", "calibrator_", "_no_probabilities"
        for name in learnt:
            vars(self).pop(name, None)

    def decision_function(self, X: Any, **kwargs: Any) -> Floats:
        """Scores for the class ``classes_[1]``, which `predict` returns where they are above 0.

        ``**kwargs`` are those of the parent's `predict`, such as the rounds to use.

        Returns
        -------
        (n,) float64
            With the framework's own objectives, its raw scores.

        Raises
        ------
        TypeError
            For arguments that select other outputs of the parent's `predict`, such as leaves.
        """
        for name in self._other_outputs:
            if kwargs.get(name) and name.startswith("pred_"):
                raise TypeError(f"decision_function gives scores: pass {name} to predict")
        ranks, X = self._is_of_rankings(), self._features(X)
        scores = np.asarray(self._raw(X, **kwargs))
        if not ranks:
            return scores
        return self._sign * (scores.astype(np.float64) - self.offset_)

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """The class of each row, (n,), or other outputs that the parent's `predict` has.

        The threshold can be tuned by scikit-learn's `TunedThresholdClassifierCV`.
        """
        ranks, X = self._is_of_rankings(), self._features(X)
        if not ranks:
            return self._of_parent("predict", X, **kwargs)
        if any(kwargs.get(name) for name in self._other_outputs):
            return self._raw(X, **kwargs)
        return self.classes_[(self.decision_function(X, **kwargs) > 0.0).astype(int)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, **kwargs: Any) -> Any:
        """Probabilities, (n, n_classes) floats, with columns in the order of ``classes_``.

        With an objective that ranks, they are fitted to rows that the model has not seen; a model
        without such rows does not have this method (AttributeError, which is the cause of that of a
        `Pipeline`).  Other outputs that the parent's `predict_proba` has, such as leaves, are as in
        `predict`.

        Raises
        ------
        TypeError
            For arguments that the parent's `predict_proba` does not have.
        """
        ranks, X = self._is_of_rankings(), self._features(X)
        if not ranks:
            return self._of_parent("predict_proba", X, **kwargs)
        arguments(super().predict_proba, X=X, **kwargs)  # type: ignore[misc]
        if any(kwargs.get(name) for name in self._other_outputs):
            return self._raw(X, **kwargs)
        scores = np.asarray(self._raw(X, **kwargs), dtype=np.float64)
        return self.calibrator_.predict_proba(scores[:, None])[:, :: self._sign]

    def _is_of_rankings(self) -> bool:
        """Whether the trees rank, whatever the objective is now; an error without a whole fit."""
        check_is_fitted(self)
        if not hasattr(self, "offset_") and isinstance(find_objective(self.objective), Objective):
            raise NotFittedError(
                f"this {type(self).__name__} has no threshold, since its last fit failed, or had "
                "an objective of the framework: call fit"
            )
        return hasattr(self, "offset_")

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted: (n_classes,)."""
        labels = getattr(self, "_labels", None)
        return np.asarray(super().classes_ if labels is None else labels)  # type: ignore[misc]

    @property
    def _sign(self) -> int:
        return 1 if self.pos_label_ == self.classes_[1] else -1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        if isinstance(find_objective(self.objective), Objective):
            tags.classifier_tags.multi_class = tags.classifier_tags.multi_label = False
        return tags

    def _encode(self, call: dict[str, Any], model: Any) -> None:
        """Choose the trained class, and replace labels by 1 and 0."""
        if call.get("eval_class_weight") is not None:
            raise ValueError("eval_class_weight is not supported: pass eval_sample_weight")
        y = _checked(call["y"])
        classes, counts = np.unique(y, return_counts=True)
        if classes.size != 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {classes.size} classes, and the objective {self.objective!r} is for two: "
                "use one of LightGBM or XGBoost"
                if classes.size > 2
                else f"y holds one class, {classes.tolist()}: a classifier needs rows of two"
            )
        trained = classes[int(counts[0] >= counts[1])] if self.pos_label is None else self.pos_label
        if trained not in classes:
            raise ValueError(f"pos_label={trained!r} is none of {classes.tolist()} in y")
        other = self._trained_class_of(model)
        if other is not None and other != trained:
            raise ValueError(
                f"the model to continue from ranks {other} first, not {trained}: pass "
                f"pos_label={np.asarray(other).item()!r}"
            )
        codes = (y == trained).astype(np.int64)
        Queries(codes, weight=call.get("sample_weight"))  # raises for invalid weights
        sets = []
        for i, (X, y_of_set) in enumerate(evaluation_sets(call)):
            same = X is call["X"] and y_of_set is call["y"]  # the frameworks recognise this, too
            labels = y if same else _checked(y_of_set)
            if unknown := set(labels.tolist()) - set(classes.tolist()):
                raise ValueError(f"evaluation set {i}: {unknown} are none of {classes.tolist()}")
            sets.append((X, codes if same else (labels == trained).astype(np.int64)))
        replace_evaluation_sets(call, sets)
        call["y"], self.pos_label_, self._labels = codes, trained, classes

    def _held_out(self, call: dict[str, Any], objective: Objective, model: Any) -> HeldOut:
        """Scores of an evaluation set, or of training rows by models that did not see them.

        The scores of training rows by the model itself are used only if there is no other way,
        since they are too far apart: a threshold between them leaves out most new positives.
        """
        X, codes, weights = call["X"], call["y"], call.get("sample_weight")
        weights = None if weights is None else np.asarray(weights)
        sets = evaluation_sets(call)
        of_sets = each(call.get(self._names.eval_weights), len(sets))
        for (of_set, codes_of_set), of_rows in reversed([*zip(sets, of_sets, strict=True)]):
            held_out = HeldOut(self._scores(of_set), codes_of_set, of_rows)
            # The same scores tell the training rows in any container.
            alike = np.array_equal(held_out.codes, codes)
            if not (alike and np.array_equal(held_out.scores, self._scores(X))):
                return held_out
        scores = self._scores(X)
        few, least = len(codes) < 2 * self._least_rows(), int(np.bincount(codes).min())
        reasons = {
            UNSEEN: self.cv is None,
            "A model that continues another has seen all rows: pass eval_set=": model is not None,
            f"There are too few rows ({len(codes)}) to train on half of them: pass eval_set=": few,
            "A class with a single row cannot be held out: pass eval_set=": least < 2,
        }
        for why_not in (reason for reason, applies in reasons.items() if applies):
            return HeldOut(scores, codes, weights, why_not)
        splits = halves_of(codes)
        scale = Scale.of(scores, weights)
        for train, rest in splits:
            X_train = rows_of(X, train)
            half = self._half(call, X_train, train, objective)
            of_half = Scale.of(half._scores(X_train), None if weights is None else weights[train])
            scores[rest] = of_half.moved(half._scores(rows_of(X, rest)), to=scale)
        rows = np.concatenate([rest for _, rest in splits])
        of_rows = None if weights is None else weights[rows]
        return HeldOut(scores[rows], codes[rows], of_rows)

    def _trained_class_of(self, model: Any) -> Any:
        """The class that a model to continue from ranks first; None if it does not say."""
        return getattr(model, "pos_label_", None)

    def _least_rows(self) -> int:
        """The rows of which a tree can be grown."""
        return 0

    def _scores(self, X: Any) -> Floats:
        return np.array(self._raw(canonical(X)), dtype=np.float64)

    def _half(self: Any, call: dict[str, Any], X: Any, rows: Ints, objective: Objective) -> Any:
        """A model that is trained like this one, for as many rounds, on some of the rows."""
        params = {**self.get_params(deep=False), **self._rounds(), "cv": None}
        half = type(self)(**{name: v for name, v in params.items() if name != "callbacks"})
        of_rows = {
            name: rows_of(call[name], rows)
            for name in ("y", "sample_weight", self._names.start)
            if call.get(name) is not None
        }
        same = {name: call[name] for name in _OF_COLUMNS if call.get(name) is not None}
        half._train({"X": X, **of_rows, **same}, objective, **self._class_weights())
        return half


def _encode_evaluation_labels(call: dict[str, Any]) -> None:
    """Replace ``eval_y`` by 0, 1, ..., as LightGBM does with y and the labels of ``eval_set``."""
    if call.get("eval_set") is not None:
        return
    given, sets = evaluation_sets(call), []
    classes = np.unique(from_gpu(call["y"])) if given else np.empty(0)
    for i, (X, y) in enumerate(given):
        labels = np.asarray(from_gpu(y)).ravel()
        if unknown := set(labels.tolist()) - set(classes.tolist()):
            raise ValueError(f"evaluation set {i}: {unknown} are none of {classes.tolist()}")
        sets.append((X, np.searchsorted(classes, labels)))
    replace_evaluation_sets(call, sets)


def _checked(y: Any) -> NDArray[Any]:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    labels: NDArray[Any] = column_or_1d(from_gpu(y), warn=True)
    assert_all_finite(labels, input_name="y")
    if labels.dtype.kind == "O" and not all(isinstance(label, str) for label in labels):
        types = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"Unknown label type: y holds objects of type {' and '.join(types)}: labels must be "
            "all text or all numbers, as by y.astype(str) or y.astype(int)"
        )
    check_classification_targets(labels)
    return labels
