"""The trainer of CatBoost, with its own objectives: it does not pass queries to a custom one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lambdaplus.data import RankingData
from lambdaplus.data.queries import Floats
from lambdaplus.study.boosting import Boosting, Predict, training_labels
from lambdaplus.study.methods import Job, Settings
from lambdaplus.study.validation import Validation

LOSS_OPTIONS = ("num_neighbors", "noise", "noise_power", "permutations", "decay")
"""Parameters that CatBoost takes within the name of its loss."""


def _parameters(settings: Settings) -> dict[str, Any]:
    depth = max(1, round(np.log2(settings.leaves)))  # its trees are symmetric
    return {"depth": depth, "learning_rate": settings.learning_rate}


def _run(job: Job, objective: str, params: dict[str, Any], validation: Validation) -> Predict:
    try:
        import catboost
    except ImportError as error:
        raise ImportError("CatBoost is not installed: pip install catboost") from error

    of_loss = [f"{name}={params.pop(name)}" for name in LOSS_OPTIONS if name in params]
    loss, _, mode = objective.partition(":")
    options = ";".join(filter(None, [mode, *of_loss]))
    threads = {"thread_count": job.settings.threads}

    def pool(part: RankingData) -> Any:
        query = np.repeat(np.arange(len(part.group)), part.group)
        labels = training_labels(objective, part.labels)
        return catboost.Pool(part.features, labels, group_id=query)

    class Look:
        """A metric that CatBoost copies, and calls on its training data as well."""

        labels = training_labels(objective, job.valid.labels).astype(np.float32)
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
            validation.see(Look.scores)
            return not validation.over

    model = catboost.CatBoost(
        {
            **params,
            **threads,
            "loss_function": f"{loss}:{options}" if options else loss,
            "eval_metric": Look(),
            "iterations": job.settings.rounds,
            "random_seed": job.seed,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )
    with warnings.catch_warnings():
        # It would like to compile Look with numba, and says that it can't.
        warnings.filterwarnings("ignore", "Can't optimze method", UserWarning)
        valid = pool(job.valid)
        model.fit(pool(job.train), eval_set=valid, callbacks=[AfterRound()], use_best_model=False)

    def predict(part: RankingData, rounds: int) -> Floats:
        kind = "RawFormulaVal"
        scores = model.predict(part.features, prediction_type=kind, ntree_end=rounds, **threads)
        return np.asarray(scores, dtype=np.float64)

    return predict


train_catboost = Boosting(_run, _parameters, takes_ours=False)
