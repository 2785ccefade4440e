"""The trainers of boosted trees: LightGBM's, XGBoost's and CatBoost's, with our objectives or theirs.

They are trained as the estimators are, by `lambdaplus.training`, and every round is shown to a
`Validation`.  Here parameters are dealt out: those with the name of an option of
`~lambdaplus.objectives.lambda_objective` make the objective, the others go to the framework.

Examples
--------
>>> from lambdaplus.comparison import Settings, find_methods
>>> from lambdaplus.comparison.boosting import train_lightgbm
>>> from lambdaplus.comparison.validation import Validation
>>> from lambdaplus.datasets import digits_queries
>>> fold, [method] = digits_queries()[0], find_methods("lightgbm:lambda_map")
>>> validation = Validation(fold.valid, ["map", "ndcg@10"], patience=5)
>>> predict = train_lightgbm.follow(
...     method, {"num_leaves": 4, "sigma": 2.0}, fold.train, Settings(rounds=6), 0, validation
... )
>>> len(validation.curves["ndcg@10"]), predict(fold.test, 3).shape == fold.test.labels.shape
(6, True)
"""  # noqa: E501

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from lambdaplus.comparison.methods import Fitted, Method, Parameters, Settings
from lambdaplus.comparison.validation import Validation
from lambdaplus.datasets import RankingData
from lambdaplus.objectives import Noise, lambda_objective
from lambdaplus.objectives.objective import as_noise
from lambdaplus.queries import Floats, Queries
from lambdaplus.training import CATBOOST, LIGHTGBM, XGBOOST, Documents, Framework, Training

Predict = Callable[[RankingData, int], Floats]
"""Scores of the documents, (n,) float64, by the trees of the first rounds."""

OF_NOISE = "noise_"
OBJECTIVE_OPTIONS = frozenset(
    [
        *(
            name
            for name, parameter in inspect.signature(lambda_objective).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        ),
        *(OF_NOISE + field.name for field in fields(Noise)),
    ]
)
"""Parameters of these names are options of our objective; others go to the framework.

Those that begin with ``noise_`` are attributes of its `~lambdaplus.objectives.Noise`, as in
``noise_share``; ``noise`` is the scale of the noise, or None for an objective without it.
"""


@dataclass(frozen=True)
class Boosting:
    """A trainer of boosted trees.

    Attributes
    ----------
    framework : Framework
    words : callable
        The settings of a study in the framework's words.
    """

    framework: Framework
    words: Callable[[Settings], dict[str, Any]]

    def follow(
        self,
        method: Method,
        parameters: Parameters,
        train: RankingData,
        settings: Settings,
        seed: int,
        validation: Validation,
    ) -> Predict:
        """Train and let a `Validation` look at every round.

        Raises
        ------
        ValueError
            For options of an objective that is not ours, or that was made with other ones.
        ImportError
            If the framework is not installed.
        """
        framework, threads = self.framework, settings.threads
        # CatBoost trains no objective of ours, and its losses have an option `noise` too.
        ours = frozenset() if framework == CATBOOST else OBJECTIVE_OPTIONS
        options = {k: v for k, v in parameters.items() if k in ours}
        others = {k: v for k, v in parameters.items() if k not in ours}

        def look(scores: Floats, _: Any) -> tuple[Any, ...]:
            validation.see(scores)
            found = "validation", validation.latest
            return (*found, True) if framework == LIGHTGBM else found

        training = Training(
            with_options(method.target, options) if options else method.target,
            {**self.words(settings), **others},
            settings.rounds,
            metric=look,
            over=lambda *_: validation.over,
            seed=seed,
            threads=threads,
        )
        parts = [
            Documents(self._features(part), Queries(part.labels, group=part.group))
            for part in (train, validation.data)
        ]
        model = framework.train(training, parts[0], {"valid": parts[1]})

        def predict(part: RankingData, rounds: int) -> Floats:
            first = 0, model.lengths[rounds - 1]
            return framework.scores(model.booster, self._features(part), first, threads)

        return predict

    def _features(self, data: RankingData) -> Any:
        # The others would take what a sparse matrix does not hold for missing, or not take it.
        return data.features if self.framework == LIGHTGBM else data.dense_features

    def __call__(
        self,
        method: Method,
        parameters: Parameters,
        train: RankingData,
        valid: RankingData,
        settings: Settings,
        seed: int,
    ) -> Fitted:
        """Train and stop by the method's criterion."""
        validation = Validation(valid, [method.criterion], settings.patience)
        predict = self.follow(method, parameters, train, settings, seed, validation)
        rounds = validation.best_round(method.criterion)
        curve = tuple(validation.curves[method.criterion])
        return Fitted(lambda part: predict(part, rounds), rounds, curve)


def with_options(target: Any, options: Parameters) -> Any:
    """Our objective for the same metric with other options.

    Raises
    ------
    ValueError
        If the objective is not ours, or has options already, which would be lost.
    """
    metric = getattr(target, "metric", None)
    if metric is None or target != lambda_objective(metric):
        raise ValueError(
            f"{', '.join(options)}: options of lambda_objective can be tried where an objective "
            f"of ours has its default options, which {target!r} is not"
        )
    of_noise = {k.removeprefix(OF_NOISE): v for k, v in options.items() if k.startswith(OF_NOISE)}
    options = {k: v for k, v in options.items() if not k.startswith(OF_NOISE)}
    noise = as_noise(options.get("noise", Noise()))
    if of_noise and noise is not None:
        options["noise"] = replace(noise, **of_noise)
    return lambda_objective(metric, **options)


def _of_lightgbm(settings: Settings) -> dict[str, Any]:
    return {
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": settings.documents_in_leaf,
        "deterministic": True,
        "verbose": -1,
    }


def _of_xgboost(settings: Settings) -> dict[str, Any]:
    return {
        "grow_policy": "lossguide",
        "max_leaves": settings.leaves,
        "max_depth": 0,
        "learning_rate": settings.learning_rate,
        "tree_method": "hist",
        "base_score": 0.0,
    }


def _of_catboost(settings: Settings) -> dict[str, Any]:
    depth = max(1, round(np.log2(settings.leaves)))  # its trees are symmetric
    return {"depth": depth, "learning_rate": settings.learning_rate}


train_lightgbm = Boosting(LIGHTGBM, _of_lightgbm)
train_xgboost = Boosting(XGBOOST, _of_xgboost)
train_catboost = Boosting(CATBOOST, _of_catboost)
