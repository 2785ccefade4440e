"""How XGBoost trains, scores and is cut back to the best round."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from lambdaplus.estimators.base import BoostedModel, Curves, Trained, Training
from lambdaplus.estimators.documents import Documents
from lambdaplus.queries import Floats

_HANDLED = ("objective", "eval_metric", "early_stopping_rounds", "n_estimators", "random_state",
            "calibration", "cv")  # fmt: skip


class XGBoostTrees(BoostedModel):
    """Trees (or with gblinear weights) fitted by XGBoost."""

    n_jobs: int | None
    booster: str | None

    @staticmethod
    def _framework_names() -> Mapping[str, frozenset[str]]:
        return _names_of_parameters()

    def _train(
        self, training: Training, train: Documents, held_out: Mapping[str, Documents]
    ) -> Trained:
        import lambdaplus.xgboost as xgb

        objective, metric = training.objective, training.metric
        params = {name: value for name, value in self.get_params().items() if name not in _HANDLED}
        params |= {"seed": self._seed(), "n_jobs": max(self.n_jobs or 0, 0)}
        params["disable_default_eval_metric"] = 1
        if isinstance(objective, str):
            params["objective"] = objective
        elif train.queries.grouped:
            params["objective"] = "rank:ndcg"  # the name in the saved model, nothing more
        callbacks = list(training.callbacks)
        linear = None
        if held_out and self._stops:
            watched = {"data_name": list(held_out)[-1], "metric_name": str(metric.metrics[0])}
            callbacks.append(
                xgb.callback.EarlyStopping(
                    rounds=self.early_stopping_rounds, maximize=True, **watched
                )
            )
            if self.booster == "gblinear":  # has no rounds to go back to
                linear = _keep_best(**watched)
                callbacks.append(linear)
        curves = Curves()
        booster = xgb.train(
            {name: value for name, value in params.items() if value is not None},
            self._matrix(train.X, train),
            num_boost_round=self.n_estimators,
            obj=None if isinstance(objective, str) else objective,
            evals=[(self._matrix(part.X, part), name) for name, part in held_out.items()],
            custom_metric=metric if held_out else None,
            evals_result=curves,
            callbacks=callbacks,
            verbose_eval=False,
            xgb_model=training.init_model,
        )
        curves = {name: dict(curve) for name, curve in curves.items()}
        return self._cut_back(booster, curves, metric, linear)

    def _cut_back(self, booster: Any, curves: Curves, metric: Any, linear: Any) -> Trained:
        import lambdaplus.xgboost as xgb

        rounds = int(booster.num_boosted_rounds())
        best = self._best(curves, metric)
        if best is not None:
            best += rounds - len(curves[list(curves)[-1]][str(metric.metrics[0])])
        elif booster.attr("best_iteration") is not None:  # an early stopping of the user's
            best = int(booster.attr("best_iteration")) + 1
        if best is not None and best < rounds:
            rounds = best
            booster = booster[:best] if linear is None else xgb.Booster(model_file=linear.model)
        for name in ("best_iteration", "best_score"):  # which all tools read otherwise
            booster.set_attr(**{name: None})
        return Trained(booster, curves, rounds)

    @property
    def _stops(self) -> bool:
        # dart rescales trees of earlier rounds: there is no going back to one.
        return super()._stops and self.booster != "dart"

    def _matrix(self, X: Any, documents: Documents | None = None) -> Any:
        import lambdaplus.xgboost as xgb

        known: dict[str, Any] = {}
        if documents is not None:
            known = {
                "label": documents.queries.labels,
                "group": documents.group,
                "weight": _weights(documents),
            }
        if self._categorical_columns:
            types = ["q"] * self.n_features_in_
            for column in self._categorical_columns:
                types[column] = "c"
            known["feature_types"] = types
        return xgb.DMatrix(X, **known, feature_names=self._feature_names, enable_categorical=True)

    def _scores(
        self,
        X: Any,
        booster: Any,
        rounds: tuple[int, int] | None = None,
        contributions: bool = False,
    ) -> Floats:
        if rounds is not None and self.booster == "gblinear":
            raise ValueError("gblinear has no rounds: it is one linear model")
        found = booster.predict(
            self._matrix(X), output_margin=not contributions, pred_contribs=contributions,
            iteration_range=rounds or (0, 0),
        )  # fmt: skip
        return np.asarray(found, dtype=np.float64)

    def _gain(self) -> Floats:
        gain = self.booster_.get_score(importance_type="total_gain")
        names = self._feature_names or [f"f{i}" for i in range(self.n_features_in_)]
        return np.array([gain.get(name, 0.0) for name in names], dtype=np.float64)

    def _without_effect(self, objective: str | Callable[..., Any]) -> dict[str, str]:
        from lambdaplus.xgboost import OF_BUILT_IN_OBJECTIVES

        if isinstance(objective, str):
            return {}
        return {
            name: OF_BUILT_IN_OBJECTIVES[name]
            for name in self._more
            if name in OF_BUILT_IN_OBJECTIVES
        }


def _keep_best(data_name: str, metric_name: str) -> Any:
    """A callback that keeps the model of the best round."""
    import lambdaplus.xgboost as xgb

    class KeepBest(xgb.callback.TrainingCallback):  # type: ignore[misc]
        model: Any = None

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            curve = evals_log[data_name][metric_name]
            if int(np.argmax(curve)) == len(curve) - 1:
                self.model = model.save_raw()
            return False

    return KeepBest()


def _weights(documents: Documents) -> Floats | None:
    """Weights as XGBoost takes them: one for each query if there are queries."""
    queries = documents.queries
    if queries.weights is None or not queries.grouped:
        return queries.weights
    of_query = queries.weights[queries.boundaries[:-1]]
    if (np.repeat(of_query, queries.sizes) != queries.weights).any():
        raise ValueError(
            "XGBoost takes one weight for each query, but the rows of a query have different ones: "
            "give all rows of a query the same sample_weight, or use LightGBMRanker"
        )
    return of_query


_SAME = (
    {"learning_rate", "eta"}, {"reg_alpha", "alpha"}, {"reg_lambda", "lambda"},
    {"gamma", "min_split_loss"}, {"n_jobs", "nthread"}, {"random_state", "seed"},
)  # fmt: skip


@cache
def _names_of_parameters() -> dict[str, frozenset[str]]:
    """XGBoost's parameters: what the configurations of models of each kind say."""
    import lambdaplus.xgboost as xgb

    names = {"base_score", "updater", "eval_metric"}
    data = xgb.DMatrix(np.zeros((1, 1)), label=[0])
    kinds = (
        {"booster": "dart"}, {"booster": "gblinear"}, {"tree_method": "exact"},
        {"objective": "binary:logistic"},
    )  # fmt: skip
    for kind in kinds:
        params = {"objective": "rank:ndcg", "verbosity": 0, "nthread": 1, **kind}
        config = json.loads(xgb.train(params, data, 0).save_config())
        names.update(_parameters(config))
    return {
        name: frozenset(next((same for same in _SAME if name in same), {name})) for name in names
    }


def _parameters(config: Any) -> Iterator[str]:
    for key, value in config.items() if isinstance(config, dict) else enumerate(config):
        if isinstance(value, dict | list):
            if str(key).endswith("_param") and key != "learner_model_param":
                yield from value
            yield from _parameters(value)
