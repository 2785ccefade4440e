"""LightGBM as a scikit-learn ranker."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np

from lambdaplus.estimators.base import BoostedRanker, Curves
from lambdaplus.estimators.documents import Documents
from lambdaplus.evaluation import EvalMetric
from lambdaplus.objectives.base import Objective
from lambdaplus.queries import Floats


class LightGBMRanker(BoostedRanker):
    """Gradient-boosted trees by LightGBM 4 that optimise any ranking metric.

    Parameters
    ----------
    objective : str or objective
        A metric (``"map@10"``), a sum (``"ndcg@10 + 0.5*map"``), what
        `~lambdaplus.objectives.lambda_objective` made, or LightGBM's own
        ``"lambdarank"`` or ``"rank_xendcg"``.
    eval_metric : str, list of str or EvalMetric, optional
        What `score` returns and training stops on (the first of several); the objective's own
        metric if None.
    early_stopping_rounds : int or None
        Rounds without gain on the validation data that end training; None, or ``boosting_type``
        "dart", trains all rounds.
    n_estimators, learning_rate, num_leaves, max_depth, min_child_samples, min_child_weight, \
min_split_gain, subsample, subsample_freq, colsample_bytree, reg_alpha, reg_lambda, boosting_type
        As in `lightgbm.LGBMRanker`, with its defaults but one: ``subsample_freq`` is 1, so that
        ``subsample`` has an effect.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads of LightGBM; None or -1 for all cores.
    verbosity : int
    **kwargs
        LightGBM's other parameters, such as ``max_bin=63``, by any of their names.

    Raises
    ------
    TypeError
        For a parameter that LightGBM does not know.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.estimators import LightGBMRanker
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> y, qid = (X[:, 0] > 1).astype(int), np.arange(300) % 20
    >>> model = LightGBMRanker(objective="mrr", n_estimators=10, max_bin=63).fit(X, y, qid=qid)
    >>> float(round(model.score(X, y, qid=qid), 2))
    1.0
    """

    _native: ClassVar = {"lambdarank": "ndcg@10", "rank_xendcg": "ndcg@10"}

    def __init__(
        self,
        *,
        objective: str | Objective = "ndcg",
        eval_metric: Any = None,
        early_stopping_rounds: int | None = 30,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        max_depth: int = -1,
        min_child_samples: int = 20,
        min_child_weight: float = 1e-3,
        min_split_gain: float = 0.0,
        subsample: float = 1.0,
        subsample_freq: int = 1,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        boosting_type: str = "gbdt",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbosity: int = -1,
        **kwargs: Any,
    ) -> None:
        self.objective = objective
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.min_child_samples = min_child_samples
        self.min_child_weight = min_child_weight
        self.min_split_gain = min_split_gain
        self.subsample = subsample
        self.subsample_freq = subsample_freq
        self.colsample_bytree = colsample_bytree
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.boosting_type = boosting_type
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbosity = verbosity
        self._keep(kwargs)

    @staticmethod
    def _framework_names() -> Mapping[str, frozenset[str]]:
        return _names_of_parameters()

    def _train(
        self,
        objective: str | Objective,
        metric: EvalMetric,
        train: Documents,
        held_out: Mapping[str, Documents],
    ) -> tuple[Any, Curves, int]:
        import lambdaplus.lightgbm as lgb

        own = ("objective", "eval_metric", "early_stopping_rounds", "n_estimators", "random_state")
        params = {name: value for name, value in self.get_params().items() if name not in own}
        params |= {
            "objective": objective, "metric": "None", "seed": self._seed(),
            "n_jobs": max(self.n_jobs or 0, 0),
        }  # fmt: skip

        def data(part: Documents, reference: Any = None) -> Any:
            return lgb.Dataset(
                part.X, label=part.queries.labels, group=part.group, weight=part.queries.weights,
                feature_name=self._names() or "auto", reference=reference,
            )  # fmt: skip

        given, curves = data(train), Curves()
        callbacks = []
        if held_out:
            callbacks.append(lgb.record_evaluation(curves))
            if self._stops:
                watched = list(held_out)[-1], str(metric.metrics[0])
                callbacks.append(_StopEarly(curves, watched, int(self.early_stopping_rounds or 0)))
        booster = lgb.train(
            {name: value for name, value in params.items() if value is not None},
            given,
            num_boost_round=self.n_estimators,
            valid_sets=[data(part, given) for part in held_out.values()],
            valid_names=list(held_out),
            feval=metric if held_out else None,
            callbacks=callbacks,
        )
        return booster, curves, int(booster.current_iteration())

    @property
    def _stops(self) -> bool:
        # dart rescales trees of earlier rounds: there is no going back to one.
        return super()._stops and self.boosting_type != "dart"

    def _scores(self, X: Any) -> Floats:
        found = self.booster_.predict(X, raw_score=True, num_iteration=self.best_iteration_)
        return np.asarray(found, dtype=np.float64)

    def _gain(self) -> Floats:
        found = self.booster_.feature_importance("gain", iteration=self.best_iteration_)
        return np.asarray(found, dtype=np.float64)


class _StopEarly:
    """Ends training when one curve has not risen for some rounds.

    LightGBM's own callback looks at every evaluation set, and stops at the first that stagnates.
    """

    def __init__(self, curves: Curves, watched: tuple[str, str], rounds: int) -> None:
        self.order = 30  # after record_evaluation; LightGBM looks for it in the instance
        self.curves = curves
        self.watched = watched
        self.rounds = rounds

    def __call__(self, env: Any) -> None:
        import lightgbm

        name, metric = self.watched
        curve = self.curves[name][metric]
        best = int(np.argmax(curve))
        if len(curve) - 1 - best >= self.rounds:
            raise lightgbm.callback.EarlyStopException(best, [])


@cache
def _names_of_parameters() -> dict[str, frozenset[str]]:
    """LightGBM's own list of its parameters and their aliases."""
    from lambdaplus.lightgbm import basic

    try:
        groups = basic._ConfigAliases._get_all_param_aliases()
    except AttributeError:
        raise ImportError("LightGBMRanker needs LightGBM 4: pip install 'lightgbm>=4'") from None
    groups["metric"] = [*groups["metric"], "eval_metric"]
    return {name: frozenset(group) for group in groups.values() for name in group}
