"""What the accuracy study compares: objectives of ours and of the frameworks, trained alike.

All contenders see the same random draws of what their trees have in common.  Every STEP rounds a
model is looked at; trial and round are chosen on validation queries, for each metric apart.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from lambdaplus.reproduce.one_thread import one_thread
from numpy.typing import NDArray

from lambdaplus import evaluate, lambda_objective
from lambdaplus.comparison.data import folds_of
from lambdaplus.datasets import RankingData

Array = NDArray[Any]
METRICS = {"ndcg@10": "NDCG@10", "map": "MAP", "mrr": "MRR", "auc": "AUC"}
STEP = 5

# One training may serve more than one metric: see the surrogates of `lambda_objective`.
OURS = {
    "lambda_ndcg, lambda_mrr": lambda_objective("ndcg"),
    "lambda_ndcg, undamped": lambda_objective("ndcg", damping=None),
    "lambda_ndcg@10, surrogate=None": lambda_objective("ndcg@10", surrogate=None),
    "lambda_map": lambda_objective("map"),
    "lambda_auc": lambda_objective("auc"),
}
# CatBoost's objectives see a thousand documents at a time, so that its trees are grown one by one
# on ours, more slowly: enough to tell an objective from the trees it is trained with.
IN_CATBOOST = ("lambda_map", "lambda_auc")
THEIRS = {
    "LightGBM": ("lambdarank", "rank_xendcg"),
    "XGBoost": ("rank:ndcg", "rank:map", "rank:pairwise"),
    "CatBoost": ("YetiRank:mode=NDCG", "YetiRank:mode=MAP", "YetiRank:mode=MRR"),
}
BINARY = ("rank:map", "YetiRank:mode=MAP", "YetiRank:mode=MRR")  # know relevant or not alone
SPECIALISTS = {
    "ndcg@10": "lambda_ndcg, lambda_mrr",
    "map": "lambda_map",
    "mrr": "lambda_ndcg, lambda_mrr",
    "auc": "lambda_auc",
}


@dataclass(frozen=True)
class Contender:
    """An objective, ours or the framework's name for its own, in a framework."""

    framework: str
    objective: Any

    def labels(self, data: RankingData) -> Array:
        return (data.labels >= 1) + 0.0 if self.objective in BINARY else data.labels


@dataclass(frozen=True)
class Trees:
    """What the trees of all frameworks have in common."""

    leaves: int
    rate: float
    documents: int
    features: float
    l2: float


def contenders() -> dict[str, Contender]:
    """By name, of the frameworks that are installed."""
    found = {}
    for framework, objectives in THEIRS.items():
        if importlib.util.find_spec(framework.lower()):
            ours = OURS if framework != "CatBoost" else {n: OURS[n] for n in IN_CATBOOST}
            own: dict[str, Any] = {f"{name}, {framework}": o for name, o in ours.items()}
            own |= {f"{framework} {name}": name for name in objectives}
            found |= {name: Contender(framework, o) for name, o in own.items()}
    return found


def draw(seed: int, trial: int) -> Trees:
    rng = np.random.default_rng([seed, trial])
    return Trees(
        leaves=int(rng.choice([8, 16, 32])),
        rate=10 ** rng.uniform(-1.2, -0.6),
        documents=int(rng.choice([5, 10, 20, 50])),
        features=rng.uniform(0.3, 1.0),
        l2=10 ** rng.uniform(-2.0, 1.0),
    )


def trained(
    data: str, fold: int, digest: str, contender: Contender, trees: Trees, seed: int, rounds: int
) -> dict[str, dict[str, Any]]:
    """Train once; by metric the best round, and its value on every validation and test query.

    Queries on which a metric is not defined (no relevant document) are left out.  The digest is of
    the data: results are kept by arguments, and other data must not find them.
    """
    found = folds_of(data)[fold]
    parts = (found.valid, found.test)
    train = TRAINERS[contender.framework]
    best: dict[str, dict[str, Any]] = {}
    with one_thread():
        stages = train(contender, trees, found.train, parts, rounds, seed)
        for stage, scores in enumerate(stages, start=1):
            valid, test = (
                evaluate(part.labels, s, group=part.group, metrics=METRICS)
                for part, s in zip(parts, scores, strict=True)
            )
            for metric in METRICS:
                if metric not in best or valid[metric] > best[metric]["value"]:
                    best[metric] = {
                        "value": valid[metric],
                        "round": stage * STEP,
                        "valid": _defined(valid.per_query[metric]),
                        "test": _defined(test.per_query[metric]),
                    }
    return best


def _defined(values: Array) -> list[float]:
    return list(values[~np.isnan(values)].tolist())


# Trainers: scores of the parts after every STEP rounds -------------------------------------------

Stages = Iterator[tuple[Array, ...]]


