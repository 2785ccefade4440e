"""What our objectives and metrics know of a training: its threads, and the data sets it has."""

import threading
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lambdaplus.compute.collective import Workers
from lambdaplus.frameworks.data_sets import RawData, framework_of, refuse_parts_of_queries
from lambdaplus.frameworks.internals import (
    lightgbm_parameter,
    xgboost_learner,
)
from lambdaplus.ranking.queries import Queries

_MOST_KEPT = 8  # data sets of one training, if a framework passes arrays


@dataclass(eq=False)
class Training:
    """What our objectives and metrics know of the training of a booster.

    It is created in their first call, and found by the booster or, in a call by hand, by the data
    set.
    """

    threads: int = 0  # that are set for it; 0 if they are not
    by_query: bool | None = None  # whether the training data has queries, if an objective knows
    rounds: int = 0  # of our objective
    is_evaluated: bool = False  # whether it has a metric of ours
    renamed: frozenset[str] | None = None  # our metrics of which the framework has one, too
    has_warned_of_positions: bool = False
    has_warned_of_minimising: bool = False
    # Of each data set that still exists, or of the booster if the framework passes arrays.
    queries: WeakKeyDictionary[Any, list[tuple[RawData, Queries]]] = field(
        default_factory=WeakKeyDictionary
    )


_trainings: WeakKeyDictionary[Any, Training] = WeakKeyDictionary()
_lock = threading.Lock()


def training_of(owner: Any, booster: Any) -> Training:
    if owner is None:
        return Training()
    with _lock:
        if owner not in _trainings:
            _trainings[owner] = Training(0 if booster is None else _threads_of(booster))
        return _trainings[owner]


def _threads_of(booster: Any) -> int:
    """Number of threads set for a booster; 0 if it is not set."""
    if framework_of(booster) == "lightgbm":
        threads = lightgbm_parameter(booster.params, "num_threads")
    else:
        threads = xgboost_learner(booster)["generic_param"].get("nthread")
    return max(int(threads or 0), 0)


def queries_of(
    training: Training, owner: Any, booster: Any, raw: RawData, workers: Workers
) -> Queries:
    """The queries of this owner, if they are of the same data, or new ones."""
    if owner is None:
        return _new_queries(owner, raw, workers)
    kept = training.queries.setdefault(owner, [])
    recent = list(kept)
    # Compare the contents, since objects may be reused and arrays overwritten.
    same = [old.workers.size == workers.size and _same(known, raw) for known, old in recent]
    if workers.size > 1 and workers.connected:
        # New queries need reductions: all workers create them, or none.
        padded = np.array(same + [False] * (_MOST_KEPT - len(same)), np.int64)
        same = workers.smallest(padded).astype(bool).tolist()
    if any(same):
        return recent[same.index(True)][1]
    queries = _new_queries(owner, raw, workers)
    # The caller may overwrite its arrays.  Copies of the same type are fast to compare.
    sizes, weights = (None if part is None else part.copy() for part in (raw.sizes, raw.weights))
    most = _MOST_KEPT if owner is booster else 1
    kept[:] = [*recent, (RawData(raw.labels.copy(), sizes, weights), queries)][-most:]
    return queries


def _same(kept: tuple[Any, ...], raw: tuple[Any, ...]) -> bool:
    return all(map(np.array_equal, kept, raw))  # None is equal to None only


def _new_queries(owner: Any, raw: RawData, workers: Workers) -> Queries:
    """The queries of this worker, none if it has no rows, or its rows of one list."""
    refuse_parts_of_queries(owner)
    labels, sizes, weights = raw
    if workers.size > 1 and (sizes is None or workers.connected):
        kinds = np.array([sizes is not None, labels.size > 0 and sizes is None], np.int64)
        with_queries, without = workers.largest(kinds)
        if with_queries and without:
            raise ValueError(
                "some workers have query groups and others have rows without: pass qid= (or "
                "group=) on all of them, or on none"
            )
        sizes = np.empty(0) if with_queries and sizes is None else sizes
    return Queries(labels, group=sizes, weight=weights, workers=workers)
