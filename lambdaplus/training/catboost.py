"""How CatBoost trains and scores, with its own objectives: it hands others no queries."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from lambdaplus.queries import Floats
from lambdaplus.training.framework import (
    Documents,
    Framework,
    Model,
    Span,
    Training,
    training_labels,
)

LOSS_OPTIONS = ("num_neighbors", "noise", "noise_power", "permutations", "decay")
"""Parameters that CatBoost takes within the name of its loss."""


class CatBoost(Framework):
    """CatBoost; takes one evaluation set, and records no curves."""

    ranking: ClassVar = {
        "YetiRank:mode=NDCG": "ndcg@10",
        "YetiRank:mode=MAP": "map",
        "YetiRank:mode=MRR": "mrr",
        "YetiRank:mode=Classic": "ndcg@10",
        "QueryRMSE": "ndcg@10",
    }

    def train(
        self, training: Training, train: Documents, held_out: Mapping[str, Documents]
    ) -> Model:
        try:
            import catboost
        except ImportError as error:
            raise ImportError("CatBoost is not installed: pip install catboost") from error

        target = str(training.objective)
        params = dict(training.params)
        of_loss = [f"{name}={params.pop(name)}" for name in LOSS_OPTIONS if name in params]
        loss, _, mode = target.partition(":")
        said = ";".join(filter(None, [mode, *of_loss]))
        [valid] = held_out.values()

        def labels_of(part: Documents) -> Floats:
            return training_labels(target, part.queries.labels)

        def pool(part: Documents) -> Any:
            query = np.repeat(np.arange(part.queries.n_queries), part.queries.sizes)
            return catboost.Pool(part.X, labels_of(part), group_id=query)

        class Look:
            """A metric that CatBoost copies, and calls on its training data as well."""

            labels = labels_of(valid).astype(np.float32)
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
                assert Look.scores is not None, "CatBoost evaluates before it calls back"
                if training.metric is not None:
                    training.metric(Look.scores, None)
                return not training.ends(None, {})

        model = catboost.CatBoost(
            {
                "loss_function": f"{loss}:{said}" if said else loss,
                "eval_metric": Look(),
                "iterations": training.rounds,
                "random_seed": training.seed,
                "thread_count": training.threads or -1,
                "allow_writing_files": False,
                "logging_level": "Silent",
                **params,
            }
        )
        with warnings.catch_warnings():
            # It would like to compile Look with numba, and says that it can't.
            warnings.filterwarnings("ignore", "Can't optimze method", UserWarning)
            model.fit(
                pool(train), eval_set=pool(valid), callbacks=[AfterRound(), *training.callbacks],
                use_best_model=False, init_model=training.init_model,
            )  # fmt: skip
        return Model(model, {}, range(1, model.tree_count_ + 1))

    def scores(self, booster: Any, X: Any, rounds: Span = None, threads: int = 0) -> Floats:
        first, last = rounds or (0, 0)
        found = booster.predict(
            X, prediction_type="RawFormulaVal", ntree_start=first, ntree_end=last,
            thread_count=threads or -1,
        )  # fmt: skip
        return np.asarray(found, dtype=np.float64)


CATBOOST = CatBoost()
