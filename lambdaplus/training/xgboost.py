"""How XGBoost trains, scores and is cut back to some rounds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np

from lambdaplus.queries import Floats
from lambdaplus.training.framework import (
    Curves,
    Documents,
    Framework,
    Model,
    Span,
    Training,
    training_labels,
)


class XGBoost(Framework):
    """XGBoost."""

    ranking: ClassVar = {"rank:ndcg": "ndcg@10", "rank:map": "map", "rank:pairwise": "ndcg@10"}
    classification: ClassVar = {"binary:logistic": "map"}
    kind: ClassVar = "booster"
    """The parameter that says what is boosted."""
    of_metrics: ClassVar[Mapping[str, str]] = {}
    """Parameters of XGBoost's own metrics; it has none, but by a metric's name."""

    def train(
        self, training: Training, train: Documents, held_out: Mapping[str, Documents]
    ) -> Model:
        import lambdaplus.xgboost as xgb

        native = isinstance(training.objective, str)
        params = {
            **training.params, "seed": training.seed, "nthread": training.threads,
            "disable_default_eval_metric": 1,
        }  # fmt: skip
        if native:
            params["objective"] = training.objective
        elif train.queries.grouped:
            params["objective"] = "rank:ndcg"  # the name in the saved model, nothing more

        class AfterRound(xgb.callback.TrainingCallback):  # type: ignore[misc]
            begin = 0  # rounds of init_model

            def before_training(self, model: Any) -> Any:
                self.begin = model.num_boosted_rounds()
                return model

            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                return training.ends(model, evals_log)

        def matrix(part: Documents, labels: Floats) -> Any:
            types = [("q", "c")[i in training.categorical] for i in range(part.X.shape[1])]
            return xgb.DMatrix(
                part.X, label=labels, group=part.group, weight=_weights(part),
                nthread=training.threads or None, feature_names=training.feature_names,
                feature_types=types if training.categorical else None, enable_categorical=True,
            )  # fmt: skip

        after_round, curves = AfterRound(), Curves()
        booster = xgb.train(
            {name: value for name, value in params.items() if value is not None},
            matrix(train, training_labels(training.objective, train.queries.labels)),
            num_boost_round=training.rounds,
            obj=None if native else training.objective,
            evals=[(matrix(part, part.queries.labels), name) for name, part in held_out.items()],
            custom_metric=training.metric if held_out else None,
            evals_result=curves,
            callbacks=[*training.callbacks, after_round],
            verbose_eval=False,
            xgb_model=training.init_model,
        )
        best = booster.attr("best_iteration")
        curves = {name: dict(curve) for name, curve in curves.items()}
        lengths = range(after_round.begin + 1, booster.num_boosted_rounds() + 1)
        return Model(forget_best(booster), curves, lengths, best and int(best) + 1)

    def first(self, booster: Any, rounds: int) -> Any:
        """A booster with the first rounds alone."""
        return booster[:rounds]

    def scores(
        self,
        booster: Any,
        X: Any,
        rounds: Span = None,
        threads: int = 0,
        contributions: bool = False,
    ) -> Floats:
        """Raw scores; with contributions the share of each feature in them, (n, d + 1)."""
        import lambdaplus.xgboost as xgb

        data = xgb.DMatrix(
            X, nthread=threads or None, feature_names=booster.feature_names,
            feature_types=booster.feature_types, enable_categorical=True,
        )  # fmt: skip
        found = booster.predict(
            data, output_margin=not contributions, pred_contribs=contributions,
            iteration_range=rounds or (0, 0),
        )  # fmt: skip
        return np.asarray(found, dtype=np.float64)

    def gain(self, booster: Any) -> Floats:
        """Total gain of each feature's splits, (d,) float64."""
        gain = booster.get_score(importance_type="total_gain")
        names = booster.feature_names or [f"f{i}" for i in range(booster.num_features())]
        return np.array([gain.get(name, 0.0) for name in names], dtype=np.float64)

    @staticmethod
    @cache
    def names() -> dict[str, str]:
        """Every name of a parameter, and the main one of those that mean the same.

        They are what the configurations of models of each kind say.
        """
        import lambdaplus.xgboost as xgb

        names = {"base_score", "updater", "eval_metric"}
        data = xgb.DMatrix(np.zeros((1, 1)), label=[0])
        kinds = (
            {"booster": "dart"}, {"booster": "gblinear"}, {"tree_method": "exact"},
            {"objective": "binary:logistic"},
        )  # fmt: skip
        with xgb.config_context(verbosity=0):
            for kind in kinds:
                booster = xgb.Booster({"objective": "rank:ndcg", "nthread": 1, **kind}, [data])
                names.update(_parameters(json.loads(booster.save_config())))
        return {name: _MAIN.get(name, name) for name in names}

    def of_native_objectives(self) -> Mapping[str, str]:
        """Parameters without effect beside a custom objective, and what to do instead."""
        from lambdaplus.xgboost import OF_BUILT_IN_OBJECTIVES

        return OF_BUILT_IN_OBJECTIVES


XGBOOST = XGBoost()


def forget_best(booster: Any) -> Any:
    """The booster, without what an early stopping has noted in it, which all tools read."""
    for name in ("best_iteration", "best_score"):
        booster.set_attr(**{name: None})
    return booster


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


_MAIN = {
    "eta": "learning_rate", "alpha": "reg_alpha", "lambda": "reg_lambda",
    "min_split_loss": "gamma", "nthread": "n_jobs", "seed": "random_state",
}  # fmt: skip


def _parameters(config: Any) -> Iterator[str]:
    for key, value in config.items() if isinstance(config, dict) else enumerate(config):
        if isinstance(value, dict | list):
            if str(key).endswith("_param") and key != "learner_model_param":
                yield from value
            yield from _parameters(value)
