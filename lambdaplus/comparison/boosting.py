"""How boosted trees are trained: LightGBM's, XGBoost's and CatBoost's, with our objectives or theirs.

This is the one place that knows.  Each framework shows its validation scores to a `Validation`
after every round and stops when that says so; what comes back scores documents with the trees of
the first so many rounds.

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
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.comparison.methods import Fitted, Method, Parameters, Settings
from lambdaplus.comparison.validation import Validation
from lambdaplus.datasets import RankingData
from lambdaplus.objectives import lambda_objective
from lambdaplus.queries import Floats

Predict = Callable[[RankingData, int], Floats]
"""Scores of the documents, by the trees of the first so many rounds."""

Train = Callable[[Any, dict[str, Any], RankingData, Settings, int, Validation], Predict]

OBJECTIVE_OPTIONS = frozenset(
    name
    for name, parameter in inspect.signature(lambda_objective).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
)
"""Parameters of these names are options of our objective; others go to the framework."""

BINARY = {"rank:map", "YetiRank:mode=MAP", "YetiRank:mode=MRR"}
"""The frameworks' own objectives that know relevant and not relevant alone."""


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
        options = {k: v for k, v in parameters.items() if k in OBJECTIVE_OPTIONS}
        others = {k: v for k, v in parameters.items() if k not in OBJECTIVE_OPTIONS}
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
    return lambda_objective(metric, **options)


def labels_of(target: Any, data: RankingData) -> Floats:
    """Labels as an objective knows them."""
    return (data.labels >= 1).astype(np.float64) if target in BINARY else data.labels


def _lightgbm(
    target: Any,
    parameters: dict[str, Any],
    train: RankingData,
    settings: Settings,
    seed: int,
    validation: Validation,
) -> Predict:
    import lambdaplus.lightgbm as lgb

    params = {
        "objective": target,
        "metric": "None",
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": settings.documents_in_leaf,
        "seed": seed,
        "deterministic": True,
        "num_threads": settings.threads,
        "verbose": -1,
        **parameters,
    }
    valid = validation.data
    data = lgb.Dataset(train.features, label=labels_of(target, train), group=train.group)
    held_out = data.create_valid(valid.features, label=valid.labels, group=valid.group)

    def look(scores: Floats, _: Any) -> tuple[str, float, bool]:
        validation.see(scores)
        return "validation", validation.latest, True

    trees: list[int] = []  # after each round: LightGBM throws away a tree that it could not split

    def stop(state: Any) -> None:
        trees.append(state.model.num_trees())
        if validation.over:
            raise lgb.callback.EarlyStopException(state.iteration, state.evaluation_result_list)

    booster = lgb.train(
        params,
        data,
        num_boost_round=settings.rounds,
        valid_sets=[held_out],
        feval=look,
        callbacks=[stop],
    )

    def predict(part: RankingData, rounds: int) -> Floats:
        if not (first := trees[rounds - 1]):  # which LightGBM would take for all
            return np.zeros(len(part.labels))
        found = booster.predict(
            part.features, raw_score=True, num_iteration=first, num_threads=settings.threads
        )
        return np.asarray(found, dtype=np.float64)

    return predict


def _xgboost(
    target: Any,
    parameters: dict[str, Any],
    train: RankingData,
    settings: Settings,
    seed: int,
    validation: Validation,
) -> Predict:
    import lambdaplus.xgboost as xgb

    native = isinstance(target, str)
    params = {
        "grow_policy": "lossguide",
        "max_leaves": settings.leaves,
        "max_depth": 0,
        "learning_rate": settings.learning_rate,
        "tree_method": "hist",
        "base_score": 0.0,
        "disable_default_eval_metric": 1,
        "seed": seed,
        "nthread": settings.threads,
        **({"objective": target} if native else {}),
        **parameters,
    }

    def matrix(data: RankingData, **columns: Any) -> Any:
        return xgb.DMatrix(data.dense_features, nthread=settings.threads, **columns)

    def look(scores: Floats, _: Any) -> tuple[str, float]:
        validation.see(scores)
        return "validation", validation.latest

    class Stop(xgb.callback.TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, *_: Any) -> bool:
            return validation.over

    valid = validation.data
    booster = xgb.train(
        params,
        matrix(train, label=labels_of(target, train), group=train.group),
        num_boost_round=settings.rounds,
        obj=None if native else target,
        evals=[(matrix(valid, label=labels_of(target, valid), group=valid.group), "valid")],
        custom_metric=look,
        callbacks=[Stop()],
        verbose_eval=False,
    )

    def predict(part: RankingData, rounds: int) -> Floats:
        found = booster.predict(matrix(part), output_margin=True, iteration_range=(0, rounds))
        return np.asarray(found, dtype=np.float64)

    return predict


LOSS_OPTIONS = ("num_neighbors", "noise", "noise_power", "permutations", "decay")
"""Parameters that CatBoost takes within the name of its loss."""


def _catboost(
    target: Any,
    parameters: dict[str, Any],
    train: RankingData,
    settings: Settings,
    seed: int,
    validation: Validation,
) -> Predict:
    try:
        import catboost
    except ImportError as error:
        raise ImportError("CatBoost is not installed: pip install catboost") from error

    of_loss = [f"{name}={parameters.pop(name)}" for name in LOSS_OPTIONS if name in parameters]
    loss, _, mode = target.partition(":")
    said = ";".join(filter(None, [mode, *of_loss]))

    def pool(data: RankingData) -> Any:
        query = np.repeat(np.arange(data.n_queries), data.group)
        return catboost.Pool(data.dense_features, labels_of(target, data), group_id=query)

    class Look:
        """A metric that CatBoost copies, and calls on its training data as well."""

        labels = labels_of(target, validation.data).astype(np.float32)
        scores: Floats | None = None

        def is_max_optimal(self) -> bool:
            return True

        def get_final_error(self, error: float, weight: float) -> float:
            return error

        def evaluate(self, approxes: Any, labels: Any, weight: Any) -> tuple[float, float]:
            if np.array_equal(labels, self.labels):
                type(self).scores = np.array(approxes[0], dtype=np.float64)
            return 0.0, 1.0

    class Watch:
        def after_iteration(self, _: Any) -> bool:
            assert Look.scores is not None, "CatBoost evaluates before it calls back"
            validation.see(Look.scores)
            return not validation.over

    model = catboost.CatBoost(
        {
            "loss_function": f"{loss}:{said}" if said else loss,
            "eval_metric": Look(),
            "iterations": settings.rounds,
            "depth": max(1, round(np.log2(settings.leaves))),  # its trees are symmetric
            "learning_rate": settings.learning_rate,
            "random_seed": seed,
            "thread_count": settings.threads,
            "allow_writing_files": False,
            "logging_level": "Silent",
            **parameters,
        }
    )
    with warnings.catch_warnings():
        # It would like to compile Look with numba, and says that it can't.
        warnings.filterwarnings("ignore", "Can't optimze method", UserWarning)
        model.fit(
            pool(train), eval_set=pool(validation.data), callbacks=[Watch()], use_best_model=False
        )

    def predict(part: RankingData, rounds: int) -> Floats:
        found = model.predict(
            part.dense_features,
            prediction_type="RawFormulaVal",
            ntree_end=rounds,
            thread_count=settings.threads,
        )
        return np.asarray(found, dtype=np.float64)

    return predict


train_lightgbm = Boosting(_lightgbm)
train_xgboost = Boosting(_xgboost)
train_catboost = Boosting(_catboost)
