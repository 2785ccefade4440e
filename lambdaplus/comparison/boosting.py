"""The trainers of boosted trees: LightGBM's, XGBoost's and CatBoost's, with our objectives or theirs.

They are trained in one way, in `trainers`.  Here parameters are dealt out: those with the name of an
option of `~lambdaplus.objectives.lambda_objective` make the objective, the others go to the
framework.

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

from lambdaplus.comparison.methods import Fitted, Method, Parameters, Settings
from lambdaplus.comparison.trainers import Predict, with_catboost, with_lightgbm, with_xgboost
from lambdaplus.comparison.validation import Validation
from lambdaplus.datasets import RankingData
from lambdaplus.objectives import Noise, lambda_objective
from lambdaplus.objectives.objective import DEFAULT_NOISE, as_noise

Train = Callable[[Any, dict[str, Any], RankingData, Settings, int, Validation], Predict]

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
    train : callable
        Trains with an objective, the framework's parameters, data, settings and a seed, shows
        every round to a `Validation`, and gives back what predicts.
    """

    train: Train

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
        # CatBoost trains no objective of ours, and its losses have an option `noise` too.
        ours = frozenset() if self.train is with_catboost else OBJECTIVE_OPTIONS
        options = {k: v for k, v in parameters.items() if k in ours}
        others = {k: v for k, v in parameters.items() if k not in ours}
        target = with_options(method.target, options) if options else method.target
        return self.train(target, others, train, settings, seed, validation)

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
    noise = as_noise(options.get("noise", DEFAULT_NOISE))
    if of_noise and noise is not None:
        options["noise"] = replace(noise, **of_noise)
    return lambda_objective(metric, **options)


train_lightgbm = Boosting(with_lightgbm)
train_xgboost = Boosting(with_xgboost)
train_catboost = Boosting(with_catboost)
