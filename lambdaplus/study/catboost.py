"""How CatBoost trains, with its own objectives: it hands others no queries."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from lambdaplus.data import RankingData
from lambdaplus.data.queries import Floats

if TYPE_CHECKING:
    from lambdaplus.study.boosting import Job, Predict

LOSS_OPTIONS = ("num_neighbors", "noise", "noise_power", "permutations", "decay")
"""Parameters that CatBoost takes within the name of its loss."""


def run(job: Job) -> Predict:
    """Train, and return the function that predicts.

    Raises
    ------
    ImportError
        If CatBoost is not installed.
    """
    try:
        import catboost
    except ImportError as error:
        raise ImportError("CatBoost is not installed: pip install catboost") from error

    params = dict(job.params)
    of_loss = [f"{name}={params.pop(name)}" for name in LOSS_OPTIONS if name in params]
    loss, _, mode = str(job.objective).partition(":")
    said = ";".join(filter(None, [mode, *of_loss]))

    def pool(part: RankingData) -> Any:
        query = np.repeat(np.arange(len(part.group)), part.group)
        return catboost.Pool(part.features, job.labels(part), group_id=query)

    class Look:
        """A metric that CatBoost copies, and calls on its training data as well."""

        labels = job.labels(job.validation.data).astype(np.float32)
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
            job.see(Look.scores)
            return not job.validation.over

    model = catboost.CatBoost(
        {
            "loss_function": f"{loss}:{said}" if said else loss,
            "eval_metric": Look(),
            "iterations": job.rounds,
            "random_seed": job.seed,
            "thread_count": job.threads or -1,
            "allow_writing_files": False,
            "logging_level": "Silent",
            **params,
        }
    )
    with warnings.catch_warnings():
        # It would like to compile Look with numba, and says that it can't.
        warnings.filterwarnings("ignore", "Can't optimze method", UserWarning)
        valid = pool(job.validation.data)
        model.fit(pool(job.train), eval_set=valid, callbacks=[AfterRound()], use_best_model=False)

    def predict(part: RankingData, rounds: int) -> Floats:
        found = model.predict(
            part.features, prediction_type="RawFormulaVal", ntree_end=rounds,
            thread_count=job.threads or -1,
        )  # fmt: skip
        return np.asarray(found, dtype=np.float64)

    return predict
