"""What all estimators have in common: objective, metric, training, the best round, scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lambdaplus.estimators.checks import (
    refuse_nothing_to_choose_by,
    refuse_nothing_to_learn,
    values,
)
from lambdaplus.estimators.documents import Judged, read_documents
from lambdaplus.estimators.early_stopping import EarlyStopping
from lambdaplus.estimators.parameters import FrameworkParameters, check_count
from lambdaplus.evaluation import EvalMetric, eval_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.objectives.base import Objective
from lambdaplus.queries import Floats
from lambdaplus.training import Curves, Documents, Span, Training

GivenObjective = str | Objective | Callable[..., Any]

# What the estimators do themselves.
_HANDLED = {
    "objective", "eval_metric", "early_stopping_rounds", "n_estimators", "random_state", "n_jobs",
    "calibration", "cv",
}  # fmt: skip


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
    n_jobs: int | None

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
        gain = self._framework.gain(self.booster_)
        total = gain.sum()
        return gain / total if total > 0 else gain

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    def _fit(
        self,
        training: Training,
        given: Judged,
        sets: Mapping[str, Judged],
        feature_name: Any,
        categorical: Any,
    ) -> tuple[Documents, dict[str, Documents]]:
        """Check the data, train, keep the model; the checked data."""
        train = read_documents(self, given, reset=True, categorical=categorical)
        self._name_features(feature_name)
        self._grouped = train.queries.grouped
        held_out = {name: self._read(one, name) for name, one in sets.items()}
        metric = self._chosen_metric()
        for name, documents in {"training data": train, **held_out}.items():
            try:
                # What can't be judged can't be learnt from, either.
                values(metric, documents, np.zeros(documents.queries.n_documents))
                if documents is train:
                    refuse_nothing_to_learn(training.objective, documents)
                else:
                    refuse_nothing_to_choose_by(metric, documents)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        found = self._train(training, train, held_out)
        self.booster_, self.evals_result_, self.best_iteration_ = found
        return train, held_out

    def _training(self, callbacks: Any, init_model: Any, xgb_model: Any) -> Training:
        """The estimator's parameters and what `fit` was called with, checked."""
        if init_model is not None and xgb_model is not None:
            raise ValueError("init_model and xgb_model mean the same: pass one of them")
        init_model = xgb_model if init_model is None else init_model
        check_count("n_estimators", self.n_estimators)
        check_count("early_stopping_rounds", self.early_stopping_rounds, optional=True)
        objective = self._chosen_objective()
        self._refuse_unused(objective)
        if isinstance(init_model, BoostedModel) or hasattr(init_model, "get_booster"):
            init_model = init_model.get_booster()
        elif hasattr(init_model, "booster_"):  # LightGBM's own estimators
            init_model = init_model.booster_
        self.__dict__.pop("booster_", None)  # a fit that fails leaves no half-changed model
        return Training(
            objective,
            {name: value for name, value in self.get_params().items() if name not in _HANDLED},
            self.n_estimators,
            self._chosen_metric(),
            threads=max(self.n_jobs or 0, 0),
            callbacks=tuple(callbacks or ()),
            init_model=init_model,
        )

    def _train(
        self, training: Training, train: Documents, held_out: Mapping[str, Documents]
    ) -> Trained:
        """Train with the framework, and go back to the best round."""
        watch = None
        if held_out and self._stops:
            [*_, last], metric = held_out, self._chosen_metric()
            watch = self._early_stopping(last, str(metric.metrics[0]))
        training = replace(
            training,
            over=watch,
            seed=self._seed(),
            feature_names=self._feature_names,
            categorical=self._categorical_columns,
        )
        model = self._framework.train(training, train, held_out)
        rounds = model.lengths[-1]
        best = model.chosen if watch is None else model.lengths[watch.best(model.curves)]
        if best is None or best >= rounds:
            return Trained(model.booster, model.curves, rounds)
        first_rounds = self._framework.first if watch is None else watch.first
        return Trained(first_rounds(model.booster, best), model.curves, best)

    def _early_stopping(self, data: str, metric: str) -> EarlyStopping:
        return EarlyStopping(self._framework, data, metric, int(self.early_stopping_rounds or 0))

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
        # dart rescales trees of earlier rounds: there is no going back to one.
        return bool(self.early_stopping_rounds) and getattr(self, self._framework.kind) != "dart"

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

    def _scores(self, X: Any, rounds: Span = None, contributions: bool = False) -> Floats:
        """Raw scores of checked features, by all rounds or from one to another."""
        return self._framework.scores(self.booster_, X, rounds, contributions=contributions)

    @abstractmethod
    def _read(self, given: Judged, name: str) -> Documents:
        """Documents to be judged, checked; ``name`` is what messages call them."""

    def _without_effect(self, objective: str | Callable[..., Any]) -> dict[str, str]:
        """Parameters that were passed and would do nothing, and what to do instead."""
        framework = self._framework
        of_native = {} if isinstance(objective, str) else framework.of_native_objectives()
        main = framework.names()
        hints = {main.get(k, k): hint for k, hint in {**of_native, **framework.of_metrics}.items()}
        return {name: hints[main[name]] for name in self._more if main[name] in hints}


def _listed(metric: Any) -> list[Any]:
    return list(metric) if isinstance(metric, list | tuple) else [metric]
