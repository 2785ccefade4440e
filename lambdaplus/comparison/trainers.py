"""Training with LightGBM, XGBoost and CatBoost.

All train with an objective of ours or one of theirs by its name, with parameters in the framework's
words beside what a study says, and show the scores of the validation documents to a `Validation`
after every round, which says when to stop.  What comes back scores documents with the trees of the
first so many rounds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lambdaplus.comparison.methods import Settings
from lambdaplus.comparison.validation import Validation
from lambdaplus.datasets import RankingData
from lambdaplus.queries import Floats

Predict = Callable[[RankingData, int], Floats]
"""Scores of the documents, (n,) float64, by the trees of the first rounds."""

BINARY = {"rank:map", "YetiRank:mode=MAP", "YetiRank:mode=MRR"}
"""The frameworks' own objectives that know relevant and not relevant alone."""


def labels_of(target: Any, data: RankingData) -> Floats:
    """Labels as an objective knows them."""
    return (data.labels >= 1).astype(np.float64) if target in BINARY else data.labels


def with_lightgbm(
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


def with_xgboost(
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


def with_catboost(
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
