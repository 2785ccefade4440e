"""How LightGBM trains, scores and is cut back to the best round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import issparse

from lambdaplus.estimators.base import BoostedModel, Curves, Trained, Training
from lambdaplus.estimators.documents import Documents
from lambdaplus.queries import Floats

_HANDLED = ("objective", "eval_metric", "early_stopping_rounds", "n_estimators", "random_state",
            "calibration", "cv")  # fmt: skip
_OF_METRICS = (
    "lambdaplus evaluates, by eval_metric (such as 'ndcg@5', or a list), and stops by the first "
    "metric on the last evaluation set"
)


class LightGBMTrees(BoostedModel):
    """Trees grown by LightGBM."""

    n_jobs: int | None
    boosting_type: str

    @staticmethod
    def _framework_names() -> Mapping[str, frozenset[str]]:
        return _names_of_parameters()

    def _train(
        self, training: Training, train: Documents, held_out: Mapping[str, Documents]
    ) -> Trained:
        import lambdaplus.lightgbm as lgb

        objective, metric = training.objective, training.metric
        params = {name: value for name, value in self.get_params().items() if name not in _HANDLED}
        params |= {
            "objective": objective, "metric": "None", "seed": self._seed(),
            "n_jobs": max(self.n_jobs or 0, 0),
        }  # fmt: skip
        given = self._dataset(train, objective)
        curves = Curves()
        callbacks = list(training.callbacks)
        stop = None
        if held_out:
            callbacks.append(lgb.record_evaluation(curves))
            if self._stops:
                watched = list(held_out)[-1], str(metric.metrics[0])
                stop = _StopEarly(curves, watched, int(self.early_stopping_rounds or 0))
                callbacks.append(stop)
        booster = lgb.train(
            {name: value for name, value in params.items() if value is not None},
            given,
            num_boost_round=self.n_estimators,
            valid_sets=[self._dataset(part, objective, given) for part in held_out.values()],
            valid_names=list(held_out),
            feval=metric if held_out else None,
            callbacks=callbacks,
            init_model=training.init_model,
        )
        curves = {name: dict(curve) for name, curve in curves.items()}
        rounds = int(booster.current_iteration())
        best = self._best(curves, metric)
        if best is not None and stop is not None:
            best += stop.begin
        elif booster.best_iteration > 0:  # an early stopping of the user's
            best = booster.best_iteration
        if best is not None and best < rounds:
            rounds = best
            booster = lgb.Booster(model_str=booster.model_to_string(num_iteration=best))
        booster.best_iteration = -1  # all that is in it
        return Trained(booster, curves, rounds)

    def _dataset(self, part: Documents, objective: Any, reference: Any = None) -> Any:
        import lambdaplus.lightgbm as lgb

        queries = part.queries
        known: dict[str, Any] = {}
        if callable(objective) and queries.grouped and hasattr(lgb.Dataset, "get_position"):
            # For objectives that estimate the bias of positions: the order of a query's rows.
            first = np.repeat(queries.boundaries[:-1], queries.sizes)
            known["position"] = np.arange(queries.n_documents) - first
        return lgb.Dataset(
            part.X, label=queries.labels, group=part.group, weight=queries.weights,
            feature_name=self._feature_names or "auto", reference=reference,
            categorical_feature=self._categorical_columns or "auto", **known,
        )  # fmt: skip

    @property
    def _stops(self) -> bool:
        # dart rescales trees of earlier rounds: there is no going back to one.
        return super()._stops and self.boosting_type != "dart"

    def _scores(
        self,
        X: Any,
        booster: Any,
        rounds: tuple[int, int] | None = None,
        contributions: bool = False,
    ) -> Floats:
        first, last = rounds or (0, booster.current_iteration())
        found = booster.predict(
            X, raw_score=True, start_iteration=first, num_iteration=last - first,
            pred_contrib=contributions,
        )  # fmt: skip
        return np.asarray(found.toarray() if issparse(found) else found, dtype=np.float64)

    def _gain(self) -> Floats:
        return np.asarray(self.booster_.feature_importance("gain"), dtype=np.float64)

    def _without_effect(self, objective: str | Callable[..., Any]) -> dict[str, str]:
        from lambdaplus.lightgbm import OF_BUILT_IN_OBJECTIVES

        known = _names_of_parameters()
        of_objectives = {} if isinstance(objective, str) else OF_BUILT_IN_OBJECTIVES
        of_metrics = dict.fromkeys(
            ("eval_at", "multi_error_top_k", "auc_mu_weights", "is_provide_training_metric",
             "first_metric_only", "early_stopping_min_delta"),
            _OF_METRICS,
        )  # fmt: skip
        meant = {
            alias: hint
            for name, hint in {**of_objectives, **of_metrics}.items()
            for alias in known.get(name, {name})
        }
        return {name: meant[name] for name in self._more if name in meant}


class _StopEarly:
    """Ends training when one curve has not risen for some rounds.

    LightGBM's own callback looks at every evaluation set, and stops at the first that stagnates.
    """

    def __init__(self, curves: Curves, watched: tuple[str, str], rounds: int) -> None:
        self.order = 30  # after record_evaluation; LightGBM looks for it in the instance
        self.curves = curves
        self.watched = watched
        self.rounds = rounds
        self.begin = 0  # rounds of init_model

    def __call__(self, env: Any) -> None:
        import lightgbm

        self.begin = env.begin_iteration
        name, metric = self.watched
        curve = self.curves[name][metric]
        best = int(np.argmax(curve))
        if len(curve) - 1 - best >= self.rounds:
            raise lightgbm.callback.EarlyStopException(self.begin + best, [])


@cache
def _names_of_parameters() -> dict[str, frozenset[str]]:
    """LightGBM's own list of its parameters and their aliases."""
    from lambdaplus.lightgbm import basic

    try:
        groups = basic._ConfigAliases._get_all_param_aliases()
    except AttributeError:
        raise ImportError("this needs LightGBM 4: pip install 'lightgbm>=4'") from None
    groups["metric"] = [*groups["metric"], "eval_metric"]
    return {name: frozenset(group) for group in groups.values() for name in group}