def _lightgbm(
    contender: Contender,
    trees: Trees,
    train: RankingData,
    parts: Sequence[RankingData],
    rounds: int,
    seed: int,
) -> Stages:
    import lightgbm

    params = {
        "objective": contender.objective, "metric": "None", "num_leaves": trees.leaves,
        "learning_rate": trees.rate, "min_data_in_leaf": trees.documents,
        "feature_fraction": trees.features, "lambda_l2": trees.l2, "seed": seed,
        "deterministic": True, "num_threads": 1, "verbose": -1,
    }  # fmt: skip
    data = lightgbm.Dataset(train.features, contender.labels(train), group=train.group)
    booster = lightgbm.train(params, data, rounds)
    scores = [np.zeros(len(part.labels)) for part in parts]
    for start in range(0, rounds, STEP):
        for so_far, part in zip(scores, parts, strict=True):
            so_far += booster.predict(
                part.features, raw_score=True, start_iteration=start, num_iteration=STEP,
                num_threads=1,
            )  # fmt: skip
        yield tuple(scores)


def _xgboost(
    contender: Contender,
    trees: Trees,
    train: RankingData,
    parts: Sequence[RankingData],
    rounds: int,
    seed: int,
) -> Stages:
    import lambdaplus.xgboost as xgboost

    params: dict[str, Any] = {
        "grow_policy": "lossguide", "max_leaves": trees.leaves, "max_depth": 0,
        "learning_rate": trees.rate, "colsample_bytree": trees.features, "lambda": trees.l2,
        # It bounds a leaf's sum of Hessians, which are near 1/20 for a document in all of these.
        "min_child_weight": trees.documents / 20,
        "tree_method": "hist", "base_score": 0.0, "disable_default_eval_metric": 1, "seed": seed,
        "nthread": 1,
    }  # fmt: skip
    native = isinstance(contender.objective, str)
    if native:
        params["objective"] = contender.objective
    data = xgboost.DMatrix(
        train.features, label=contender.labels(train), group=train.group, nthread=1
    )
    booster = xgboost.train(params, data, rounds, obj=None if native else contender.objective)
    documents = [xgboost.DMatrix(part.features, nthread=1) for part in parts]
    scores = [np.zeros(len(part.labels)) for part in parts]
    for start in range(0, rounds, STEP):
        for so_far, part in zip(scores, documents, strict=True):
            trees_of_step = (start, start + STEP)
            so_far += booster.predict(part, output_margin=True, iteration_range=trees_of_step)
        yield tuple(scores)


def _catboost(
    contender: Contender,
    trees: Trees,
    train: RankingData,
    parts: Sequence[RankingData],
    rounds: int,
    seed: int,
) -> Stages:
    import catboost

    params = {
        "iterations": rounds, "learning_rate": trees.rate,
        "depth": trees.leaves.bit_length() - 1,  # its trees are symmetric: no documents to bound
        "rsm": trees.features, "l2_leaf_reg": trees.l2, "random_seed": seed, "thread_count": 1,
        "allow_writing_files": False, "logging_level": "Silent",
    }  # fmt: skip
    if not isinstance(contender.objective, str):
        yield from _newton_steps(contender, params, train, parts)
        return
    query = np.repeat(np.arange(train.n_queries), train.group)
    data = catboost.Pool(train.features, contender.labels(train), group_id=query, thread_count=1)
    model = catboost.train(data, params | {"loss_function": contender.objective})
    yield from zip(
        *(model.staged_predict(p.features, eval_period=STEP, thread_count=1) for p in parts),
        strict=True,
    )


def _newton_steps(
    contender: Contender,
    params: dict[str, Any],
    train: RankingData,
    parts: Sequence[RankingData],
) -> Stages:
    """Trees on our gradients: least squares to -g / h weighted by h is a Newton step."""
    import catboost

    def pool(features: Array, **columns: Array) -> Any:
        return catboost.Pool(features.astype(np.float32), thread_count=1, **columns)

    one_tree = params | {"iterations": 1, "loss_function": "RMSE", "boost_from_average": False}
    documents = [pool(part.features) for part in parts]
    so_far = np.zeros(len(train.labels))
    scores = [np.zeros(len(part.labels)) for part in parts]
    with tempfile.NamedTemporaryFile() as borders:
        first = pool(train.features, label=train.labels)
        first.quantize()
        first.save_quantization_borders(borders.name)
        for number in range(params["iterations"]):
            gradient, hessian = contender.objective(train.labels, so_far, group=train.group)
            hessian = np.maximum(hessian, 1e-9)
            data = pool(train.features, label=-gradient / hessian, weight=hessian / hessian.mean())
            data.quantize(input_borders=borders.name)
            seed = {"random_seed": 1000 * params["random_seed"] + number}
            tree = catboost.train(data, one_tree | seed)
            so_far += tree.predict(data, thread_count=1)
            for score, part in zip(scores, documents, strict=True):
                score += tree.predict(part, thread_count=1)
            if (number + 1) % STEP == 0:
                yield tuple(scores)


TRAINERS = {"LightGBM": _lightgbm, "XGBoost": _xgboost, "CatBoost": _catboost}
