"""What all estimators have in common: objective, metric, training, the best round, scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lambdaplus.estimators.checks import (
    refuse_nothing_to_choose_by,
    refuse_nothing_to_learn,
    values,
)
from lambdaplus.estimators.documents import Documents, read_features
from lambdaplus.estimators.parameters import FrameworkParameters, check_count
from lambdaplus.evaluation import EvalMetric, eval_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.objectives.base import Objective
from lambdaplus.queries import Floats

Curves = dict[str, dict[str, list[float]]]
GivenObjective = str | Objective | Callable[..., Any]


class Training(NamedTuple):
    """What `fit` hands on to a framework's training.

    Attributes
    ----------
    objective : str or callable
        The name of a native objective, or one that is called.
    metric : EvalMetric
    callbacks : sequence
        The framework's.
    init_model : optional
        A Booster, a file, or an estimator, to continue from.
    """

    objective: str | Callable[..., Any]
    metric: EvalMetric
    callbacks: Sequence[Any] = ()
    init_model: Any = None


class Trained(NamedTuple):
    """A model that holds the best rounds and no others.

    Attributes
    ----------
    booster
        The framework's.
    curves : dict
        By evaluation set and metric, of all rounds that were trained.
    rounds : int
        Boosting rounds in the model, those of init_model included.
    """

    booster: Any
    curves: Curves
    rounds: int


class BoostedModel(FrameworkParameters):
    """Base of all estimators; not made itself.

    Early stopping, here and nowhere else, decides how many rounds a model has: afterwards
    ``booster_`` holds these alone, so that predicting, saving, pickling and exporting agree.
    """

    _native: ClassVar[Mapping[str, str]]
    """The framework's own objectives, and the metric of each."""

    objective: GivenObjective
    eval_metric: str | Sequence[str] | EvalMetric | None
    early_stopping_rounds: int | None
    n_estimators: int
    random_state: Any

    def save_model(self, path: Any) -> None:
        """Save the trees in the framework's own format.

        What other tools load: `lightgbm.Booster`, `xgboost.Booster` and ``lambdaplus export``.
        Pickle the estimator itself to keep its classes, calibration and categories.

        Parameters
        ----------
        path : path-like
            For XGBoost ending in ``.json`` or ``.ubj``.
        """
        self.get_booster().save_model(path)

    def get_booster(self) -> Any:
        """The framework's own model, for its tools: `shap.TreeExplainer`, plots, predictions.

        Returns
        -------
        lightgbm.Booster or xgboost.Booster
        """
        check_is_fitted(self, "booster_")
        return self.booster_

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain of all splits, (d,); sums to 1."""
        check_is_fitted(self, "booster_")
        gain = self._gain()
        total = gain.sum()
        return gain / total if total > 0 else gain

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    def _fit(self, training: Training, train: Documents, held_out: Mapping[str, Documents]) -> None:
        """Train on checked data, and keep the model."""
        for name, documents in {"training data": train, **held_out}.items():
            try:
                # What can't be judged can't be learnt from, either.
                values(training.metric, documents, np.zeros(documents.queries.n_documents))
                if documents is train:
                    refuse_nothing_to_learn(training.objective, documents)
                else:
                    refuse_nothing_to_choose_by(training.metric, documents)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        found = self._train(training, train, held_out)
        self.booster_, self.evals_result_, self.best_iteration_ = found

    def _training(self, callbacks: Any = None, init_model: Any = None) -> Training:
        """The estimator's parameters, checked."""
        check_count("n_estimators", self.n_estimators)
        check_count("early_stopping_rounds", self.early_stopping_rounds, optional=True)
        objective = self._chosen_objective()
        self._refuse_unused(objective)
        if isinstance(init_model, BoostedModel) or hasattr(init_model, "get_booster"):
            init_model = init_model.get_booster()
        elif hasattr(init_model, "booster_"):  # LightGBM's own estimators
            init_model = init_model.booster_
        self.__dict__.pop("booster_", None)  # a fit that fails leaves no half-changed model
        return Training(objective, self._chosen_metric(), tuple(callbacks or ()), init_model)

    def _chosen_objective(self) -> str | Callable[..., Any]:
        """The name of a native objective, or one that is called."""
        given = self.objective
        if callable(given):
            return given
        if given in self._native:
            return str(given)
        try:
            return lambda_objective(given)
        except ValueError as error:
            native = ", ".join(self._native)
            raise ValueError(f"objective: {error}; or one of {native}") from None

    def _chosen_metric(self) -> EvalMetric:
        objective, metric = self._chosen_objective(), self.eval_metric
        if isinstance(metric, EvalMetric):
            return metric
        if isinstance(objective, str):
            return eval_metric(*_listed(metric or self._native[objective]))
        metric = metric or getattr(objective, "metric", None)
        if metric is None:
            raise ValueError(
                f"the objective {objective!r} does not say which metric it is for: pass "
                "eval_metric, such as 'ndcg@10'"
            )
        one_group = bool(getattr(objective, "one_group", False))
        return eval_metric(*_listed(metric), one_group=one_group)

    def _refuse_unused(self, objective: str | Callable[..., Any]) -> None:
        unused = self._without_effect(objective)
        if unused:
            what = objective if isinstance(objective, str) else "an objective of lambdaplus"
            raise ValueError(
                f"{type(self).__name__}: {', '.join(unused)} would have no effect with {what}: "
                f"{'; '.join(dict.fromkeys(unused.values()))}"
            )

    @property
    def _stops(self) -> bool:
        """Whether validation data ends the training."""
        return bool(self.early_stopping_rounds)

    def _best(self, curves: Curves, metric: EvalMetric) -> int | None:
        """The number of the best round of those that were trained, from 1; None for all."""
        if not (curves and self._stops):
            return None
        return int(np.argmax(curves[list(curves)[-1]][str(metric.metrics[0])])) + 1

    def _seed(self) -> int | None:
        """random_state as a number; None leaves the framework's own seed."""
        if self.random_state is None or isinstance(self.random_state, int):
            return self.random_state
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _name_features(self, given: Any) -> None:
        """Keep what the framework is to call the features; None for its own names."""
        names = getattr(self, "feature_names_in_", None)
        if given is not None and not (isinstance(given, str) and given == "auto"):
            names = list(given)
            if len(names) != self.n_features_in_ or len(set(names)) != len(names):
                raise ValueError(
                    f"feature_name must be {self.n_features_in_} different names, one for each "
                    f"column of X; got {len(names)}"
                )
        self._feature_names = None if names is None else [str(name) for name in names]

    def _raw(
        self, X: Any, rounds: tuple[int, int] | None = None, contributions: bool = False
    ) -> Any:
        """Scores of features as given, (n,), or each feature's share in them, (n, d + 1)."""
        check_is_fitted(self, "booster_")
        checked = read_features(self, X, reset=False)
        return self._scores(checked, self.booster_, rounds, contributions)

    @abstractmethod
    def _train(
        self, training: Training, train: Documents, held_out: Mapping[str, Documents]
    ) -> Trained:
        """Train with the framework."""

    @abstractmethod
    def _scores(
        self,
        X: Any,
        booster: Any,
        rounds: tuple[int, int] | None = None,
        contributions: bool = False,
    ) -> Floats:
        """Raw scores of checked features, by all rounds of a model or from one to another."""

    @abstractmethod
    def _gain(self) -> Floats:
        """Total gain of each feature's splits."""

    @abstractmethod
    def _without_effect(self, objective: str | Callable[..., Any]) -> dict[str, str]:
        """Parameters that were passed and would do nothing, and what to do instead."""


def _listed(metric: Any) -> list[Any]:
    return list(metric) if isinstance(metric, list | tuple) else [metric]
