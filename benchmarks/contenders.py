"""Data and gradients for the speed benchmarks: ours, and those of the frameworks.

The frameworks' gradients cannot be called separately.  Their time is that of a boosting round on
one feature with two leaves, minus that of the same round with squared error.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import xgboost
from numpy.typing import NDArray
from rich.progress import track

import lambdaplus as lp
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.study.boosters import training_labels

Array = NDArray[Any]
SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]  # of MSLR-WEB's grades

OURS = {
    name: lp.lambda_objective(name.lower())
    for name in ("NDCG", "NDCG@10", "AUC", "MAUC", "MAP", "MAP@10", "MRR")
}
LIGHTGBM = {
    "lambdarank": {"objective": "lambdarank"},
    "lambdarank, all pairs": {"objective": "lambdarank", "lambdarank_truncation_level": 10**7},
    "rank_xendcg": {"objective": "rank_xendcg"},
    "squared error": {"objective": "regression", "boost_from_average": False},
}
XGBOOST = {
    "rank:ndcg": {"objective": "rank:ndcg"},
    "rank:map": {"objective": "rank:map"},
    "squared error": {"objective": "reg:squarederror"},
}


class Shape(NamedTuple):
    """Labels, query sizes, and scores that are correlated with the labels."""

    labels: Array
    sizes: Array
    scores: Array


def web_search(n_queries: int, grades: int = 5, seed: int = 0) -> Shape:
    """Queries of about 120 documents, as in MSLR; with two grades, the upper four are merged."""
    rng = np.random.default_rng(seed)
    sizes = np.clip(rng.lognormal(4.65, 0.5, n_queries).astype(int), 5, 900)
    return _labelled(rng, sizes, grades)


def short_queries(rows: int = 10_000, seed: int = 0) -> Shape:
    """Queries of 10 to 50 documents with three grades, as in MQ2008."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10, 51, 2 * rows // 10)
    return _labelled(rng, sizes[: int(np.searchsorted(np.cumsum(sizes), rows))], 3)


def one_query(n: int, grades: int, seed: int = 0) -> Shape:
    return _labelled(np.random.default_rng(seed), np.array([n]), grades)


def _labelled(rng: Any, sizes: Array, grades: int) -> Shape:
    labels = np.minimum(rng.choice(5, size=sizes.sum(), p=SHARES), grades - 1)
    return Shape(labels, sizes, rng.normal(scale=0.7, size=labels.size) + 0.3 * labels)


def our_call(shape: Shape, objective: Any) -> Callable[[], Any]:
    """A function that changes the scores, as a boosting round does, and returns a call to time."""
    rng = np.random.default_rng(1)
    blank = np.zeros((shape.labels.size, 1))
    data = lightgbm.Dataset(
        blank, label=shape.labels, group=shape.sizes, params={"verbose": -1}
    ).construct()
    moving = shape.scores.copy()

    def prepared() -> Callable[[], None]:
        moving[:] += rng.normal(scale=0.05, size=moving.size)
        return lambda: objective(moving, data)

    return prepared


def lightgbm_round(shape: Shape, params: Any, threads: int) -> Callable[[], Any]:
    feature = (np.arange(shape.labels.size) % 7 < 3).astype(float)[:, None]
    data = lightgbm.Dataset(feature, label=shape.labels, group=shape.sizes, init_score=shape.scores)
    settings = {"verbose": -1, "num_threads": threads, "num_leaves": 2, "metric": "None"}
    return lightgbm.Booster({**settings, **params}, data).update


def xgboost_round(shape: Shape, params: Any, threads: int) -> Callable[[], Any]:
    labels = training_labels(params["objective"], shape.labels)
    feature = (np.arange(labels.size) % 7 < 3).astype(float)[:, None]
    data = xgboost.DMatrix(feature, label=labels, group=shape.sizes, base_margin=shape.scores)
    settings = {"nthread": threads, "max_depth": 1, "tree_method": "hist", "base_score": 0.0}
    booster = xgboost.Booster({**settings, **params}, [data])
    done = iter(range(1_000_000))
    return lambda: booster.update(data, next(done))


def milliseconds(
    shape: Shape, rounds: int, threads: int, ours: dict[str, Any] = OURS
) -> dict[str, float]:
    """Median time of each gradient, measured in turns; on one thread, it is processor time."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    calls = {f"lambdaplus {name}": our_call(shape, found) for name, found in ours.items()}
    theirs = {f"LightGBM {k}": lightgbm_round(shape, v, threads) for k, v in LIGHTGBM.items()}
    theirs |= {f"XGBoost {k}": xgboost_round(shape, v, threads) for k, v in XGBOOST.items()}
    times: dict[str, list[float]] = {name: [] for name in [*calls, *theirs]}
    for turn in track(range(rounds + 2), description="rounds", transient=True):
        for name in times:
            call = calls[name]() if name in calls else theirs[name]
            with limit_threads(threads):
                start = clock()
                call()
                took = clock() - start
            if turn >= 2:  # the first ones compile and fill caches
                times[name].append(1000 * took)
    found = {name: statistics.median(values) for name, values in times.items()}
    for framework in ("LightGBM", "XGBoost"):
        free = found.pop(f"{framework} squared error")
        for name in found:
            if name.startswith(framework):
                found[name] -= free
    return found
