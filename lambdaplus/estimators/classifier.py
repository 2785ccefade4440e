"""Base class of both classifiers: the trained class, its threshold and probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lambdaplus.compute.arguments import check_choice
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.messages import warn
from lambdaplus.estimators.arguments import arguments
from lambdaplus.estimators.calibration import fit_calibrator, threshold_by_share
from lambdaplus.estimators.class_codes import encode
from lambdaplus.estimators.held_out import UNSEEN, HoldsOutRows
from lambdaplus.lists.vectors import as_vector
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import find_objective


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


def _all_but_x(method: Callable[..., Any], X: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """The other arguments of a call of a method of the parent, by name."""
    call = arguments(method, X, *args, **kwargs)
    return {name: value for name, value in call.items() if name != "X"}


class RankingClassifier(HoldsOutRows):
    """Base class of classifiers whose trees rank the rows of one class above the others.

    The trees are trained on 1 for rows of that class and 0 for others.  With the framework's own
    objectives, all methods are the parent's, and the model has no ``offset_``.
    """

    _own_parameters = ("eval_metric", "pos_label", "cv")
    _one_group = True
    _other_outputs: ClassVar[tuple[str, ...]]
    """Arguments of the parent's predict that select other outputs than labels."""
    _rounds_used: Callable[..., tuple[int, int]]
    """The first and the last round of a prediction with these arguments, from 1."""
    _of_parent: Callable[..., Any]
    """Calls a method of the parent, by name."""

    __sklearn_is_fitted__: Callable[[], bool]

    pos_label: Any

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *args: Any, eval_set: Any = None,
        **kwargs: Any,
    ) -> Self:  # fmt: skip
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
        if args:
            args = sample_weight, *args
        else:
            kwargs["sample_weight"] = sample_weight
        call = self._call_of_fit(super().fit, X, y, *args, eval_set=eval_set, **kwargs)  # type: ignore[misc]
        objective = find_objective(self.objective, self._one_group)
        if self.cv is not None:
            check_choice("cv", self.cv, ("auto",))
        self._forget()
        if not isinstance(objective, Objective):
            if self.pos_label is not None:
                warn(
                    f"pos_label has no effect with the framework's objective {objective!r}, whose "
                    "probabilities are of both classes, nor on metrics, for which the last class "
                    "in sorted order is relevant: remove it"
                )
            self._train(call, objective)
            return self
        start = call.get(self._names.model)
        self.pos_label_, self._labels = encode(call, self.pos_label, self.objective)
        other = self._trained_class_of(start)
        if other is not None and other != self.pos_label_:
            raise ValueError(
                f"the model to continue from ranks {other} first, not {self.pos_label_}: pass "
                f"pos_label={np.asarray(other).item()!r}"
            )
        last_scores = self._train(call, objective, **self._class_weights())
        held_out = self._held_out(call, objective, start, last_scores)
        self.offset_, self._rounds_of_offset = threshold_by_share(held_out), self._rounds_used()
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
        for name in (*learnt, "_rounds_of_offset"):
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
        ranks = self._is_of_rankings()
        kwargs = _all_but_x(super().predict, X, **kwargs)  # type: ignore[misc]
        X = self._features(X, kwargs.get("validate_features", True))
        return self._above_offset(X, **kwargs) if ranks else np.asarray(self._raw(X, **kwargs))

    def _above_offset(self, X: Any, **kwargs: Any) -> Any:
        return self._sign * (self._of_all_rounds(X, **kwargs) - self.offset_)

    def _of_all_rounds(self, X: Any, **kwargs: Any) -> Any:
        """Scores on the scale of threshold and probabilities, or with a warning."""
        self._warn_of_other_rounds(**kwargs)
        return np.asarray(self._raw(X, **kwargs), dtype=np.float64)

    def _warn_of_other_rounds(self, **kwargs: Any) -> None:
        """Warn if predictions with these arguments use other rounds than set the threshold."""
        first, last = self._rounds_used(**kwargs)
        known = getattr(self, "_rounds_of_offset", (first, last))
        if (first, last) != known:
            warn(
                f"this prediction uses rounds {first} to {last} of the model, and threshold and "
                f"probabilities are those of rounds {known[0]} to {known[1]}, whose scores are on "
                "another scale: the order of the rows is right, classes and probabilities are not. "
                "Fit a model with n_estimators=, or by early stopping, of as many rounds"
            )

    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """The class of each row, (n,), or other outputs that the parent's `predict` has.

        The threshold can be tuned by scikit-learn's `TunedThresholdClassifierCV`.
        """
        ranks = self._is_of_rankings()
        kwargs = _all_but_x(super().predict, X, *args, **kwargs)  # type: ignore[misc]
        X = self._features(X, kwargs.get("validate_features", True))
        if not ranks:
            return self._of_parent("predict", X, **kwargs)
        if any(kwargs.get(name) for name in self._other_outputs):
            return self._raw(X, **kwargs)
        return self.classes_[(self._above_offset(X, **kwargs) > 0.0).astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of `predict`, which is scikit-learn's score of classifiers.

        Labels and weights are vectors in any form that `fit` takes.
        """
        return float(super().score(X, as_vector(y), as_vector(sample_weight)))  # type: ignore[misc]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, *args: Any, **kwargs: Any) -> Any:
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
        ranks = self._is_of_rankings()
        kwargs = _all_but_x(super().predict_proba, X, *args, **kwargs)  # type: ignore[misc]
        X = self._features(X, kwargs.get("validate_features", True))
        if not ranks:
            return self._of_parent("predict_proba", X, **kwargs)
        if any(kwargs.get(name) for name in self._other_outputs):
            return self._raw(X, **kwargs)
        scores = self._of_all_rounds(X, **kwargs)
        return self.calibrator_.predict_proba(scores[:, None])[:, :: self._sign]

    def _is_of_rankings(self) -> bool:
        """Whether the trees rank, whatever the objective is now; an error without a whole fit."""
        if hasattr(self, "offset_"):
            return True
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # raises; it takes longer, since it reads the tags
        if isinstance(find_objective(self.objective), Objective):
            raise NotFittedError(
                f"this {type(self).__name__} has no threshold, since its last fit failed, or had "
                "an objective of the framework: call fit"
            )
        return False

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
        # A prediction reads the tags, too, and the threshold says what was fitted.
        if hasattr(self, "offset_") or isinstance(find_objective(self.objective), Objective):
            tags.classifier_tags.multi_class = tags.classifier_tags.multi_label = False
        return tags

    def _trained_class_of(self, model: Any) -> Any:
        """The class that a model to continue from ranks first; None if it does not say."""
        return getattr(model, "pos_label_", None)
