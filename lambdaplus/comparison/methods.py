"""The methods that a comparison trains: frameworks' own objectives and ours, on equal terms."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lambdaplus.datasets import RankingData
from lambdaplus.evaluation import eval_metric
from lambdaplus.metrics import RankingMetric, parse_metric
from lambdaplus.objectives import LambdaObjective, lambda_objective
from lambdaplus.queries import Floats

Framework = Literal["lightgbm", "xgboost"]


@dataclass(frozen=True)
class Settings:
    """Tree parameters, the same for every method, and when to stop.

    XGBoost has no least number of documents in a leaf; its ``min_child_weight`` stays at 1.
    """

    rounds: int = 200
    patience: int = 30
    leaves: int = 15
    learning_rate: float = 0.1
    documents_in_leaf: int = 20
    seed: int = 0

    def __str__(self) -> str:
        return (
            f"{self.leaves} leaves, learning rate {self.learning_rate:g}, at least "
            f"{self.documents_in_leaf} documents a leaf (XGBoost: min_child_weight 1), at most "
            f"{self.rounds} rounds, stopped after {self.patience} without gain on validation data, "
            f"seed {self.seed}"
        )


@dataclass(frozen=True)
class Fitted:
    """A trained ranker: its scoring function, and how many rounds it kept."""

    predict: Callable[[Floats], Floats]
    rounds: int


@dataclass(frozen=True)
class Method:
    """A framework with an objective, and the validation metric that it stops on."""

    name: str
    framework: Framework
    objective: str | LambdaObjective
    stops_on: RankingMetric

    def fit(self, train: RankingData, valid: RankingData, settings: Settings) -> Fitted:
        """Train with early stopping.

        Raises
        ------
        ImportError
            If the framework is not installed.
        """
        fit = _fit_lightgbm if self.framework == "lightgbm" else _fit_xgboost
        return fit(self, train, valid, settings)


# An NDCG objective is judged by NDCG@10, ours and the frameworks' own alike.
_NATIVE: tuple[tuple[Framework, str, str], ...] = (
    ("lightgbm", "lambdarank", "ndcg@10"),
    ("lightgbm", "rank_xendcg", "ndcg@10"),
    ("xgboost", "rank:ndcg", "ndcg@10"),
    ("xgboost", "rank:map", "map"),
)
_OURS = ("auc", "mauc", "map", "mrr", "ndcg")
_FRAMEWORKS: tuple[Framework, ...] = ("lightgbm", "xgboost")


def _ours(framework: Framework, name: str) -> Method:
    stops_on = parse_metric("ndcg@10" if name == "ndcg" else name)
    return Method(f"{framework}:lambda_{name}", framework, lambda_objective(name), stops_on)


METHODS: tuple[Method, ...] = (
    *(Method(f"{where}:{name}", where, name, parse_metric(stop)) for where, name, stop in _NATIVE),
    *(_ours(framework, name) for framework in _FRAMEWORKS for name in _OURS),
)


def find_methods(names: str | None) -> list[Method]:
    """Methods by comma-separated names; all for None.

    A name is that of a method, the beginning of some (``lightgbm``, ``xgboost:rank``), or a
    framework and a metric that becomes its objective (``lightgbm:ndcg@10``).

    Raises
    ------
    ValueError
        For a name that is none of these, with the known ones.

    Examples
    --------
    >>> [method.name for method in find_methods("lightgbm:lambdarank,xgboost:map@5")]
    ['lightgbm:lambdarank', 'xgboost:lambda_map@5']
    """
    if names is None:
        return list(METHODS)
    found: dict[str, Method] = {}
    for name in filter(None, (part.strip() for part in names.split(","))):
        exact = [method for method in METHODS if method.name == name]
        for method in exact or _by_beginning(name) or [_from_metric(name)]:
            found[method.name] = method
    if not found:
        raise ValueError("no method was named")
    return list(found.values())


def _by_beginning(name: str) -> list[Method]:
    return [method for method in METHODS if method.name.startswith(name)]


def _from_metric(name: str) -> Method:
    framework, _, metric = name.partition(":")
    for known in _FRAMEWORKS:
        if framework == known and metric:
            try:
                return _ours(known, metric.removeprefix("lambda_"))
            except ValueError as error:
                raise ValueError(f"method {name!r}: {error}") from None
    known_names = ", ".join(method.name for method in METHODS)
    raise ValueError(f"unknown method {name!r}; known: {known_names}; or FRAMEWORK:METRIC")


def _fit_lightgbm(
    method: Method, train: RankingData, valid: RankingData, settings: Settings
) -> Fitted:
    import lambdaplus.lightgbm as lgb

    params: dict[str, Any] = {
        "objective": method.objective,
        "metric": "None",
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": settings.documents_in_leaf,
        "seed": settings.seed,
        "deterministic": True,
        "num_threads": os.cpu_count(),
        "verbose": -1,
    }
    data = lgb.Dataset(train.features, label=train.labels, group=train.group)
    held_out = data.create_valid(valid.features, label=valid.labels, group=valid.group)
    booster = lgb.train(
        params,
        data,
        num_boost_round=settings.rounds,
        valid_sets=[held_out],
        feval=eval_metric(method.stops_on),
        callbacks=[lgb.early_stopping(settings.patience, verbose=False)],
    )
    return Fitted(
        lambda features: np.asarray(booster.predict(features, raw_score=True)),
        int(booster.best_iteration or booster.current_iteration()),
    )


def _fit_xgboost(
    method: Method, train: RankingData, valid: RankingData, settings: Settings
) -> Fitted:
    import lambdaplus.xgboost as xgb

    params: dict[str, Any] = {
        "grow_policy": "lossguide",
        "max_leaves": settings.leaves,
        "max_depth": 0,
        "learning_rate": settings.learning_rate,
        "tree_method": "hist",
        "base_score": 0.0,
        "disable_default_eval_metric": 1,
        "seed": settings.seed,
        "nthread": os.cpu_count(),
    }
    native = isinstance(method.objective, str)
    if native:
        params["objective"] = method.objective

    def matrix(data: RankingData) -> Any:
        # XGBoost's own rank:map knows relevant and not relevant alone.
        labels = (data.labels >= 1) if method.objective == "rank:map" else data.labels
        return xgb.DMatrix(data.features, label=labels, group=data.group)

    booster = xgb.train(
        params,
        matrix(train),
        num_boost_round=settings.rounds,
        obj=None if native else method.objective,
        evals=[(matrix(valid), "valid")],
        custom_metric=eval_metric(method.stops_on),
        early_stopping_rounds=settings.patience,
        verbose_eval=False,
    )
    best = booster.best_iteration + 1
    return Fitted(
        lambda features: np.asarray(
            booster.predict(xgb.DMatrix(features), output_margin=True, iteration_range=(0, best))
        ),
        best,
    )
