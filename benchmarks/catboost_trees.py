"""CatBoost as it comes, a contender that a user would take instead: `pip install catboost`.

Its objectives train 1,000 oblivious trees at its own learning rate.  All of them are trained, and
validation queries choose the number of trees, as for the other contenders.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaplus.data import RankingData
from lambdaplus.study.boosters import Boosted, Watch

ROUNDS = 1000  # CatBoost's default
EVERY = 10
BINARY = ("Logloss", "QuerySoftMax", "YetiRank:mode=MAP")
"""Objectives that are trained on labels 0 and 1."""


def fit_catboost(
    objective: str, params: dict[str, Any], train: RankingData, valid: RankingData, watch: Watch,
    *, rounds: int = ROUNDS, seed: int = 0, threads: int = 1,
) -> Boosted:  # fmt: skip
    """Train all rounds; ``watch`` then sees the validation scores of every round."""
    import catboost  # no part of the package, nor of its locked tests

    def pool(data: RankingData) -> Any:
        labels = (data.labels >= 1).astype(float) if objective in BINARY else data.labels
        features: Any = data.features
        names = [*data.categories]
        if names:
            features = features.astype(object)
            for name in names:
                column = data.feature_names.index(name)
                features[:, column] = [str(value) for value in features[:, column]]
        places = [data.feature_names.index(name) for name in names]
        return catboost.Pool(features, labels, group_id=data.qid, cat_features=places)

    model = catboost.CatBoost(
        {
            "loss_function": objective, "iterations": rounds, "random_seed": seed,
            "thread_count": threads, "verbose": False, "allow_writing_files": False, **params,
        }
    )  # fmt: skip
    model.fit(pool(train))
    for scores in model.staged_predict(pool(valid), prediction_type="RawFormulaVal"):
        watch(np.asarray(scores, np.float64))

    def predict(data: RankingData, rounds: int) -> Any:
        return model.predict(pool(data), prediction_type="RawFormulaVal", ntree_end=rounds)

    return Boosted(predict, model)
