"""The trainer of CatBoost, as `lambdaplus.study.boosters` has those of LightGBM and XGBoost.

CatBoost does not pass queries to a custom objective, so it is trained with its own objectives only.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from lambdaplus.data.ranking_data import numeric_part
from lambdaplus.study.boosters import Boosted, Watch, training_labels
from lambdaplus.study.methods import Task
from lambdaplus.study.trainers import BoostedTrainer

LOSS_OPTIONS = ("num_neighbors", "noise", "noise_power", "permutations", "decay")
"""Parameters that are part of the name of CatBoost's loss."""


def fit_catboost(
    objective: str, params: dict[str, Any], train: RankingData, valid: RankingData | None,
    watch: Watch, *, rounds: int, seed: int, threads: int,
) -> Boosted:  # fmt: skip
    """Train CatBoost with one of its own objectives, such as ``YetiRank:mode=MAP``."""
    try:
        import catboost
    except ImportError as error:
        raise ImportError("CatBoost is not installed: pip install catboost") from error

    loss_options = [f"{name}={params.pop(name)}" for name in LOSS_OPTIONS if name in params]
    loss, _, mode = objective.partition(":")
    options = ";".join(filter(None, [mode, *loss_options]))

    def pool(data: RankingData) -> Any:
        data = numeric_part(data)
        labels = training_labels(objective, data.labels)
        query, weights = data.queries.query_of_row, data.queries.query_weights
        row_weights = None if weights is None else weights[query]
        return catboost.Pool(data.features, labels, group_id=query, group_weight=row_weights)

    class Look:
        """A metric that CatBoost copies, and also calls on the training data."""

        labels = training_labels(objective, (valid or train).labels).astype(np.float32)
        scores: Floats | None = None

        def is_max_optimal(self) -> bool:
            return True

        def get_final_error(self, error: float, weight: float) -> float:
            return error

        def evaluate(self, approxes: Any, labels: Any, weight: Any) -> tuple[float, float]:
            if np.array_equal(labels, self.labels):
                type(self).scores = np.array(approxes[0], dtype=np.float64)
            return 0.0, 1.0

    class AfterRound:
        def after_iteration(self, _: Any) -> bool:
            assert Look.scores is not None, "CatBoost evaluates metrics before its callbacks"
            return not watch(Look.scores)

    model = catboost.CatBoost(
        {
            **params,
            "thread_count": threads,
            "loss_function": f"{loss}:{options}" if options else loss,
            **({"eval_metric": Look()} if valid else {}),
            "iterations": rounds,
            "random_seed": seed,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )
    with warnings.catch_warnings():
        # CatBoost warns that it cannot compile Look with numba.
        warnings.filterwarnings("ignore", "Can't optimze method", UserWarning)
        if valid is None:
            model.fit(pool(train))
        else:
            sets = {"X": pool(train), "eval_set": pool(valid)}
            model.fit(**sets, callbacks=[AfterRound()], use_best_model=False)

    def predict(data: RankingData, rounds: int) -> Floats:
        given = {"prediction_type": "RawFormulaVal", "ntree_end": rounds, "thread_count": threads}
        scores = model.predict(numeric_part(data).features, **given)
        return np.asarray(scores, dtype=np.float64)

    return Boosted(predict, model.save_model)


class CatBoostTrainer(BoostedTrainer):
    """Trains with the parameters of the task alone."""

    def of_framework(self, task: Task) -> dict[str, Any]:
        return dict(task.parameters)


train_catboost = CatBoostTrainer("catboost", fit_catboost)
